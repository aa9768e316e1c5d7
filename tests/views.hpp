// Classes shaped like Kokkos::View and std::mdspan, without these.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace views {

/// A view of this rank, in any layout.
template <class T, int rank_>
struct view {
  using value_type = T;
  static constexpr int rank = rank_;

  T* pointer = nullptr;
  std::array<std::size_t, 2> extents = {}, strides = {};

  T* data() const { return pointer; }
  std::size_t size() const {
    return rank == 0 ? 1 : rank == 1 ? extents[0] : extents[0] * extents[1];
  }
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};

/// A view like std::mdspan. With another `Reference` the accessor computes elements.
template <class T, int rank_, class Reference = T&>
struct mdspan {
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using reference = Reference;
  static constexpr std::size_t rank() { return rank_; }
  static constexpr bool is_always_strided() { return true; }

  T* pointer = nullptr;
  std::array<std::size_t, 2> extents = {}, strides = {};

  T* const& data_handle() const { return pointer; }
  std::size_t size() const { return 1; }
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};

/// A view of rank 3.
template <class T>
struct blocks : view<T, 3> {
  std::array<std::size_t, 3> extents = {}, strides = {};

  blocks(T* first, std::array<std::size_t, 3> n, std::array<std::size_t, 3> s)
      : view<T, 3>{first}, extents(n), strides(s) {}
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};

template <class T>
view<T, 0> scalar(T* pointer) {
  return {pointer};
}
template <class T>
view<T, 1> vector(T* pointer, std::size_t n, std::size_t stride = 1) {
  return {pointer, {n}, {stride}};
}
/// Kokkos's LayoutRight: contiguous rows.
template <class T>
view<T, 2> right(T* pointer, std::size_t rows, std::size_t columns) {
  return {pointer, {rows, columns}, {columns, 1}};
}
/// Kokkos's LayoutLeft: contiguous columns.
template <class T>
view<T, 2> left(T* pointer, std::size_t rows, std::size_t columns) {
  return {pointer, {rows, columns}, {1, rows}};
}

}  // namespace views
