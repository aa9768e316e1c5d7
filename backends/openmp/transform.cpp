// The element-wise functions on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/elementwise/transform.hpp"

#include <tally/operations/multi_axpy.hpp>

namespace tally::backends::openmp {
namespace {

/// Calls f(first, n) for each thread's part of as much work as `products` products of doubles.
/// f must not throw.
template <class F>
void on_each_thread(const executor& where, std::size_t size, std::size_t products, const F& f) {
  // Multiples of a page of bytes, so that threads share cache lines only at the ends.
  constexpr std::size_t page = 4096;
  const auto threads = static_cast<std::size_t>(threads_that_pay(products, threads_of(where)));
  const std::size_t share = threads == 1 ? size : (size / threads / page + 1) * page;
  for_each_share(size, static_cast<int>(threads), {share, (size + share - 1) / share},
                 [&](std::size_t, std::size_t first, std::size_t n) { f(first, n); });
}

/// Products of doubles that take as long as writing a vector.
std::size_t products_of(const operand& z) { return z.size / sizeof(double) * size_of(z.element); }

/// The same for a function, of which some have many operations.
std::size_t products_of(const transform_arguments& a) {
  const bool is_long =
      detail::is_exponential(a.what) || a.what == elementwise::log || a.what == elementwise::tanh;
  return (is_long ? 4 : 1) * products_of(a.z);
}

}  // namespace

void backend::transform(const executor& where, const transform_arguments& a,
                        type computation) const {
  simd::transform_node* const node = simd::transform_node_of(where, a);
  const simd::memory_use use = simd::memory_use_of(a);
  on_each_thread(where, a.x.size, products_of(a), [&](std::size_t first, std::size_t n) {
    transform_arguments part = a;
    part.x = a.x.slice(first, n);
    if (detail::is_binary(a.what)) part.y = a.y.slice(first, n);
    if (detail::is_ternary(a.what)) part.w = a.w.slice(first, n);
    part.z = a.z.slice(first, n);
    if (!simd::has_vectors(a.what, computation)) {
      return serial::instance.transform(where, part, computation);
    }
    node(part, computation, use);
  });
}

void backend::multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                         bool) const {
  on_each_thread(where, a.y.size, a.x.size() * products_of(a.y),
                 [&](std::size_t first, std::size_t n) {
                   simd::update_tiles(where, a, computation, first, n);
                 });
}

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  simd::fill_node* const node = simd::fill_node_of(where.instructions());
  const bool past_caches = simd::goes_past_caches(z);
  on_each_thread(where, z.size, products_of(z), [&](std::size_t first, std::size_t n) {
    node(value, z.slice(first, n), past_caches);
  });
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  simd::swap_node* const node = simd::swap_node_of(where.instructions());
  on_each_thread(where, x.size, products_of(x), [&](std::size_t first, std::size_t n) {
    node(x.slice(first, n), y.slice(first, n));
  });
}

}  // namespace tally::backends::openmp
