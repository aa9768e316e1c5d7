// Sums of adjacent segments of a vector, cut by offsets as the rows of a sparse matrix.
//
// Promise: results_j has the bits of element j of `spmv` (<tally/sparse/spmv.hpp>) with a
// matrix of these offsets and values, whose columns all point at a 1: the n elements of a segment
// are summed in the row order, up to 128 in 8 lanes, more as by `sum`. An empty segment's sum is
// +0. Integers and bools are added modulo 2^64 in int64, as by `sum`. Offsets and values are read,
// and nothing else.
//
// Offsets start at 0, don't decrease and end at the number of elements. The first and the last are
// checked where the host reads them. Others are the caller's responsibility, as the offsets of a
// matrix are; `validate` checks them.
//
// Blocking: as `spmv`, which see for memory and captures, too.
#pragma once

#include <tally/export.h>
#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tally {

/// Arguments with types erased.
struct segmented_sum_arguments {
  operand offsets;                         ///< contiguous, int32 or int64, one more than segments
  operand x;                               ///< contiguous
  output_operand results;                  ///< a sum per segment, of the type of x's sum; of
                                           ///< floating-point numbers perhaps double
  call_options options = {.wait = false};  ///< the grade; the call doesn't wait
};

/// segmented_sum with types erased.
TALLY_EXPORT void segmented_sum(const executor& where, const segmented_sum_arguments& arguments);

namespace detail {

struct segmented_sum_call : call<grade, segmented_sum_arguments> {
  template <class Offsets, class X, class R>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_indices<Offsets>, wrong_vector<X>, wrong_output<R>>;
    if constexpr (why == wrong::nothing) {
      using T = element_t<X>;
      using S = element_t<R>;
      return unless(std::same_as<S, dot_result_t<T, T>> ||
                        (!std::is_integral_v<T> && std::same_as<S, dot_widest_t<T, T>>),
                    wrong::the_output_is_of_a_type_that_the_sum_has);
    } else {
      return why;
    }
  }
};

}  // namespace detail

/// results_j = the sum of x_i, i = offsets_j ... offsets_(j+1) - 1.
///
/// @param offsets  adjacent numbers of int32 or int64, one more than segments.
/// @param x        adjacent elements of any type.
/// @param results  a sum per segment: of the type of `sum`, or, except of integers, double or
///                 std::complex<double>, in which elements are summed then. Shares no memory with
///                 the others.
/// @param g        `tally::exact` for correctly rounded sums.
/// @throws error size_mismatch, invalid_argument (wrong first or last offset, arrays with an
///               increment), null_pointer, zero_increment, misaligned, overlap, wrong_memory,
///               device_failure, out_of_memory.
template <class Offsets, class X, class R>
  requires detail::taken<detail::segmented_sum_call, Offsets, X, R>
void segmented_sum(const executor& where, const Offsets& offsets, const X& x, R&& results,
                   grade g = {}) {
  segmented_sum(where, {as_operand(offsets), as_operand(x), as_output(results), {g, false}});
}

/// The same on `automatic()`.
template <class... T>
  requires detail::taken_unplaced<detail::segmented_sum_call, T...>
void segmented_sum(T&&... arguments) {
  segmented_sum(automatic(), arguments...);
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::segmented_sum_call, T...>>
  requires detail::refused<why, T...>
void segmented_sum(T&&...) = delete;  // [where,] offsets, x, results[, grade]

}  // namespace tally
