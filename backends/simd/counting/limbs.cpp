// Sums in few limbs: plain loops, which compilers turn into vector instructions.
#include "backends/simd/counting/limbs.hpp"

#include "backends/simd/vectors/targets.hpp"

#include <tally/detail/histogram_operands.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#ifndef TALLY_BACKENDS_SIMD_LIMBS_CPP  // once per target
#define TALLY_BACKENDS_SIMD_LIMBS_CPP
namespace tally::backends::simd {
namespace {

using namespace counting;

struct implementation {
  instruction_set set;
  limb_kernels kernels;
};

/// Weights that are cut at a time, and rows that are rounded at a time. Not measured.
constexpr std::size_t cut_at_once = 256, rounded_at_once = 64;

/// The numbers of this type that are added to it are rounded to integers, if of up to 2^51.
constexpr double bias = 0x1.8p52;
constexpr std::int64_t half_digit = std::int64_t{1} << (limb_bits - 1);

/// y + the sum, by way of limbs of all exponents.
template <class C>
[[gnu::noinline]] C rounded_sum(const limb_window& window, const std::int64_t* row, C y) {
  if (std::all_of(row, row + window.limbs, [](std::int64_t limb) { return limb == 0; })) return y;
  exact_sum<double> sum = sum_of_limbs(window, row);
  if (sum == exact_sum<double>()) return y;
  sum.add(static_cast<double>(y));
  return sum.round<C>();
}

}  // namespace
}  // namespace tally::backends::simd
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/simd/counting/limbs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/simd/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tally::backends::simd {
namespace HWY_NAMESPACE {
namespace {

/// Cuts weights into digits. `strays` are nonzero where the weight has more than the limbs hold;
/// returns whether any is.
template <int limbs, class W>
HWY_NOINLINE bool cut(const limb_window& window, const W* HWY_RESTRICT weights, std::size_t n,
                      std::int64_t* HWY_RESTRICT digits, std::int64_t* HWY_RESTRICT strays) {
  double biases[limbs];
  std::uint64_t bits[limbs];
  for (int l = 0; l < limbs; ++l) {
    biases[l] = std::ldexp(bias, window.unit_of(l));
    bits[l] = std::bit_cast<std::uint64_t>(biases[l]);
  }
  const double end = std::ldexp(1, window.top);
  std::int64_t any = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double rest = static_cast<double>(weights[i]);
    const bool is_large = !(std::abs(rest) < end);
    for (int l = limbs - 1; l >= 0; --l) {
      const double with_bias = rest + biases[l];
      digits[i * limbs + static_cast<std::size_t>(l)] =
          static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(with_bias) - bits[l]);
      rest -= with_bias - biases[l];
    }
    const std::int64_t is_stray = (is_large | (rest != 0)) ? 1 : 0;
    strays[i] = is_stray;
    any |= is_stray;
  }
  return any != 0;
}

template <int limbs, class W>
std::size_t add(const limb_window& window, const void* weights, const slot* places, std::size_t n,
                slot first, slot rows, std::int64_t* table, slot* stray_places, void* strays) {
  alignas(64) std::int64_t digits[cut_at_once * limbs];
  alignas(64) std::int64_t is_stray[cut_at_once];
  const auto* const w = static_cast<const W*>(weights);
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < n; begin += cut_at_once) {
    const std::size_t count = std::min(cut_at_once, n - begin);
    const bool any = cut<limbs>(window, w + begin, count, digits, is_stray);
    if (any) {
      for (std::size_t i = 0; i < count; ++i) {
        if (is_stray[i] != 0) std::fill_n(digits + i * limbs, limbs, 0);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const slot row = std::min(places[begin + i] - first, rows);
      std::int64_t* const to = table + std::size_t{row} * limbs;
      for (int l = 0; l < limbs; ++l) to[l] += digits[i * limbs + static_cast<std::size_t>(l)];
    }
    if (!any) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const slot place = places[begin + i];
      if (is_stray[i] == 0 || place - first >= rows) continue;
      stray_places[found] = place;
      static_cast<W*>(strays)[found++] = w[begin + i];
    }
  }
  return found;
}

using number = decltype(hn::Zero(tag<double>()));
using integer = decltype(hn::Zero(hn::RebindToSigned<tag<double>>()));

/// Any order; the error is exact.
HWY_INLINE number sum_with_error(number a, number b, number& error) {
  const number sum = hn::Add(a, b), of_b = hn::Sub(sum, a);
  error = hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b));
  return sum;
}

/// Rounds to odd: an inexact sum becomes the neighbour whose last bit is set. `inexact` becomes its
/// magnitude, if larger.
HWY_INLINE number sum_to_odd(number a, number b, number& inexact) {
  constexpr tag<double> d;
  constexpr hn::RebindToSigned<tag<double>> di;
  number error;
  const number sum = sum_with_error(a, b, error), zero = hn::Zero(d);
  const integer bits = hn::BitCast(di, sum), one = hn::Set(di, 1);
  const auto is_exact = hn::Eq(error, zero);
  inexact = hn::Max(inexact, hn::IfThenElse(is_exact, zero, hn::Abs(sum)));
  // 1 away from 0, -1 towards it; the last bit is set, or is not and an error moves it.
  const integer sign = hn::ShiftRight<63>(hn::Xor(bits, hn::BitCast(di, error)));
  const auto stays = hn::Or(hn::RebindMask(di, is_exact), hn::Eq(hn::And(bits, one), one));
  return hn::BitCast(d, hn::Add(bits, hn::IfThenZeroElse(stays, hn::Or(sign, one))));
}

HWY_INLINE number load(const double* from) { return hn::LoadU(tag<double>(), from); }
HWY_INLINE number load(const float* from) {
  return hn::PromoteTo(tag<double>(), hn::LoadU(hn::Rebind<float, tag<double>>(), from));
}
HWY_INLINE void store(number v, double* to) { hn::StoreU(v, tag<double>(), to); }
HWY_INLINE void store(number v, float* to) {
  constexpr hn::Rebind<float, tag<double>> d;
  hn::StoreU(hn::DemoteTo(d, v), d, to);
}

/// Adds limbs to y by error-free additions: y, then one limb after another, from the lowest; the
/// errors, nonoverlapping, fold by rounding to odd. Returns false if an inexact one is not far
/// below its result, or some y too large.
template <int limbs, class C>
HWY_NOINLINE bool round_some(const limb_window& window, const std::int64_t* HWY_RESTRICT table,
                             C* HWY_RESTRICT y) {
  constexpr tag<double> d;
  constexpr hn::RebindToSigned<tag<double>> di;
  const auto real = [](double v) HWY_ATTR { return hn::Set(tag<double>(), v); };
  constexpr int count = limbs == 1 ? 2 : limbs;  // terms of a sum
  number units[limbs];
  for (int l = 0; l < limbs; ++l) units[l] = real(std::ldexp(1, window.unit_of(l)));
  const number bias_of_integers = real(bias);
  // Exact up to 2^51 in magnitude.
  const auto as_number = [&](integer v) HWY_ATTR {
    const integer biased =
        hn::Add(v, hn::BitCast(hn::RebindToSigned<tag<double>>(), bias_of_integers));
    return hn::Sub(hn::BitCast(tag<double>(), biased), bias_of_integers);
  };
  auto are_fine = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (std::size_t k = 0; k < rounded_at_once; k += hn::Lanes(d)) {
    integer rows[limbs];
    const std::int64_t* const from = table + k * limbs;
    if constexpr (limbs == 1) {
      rows[0] = hn::LoadU(di, from);
    } else if constexpr (limbs == 2) {
      hn::LoadInterleaved2(di, from, rows[0], rows[1]);
    } else {
      hn::LoadInterleaved4(di, from, rows[0], rows[1], rows[2], rows[3]);
    }
    number terms[count];
    integer bits = hn::Zero(di), carry = hn::Zero(di);
    for (int l = 0; l < limbs - 1; ++l) {
      const integer v = hn::Add(rows[l], carry);
      carry = hn::ShiftRight<limb_bits>(hn::Add(v, hn::Set(di, half_digit)));
      const integer digit = hn::Sub(v, hn::ShiftLeft<limb_bits>(carry));
      bits = hn::Or(bits, digit);
      terms[l] = hn::Mul(as_number(digit), units[l]);
    }
    const integer last = hn::Add(rows[limbs - 1], carry);
    bits = hn::Or(bits, last);
    const integer upper = hn::ShiftRight<32>(last);
    number error;
    terms[count - 1] = sum_with_error(hn::Mul(as_number(upper), real(0x1p32)),
                                      as_number(hn::Sub(last, hn::ShiftLeft<32>(upper))), error);
    terms[count - 1] = hn::Mul(terms[count - 1], units[limbs - 1]);
    error = hn::Mul(error, units[limbs - 1]);
    // Exact: the error is below 2^11 units of the last limb.
    terms[count - 2] = limbs == 1 ? error : hn::Add(terms[count - 2], error);
    const number old = load(y + k);
    number sum = old, errors[count];
    for (int l = 0; l < count; ++l) sum = sum_with_error(terms[l], sum, errors[l]);
    number inexact = hn::Zero(d), ignored = inexact, rest = errors[0];
    for (int l = 1; l < count; ++l) rest = sum_to_odd(errors[l], rest, inexact);
    const number total = sizeof(C) == 8 ? hn::Add(sum, rest) : sum_to_odd(sum, rest, ignored);
    are_fine = hn::And(are_fine, hn::Le(hn::Abs(old), real(max_addend)));
    are_fine = hn::And(are_fine, hn::Le(hn::Mul(inexact, real(16)), hn::Abs(total)));
    // Highway's conversion may turn others into finite floats.
    if (sizeof(C) == 4) are_fine = hn::And(are_fine, hn::Le(hn::Abs(total), real(0x1p127)));
    const auto is_zero = hn::RebindMask(d, hn::Eq(bits, hn::Zero(di)));
    store(hn::IfThenElse(is_zero, old, total), y + k);
  }
  return hn::AllTrue(d, are_fine);
}

template <int limbs, class C>
void round(const limb_window& window, const std::int64_t* table, std::size_t rows, void* y) {
  for (std::size_t begin = 0; begin < rows; begin += rounded_at_once) {
    const std::size_t count = std::min(rounded_at_once, rows - begin);
    const std::int64_t* from = table + begin * limbs;
    auto* const to = static_cast<C*>(y) + begin;
    C results[rounded_at_once] = {};
    std::int64_t few[rounded_at_once * limbs];
    if (count < rounded_at_once) {
      std::fill(std::copy_n(from, count * limbs, few), std::end(few), 0);
      from = few;
    }
    std::copy_n(to, count, results);
    if (!round_some<limbs>(window, from, results)) {
      for (std::size_t k = 0; k < count; ++k) {
        results[k] = rounded_sum(window, from + k * limbs, to[k]);
      }
    }
    std::copy_n(results, count, to);
  }
}

template <int limbs>
constexpr auto adds = table_over<detail::weight_types>([]<class W>() { return &add<limbs, W>; });
template <int limbs>
constexpr auto rounds =
    table_over<detail::weight_types>([]<class C>() { return &round<limbs, C>; });

}  // namespace

constexpr implementation this_target = {
    set_of(HWY_TARGET), {{adds<1>, adds<2>, adds<4>}, {rounds<1>, rounds<2>, rounds<4>}}};

}  // namespace HWY_NAMESPACE
}  // namespace tally::backends::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "backends/simd/vectors/implementations-inl.hpp"

namespace tally::backends::simd {

const counting::limb_kernels& counting::limb_kernels_of(instruction_set set) {
  return implementation_of(set).kernels;
}

}  // namespace tally::backends::simd
#endif
