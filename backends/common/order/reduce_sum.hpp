// Sums of sum, asum and nrm2, and their results; shared by all backends.
//
// `A` is the real accumulator, or complex for complex elements: then the parts are summed apart.
#pragma once

#include "backends/common/arithmetic.hpp"
#include "backends/common/order/dot_sum.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/reduce.hpp>

#include <cmath>
#include <complex>
#include <type_traits>

namespace tally::backends {

template <class A>
struct reduce_sum {
  A value{};

  friend TALLY_HOST_DEVICE reduce_sum operator+(const reduce_sum& a, const reduce_sum& b) {
    return {plus(a.value, b.value)};
  }
};

template <class T>
struct reduce_sum<std::complex<T>> {
  T re{}, im{};

  friend TALLY_HOST_DEVICE reduce_sum operator+(const reduce_sum& a, const reduce_sum& b) {
    return {a.re + b.re, a.im + b.im};
  }
};

/// The last addition of asum and nrm2 of complex elements.
template <class A>
TALLY_HOST_DEVICE real_t<A> combined(const reduce_sum<A>& sum) {
  if constexpr (is_complex_v<A>) {
    return sum.re + sum.im;
  } else {
    return sum.value;
  }
}

// --- The range of nrm2 ---------------------------------------------------------------------------

/// A sum s of squares is good if `min_sum` <= s and s is finite: no overflow, harmless underflow.
/// (A NaN is final, too.) Otherwise elements are scaled before squaring; docs/numerics.md shows
/// that those sums are good. For s < `unheard` all squares scaled down are 0.
template <class R>
struct norm_range;
template <>
struct norm_range<double> {
  static constexpr double min_sum = 0x1p-960, up = 0x1p600, down = 0x1p-900, unheard = 0x1p725;
  static constexpr double max_sum = std::numeric_limits<double>::max();
};
template <>
struct norm_range<float> {
  static constexpr float min_sum = 0x1p-72f, up = 0x1p80f, down = 0x1p-100f, unheard = 0x1p50f;
  static constexpr float max_sum = std::numeric_limits<float>::max();
};

/// Factor of the elements for a second sum; 1 if the first is good.
template <class R>
TALLY_HOST_DEVICE R norm_scale(R sum_of_squares) {
  if (sum_of_squares < norm_range<R>::min_sum) return norm_range<R>::up;
  if (sum_of_squares > norm_range<R>::max_sum) return norm_range<R>::down;
  return 1;
}

/// Whether squares of `X` can leave the range of `R`.
template <class R, class X>
inline constexpr bool squares_leave_range =
    std::is_same_v<R, real_t<X>> || (std::is_same_v<R, float> && std::is_same_v<X, bfloat16>);

/// Returns the root, correctly rounded, with `scale` undone.
template <class R>
TALLY_HOST_DEVICE R norm(R sum_of_squares, R scale) {
  const R root = rounded_root(sum_of_squares);
  if (scale == 1) return root;
  return root * (scale > 1 ? 1 / norm_range<R>::up : 1 / norm_range<R>::down);
}

/// A sum of squares with the scaled sum that may be needed, in one pass: up while `sum` is below
/// `min_sum`, else down.
template <class A>
struct norm_sum {
  A sum{}, scaled{};

  TALLY_HOST_DEVICE bool is_small() const { return sum < norm_range<A>::min_sum; }
  TALLY_HOST_DEVICE A scale() const { return is_small() ? norm_range<A>::up : norm_range<A>::down; }
  TALLY_HOST_DEVICE A scaled_down() const { return is_small() ? A{} : scaled; }

  friend TALLY_HOST_DEVICE norm_sum operator+(const norm_sum& a, const norm_sum& b) {
    norm_sum both{a.sum + b.sum};
    both.scaled = both.is_small() ? a.scaled + b.scaled : a.scaled_down() + b.scaled_down();
    return both;
  }
};

template <class T>
struct norm_sum<std::complex<T>> {
  norm_sum<T> re{}, im{};

  friend TALLY_HOST_DEVICE norm_sum operator+(const norm_sum& a, const norm_sum& b) {
    return {a.re + b.re, a.im + b.im};
  }
};

// --- Results -------------------------------------------------------------------------------------

/// Returns the result of a sum. Pre, for nrm2: squares cannot leave the range.
template <class A>
TALLY_HOST_DEVICE complex_number<real_t<A>> finish_parts(const reduce_sum<A>& sum, reduction what) {
  using R = real_t<A>;
  if constexpr (is_complex_v<A>) {
    if (what == reduction::sum) return {canonical(sum.re), canonical(sum.im)};
  }
  if constexpr (std::is_floating_point_v<R>) {
    if (what == reduction::nrm2) return {canonical(norm(combined(sum), R{1})), R{}};
  }
  return {canonical(combined(sum)), R{}};
}

/// nrm2 in one pass.
template <class A>
TALLY_HOST_DEVICE complex_number<real_t<A>> finish_parts(const norm_sum<A>& sum, reduction) {
  using R = real_t<A>;
  if constexpr (is_complex_v<A>) {
    const R plain = sum.re.sum + sum.im.sum;
    const R scale = norm_scale(plain);
    if (scale == 1) return {canonical(norm(plain, scale)), R{}};
    if (scale > 1) return {norm(sum.re.scaled + sum.im.scaled, scale), R{}};
    return {norm(sum.re.scaled_down() + sum.im.scaled_down(), scale), R{}};
  } else {
    const R scale = norm_scale(sum.sum);
    return {canonical(norm(scale == 1 ? sum.sum : sum.scaled, scale)), R{}};
  }
}

/// Returns the result's type, but complex for complex elements.
inline type accumulator_of(const reduce_arguments& a) {
  return is_complex(a.x.element) ? complex_of(part_of(a.result.element)) : a.result.element;
}

/// `sum(scale)` sums the terms of elements times `scale`; nrm2 calls it again unless the first sum
/// is good.
template <class A, class Sum>
void reduce_on_host(const reduce_arguments& a, Sum&& sum) {
  using R = real_t<A>;
  auto* const result = static_cast<R*>(a.result.data);
  if constexpr (std::is_floating_point_v<R>) {
    if (a.what == reduction::nrm2) {
      R squares = combined(sum(R{1}));
      const R scale = norm_scale(squares);
      if (scale != 1) squares = combined(sum(scale));
      *result = canonical(norm(squares, scale));
      return;
    }
  }
  const complex_number<R> all = finish_parts(sum(R{1}), a.what);
  result[0] = all.re;
  if (is_complex_v<A> && a.what == reduction::sum) result[1] = all.im;
}

}  // namespace tally::backends
