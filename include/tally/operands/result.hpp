// Destinations of results, for functions that don't return them.
#pragma once

#include <tally/export.h>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tally {

namespace detail {

/// Declared type at a destination; empty for anything else.
template <class P>
struct result_value {};
template <class T>
struct result_value<T*> {
  using type = T;
};
template <class T>
struct result_value<T* const> {
  using type = T;
};
template <class T, std::size_t n>
struct result_value<T[n]> {
  using type = T;
};
template <class P>
  requires(contiguous<std::remove_const_t<P>> || sized_memory<std::remove_const_t<P>> ||
           view<std::remove_const_t<P>> || view_of_rank<P, 0>)
struct result_value<P> {
  using type = std::remove_pointer_t<decltype(address(std::declval<P&>()))>;
};

template <class P>
using result_value_t = typename result_value<std::remove_reference_t<P>>::type;

/// Throws size_mismatch: `size` elements, `increment` apart, instead of `needed` adjacent ones.
[[noreturn]] TALLY_EXPORT void refuse_result(const char* function, std::size_t size,
                                             std::ptrdiff_t increment, std::size_t needed);

/// Address of the first of `needed` results.
/// @throws error size_mismatch for another number of elements.
template <class P>
result_value_t<P>* first_result(const char* function, P& place, std::size_t needed = 1) {
  using V = std::remove_const_t<P>;
  if constexpr (std::is_pointer_v<V> || std::is_array_v<V>) {
    return place;
  } else {
    if constexpr (!view_of_rank<V, 0>) {
      const operand all = as_elements(place, type::boolean);
      const bool has_gaps = needed > 1 && all.increment != 1;
      if (all.size != needed || has_gaps) {
        refuse_result(function, all.size, all.increment, needed);
      }
    }
    return address(place);
  }
}

}  // namespace detail

/// A destination of results: a pointer to the first (an array is one), or memory of checked size: a
/// contiguous range, anything else with `data()` and `size()`, a gapless rank-1 `Kokkos::View` or
/// `std::mdspan` (rank 0 for one result). Where the executor can write: host memory for the CPU
/// backends; device, managed or pinned host memory for CUDA.
template <class P>
concept result_place = requires {
  typename detail::result_value_t<P>;
} && std::is_object_v<detail::result_value_t<P>> && !std::is_const_v<detail::result_value_t<P>>;

namespace detail {

/// Element type of the results, if any.
template <result_place P>
using result_element_t = element_of_t<result_value_t<P>>;

}  // namespace detail

/// A destination of results of type `T`.
template <class P, class T>
concept result_place_of = result_place<P> && std::same_as<detail::result_element_t<P>, T>;

}  // namespace tally
