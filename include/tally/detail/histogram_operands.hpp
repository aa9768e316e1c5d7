// Operands and options of histograms.
#pragma once

#include <tally/detail/arguments.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Samples of one channel outside all bins.
struct outside_counts {
  std::int64_t below = 0;  ///< less than the first edge
  std::int64_t above = 0;  ///< greater than the last edge
  std::int64_t nan = 0;    ///< NaNs

  /// Memberwise equality.
  friend bool operator==(const outside_counts&, const outside_counts&) = default;
};

/// Options of a histogram.
struct histogram_options {
  /// Add to counts (sums, `outside`), not overwrite.
  bool add = false;
  /// Number of interleaved histograms.
  std::size_t channels = 1;
  /// One per channel, where the executor can write; or null.
  outside_counts* outside = nullptr;
};

namespace detail {

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

}  // namespace detail

/// Writable 32- or 64-bit integers, signed or not (such as std::size_t).
template <class V>
concept counts_output =
    detail::vector<std::remove_cvref_t<V>> && detail::count<detail::value_t<V>> && requires(V& v) {
      { detail::address(v) } -> std::convertible_to<void*>;
    };

namespace detail {

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
inline constexpr wrong wrong_keys = unless(key_operand<X>, wrong::keys_are_a_vector_of_integers);

template <class X>
inline constexpr wrong wrong_samples =
    first_wrong<unless(!unsigned_integers<X>,
                       wrong::samples_are_no_unsigned_integers_of_32_or_64_bits),
                wrong_real_vector<X>>;

template <class... T>
inline constexpr wrong wrong_bounds =
    unless((... && real_number<T>), wrong::lower_and_upper_are_real_numbers);

template <class E>
inline constexpr wrong wrong_edges =
    unless(edge_operand<E>, wrong::edges_are_a_vector_of_real_numbers);

template <class C>
inline constexpr wrong wrong_counts =
    unless(counts_output<C>, wrong::counts_are_a_vector_of_integers_of_32_or_64_bits);

template <class W, class C>
inline constexpr wrong wrong_weights =
    unless(weight_operand<W> && (weight_output<C> || is_added<std::remove_cvref_t<C>>),
           wrong::weights_and_their_sums_are_float_or_double);

struct bincount_call : call<histogram_options> {
  template <class X, class C>
  static consteval wrong of() {
    return first_wrong<wrong_keys<X>, wrong_counts<C>>;
  }
  template <class X, class W, class C>
  static consteval wrong of() {
    return first_wrong<wrong_keys<X>, wrong_weights<W, C>>;
  }
};
struct histogram_even_call : call<histogram_options> {
  template <class X, class L, class U, class C>
  static consteval wrong of() {
    return first_wrong<wrong_samples<X>, wrong_bounds<L, U>, wrong_counts<C>>;
  }
  template <class X, class W, class L, class U, class C>
  static consteval wrong of() {
    return first_wrong<wrong_samples<X>, wrong_bounds<L, U>, wrong_weights<W, C>>;
  }
};
struct histogram_range_call : call<histogram_options> {
  template <class X, class E, class C>
  static consteval wrong of() {
    return first_wrong<wrong_samples<X>, wrong_edges<E>, wrong_counts<C>>;
  }
  template <class X, class W, class E, class C>
  static consteval wrong of() {
    return first_wrong<wrong_samples<X>, wrong_edges<E>, wrong_weights<W, C>>;
  }
};

}  // namespace detail

}  // namespace tally
