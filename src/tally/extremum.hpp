// The smallest and the largest element of a vector, each with its index: min, max, minmax; and
// iamax, the index of the element of largest magnitude.
//
// Promise: value and index depend on the elements and their order alone; they are the same on every
// executor, for any number of threads, any stride and alignment, and in every run:
// - of equal elements the one with the lowest index is meant;
// - -0 and +0 are equal, and the value has the bits of the element that is meant;
// - if any element is a NaN, the index is that of the first one and the value the positive quiet
//   NaN with an empty payload (NumPy's rule). A complex element with a NaN in either part is one.
// docs/numerics.md says it in full.
#pragma once

#include <tally/call_options.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace tally {

/// What lies between a short value and an index beside it.
template <std::size_t n>
struct zero_bytes {
  unsigned char bytes[n];  ///< all 0
};
/// Nothing.
template <>
struct zero_bytes<0> {};

/// An element and where it is, counted from 0. `auto [value, index] = tally::max(x)` takes it
/// apart.
///
/// A result is 16 bytes for every type, and all of them are defined, so it may be compared, hashed
/// or sent as bytes.
template <class T>
struct extremum {
  T value;                                                ///< the element
  [[no_unique_address]] zero_bytes<8 - sizeof(T)> zeros;  ///< so that no byte is undefined
  std::int64_t index;                                     ///< where it is, counted from 0

  extremum() = default;
  /// An element and its place.
  TALLY_HOST_DEVICE constexpr extremum(T element, std::int64_t place)
      : value(element), zeros(), index(place) {}

  /// The value (0) or the index (1), for structured bindings.
  template <std::size_t i>
  TALLY_HOST_DEVICE constexpr auto get() const {
    if constexpr (i == 0) {
      return value;
    } else {
      return index;
    }
  }

  /// Equal values at the same place.
  friend bool operator==(const extremum& a, const extremum& b) {
    return a.value == b.value && a.index == b.index;
  }
};

/// Both ends.
template <class T>
struct extrema {
  extremum<T> min;  ///< the smallest element
  extremum<T> max;  ///< the largest

  /// Whether both ends are equal.
  friend bool operator==(const extrema&, const extrema&) = default;
};

/// Which element is looked for.
enum class extreme : std::uint8_t { min, max, minmax, iamax };

/// What one search is asked for, its types erased. `result` points at an `extremum` (min, max) or
/// `extrema` (minmax) of the elements' type, 16 and 32 bytes for all of them, or at an
/// `std::int64_t` (iamax).
struct extremum_arguments {
  operand x;                    ///< the vector
  extreme what = extreme::min;  ///< which element
  void* result = nullptr;       ///< see above
  call_options options = {};    ///< the grade does not matter: a search does not round
};

/// A search with its types erased: what the templates below call, for bindings.
/// @throws error, see `min` and `iamax`.
TALLY_EXPORT void find_extremum(const executor& where, const extremum_arguments& arguments);

/// An element type that has an order: all but the complex ones.
template <class V>
concept ordered_operand = vector_operand<V> && !is_complex_v<element_t<V>>;

namespace extremes {

/// The form that returns a value, its types erased.
template <extreme what, class R, class X>
R returned(const executor& where, const X& x) {
  R result;
  find_extremum(where, {as_operand(x), what, &result});
  return result;
}

/// The form that writes it.
template <extreme what, class X, class P>
void written(const char* function, const executor& where, const X& x, P& result) {
  find_extremum(where, {as_operand(x), what, results::first(function, result), {.wait = false}});
}

}  // namespace extremes

/// The smallest element, and the lowest index that it has.
///
/// @param where  the executor.
/// @param x      a vector of at least one element of any of the element types but the complex ones:
///               a contiguous range, a `tally::strided`, or a rank-1 `Kokkos::View`.
/// @return       value and index. Blocks until they are there.
/// @throws error no_elements if x is empty; null_pointer, zero_increment, misaligned; wrong_memory
///               if the executor can't read x (a device pointer given to a CPU backend or the
///               reverse, in a process that uses CUDA); device_failure.
template <ordered_operand X>
extremum<element_t<X>>(min)(const executor& where, const X& x) {
  return extremes::returned<extreme::min, extremum<element_t<X>>>(where, x);
}

/// As above, on `automatic()`.
template <ordered_operand X>
extremum<element_t<X>>(min)(const X& x) {
  return (min)(automatic(), x);
}

/// The same, written to the result. Doesn't block: on a device the call returns once the work is
/// queued on the executor's stream, and may be captured in a graph, as the same form of `dot`.
/// @param result a pointer, or memory for one (`result_place`), where the executor can write: host
///               memory for the CPU backends; device, managed or pinned host memory for CUDA.
/// @throws error as above, and wrong_memory, null_pointer, misaligned or size_mismatch for
///               `result`; overlap, if it shares memory with x.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> R>
void(min)(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::min>("tally::min", where, x, result);
}

/// The largest element, and the lowest index that it has. Parameters and errors as for `min`.
template <ordered_operand X>
extremum<element_t<X>>(max)(const executor& where, const X& x) {
  return extremes::returned<extreme::max, extremum<element_t<X>>>(where, x);
}

/// As above, on `automatic()`.
template <ordered_operand X>
extremum<element_t<X>>(max)(const X& x) {
  return (max)(automatic(), x);
}

/// The same, written to the result; doesn't block, as the same form of `min`.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> R>
void(max)(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::max>("tally::max", where, x, result);
}

/// `min` and `max` at once, in one pass. Parameters and errors as for `min`.
template <ordered_operand X>
extrema<element_t<X>> minmax(const executor& where, const X& x) {
  return extremes::returned<extreme::minmax, extrema<element_t<X>>>(where, x);
}

/// As above, on `automatic()`.
template <ordered_operand X>
extrema<element_t<X>> minmax(const X& x) {
  return minmax(automatic(), x);
}

/// The same, written to the result; doesn't block, as the same form of `min`.
template <ordered_operand X, result_place_of<extrema<element_t<X>>> R>
void minmax(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::minmax>("tally::minmax", where, x, result);
}

/// The lowest index of the element of largest magnitude, counted from 0; -1 if there is none (BLAS
/// counts from 1, and returns 0). The magnitude is |x_i|, of complex elements BLAS's |re| + |im|,
/// added in the type of the parts; of the least integer it is exact as well. Any element type;
/// errors as for `min`, except that x may be empty.
template <vector_operand X>
std::int64_t iamax(const executor& where, const X& x) {
  return extremes::returned<extreme::iamax, std::int64_t>(where, x);
}

/// As above, on `automatic()`.
template <vector_operand X>
std::int64_t iamax(const X& x) {
  return iamax(automatic(), x);
}

/// The same, written to the result; doesn't block, as the same form of `min`.
template <vector_operand X, result_place_of<std::int64_t> R>
void iamax(const executor& where, const X& x, R&& result) {
  extremes::written<extreme::iamax>("tally::iamax", where, x, result);
}

// --- What is no operand ---------------------------------------------------------------------------

namespace extremes {

using vector = refusals::arguments<refusals::vector>;

}  // namespace extremes

/// Says what is no operand.
template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto(min)(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto(min)(...) {
  static_assert(refusals::never<T...>,
                "min takes an executor or none and a vector of numbers that are not complex; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto(max)(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto(max)(...) {
  static_assert(refusals::never<T...>,
                "max takes an executor or none and a vector of numbers that are not complex; a "
                "result, a pointer or memory of the type returned, comes after it and only where "
                "an executor comes first");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto minmax(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto minmax(...) {
  static_assert(refusals::never<T...>,
                "minmax takes an executor or none and a vector of numbers that are not complex; "
                "a result, a pointer or memory of the type returned, comes after it and only "
                "where an executor comes first");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<extremes::vector, T...>
auto iamax(const T&...) {
  return refusals::refuse<extremes::vector, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto iamax(...) {
  static_assert(refusals::never<T...>,
                "iamax takes an executor or none and a vector; a result, a pointer or memory of "
                "a std::int64_t, comes after it and only where an executor comes first");
  return 0.0;
}

}  // namespace tally

// For structured bindings.
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
