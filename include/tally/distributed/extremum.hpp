// Extrema over ranks that return the results: min, max, minmax and iamax. Other forms, and costs:
// <tally/mpi/extremum.hpp> and <tally/nccl/extremum.hpp>. Promise: value and index, in the layout,
// of the function of that name for the whole vector in one process, on every rank.
#pragma once

#include <tally/distributed/sums.hpp>
#include <tally/operations/extremum.hpp>
#include <tally/operations/reduce.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::detail {

/// @throws error size_mismatch; no_elements, except for iamax.
template <distributed::layout L>
void check_search(const L& l, const operand& x, extreme what) {
  constexpr std::array<const char*, 4> names = {"min", "max", "minmax", "iamax"};
  check_size(transport<L>::name, x, static_cast<std::size_t>(l.size()));
  if (what == extreme::iamax || l.total() > 0) return;
  throw error(errc::no_elements, std::string(transport<L>::name) +
                                     "::" + names[static_cast<std::size_t>(what)] +
                                     ": no rank has an element");
}

template <extreme what, class R, class L, class X>
R found(const L& l, const executor& where, const X& x) {
  R result;
  transport<L>::find(l, where, as_operand(x), what, &result, sizeof result);
  return result;
}

}  // namespace tally::detail

namespace tally::distributed {

/// Smallest element of all ranks, at its lowest index in the layout.
///
/// @param l      layout of x.
/// @param where, x  this rank's executor and part, as for `tally::min`; may be empty unless all
///                  are.
/// @return       value and index, on all ranks. Blocks.
/// @throws error as `tally::min`; no_elements if no rank has one; size_mismatch if x has not the
///               layout's size.
template <layout L, ordered_operand X>
extremum<element_t<X>>(min)(const L& l, const executor& where, const X& x) {
  return detail::found<extreme::min, extremum<element_t<X>>>(l, where, x);
}

/// Largest element, at its lowest index; otherwise as `min`.
template <layout L, ordered_operand X>
extremum<element_t<X>>(max)(const L& l, const executor& where, const X& x) {
  return detail::found<extreme::max, extremum<element_t<X>>>(l, where, x);
}

/// `min` and `max` in one pass and one message.
template <layout L, ordered_operand X>
extrema<element_t<X>> minmax(const L& l, const executor& where, const X& x) {
  return detail::found<extreme::minmax, extrema<element_t<X>>>(l, where, x);
}

/// Lowest index in the layout, from 0, of the element of largest magnitude; -1 if no rank has one.
/// Otherwise as `min`.
template <layout L, vector_operand X>
std::int64_t iamax(const L& l, const executor& where, const X& x) {
  return detail::found<extreme::iamax, std::int64_t>(l, where, x);
}

/// The largest |x_i| of all ranks, as `tally::max_norm`; 0 if no rank has an element. Otherwise as
/// `min`.
template <layout L, ordered_operand X>
auto max_norm(const L& l, const executor& where, const X& x) {
  std::array<element_t<X>, 2> both{};
  if (l.total() > 0) {
    const auto found = minmax(l, where, x);
    both = {found.min.value, found.max.value};
  }
  return tally::max_norm(serial(), both);
}

}  // namespace tally::distributed
