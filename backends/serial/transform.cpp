// The element-wise functions in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/elementwise/blocks.hpp"

#include <algorithm>

namespace tally::backends::serial {
namespace {

template <elementwise what, class C>
void run(const transform_arguments& a) {
  const auto f = three_factors<computed_t<C>>::template of<C>(a);
  block<C> x, y, z;
  for (std::size_t i = 0; i < a.x.size; i += elements_of_block) {
    const std::size_t n = std::min(elements_of_block, a.x.size - i);
    fetch<C>(a.x.slice(i, n), x);
    if constexpr (detail::reads_three(what)) {
      fetch<C>(a.y.slice(i, n), y);
      fetch<C>(third_of(a).slice(i, n), z);
      for (std::size_t k = 0; k < n; ++k) x[k] = function<what>(f, x[k], y[k], z[k]);
    } else if constexpr (detail::is_binary(what)) {
      fetch<C>(a.y.slice(i, n), y);
      for (std::size_t k = 0; k < n; ++k) x[k] = function<what>(f, x[k], y[k]);
    } else {
      for (std::size_t k = 0; k < n; ++k) x[k] = function<what>(f, x[k], x[k]);
    }
    store<C>(x, a.z.slice(i, n));
  }
}

}  // namespace

void backend::transform(const executor&, const transform_arguments& a, type computation) const {
  if (copies_bits(a)) return copy_bits(a.x, a.z);
  with_type<accumulator_types>(computation, [&]<class C>() {
    with_function<computed_t<C>>(a.what, [&]<elementwise what>() { run<what, C>(a); });
  });
}

void backend::fill(const executor&, const element_bytes& value, const output_operand& z) const {
  fill_bits(value, z);
}

void backend::swap(const executor&, const output_operand& x, const output_operand& y) const {
  swap_bits(x, y);
}

}  // namespace tally::backends::serial
