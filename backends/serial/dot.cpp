// dot in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"
#include "backends/serial/term.hpp"

namespace tally::backends::serial {
namespace {

template <class A, class X>
dot_sum<A> sum(const operand& x, const operand& y) {
  const auto* const px = static_cast<const detail::stored_t<X>*>(x.data);
  const auto* const py = static_cast<const detail::stored_t<X>*>(y.data);
  return sum_in_order<dot_sum<A>>(x.size, [&](std::size_t i) {
    const auto index = static_cast<std::ptrdiff_t>(i);
    return term<A>(px[index * x.increment], py[index * y.increment]);
  });
}

template <class A>
constexpr auto sums = make_type_table<dot_sum<A>(const operand&, const operand&), A>(
    []<class X>() { return &sum<A, X>; });

/// Returns the elements as numbers of T, or as complex ones: where they are, or in `room`.
template <class T>
const T* read(const operand& v, T* room) {
  if (v.element == type_of<T> && v.increment == 1) return static_cast<const T*>(v.data);
  with_type<element_types>(v.element, [&]<class X>() {
    const auto* const from = static_cast<const detail::stored_t<X>*>(v.data);
    for (std::size_t i = 0; i < v.size; ++i) {
      const auto x = from[static_cast<std::ptrdiff_t>(i) * v.increment];
      if constexpr (!is_complex_v<X>) {
        room[i] = convert<real_t<T>>(x);
      } else if constexpr (is_complex_v<T>) {
        room[i] = {convert<real_t<T>>(x.real()), convert<real_t<T>>(x.imag())};
      }
    }
  });
  return room;
}

/// X and Y: A, or its real numbers.
template <class A, class X, class Y>
dot_sum<A> sum_converted(const operand& x, const operand& y) {
  X of_x[order::lanes];
  Y of_y[order::lanes];
  return sum_in_order<dot_sum<A>>(x.size, [&](std::size_t i, std::size_t n) {
    return [px = read(x.slice(i, n), of_x), py = read(y.slice(i, n), of_y)](std::size_t lane) {
      return term<A>(px[lane], py[lane]);
    };
  });
}

/// Sums products of two types. A function for each pair would be most of what a static program with
/// a dot contains of this backend.
template <class A>
dot_sum<A> sum_of_two_types(const operand& x, const operand& y) {
  if constexpr (!is_complex_v<A>) {
    return sum_converted<A, A, A>(x, y);
  } else {  // y is complex
    return is_complex(x.element) ? sum_converted<A, A, A>(x, y)
                                 : sum_converted<A, real_t<A>, A>(x, y);
  }
}

}  // namespace

void backend::dot(const executor&, const dot_arguments& a) const {
  with_type<accumulator_types>(a.result.element, [&]<class A>() {
    auto* const sum = a.x.element == a.y.element ? sums<A>[a.x.element] : &sum_of_two_types<A>;
    *static_cast<A*>(a.result.data) = finish(sum(a.x, a.y), a.conjugated);
  });
}

}  // namespace tally::backends::serial
