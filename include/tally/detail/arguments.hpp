// Checks of a call's arguments at compile time: a sentence about what is wrong.
//
// A public function has a template per form that begins with an executor, unconstrained but checked
// inside, and one for all other arguments: the form on `automatic()`, or a sentence. Return types
// are deduced, so the sentence is the first error. Trap: `requires { tally::dot(x, y); }` is then
// an error, not false; test `vector_operand` and the other concepts instead. (A deleted function is
// both, but has a message only from C++26 on.) Where `automatic()` has no form the sentence's
// parameter is an ellipsis, the worst match: functions of that name in other namespaces come first.
#pragma once

#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

namespace tally::detail {

template <class...>
inline constexpr bool never = false;

template <class... T>
inline constexpr bool is_placed = false;
template <class First, class... T>
inline constexpr bool is_placed<First, T...> =
    std::same_as<std::remove_cvref_t<First>, executor> || kokkos_space<std::remove_cvref_t<First>>;

/// An executor, or what stands for one, and `least` to `most` arguments: a call of a form that
/// begins with an executor.
template <std::size_t least, std::size_t most, class... T>
concept on_executor = is_placed<T...> && sizeof...(T) > least && sizeof...(T) <= most + 1;

/// An executor and a function's arguments with types erased.
template <class Arguments, class... T>
concept erased_call = sizeof...(T) == 2 && is_placed<T...> &&
                      (... || std::same_as<std::remove_cvref_t<T>, Arguments>);

/// `n` arguments, the first no executor, and maybe an `Option`, unless void, after them.
template <std::size_t n, class Option, class... T>
inline constexpr bool is_call = [] {
  if constexpr (is_placed<T...> || (sizeof...(T) != n && sizeof...(T) != n + 1)) {
    return false;
  } else if constexpr (sizeof...(T) == n) {
    return true;
  } else {
    return std::is_convertible_v<std::tuple_element_t<n, std::tuple<T...>>, Option>;
  }
}();

/// `call` on `automatic()`, if the arguments are valid, which has been asserted.
template <bool valid, class Call>
auto on_automatic(const Call& call) {
  if constexpr (valid) {
    return call(automatic());
  } else {
    return 0.0;  // its use is no second error
  }
}

template <class V>
constexpr bool is_vector() {
  constexpr bool valid = vector_operand<V>;  // GCC explains a concept at length
  static_assert(
      valid,
      "an operand is memory with data() and size() (std::vector, std::span, an array; of a pointer "
      "std::span(p, n)), a tally::strided(p, n, increment), a rank-1 Kokkos::View or std::mdspan, "
      "or a vector, map, row or column of Eigen's (of an expression its eval(), of a matrix its "
      "reshaped()), and its elements are bool (but not std::vector<bool>, which packs bits), "
      "std::int8_t, std::uint8_t, std::int32_t, std::int64_t, tally::float16, tally::bfloat16, "
      "float, double or std::complex of float or double");
  return valid;
}

/// Pre: V as deduced from a forwarding reference.
template <class V>
constexpr bool is_output() {
  if constexpr (is_vector<std::remove_cvref_t<V>>()) {
    static_assert(vector_output<V>,
                  "an operand that is written is not const, nor are its elements");
  }
  return vector_output<V>;
}

template <class S>
constexpr bool is_factor() {
  static_assert(element<S>,
                "a factor or value is a number of an element type: bool, std::int8_t, "
                "std::uint8_t, std::int32_t, std::int64_t, tally::float16, tally::bfloat16, "
                "float, double or std::complex of float or double");
  return element<S>;
}

/// Arguments that are not all numbers: exp(x) of a half is <cmath>'s, not ours.
template <class... A>
concept has_vectors = !(... && element<std::remove_cvref_t<A>>);

}  // namespace tally::detail
