// Short rows of the exact grade, eight sums side by side.
//
// A sum is s + c + d: s takes the products, c their errors and those of s, both by Knuth's TwoSum;
// d takes the errors of c. Only d is rounded; magnitudes added to it bound the error. If all
// possible values round to one number, that is the sum.
#include "backends/common/sparse/exact_rows.hpp"

#include "backends/simd/exact/exact.hpp"
#include "backends/simd/vectors/targets.hpp"

#ifndef TALLY_BACKENDS_SIMD_EXACT_ROWS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_EXACT_ROWS_CPP
namespace tally::backends::simd {
namespace {

struct implementation {
  instruction_set set;
  exact_node* node;
  exact_group_sum* sum_group;
};

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/exact/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/exact/terms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Sets the sign bit of factors that are neither 0 nor in [2^-400, 2^400): within, errors of
/// products are doubles, nothing overflows, and rests of products are at least 2^-904.
HWY_INLINE auto outside(number factor) {
  constexpr std::int64_t field = std::int64_t{1} << 52;
  const auto magnitude = hn::BitCast(i64, hn::Abs(factor));
  const auto below = hn::Sub(magnitude, hn::Set(i64, (1023 - 400) * field));
  const auto above = hn::Sub(hn::Set(i64, (1023 + 400) * field - 1), magnitude);
  const auto zero = hn::VecFromMask(i64, hn::Eq(magnitude, hn::Zero(i64)));
  return hn::AndNot(zero, hn::Or(below, above));
}

/// Returns x y - h for the rounded product h. Without FMA by splitting (T. J. Dekker, 1971).
HWY_INLINE number error_of_product(number x, number y, number h) {
  if constexpr (has_fma) {
    return hn::MulSub(x, y, h);
  } else {
    const auto upper = [](number v) HWY_ATTR {
      const auto scaled = hn::Mul(v, hn::Set(d64, 0x1p27 + 1));
      return hn::Sub(scaled, hn::Sub(scaled, v));
    };
    const auto x1 = upper(x), y1 = upper(y);
    const auto x2 = hn::Sub(x, x1), y2 = hn::Sub(y, y1);
    const auto rest =
        hn::Add(hn::Add(hn::Sub(hn::Mul(x1, y1), h), hn::Mul(x1, y2)), hn::Mul(x2, y1));
    return hn::Add(rest, hn::Mul(x2, y2));
  }
}

/// Adds v to s; returns the error.
HWY_INLINE number add(number& s, number v) {
  const auto sum = hn::Add(s, v);
  const auto taken = hn::Sub(sum, s);
  const auto error = hn::Add(hn::Sub(s, hn::Sub(sum, taken)), hn::Sub(v, taken));
  s = sum;
  return error;
}

/// Rounds r + w + an unknown of at most `error`; |w| is at most half a unit of r.
template <bool of_floats>
HWY_INLINE number rounded(number r, number w, number error) {
  const auto unknown = hn::NaN(d64);
  if constexpr (of_floats) {  // to odd, so that rounding to float is correct
    const auto known = hn::Or(hn::Eq(error, hn::Zero(d64)), hn::Gt(hn::Abs(w), error));
    const auto bits = hn::BitCast(i64, r), one = hn::Set(i64, 1);
    const auto differ = hn::BroadcastSignBit(hn::Xor(bits, hn::BitCast(i64, w)));
    const auto towards_w = hn::Or(differ, one);  // -1 or 1
    const auto stays = hn::Or(hn::And(bits, one),
                              hn::VecFromMask(i64, hn::RebindMask(i64, hn::Eq(w, hn::Zero(d64)))));
    const auto moves = hn::Eq(stays, hn::Zero(i64));
    const auto odd = hn::Add(bits, hn::IfThenElseZero(moves, towards_w));
    return hn::IfThenElse(known, hn::BitCast(d64, odd), unknown);
  } else {
    const auto low = hn::Add(r, hn::Sub(w, error)), high = hn::Add(r, hn::Add(w, error));
    return hn::IfThenElse(hn::Eq(low, high), low, unknown);
  }
}

template <bool of_floats>
HWY_INLINE number sum_lanes(const exact_group& group, std::size_t lane) {
  constexpr std::size_t step = exact_group::sums;
  const double* const a = group.a + lane;
  const double* const b = group.b + lane;
  auto kept = hn::Set(i64, -1);
  if constexpr (!of_floats) {
    auto bad = hn::Zero(i64);
    for (std::size_t k = 0; k < group.length; ++k) {
      const auto x = hn::LoadU(d64, a + k * step), y = hn::LoadU(d64, b + k * step);
      bad = hn::Or(bad, hn::Or(outside(x), outside(y)));
    }
    // Set to 0: subnormal numbers may be a hundred times slower.
    kept = hn::Not(hn::BroadcastSignBit(bad));
  }
  const auto zero = hn::Zero(d64);
  number s = zero, c = zero, d = zero, taken = zero;
  for (std::size_t k = 0; k < group.length; ++k) {
    auto x = hn::LoadU(d64, a + k * step);
    const auto y = hn::LoadU(d64, b + k * step);
    if constexpr (!of_floats) x = hn::And(x, hn::BitCast(d64, kept));
    const auto h = hn::Mul(x, y);
    auto rest = add(c, add(s, h));
    if constexpr (!of_floats) rest = hn::Add(rest, add(c, error_of_product(x, y, h)));
    d = hn::Add(d, rest);
    taken = hn::Add(taken, hn::Abs(rest));
  }
  auto w = hn::Add(add(s, c), d);
  // Each rest and sum of rests is rounded once, w twice, by at most 2^-53. (`taken`'s roundings are
  // allowed for.)
  const auto rounds = hn::Set(d64, (static_cast<double>(group.length) + 4) * 0x1p-52);
  const auto of_w =
      hn::IfThenElseZero(hn::Gt(taken, zero), hn::Mul(hn::Abs(w), hn::Set(d64, 0x1p-51)));
  const auto error = hn::Add(hn::Mul(taken, rounds), of_w);
  w = add(s, w);
  const auto sum = rounded<of_floats>(s, w, error);
  return hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d64, kept)), sum, hn::NaN(d64));
}

void sum_group(const exact_group& group, double* sums) {
  static_assert(exact_group::sums % doubles == 0);
  for (std::size_t lane = 0; lane < exact_group::sums; lane += doubles) {
    hn::StoreU(group.of_floats ? sum_lanes<true>(group, lane) : sum_lanes<false>(group, lane), d64,
               sums + lane);
  }
}

/// Adds products, or values, of a row too long for a group.
void add_terms(const exact_arguments& a, exact_sums& to) {
  exact_kernels_of(set_of(HWY_TARGET), a.term).node(a, to);
}

}  // namespace

constexpr implementation this_target = {set_of(HWY_TARGET), &add_terms, &sum_group};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

exact_row_kernels exact_row_kernels_of(instruction_set set) {
  return {*implementation_of(set).node, implementation_of(set).sum_group};
}

}  // namespace tally::backends::simd
#endif  // HWY_ONCE
