// Operands: what the functions of Tally take as a vector.
#pragma once

#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>

namespace tally {

/// A vector of `size` elements of one type, its type erased. Element i is `increment * i` elements
/// away from `data`, which points at element 0. It owns nothing. Every function refuses more than
/// 2^48 elements, also times the increment, as errc::invalid_argument: no memory holds them.
struct operand {
  const void* data = nullptr;    ///< element 0
  std::size_t size = 0;          ///< elements
  std::ptrdiff_t increment = 1;  ///< elements from one to the next
  type element = type::float64;  ///< the type of all

  /// Elements [first, first + count).
  operand slice(std::size_t first, std::size_t count) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(first) * increment *
                       static_cast<std::ptrdiff_t>(size_of(element));
    return {static_cast<const char*>(data) + bytes, count, increment, element};
  }
};

/// The operand of the BLAS triple (n, pointer, increment): `lowest` is the lowest address whatever
/// the increment's sign, so a negative one walks the same memory backwards.
inline operand blas_operand(const void* lowest, std::size_t n, std::ptrdiff_t increment,
                            type element, std::size_t element_size) noexcept {
  if (increment >= 0 || n == 0 || lowest == nullptr) return {lowest, n, increment, element};
  // Modulo 2^64: nobody has checked yet whether there can be such a vector.
  const std::uintptr_t last = (n - 1) * (0 - static_cast<std::uintptr_t>(increment));
  return {
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(lowest) + last * element_size),
      n, increment, element};
}

/// A vector that is written, its type erased; otherwise like `operand`.
struct output_operand {
  void* data = nullptr;          ///< element 0
  std::size_t size = 0;          ///< elements
  std::ptrdiff_t increment = 1;  ///< elements from one to the next
  type element = type::float64;  ///< the type of all

  /// The same vector, to be read.
  operator operand() const noexcept { return {data, size, increment, element}; }

  /// Elements [first, first + count).
  output_operand slice(std::size_t first, std::size_t count) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(first) * increment *
                       static_cast<std::ptrdiff_t>(size_of(element));
    return {static_cast<char*>(data) + bytes, count, increment, element};
  }
};

/// Where a result goes, its type erased.
struct output {
  void* data = nullptr;          ///< one number, or the words of its exact sum
  type element = type::float64;  ///< its type; of words the type of the sum, as `exact_words` says
  /// Whether the exact sum is added to words (<tally/exact_words.hpp>) instead of being rounded.
  bool words = false;
};

/// A vector of every `increment`-th element; of `const T` one that is only read. Made by
/// `tally::strided`.
template <class T>
struct strided_view {
  T* pointer = nullptr;          ///< the lowest address
  std::size_t size = 0;          ///< elements
  std::ptrdiff_t increment = 1;  ///< elements from one to the next; negative: backwards
};

/// The BLAS vector (n, pointer, increment). As in BLAS, `pointer` is the lowest address whatever
/// the sign: element i is `pointer[i * increment]`, and with a negative increment
/// `pointer[(i - (n - 1)) * increment]`, the same memory walked backwards.
template <class T>
constexpr strided_view<T> strided(T* pointer, std::size_t n,
                                  std::ptrdiff_t increment = 1) noexcept {
  return {pointer, n, increment};
}

namespace operands {

template <class V>
concept contiguous = std::ranges::contiguous_range<const V> && std::ranges::sized_range<const V>;

/// A `Kokkos::View` of so many dimensions, known by its shape, so that no header of Kokkos is
/// needed here.
template <class V, int rank>
concept kokkos_view_of_rank = !contiguous<V> && requires(const V& v) {
  typename V::value_type;
  { v.data() } -> std::convertible_to<const void*>;
  requires V::rank == rank;
};
/// A `std::mdspan` of so many, whose elements are in memory as its accessor gives them.
template <class V, int rank>
concept mdspan_of_rank = requires(const V& v) {
  typename V::value_type;
  { v.data_handle() } -> std::convertible_to<typename V::element_type*>;
  requires std::same_as<typename V::reference, typename V::element_type&>;
  requires V::rank() == rank;
  requires V::is_always_strided();
};
template <class V, int rank>
concept view_of_rank = (kokkos_view_of_rank<V, rank> || mdspan_of_rank<V, rank>) &&
                       (rank == 0 || requires(const V& v) {
                         { v.extent(0) } -> std::convertible_to<std::size_t>;
                         { v.stride(0) } -> std::convertible_to<std::ptrdiff_t>;
                       });
template <class V>
concept view = view_of_rank<V, 1>;
template <class V>
concept matrix_view = view_of_rank<V, 2> && requires(const V& v) {
  { v.extent(1) } -> std::convertible_to<std::size_t>;
  { v.stride(1) } -> std::convertible_to<std::ptrdiff_t>;
};

/// A vector, map, row, column or segment of Eigen's, known by its shape; no matrix and no
/// expression.
template <class V>
concept eigen_vector = !contiguous<V> && requires(const V& v) {
  requires bool(V::IsVectorAtCompileTime);
  requires std::is_pointer_v<decltype(v.data())>;
  { v.size() } -> std::convertible_to<std::ptrdiff_t>;
  { v.innerStride() } -> std::convertible_to<std::ptrdiff_t>;
};

/// Memory with an address and a length that is no range, as classes for device memory are. One that
/// has strides, too, is left out: its elements may lie apart.
template <class V>
concept sized_memory =
    !std::ranges::range<const V> && !view_of_rank<V, 0> && !view<V> && !view_of_rank<V, 2> &&
    requires(const V& v) {
      { v.size() } -> std::convertible_to<std::size_t>;
      requires std::is_pointer_v<decltype(v.data())>;
    } && !requires(const V& v) { v.innerStride(); } && !requires(const V& v) { v.strides(); } &&
    !requires(const V& v) { v.stride(0); };

template <class V>
struct value {};
template <contiguous V>
struct value<V> {
  using type = std::ranges::range_value_t<const V>;
};
template <view V>
struct value<V> {
  using type = std::remove_cv_t<typename V::value_type>;
};
template <class V>
  requires sized_memory<V> || eigen_vector<V>
struct value<V> {
  using type = std::remove_cv_t<std::remove_pointer_t<decltype(std::declval<const V&>().data())>>;
};
template <class T>
struct value<strided_view<T>> {
  using type = std::remove_cv_t<T>;
};

/// Where the elements of a vector are.
template <class V>
auto* address(V& v) {
  if constexpr (contiguous<V>) {
    return std::ranges::data(v);
  } else if constexpr (requires { v.data(); }) {
    return v.data();
  } else if constexpr (requires { v.data_handle(); }) {
    return v.data_handle();
  } else {
    return v.pointer;
  }
}

template <class V>
using value_t = typename value<V>::type;

/// A vector of whatever type: a contiguous range (vector, span, array), anything else that has
/// `data()` and `size()` and no strides, a `tally::strided`, a rank-1 `Kokkos::View` or mdspan, or
/// a vector of Eigen's.
template <class V>
concept vector = requires { typename value<V>::type; };

/// A vector, its elements taken for those of a type of their size.
template <vector V>
operand as_elements(const V& v, type element) noexcept {
  if constexpr (contiguous<V>) {
    return {std::ranges::data(v), static_cast<std::size_t>(std::ranges::size(v)), 1, element};
  } else if constexpr (view<V>) {
    return {address(v), static_cast<std::size_t>(v.extent(0)),
            static_cast<std::ptrdiff_t>(v.stride(0)), element};
  } else if constexpr (eigen_vector<V>) {
    return {v.data(), static_cast<std::size_t>(v.size()), v.innerStride(), element};
  } else if constexpr (sized_memory<V>) {
    return {v.data(), static_cast<std::size_t>(v.size()), 1, element};
  } else {
    return blas_operand(v.pointer, v.size, v.increment, element, sizeof(value_t<V>));
  }
}

}  // namespace operands

/// `V` can be an operand: a contiguous range (vector, span, array), anything else that has `data()`
/// and `size()` and no strides, a `tally::strided`, a rank-1 `Kokkos::View` or `std::mdspan`, or a
/// vector, map, row or column of Eigen's, of one of the element types. (`std::vector<bool>` packs
/// bits and is none. A pointer and a length are `std::span(p, n)`, or `tally::strided(p, n)`.)
template <class V>
concept vector_operand = operands::vector<V> && element<operands::value_t<V>>;

/// `V`, perhaps a reference, is an operand whose elements can be written: a vector or array that is
/// not const, a span of elements that are not, a `tally::strided` of a pointer to such, a
/// `Kokkos::View` of them.
template <class V>
concept vector_output = vector_operand<std::remove_cvref_t<V>> && requires(V& v) {
  { operands::address(v) } -> std::convertible_to<void*>;
};

/// The element type of an operand, as one of `element_types`.
template <vector_operand V>
using element_t = element_of_t<typename operands::value<V>::type>;

/// A vector with its type erased.
template <vector_operand V>
operand as_operand(const V& v) noexcept {
  return operands::as_elements(v, type_of<element_t<V>>);
}

/// A vector that is written with its type erased.
template <vector_output V>
output_operand as_output(V& v) noexcept {
  const operand all = as_operand(v);
  return {const_cast<void*>(all.data), all.size, all.increment, all.element};
}

}  // namespace tally
