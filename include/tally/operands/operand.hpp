// Operands: the vectors of Tally's functions.
#pragma once

#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>  // with the concepts of std::ranges; <ranges> has its views, which take longer
#include <type_traits>
#include <utility>

namespace tally {

/// A vector of `size` elements, its type erased; element i is `increment*i` elements from `data`.
/// Not owned. More than 2^48 elements, also times the increment, are errc::invalid_argument.
struct operand {
  const void* data = nullptr;    ///< element 0
  std::size_t size = 0;          ///< number of elements
  std::ptrdiff_t increment = 1;  ///< elements between neighbours
  type element = type::float64;  ///< element type

  /// Elements [first, first + count).
  operand slice(std::size_t first, std::size_t count) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(first) * increment *
                       static_cast<std::ptrdiff_t>(size_of(element));
    return {static_cast<const char*>(data) + bytes, count, increment, element};
  }
};

/// The operand of a BLAS triple, see `strided`.
inline operand blas_operand(const void* lowest, std::size_t n, std::ptrdiff_t increment,
                            type element, std::size_t element_size) noexcept {
  if (increment >= 0 || n == 0 || lowest == nullptr) return {lowest, n, increment, element};
  // Modulo 2^64: the size is unchecked.
  const std::uintptr_t last = (n - 1) * (0 - static_cast<std::uintptr_t>(increment));
  return {
      reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(lowest) + last * element_size),
      n, increment, element};
}

/// A vector that is written, otherwise like `operand`.
struct output_operand {
  void* data = nullptr;          ///< element 0
  std::size_t size = 0;          ///< number of elements
  std::ptrdiff_t increment = 1;  ///< elements between neighbours
  type element = type::float64;  ///< element type

  /// The same vector, to be read.
  operator operand() const noexcept { return {data, size, increment, element}; }

  /// Elements [first, first + count).
  output_operand slice(std::size_t first, std::size_t count) const noexcept {
    const auto bytes = static_cast<std::ptrdiff_t>(first) * increment *
                       static_cast<std::ptrdiff_t>(size_of(element));
    return {static_cast<char*>(data) + bytes, count, increment, element};
  }
};

/// Destination of a result, its type erased.
struct output {
  void* data = nullptr;          ///< one number, or the limbs of an exact sum
  type element = type::float64;  ///< type of the number, or of the sum (`exact_words`)
  /// Whether the exact sum is added to limbs (<tally/numerics/exact_words.hpp>), not rounded.
  bool words = false;
};

/// Every `increment`-th element of memory, by `tally::strided`.
template <class T>
struct strided_view {
  T* pointer = nullptr;          ///< lowest address
  std::size_t size = 0;          ///< number of elements
  std::ptrdiff_t increment = 1;  ///< elements between neighbours; negative: backwards
};

/// The BLAS vector (n, pointer, increment). `pointer` is the lowest address whatever the sign:
/// element i is `pointer[i*increment]`, with a negative increment `pointer[(i - (n - 1)) *
/// increment]`.
template <class T>
constexpr strided_view<T> strided(T* pointer, std::size_t n,
                                  std::ptrdiff_t increment = 1) noexcept {
  return {pointer, n, increment};
}

namespace detail {

template <class V>
concept contiguous = std::ranges::contiguous_range<const V> && std::ranges::sized_range<const V>;

/// A `Kokkos::View` whose elements are accessed by atomics, which Tally would not do.
template <class V>
concept atomic_view = requires { requires bool(V::memory_traits::is_atomic); };

/// A `Kokkos::View` of that rank, known by shape, without Kokkos's headers.
template <class V, int rank>
concept kokkos_view_of_rank = !contiguous<V> && !atomic_view<V> && requires(const V& v) {
  typename V::value_type;
  { v.data() } -> std::convertible_to<const void*>;
  requires V::rank == rank;
};
/// A `std::mdspan` of that rank in plain memory.
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
template <class V>
concept blocks_view = view_of_rank<V, 3> && requires(const V& v) {
  { v.extent(2) } -> std::convertible_to<std::size_t>;
  { v.stride(2) } -> std::convertible_to<std::ptrdiff_t>;
};

/// A vector, map, row, column or segment of Eigen's, known by shape.
template <class V>
concept eigen_vector = !contiguous<V> && requires(const V& v) {
  requires bool(V::IsVectorAtCompileTime);
  requires std::is_pointer_v<decltype(v.data())>;
  { v.size() } -> std::convertible_to<std::ptrdiff_t>;
  { v.innerStride() } -> std::convertible_to<std::ptrdiff_t>;
};

/// Memory with address and length, no range (classes for device memory). Not with strides.
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

/// Address of a vector's elements.
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
using value_t = typename value<std::remove_cvref_t<V>>::type;

/// A vector of any type: see `vector_operand`.
template <class V>
concept vector = requires { typename value_t<V>; };

/// A vector, as elements of a type of equal size.
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

}  // namespace detail

/// An operand: a contiguous range (vector, span, array), anything else with `data()` and `size()`
/// and no strides, a `tally::strided`, a rank-1 `Kokkos::View` or `std::mdspan`, or an Eigen
/// vector, map, row or column, of an element type. (Not `std::vector<bool>`, nor a View of
/// `MemoryTraits<Atomic>`. For a pointer `std::span(p, n)`.)
template <class V>
concept vector_operand = detail::vector<V> && element<detail::value_t<V>>;

/// An operand, maybe a reference, with writable elements.
template <class V>
concept vector_output = vector_operand<V> && requires(V& v) {
  { detail::address(v) } -> std::convertible_to<void*>;
};

/// Element type of an operand, one of `element_types`.
template <vector_operand V>
using element_t = element_of_t<detail::value_t<V>>;

/// An operand with its type erased.
template <vector_operand V>
operand as_operand(const V& v) noexcept {
  return detail::as_elements(v, type_of<element_t<V>>);
}

/// A written operand with its type erased.
template <vector_output V>
output_operand as_output(V& v) noexcept {
  const operand all = as_operand(v);
  return {const_cast<void*>(all.data), all.size, all.increment, all.element};
}

}  // namespace tally
