// Results: where the forms of the functions that don't return their results write them.
#pragma once

#include <tally/export.h>
#include <tally/operand.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace tally {

namespace results {

/// Memory that knows how many elements it has.
template <class V>
concept sized = operands::contiguous<V> || operands::sized_memory<V> || operands::view<V>;

/// What a place holds; the primary template is of none.
template <class P>
struct value {};
template <class T>
struct value<T*> {
  using type = T;
};
template <class T>
struct value<T* const> {
  using type = T;
};
template <class T, std::size_t n>
struct value<T[n]> {
  using type = T;
};
template <class P>
  requires(sized<std::remove_const_t<P>> || operands::view_of_rank<P, 0>)
struct value<P> {
  using type = std::remove_pointer_t<decltype(operands::address(std::declval<P&>()))>;
};

/// The type of what is written there, as it was declared.
template <class P>
using value_t = typename value<std::remove_reference_t<P>>::type;

/// Throws size_mismatch: there are `size` elements, `increment` apart, where `needed` adjacent ones
/// should be.
[[noreturn]] TALLY_EXPORT void refuse(const char* function, std::size_t size,
                                      std::ptrdiff_t increment, std::size_t needed);

/// The first of `needed` results.
/// @throws error size_mismatch for a place that has another number of elements.
template <class P>
value_t<P>* first(const char* function, P& place, std::size_t needed = 1) {
  using V = std::remove_const_t<P>;
  if constexpr (std::is_pointer_v<V> || std::is_array_v<V>) {
    return place;
  } else {
    if constexpr (!operands::view_of_rank<V, 0>) {
      const operand all = operands::as_elements(place, type::boolean);
      const bool has_gaps = needed > 1 && all.increment != 1;
      if (all.size != needed || has_gaps) refuse(function, all.size, all.increment, needed);
    }
    return operands::address(place);
  }
}

}  // namespace results

/// `P`, perhaps a reference, is where results can be written: a pointer to the first of them, or
/// memory that knows how many it has room for and is checked: a contiguous range (span, vector) or
/// anything else that has `data()` and `size()`, a `Kokkos::View` or `std::mdspan` of rank 1
/// without gaps, for a single result also one of rank 0. Which memory it may be is the executor's
/// concern. (An array is a pointer.)
template <class P>
concept result_place = requires {
  typename results::value_t<P>;
} && std::is_object_v<results::value_t<P>> && !std::is_const_v<results::value_t<P>>;

namespace results {

/// The type of what is written there: one of the element types where it stands for one.
template <result_place P>
using element_t = element_of_t<value_t<P>>;

}  // namespace results

/// `P` is where results of type `T` can be written.
template <class P, class T>
concept result_place_of = result_place<P> && std::same_as<results::element_t<P>, T>;

}  // namespace tally
