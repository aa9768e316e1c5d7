// The element-wise functions on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/elementwise/transform.hpp"

#include <tally/operations/multi_axpy.hpp>

namespace tally::backends::openmp {
namespace {

/// Calls f(first, n) for each thread's part. f must not throw.
template <class F>
void on_each_thread(const executor& where, std::size_t size, const F& f) {
  // Multiples of a page of bytes, so that threads share cache lines only at the ends.
  constexpr std::size_t least = 4096;
  const auto threads = static_cast<std::size_t>(threads_of(where));
  const std::size_t share = (size / threads / least + 1) * least;
  const auto shares = static_cast<int>((size + share - 1) / share);
#pragma omp parallel for num_threads(shares) schedule(static)
  for (int i = 0; i < shares; ++i) {
    const default_environment environment;
    const std::size_t first = static_cast<std::size_t>(i) * share;
    f(first, std::min(share, size - first));
  }
}

}  // namespace

void backend::transform(const executor& where, const transform_arguments& a,
                        type computation) const {
  simd::transform_node* const node = simd::transform_node_of(where, a);
  const bool past_caches = simd::goes_past_caches(a);
  on_each_thread(where, a.x.size, [&](std::size_t first, std::size_t n) {
    transform_arguments part = a;
    part.x = a.x.slice(first, n);
    if (detail::is_binary(a.what)) part.y = a.y.slice(first, n);
    if (detail::is_ternary(a.what)) part.w = a.w.slice(first, n);
    part.z = a.z.slice(first, n);
    if (!simd::has_vectors(a.what, computation)) {
      return serial::instance.transform(where, part, computation);
    }
    node(part, computation, past_caches);
  });
}

void backend::multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                         bool) const {
  on_each_thread(where, a.y.size, [&](std::size_t first, std::size_t n) {
    simd::update_tiles(where, a, computation, first, n);
  });
}

void backend::fill(const executor& where, const element_bytes& value,
                   const output_operand& z) const {
  simd::fill_node* const node = simd::fill_node_of(where.instructions());
  const bool past_caches = simd::goes_past_caches(z);
  on_each_thread(where, z.size, [&](std::size_t first, std::size_t n) {
    node(value, z.slice(first, n), past_caches);
  });
}

void backend::swap(const executor& where, const output_operand& x, const output_operand& y) const {
  simd::swap_node* const node = simd::swap_node_of(where.instructions());
  on_each_thread(where, x.size, [&](std::size_t first, std::size_t n) {
    node(x.slice(first, n), y.slice(first, n));
  });
}

}  // namespace tally::backends::openmp
