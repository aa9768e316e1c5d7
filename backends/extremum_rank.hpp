// How elements compare when an extreme one is looked for, and the way to the result. Shared by all
// backends but kokkos, host and device.
//
// Every search looks for the greatest *score*: of max the element itself, of min its negative, of
// iamax its magnitude. The *rank* of a score is an unsigned integer that orders scores as
// <tally/extremum.hpp> promises: +0 and -0 have the same, and every NaN the greatest.
#pragma once

#include "backends/dot_sum.hpp"
#include "backends/pairs.hpp"

#include <tally/extremum.hpp>
#include <tally/types.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tally::backends {

/// What elements of type `X` are compared as, exactly: float, double, int32 or int64.
template <class X>
using score_t = std::conditional_t<
    std::is_same_v<real_t<X>, double>, double,
    std::conditional_t<std::is_same_v<X, std::int64_t>, std::int64_t,
                       std::conditional_t<std::is_integral_v<X>, std::int32_t, float>>>;

/// The score of a real number. Integers are complemented where others are negated, which orders
/// them alike and can't overflow; the score of an integer's magnitude is |x| - 1.
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

/// Of a complex element, for iamax.
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

/// The element of score that has this rank; of two zeros +0.
template <extreme what, class S>
TALLY_HOST_DEVICE S number_of(rank_t<S> rank) {
  if constexpr (std::is_integral_v<S>) {
    return score<what>(static_cast<S>(rank ^ sign_bit<S>));  // its own inverse, as minus is
  } else {
    if (rank == ~rank_t<S>{}) return quiet_nan<S>;
    if (rank == sign_bit<S>) return 0;
    const bool negative = rank < sign_bit<S>;
    const rank_t<S> bits = negative ? sign_bit<S> - rank : rank - sign_bit<S>;
    S magnitude;
    memcpy(&magnitude, &bits, sizeof magnitude);
    return negative == (what == extreme::max) ? -magnitude : magnitude;
  }
}

/// The best element of a part of the vector.
struct candidate {
  std::uint64_t rank = 0;
  /// Greater where the index is lower, and odd for +0 and all that is not zero: see `place`. Of no
  /// element at all 0, as the rank.
  std::uint64_t precedence = 0;

  static constexpr std::uint64_t last = (std::uint64_t{1} << 63) - 1;

  TALLY_HOST_DEVICE static candidate at(std::uint64_t rank, std::uint64_t index,
                                        bool is_negative_zero) {
    return {rank, (last - index) << 1 | !is_negative_zero};
  }
  TALLY_HOST_DEVICE bool is_negative_zero() const { return (precedence & 1) == 0; }
  /// -1 of no element.
  TALLY_HOST_DEVICE std::int64_t index() const {
    return precedence == 0 ? -1 : static_cast<std::int64_t>(last - (precedence >> 1));
  }

  /// The better one.
  friend TALLY_HOST_DEVICE candidate operator+(const candidate& a, const candidate& b) {
    const bool second = b.rank > a.rank || (b.rank == a.rank && b.precedence > a.precedence);
    return second ? b : a;
  }
};

/// Of all that is looked for: of min alone `max` stays empty, of max and iamax `min`.
struct candidates {
  candidate min, max;

  friend TALLY_HOST_DEVICE candidates operator+(const candidates& a, const candidates& b) {
    return {a.min + b.min, a.max + b.max};
  }
};

template <class T>
TALLY_HOST_DEVICE bool is_negative_zero(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    rank_t<T> bits;
    memcpy(&bits, &number, sizeof bits);
    return bits == sign_bit<T>;
  } else {
    return false;
  }
}

/// An element, on the host.
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
  if constexpr (is_complex_v<X>) {
    return candidate::at(rank_of<what>(x), index, false);
  } else {
    return candidate::at(rank_of<what>(x), index, is_negative_zero(static_cast<score_t<X>>(x)));
  }
}

/// An `extremum` as a plain value of its layout, for code that has none of `T`'s functions.
template <class T>
struct alignas(8) found {
  T value;
  alignas(8) std::int64_t index;
};

/// What the caller is given of elements of type `X`, kept as `T`s.
template <extreme what, class X, class T>
TALLY_HOST_DEVICE found<T> finish(const candidate& best) {
  using S = score_t<X>;
  S number = number_of<what, S>(static_cast<rank_t<S>>(best.rank));
  if (std::is_floating_point_v<S> && number == 0 && best.is_negative_zero()) number = -number;
  return {static_cast<T>(number), best.index()};
}

/// Writes what `a` asks for, on the host.
inline void write_result(const extremum_arguments& a, const candidates& best) {
  if (a.what == extreme::iamax) {
    *static_cast<std::int64_t*>(a.result) = best.max.index();
    return;
  }
  with_element(a.x.element, [&]<class X>() {
    if constexpr (!is_complex_v<X>) {
      auto* result = static_cast<found<X>*>(a.result);
      if (a.what != extreme::max) *result++ = finish<extreme::min, X, X>(best.min);
      if (a.what != extreme::min) *result = finish<extreme::max, X, X>(best.max);
    }
  });
}

}  // namespace tally::backends
