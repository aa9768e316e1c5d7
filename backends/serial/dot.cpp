// dot in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"
#include "backends/serial/term.hpp"

namespace tally::backends::serial {
namespace {

/// Reads up to order::lanes elements from i on as numbers of T, or as complex ones.
template <class T>
void read(const operand& v, std::size_t i, T* to) {
  const operand from = v.slice(i, std::min(order::lanes, v.size - i));
  with_type<element_types>(v.element, [&]<class X>() {
    const auto* const first = static_cast<const detail::stored_t<X>*>(from.data);
    for (std::size_t l = 0; l < from.size; ++l) {
      const auto x = first[static_cast<std::ptrdiff_t>(l) * from.increment];
      if constexpr (is_complex_v<X>) {
        if constexpr (is_complex_v<T>) {
          to[l] = {convert<real_t<T>>(x.real()), convert<real_t<T>>(x.imag())};
        }
      } else {
        to[l] = convert<real_t<T>>(x);
      }
    }
  });
}

/// X and Y: A, or its real numbers.
template <class A, class X, class Y>
dot_sum<A> sum(const operand& x, const operand& y) {
  X of_x[order::lanes];
  Y of_y[order::lanes];
  return sum_in_order<dot_sum<A>>(x.size, [&](std::size_t i) {
    const std::size_t lane = i % order::lanes;
    if (lane == 0) read(x, i, of_x), read(y, i, of_y);
    return term<A>(of_x[lane], of_y[lane]);
  });
}

template <class A>
dot_sum<A> sum(const operand& x, const operand& y) {
  if constexpr (is_complex_v<A>) {  // y is complex
    return is_complex(x.element) ? sum<A, A, A>(x, y) : sum<A, real_t<A>, A>(x, y);
  } else {
    return sum<A, A, A>(x, y);
  }
}

}  // namespace

void backend::dot(const executor&, const dot_arguments& a) const {
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    *static_cast<A*>(a.result.data) = finish(sum<A>(a.x, a.y), a.conjugated);
  });
}

void backend::weighted(const executor&, const weighted_norm_arguments& a) const {
  const weighted_vectors vectors(a.x, a.w, a.mask);
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    const auto sum = sum_in_order<dot_sum<R>>(
        a.x.size, [&](std::size_t i) { return dot_sum<R>{vectors.square<R>(i)}; });
    *static_cast<R*>(a.result.data) = finish_weighted(sum.value, a.what, a.x.size);
  });
}

}  // namespace tally::backends::serial
