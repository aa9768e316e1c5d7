// Operands of histograms.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tally::detail {

using count_types = type_list<std::int32_t, std::int64_t>;
using weight_types = type_list<float, double>;

template <class T>
concept count = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> &&
                (sizeof(T) == 4 || sizeof(T) == 8);

template <class T>
constexpr type count_type = sizeof(T) == 4 ? type::int32 : type::int64;

/// Unsigned 32- or 64-bit integers, which are no element types.
template <class V>
concept unsigned_integers = vector<V> && count<value_t<V>> && std::is_unsigned_v<value_t<V>>;

template <class V>
concept key_operand =
    unsigned_integers<V> || (vector_operand<V> && std::is_integral_v<element_t<V>>);
template <class V>
concept sample_operand = vector_operand<V> && !is_complex_v<element_t<V>>;
template <class V>
concept edge_operand = sample_operand<V> || unsigned_integers<V>;
template <class V>
concept weight_operand = vector_operand<V> && std::is_floating_point_v<element_t<V>>;
template <class V>
concept weight_output =
    vector_output<V> && std::is_floating_point_v<element_t<std::remove_cvref_t<V>>>;
template <class T>
concept real_number = element<T> && !is_complex_v<element_of_t<T>>;

template <class V>
output_operand as_counts(V& v) noexcept {
  const operand counts = as_elements(v, count_type<value_t<V>>);
  return {const_cast<void*>(counts.data), counts.size, counts.increment, counts.element};
}

template <class V>
operand as_numbers(const V& v) noexcept {
  if constexpr (unsigned_integers<V>) {
    return as_elements(v, count_type<value_t<V>>);
  } else {
    return as_operand(v);
  }
}

template <class S>
inline constexpr bool is_added = false;
template <class T>
inline constexpr bool is_added<words_of_sums<T>> = true;
template <class T>
inline constexpr bool is_added<added_sums<T>> = true;

template <class X>
constexpr bool is_keys() {
  static_assert(key_operand<X>,
                "keys are a vector (memory with data() and size(), a tally::strided or a rank-1 "
                "Kokkos::View) of bool, std::int8_t, std::uint8_t or integers of 32 or 64 bits, "
                "signed or not");
  return key_operand<X>;
}

template <class X>
constexpr bool is_samples() {
  if constexpr (unsigned_integers<X>) {
    static_assert(!unsigned_integers<X>,
                  "samples in unsigned integers of 32 or 64 bits are not taken: convert them to "
                  "std::int64_t or double");
  } else if constexpr (is_vector<X>()) {
    static_assert(sample_operand<X>, "samples are real numbers");
  }
  return sample_operand<X>;
}

template <class... T>
constexpr bool are_bounds() {
  static_assert((... && real_number<T>), "lower and upper are real numbers");
  return (... && real_number<T>);
}

template <class E>
constexpr bool is_edges() {
  static_assert(edge_operand<E>, "edges are a vector of real numbers");
  return edge_operand<E>;
}

template <class W, class C>
constexpr bool is_weighted() {
  constexpr bool valid =
      weight_operand<W> && (weight_output<C> || is_added<std::remove_cvref_t<C>>);
  static_assert(valid,
                "weights are float or double, and so are their sums, which are not const and hold "
                "them, or tally::add_to of exact sums");
  return valid;
}

}  // namespace tally::detail
