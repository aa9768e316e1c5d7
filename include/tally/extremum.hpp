// Smallest and largest element with their indices: min, max, minmax; index of the element of
// largest magnitude: iamax.
//
// Promise: value and index depend on the elements and their order only:
// - of equal elements, the lowest index;
// - -0 and +0 are equal; the value has the bits of the element found;
// - if there is a NaN, the first one's index, and the positive quiet NaN with an empty payload
//   (NumPy's rule). A complex NaN has one in either part.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/detail/refusal.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace tally {

/// Padding after a short value.
template <std::size_t n>
struct zero_bytes {
  unsigned char bytes[n];  ///< all 0
};
/// Empty.
template <>
struct zero_bytes<0> {};

/// An element and its index, from 0: `auto [value, index] = tally::max(x)`. 16 defined bytes for
/// every type.
template <class T>
struct extremum {
  T value;                                                ///< the element
  [[no_unique_address]] zero_bytes<8 - sizeof(T)> zeros;  ///< defined bytes
  std::int64_t index;                                     ///< from 0

  extremum() = default;
  /// An element and its index.
  TALLY_HOST_DEVICE constexpr extremum(T element, std::int64_t place)
      : value(element), zeros(), index(place) {}

  /// Returns a member, for structured bindings.
  template <std::size_t i>
  TALLY_HOST_DEVICE constexpr auto get() const {
    if constexpr (i == 0) {
      return value;
    } else {
      return index;
    }
  }

  /// Equal values at equal indices.
  friend bool operator==(const extremum& a, const extremum& b) {
    return a.value == b.value && a.index == b.index;
  }
};

/// Both extrema.
template <class T>
struct extrema {
  extremum<T> min;  ///< the smallest element
  extremum<T> max;  ///< the largest element

  /// Memberwise equality.
  friend bool operator==(const extrema&, const extrema&) = default;
};

/// The searches.
enum class extreme : std::uint8_t { min, max, minmax, iamax };

/// Arguments with types erased. `result` points at an `extremum`, `extrema` (minmax) or
/// `std::int64_t` (iamax).
struct extremum_arguments {
  operand x;                    ///< the vector
  extreme what = extreme::min;  ///< the search
  void* result = nullptr;       ///< see above
  call_options options = {};    ///< the grade is irrelevant
};

/// The searches with types erased.
/// @throws error as `min` and `iamax`.
TALLY_EXPORT void find_extremum(const executor& where, const extremum_arguments& arguments);

/// An operand that is not complex.
template <class V>
concept ordered_operand = vector_operand<V> && !is_complex_v<element_t<V>>;

namespace extremes {

template <extreme what, class R, class X>
R returned(const executor& where, const X& x) {
  R result;
  if constexpr (what == extreme::iamax && std::floating_point<element_t<X>>) {
    const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px) {
      result = kernels.iamax(px, n);
      return true;
    };
    if (detail::with_level_one<element_t<X>>(where, short_way, x)) return result;
  }
  find_extremum(where, {as_operand(x), what, &result});
  return result;
}

template <extreme what, class X, class P>
void written(const char* function, const executor& where, const X& x, P& result) {
  find_extremum(where, {as_operand(x), what, results::first(function, result), {.wait = false}});
}

}  // namespace extremes

/// The smallest element and its lowest index. Blocks.
///
/// @param x      n > 0 elements, not complex (`ordered_operand`).
/// @throws error no_elements if x is empty; otherwise as `dot`.
template <ordered_operand X>
extremum<element_t<X>>(min)(const executor& where, const X& x) {
  return extremes::returned<extreme::min, extremum<element_t<X>>>(where, x);
}

/// The same on `automatic()`.
template <ordered_operand X>
extremum<element_t<X>>(min)(const X& x) {
  return (min)(automatic(), x);
}

/// The same, into a result. Doesn't block, as `dot`.
/// @param result destination (`result_place`).
/// @throws error as above, also for `result`; overlap with x.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> R>
void(min)(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::min>("tally::min", where, x, result);
}

/// The largest element and its lowest index.
template <ordered_operand X>
extremum<element_t<X>>(max)(const executor& where, const X& x) {
  return extremes::returned<extreme::max, extremum<element_t<X>>>(where, x);
}

/// The same on `automatic()`.
template <ordered_operand X>
extremum<element_t<X>>(max)(const X& x) {
  return (max)(automatic(), x);
}

/// Into a result. Doesn't block.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> R>
void(max)(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::max>("tally::max", where, x, result);
}

/// `min` and `max` in one pass.
template <ordered_operand X>
extrema<element_t<X>> minmax(const executor& where, const X& x) {
  return extremes::returned<extreme::minmax, extrema<element_t<X>>>(where, x);
}

/// The same on `automatic()`.
template <ordered_operand X>
extrema<element_t<X>> minmax(const X& x) {
  return minmax(automatic(), x);
}

/// Into a result. Doesn't block.
template <ordered_operand X, result_place_of<extrema<element_t<X>>> R>
void minmax(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::minmax>("tally::minmax", where, x, result);
}

/// The lowest index, from 0, of the element of largest magnitude; -1 if x is empty (BLAS: from 1,
/// and 0). The magnitude is |x_i|, exact even for the least integer; complex BLAS's |re| + |im|,
/// added in the parts' type.
template <vector_operand X>
std::int64_t iamax(const executor& where, const X& x) {
  return extremes::returned<extreme::iamax, std::int64_t>(where, x);
}

/// The same on `automatic()`.
template <vector_operand X>
std::int64_t iamax(const X& x) {
  return iamax(automatic(), x);
}

/// Into a result. Doesn't block.
template <vector_operand X, result_place_of<std::int64_t> R>
void iamax(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::iamax>("tally::iamax", where, x, result);
}

// --- Compile errors ------------------------------------------------------------------------------
// @cond

namespace extremes {

using vector = refusals::arguments<refusals::vector>;

}  // namespace extremes

template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto(min)(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

template <class... T>
auto(min)(...) {
  static_assert(refusals::never<T...>,
                "min takes an executor or none and a vector of numbers that are not complex; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first");
  return 0.0;
}

template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto(max)(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

template <class... T>
auto(max)(...) {
  static_assert(refusals::never<T...>,
                "max takes an executor or none and a vector of numbers that are not complex; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first");
  return 0.0;
}

template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto minmax(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

template <class... T>
auto minmax(...) {
  static_assert(refusals::never<T...>,
                "minmax takes an executor or none and a vector of numbers that are not complex; "
                "a result, a pointer or memory of the type returned, comes after it and only "
                "where an executor comes first");
  return 0.0;
}

template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto iamax(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

template <class... T>
auto iamax(...) {
  static_assert(refusals::never<T...>,
                "iamax takes an executor or none and a vector; a result, a pointer or memory of "
                "a std::int64_t, comes after it and only where an executor comes first");
  return 0.0;
}

// @endcond
}  // namespace tally

/// @cond structured_bindings
template <class T>
struct std::tuple_size<tally::extremum<T>> : std::integral_constant<std::size_t, 2> {};
template <class T>
struct std::tuple_element<0, tally::extremum<T>> {
  using type = T;
};
template <class T>
struct std::tuple_element<1, tally::extremum<T>> {
  using type = std::int64_t;
};
/// @endcond
