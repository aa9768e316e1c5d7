// The element-wise functions run on one thread, in plain loops.
#include "backends/serial/serial.hpp"

#include "src/core/elementwise/blocks.hpp"

#include <algorithm>

namespace tally::backends::serial {
namespace {

template <elementwise what, class C>
void run(const transform_arguments& a) {
  const auto f = factors<computed_t<C>>::template of<C>(a);
  block<C> x, y;
  for (std::size_t i = 0; i < a.x.size; i += elements_of_block) {
    const std::size_t n = std::min(elements_of_block, a.x.size - i);
    fetch<C>(a.x.slice(i, n), x);
    if constexpr (transforms::is_binary(what)) {
      fetch<C>(a.y.slice(i, n), y);
      for (std::size_t k = 0; k < n; ++k) x[k] = function<what>(f, x[k], y[k]);
    } else {
      for (std::size_t k = 0; k < n; ++k) x[k] = function<what>(f, x[k], x[k]);
    }
    store<C>(x, a.z.slice(i, n));
  }
}

}  // namespace

void transform(const executor&, const transform_arguments& a) {
  if (copies_bits(a)) return copy_bits(a.x, a.z);
  with_computation(a, [&]<class C>() {
    with_function<computed_t<C>>(a.what, [&]<elementwise what>() { run<what, C>(a); });
  });
}

}  // namespace tally::backends::serial
