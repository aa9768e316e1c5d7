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
#include <tally/detail/arguments.hpp>
#include <tally/detail/level_one.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
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

namespace detail {

/// What a search returns for elements of X.
template <extreme what, class X>
using extreme_t = std::conditional_t<
    what == extreme::iamax, std::int64_t,
    std::conditional_t<what == extreme::minmax, extrema<element_t<X>>, extremum<element_t<X>>>>;

template <extreme what>
struct extremum_call : call<> {
  static constexpr bool has_results = true;

  template <class X>
  static consteval wrong of() {
    return what == extreme::iamax ? wrong_vector<X> : wrong_real_vector<X>;
  }
  template <class X>
  static consteval wrong returned() {
    return wrong::nothing;
  }
  template <class P, class X>
  static consteval wrong result() {
    return unless(result_place_of<P&, extreme_t<what, X>>, wrong::a_result_is_of_the_type_returned);
  }
};

template <extreme what, class X>
auto returned_extreme(const executor& where, const X& x) {
  extreme_t<what, X> result{};
  if constexpr (what == extreme::iamax && std::floating_point<element_t<X>>) {
    const auto short_way = [&](const auto& kernels, std::size_t n, const auto* px) {
      result = kernels.iamax(px, n);
      return true;
    };
    if (with_level_one<element_t<X>>(where, short_way, x)) return result;
  }
  find_extremum(where, {as_operand(x), what, &result});
  return result;
}

template <extreme what, class X, class P>
void written_extreme(const char* function, const executor& where, const X& x, P& result) {
  find_extremum(where, {as_operand(x), what, first_result(function, result), {.wait = false}});
}

/// Arguments that are not two values, and perhaps a comparison, for min and max of the standard
/// library.
template <class... T>
concept searches = sizeof...(T) == 1 || (... || (place<T> || vector<std::remove_cvref_t<T>>));

}  // namespace detail

/// The smallest element and its lowest index, an `extremum`. Blocks.
///
/// @param x      n > 0 elements, not complex (`ordered_operand`).
/// @throws error no_elements if x is empty; otherwise as `dot`.
template <class X>
  requires detail::taken<detail::extremum_call<extreme::min>, X>
auto(min)(const executor& where, const X& x) {
  return detail::returned_extreme<extreme::min>(where, x);
}

/// The same, into a result. Doesn't block, as `dot`.
/// @param result destination (`result_place`).
/// @throws error as above, also for `result`; overlap with x.
template <class X, class R>
  requires detail::taken<detail::extremum_call<extreme::min>, X, R>
void(min)(const executor& where, const X& x, R&& result) {
  detail::written_extreme<extreme::min>("tally::min", where, x, result);
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::extremum_call<extreme::min>, T...>
auto(min)(T&&... arguments) {
  return (min)(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T,
          detail::wrong why = detail::wrong_call<detail::extremum_call<extreme::min>, T...>>
  requires detail::searches<T...> && detail::refused<why, T...>
void(min)(T&&...) = delete;  // [where,] x; where, x, result

/// The largest element and its lowest index.
template <class X>
  requires detail::taken<detail::extremum_call<extreme::max>, X>
auto(max)(const executor& where, const X& x) {
  return detail::returned_extreme<extreme::max>(where, x);
}

/// Into a result. Doesn't block.
template <class X, class R>
  requires detail::taken<detail::extremum_call<extreme::max>, X, R>
void(max)(const executor& where, const X& x, R&& result) {
  detail::written_extreme<extreme::max>("tally::max", where, x, result);
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::extremum_call<extreme::max>, T...>
auto(max)(T&&... arguments) {
  return (max)(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T,
          detail::wrong why = detail::wrong_call<detail::extremum_call<extreme::max>, T...>>
  requires detail::searches<T...> && detail::refused<why, T...>
void(max)(T&&...) = delete;  // [where,] x; where, x, result

/// `min` and `max` in one pass: `extrema`.
template <class X>
  requires detail::taken<detail::extremum_call<extreme::minmax>, X>
auto minmax(const executor& where, const X& x) {
  return detail::returned_extreme<extreme::minmax>(where, x);
}

/// Into a result. Doesn't block.
template <class X, class R>
  requires detail::taken<detail::extremum_call<extreme::minmax>, X, R>
void minmax(const executor& where, const X& x, R&& result) {
  detail::written_extreme<extreme::minmax>("tally::minmax", where, x, result);
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::extremum_call<extreme::minmax>, T...>
auto minmax(T&&... arguments) {
  return minmax(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T,
          detail::wrong why = detail::wrong_call<detail::extremum_call<extreme::minmax>, T...>>
  requires detail::searches<T...> && detail::refused<why, T...>
void minmax(T&&...) = delete;  // [where,] x; where, x, result

/// The lowest index, from 0, of the element of largest magnitude, as std::int64_t; -1 if x is empty
/// (BLAS: from 1, and 0). The magnitude is |x_i|, exact even for the least integer; complex BLAS's
/// |re| + |im|, added in the parts' type.
template <class X>
  requires detail::taken<detail::extremum_call<extreme::iamax>, X>
auto iamax(const executor& where, const X& x) {
  return detail::returned_extreme<extreme::iamax>(where, x);
}

/// Into a result. Doesn't block.
template <class X, class R>
  requires detail::taken<detail::extremum_call<extreme::iamax>, X, R>
void iamax(const executor& where, const X& x, R&& result) {
  detail::written_extreme<extreme::iamax>("tally::iamax", where, x, result);
}

/// The returned form on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::extremum_call<extreme::iamax>, T...>
auto iamax(T&&... arguments) {
  return iamax(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T,
          detail::wrong why = detail::wrong_call<detail::extremum_call<extreme::iamax>, T...>>
  requires detail::refused<why, T...>
void iamax(T&&...) = delete;  // [where,] x; where, x, result

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
