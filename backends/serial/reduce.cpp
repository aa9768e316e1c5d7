// sum, asum and nrm2 in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"

namespace tally::backends::serial {
namespace {

/// Returns |value|; for the least integer 2^63, which is -2^63 modulo 2^64.
template <class R>
R magnitude(R value) {
  if constexpr (std::is_integral_v<R>) {
    return value < 0 ? static_cast<R>(-static_cast<std::uint64_t>(value)) : value;
  } else {
    return std::abs(value);
  }
}

template <reduction what, class R>
R term(R number, [[maybe_unused]] R scale) {
  if constexpr (what == reduction::sum) {
    return number;
  } else if constexpr (what == reduction::asum) {
    return magnitude(number);
  } else {
    return number * scale * (number * scale);
  }
}

template <reduction what, class A, class X>
reduce_sum<A> sum(const operand& x, real_t<A> scale) {
  using R = real_t<A>;
  const auto* const data = static_cast<const detail::stored_t<X>*>(x.data);
  return sum_in_order<reduce_sum<A>>(x.size, [&](std::size_t i) -> reduce_sum<A> {
    const auto& element = data[static_cast<std::ptrdiff_t>(i) * x.increment];
    if constexpr (is_complex_v<X>) {
      return {term<what>(convert<R>(element.real()), scale),
              term<what>(convert<R>(element.imag()), scale)};
    } else {
      return {term<what>(convert<R>(element), scale)};
    }
  });
}

template <reduction what, class A>
constexpr auto sums = make_type_table<reduce_sum<A>(const operand&, real_t<A>), A>(
    []<class X>() { return &sum<what, A, X>; });

template <class A>
auto* sum_of(reduction what, type x) {
  switch (what) {
    case reduction::sum:
      return sums<reduction::sum, A>[x];
    case reduction::asum:
      return sums<reduction::asum, A>[x];
    default:
      return sums<reduction::nrm2, A>[x];
  }
}

template <class R>
norm_sum<R> norm_of(R squares, R scaled_up, R scaled_down) {
  norm_sum<R> norm{squares};
  norm.scaled = norm.is_small() ? scaled_up : scaled_down;
  return norm;
}

template <class A>
norm_sum<A> norm_of(const operand& x) {
  using range = norm_range<real_t<A>>;
  auto* const squares = sums<reduction::nrm2, A>[x.element];
  const reduce_sum<A> plain = squares(x, 1), up = squares(x, range::up),
                      down = squares(x, range::down);
  if constexpr (is_complex_v<A>) {
    return {norm_of(plain.re, up.re, down.re), norm_of(plain.im, up.im, down.im)};
  } else {
    return norm_of(plain.value, up.value, down.value);
  }
}

}  // namespace

void backend::sum_node_of_elements(const executor&, const node_arguments& a) const {
  with_node(a.what, a.accumulator, [&]<summand what, class A>() {
    if constexpr (what == summand::square) {
      *static_cast<norm_sum<A>*>(a.sum) = norm_of<A>(a.x);
    } else if constexpr (what != summand::product) {
      constexpr reduction of = what == summand::value ? reduction::sum : reduction::asum;
      *static_cast<reduce_sum<A>*>(a.sum) = sums<of, A>[a.x.element](a.x, 1);
    }
  });
}

void backend::reduce(const executor&, const reduce_arguments& a) const {
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    auto* const sum = sum_of<A>(a.what, a.x.element);
    reduce_on_host<A>(a, [&](real_t<A> scale) { return sum(a.x, scale); });
  });
}

}  // namespace tally::backends::serial
