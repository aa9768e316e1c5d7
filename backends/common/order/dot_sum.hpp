// Sums of a dot product, one or four for complex operands, and its result; shared by all backends.
#pragma once

#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>

#include <complex>
#include <limits>

namespace tally::backends {

using detail::complex_number;

/// Returns a + b; integers modulo 2^64.
template <class A>
TALLY_HOST_DEVICE constexpr A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

/// Sum of a node of the order's tree.
template <class A>
struct dot_sum {
  A value{};

  friend TALLY_HOST_DEVICE dot_sum operator+(const dot_sum& a, const dot_sum& b) {
    return {plus(a.value, b.value)};
  }
};

/// Sums of products of parts; ri is of re(x) * im(y). Without a term, for a real operand, +0.
template <class T>
struct dot_sum<std::complex<T>> {
  T rr{}, ii{}, ri{}, ir{};

  friend TALLY_HOST_DEVICE dot_sum operator+(const dot_sum& a, const dot_sum& b) {
    return {a.rr + b.rr, a.ii + b.ii, a.ri + b.ri, a.ir + b.ir};
  }
};

template <class T>
inline constexpr T quiet_nan = std::numeric_limits<T>::quiet_NaN();  // a constant, for devices

/// Returns `value`, or for any NaN the positive quiet NaN with an empty payload.
template <class T>
TALLY_HOST_DEVICE constexpr T canonical(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value == value ? value : quiet_nan<T>;
  } else {
    return value;
  }
}

template <class A>
TALLY_HOST_DEVICE complex_number<A> finish_parts(const dot_sum<A>& sum, conjugate) {
  return {canonical(sum.value), A{}};
}

template <class T>
TALLY_HOST_DEVICE complex_number<T> finish_parts(const dot_sum<std::complex<T>>& sum,
                                                 conjugate conjugated) {
  switch (conjugated) {
    case conjugate::x:
      return {canonical(sum.rr + sum.ii), canonical(sum.ri - sum.ir)};
    case conjugate::y:
      return {canonical(sum.rr + sum.ii), canonical(sum.ir - sum.ri)};
    default:
      return {canonical(sum.rr - sum.ii), canonical(sum.ri + sum.ir)};
  }
}

template <class A>
A finish(const dot_sum<A>& sum, conjugate conjugated) {
  const auto parts = finish_parts(sum, conjugated);
  if constexpr (is_complex_v<A>) {
    return {parts.re, parts.im};
  } else {
    return parts.re;
  }
}

}  // namespace tally::backends
