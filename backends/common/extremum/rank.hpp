// Comparison of elements for extrema, and the result; all backends but kokkos, host and device.
//
// Every search finds the greatest *score*: the element for max, its negative for min, its magnitude
// for iamax. Its *rank* is an unsigned integer in the order of <tally/operations/extremum.hpp>: +0
// and -0 equal, NaNs greatest.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/operands/types.hpp>
#include <tally/operations/extremum.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tally::backends {

/// Elements are compared in this type, exactly.
template <class X>
using score_t = std::conditional_t<
    std::is_same_v<real_t<X>, double>, double,
    std::conditional_t<std::is_same_v<X, std::int64_t>, std::int64_t,
                       std::conditional_t<std::is_integral_v<X>, std::int32_t, float>>>;

/// Integers are complemented, not negated: same order, no overflow. Of their magnitude it is |x| -
/// 1.
template <extreme what, class S>
TALLY_HOST_DEVICE S score(S number) {
  if constexpr (what == extreme::max) {
    return number;
  } else if constexpr (what == extreme::min) {
    if constexpr (std::is_integral_v<S>) {
      return ~number;
    } else {
      return -number;
    }
  } else {
    if constexpr (std::is_integral_v<S>) {
      return number < 0 ? ~number : number - 1;
    } else {
      return std::abs(number);
    }
  }
}

/// Only for iamax.
template <class S>
TALLY_HOST_DEVICE S score_of_parts(S re, S im) {
  return std::abs(re) + std::abs(im);
}

template <class S>
using rank_t = std::conditional_t<sizeof(S) == 8, std::uint64_t, std::uint32_t>;

template <class S>
inline constexpr rank_t<S> sign_bit = rank_t<S>{1} << (8 * sizeof(S) - 1);

template <class S>
TALLY_HOST_DEVICE rank_t<S> rank(S score) {
  rank_t<S> bits;
  memcpy(&bits, &score, sizeof bits);
  if constexpr (std::is_integral_v<S>) {
    return bits ^ sign_bit<S>;
  } else {
    if (score != score) return ~rank_t<S>{};
    const rank_t<S> magnitude = bits & ~sign_bit<S>;
    return bits == magnitude ? sign_bit<S> + magnitude : sign_bit<S> - magnitude;
  }
}

/// Zeros are unsigned, all NaNs one.
template <class S>
TALLY_HOST_DEVICE S score_of_rank(rank_t<S> rank) {
  if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(rank ^ sign_bit<S>);
  } else {
    const bool negative = rank < sign_bit<S>;
    const rank_t<S> bits = negative ? sign_bit<S> | (sign_bit<S> - rank) : rank - sign_bit<S>;
    return __builtin_bit_cast(S, bits);
  }
}

/// Best element of a part of the vector, or best part.
struct candidate {
  std::uint64_t rank = 0;
  /// Greater for a lower index; 0 without an element.
  std::uint64_t precedence = 0;

  TALLY_HOST_DEVICE static candidate at(std::uint64_t rank, std::uint64_t place) {
    return {rank, ~place};
  }
  /// Index of the element, or -1.
  TALLY_HOST_DEVICE std::int64_t place() const {
    return precedence == 0 ? -1 : static_cast<std::int64_t>(~precedence);
  }

  friend TALLY_HOST_DEVICE candidate operator+(const candidate& a, const candidate& b) {
    const bool second = b.rank > a.rank || (b.rank == a.rank && b.precedence > a.precedence);
    return second ? b : a;
  }
};

/// min leaves `max` empty; max and iamax leave `min` empty.
struct candidates {
  candidate min, max;

  friend TALLY_HOST_DEVICE candidates operator+(const candidates& a, const candidates& b) {
    return {a.min + b.min, a.max + b.max};
  }
};

template <extreme what, class X>
rank_t<score_t<X>> rank_of(const X& x) {
  using S = score_t<X>;
  if constexpr (is_complex_v<X>) {
    return rank(score_of_parts<S>(x.real(), x.imag()));
  } else {
    return rank(score<what>(static_cast<S>(x)));
  }
}
template <extreme what, class X>
candidate candidate_at(const X& x, std::size_t index) {
  return candidate::at(rank_of<what>(x), index);
}

/// Canonicalises NaN.
template <class X>
TALLY_HOST_DEVICE X as_value(X x) {
  if constexpr (!std::is_integral_v<X>) {
    const auto number = static_cast<score_t<X>>(x);
    if (number != number) return static_cast<X>(quiet_nan<score_t<X>>);
  }
  return x;
}

inline void write_result(const extremum_arguments& a, const candidates& best) {
  if (a.what == extreme::iamax) {
    *static_cast<std::int64_t*>(a.result) = best.max.place();
    return;
  }
  with_type<real_types>(a.x.element, [&]<class X>() {
    auto* result = static_cast<tally::extremum<X>*>(a.result);
    const auto write = [&](const candidate& c) {
      const std::int64_t i = c.place();
      *result++ = {
          as_value<X>(static_cast<const detail::stored_t<X>*>(a.x.data)[i * a.x.increment]), i};
    };
    if (a.what != extreme::max) write(best.min);
    if (a.what != extreme::min) write(best.max);
  });
}

}  // namespace tally::backends
