// The exact grade of rows, on a host.
#pragma once

#include "src/core/exact/exact_sums.hpp"
#include "src/core/sparse/csr.hpp"

#include <cstddef>

namespace tally::backends {

/// Terms of short real sums side by side: the factors of term k of sum i are a[k * sums + i] and
/// b[k * sums + i]. A sum that has less than `length` terms has zeros behind them.
struct exact_group {
  static constexpr std::size_t sums = 8;
  /// Longer rows are summed one by one. Few, since stacks may be small.
  static constexpr std::size_t max_length = 32;

  const double* a;
  const double* b;
  std::size_t length;
  bool of_floats;  ///< all factors are floats, and the sums will be rounded to float
};

/// Writes a group's sums, rounded once to double, or of floats to a double that rounds to the right
/// float; NaN where it can't tell.
using exact_group_sum = void(const exact_group& group, double* sums);

/// What a column sums rows exactly with.
struct exact_row_kernels {
  exact_node& node;  ///< adds products of contiguous vectors
  exact_group_sum* sum_group = nullptr;
};

/// Writes y of n rows from `first` on. (It is no part of its callers, since a function that is for
/// every A would take what one of them needs of the stack beside what another one takes.)
template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           const exact_row_kernels& kernels);

/// Room for the factors of some terms of a row, brought together. It is small, since a node takes
/// most of a small stack.
struct exact_factors {
  static constexpr std::size_t doubles = exact_group::sums * exact_group::max_length;
  alignas(64) double a[doubles];
  alignas(64) double b[doubles];
};
/// Adds terms [begin, end) of a matrix, which are of one row, to the sums of the row's parts.
void add_part_of_row(const csr_product& a, std::size_t begin, std::size_t end, exact_node& node,
                     exact_factors& room, exact_sums& to);
/// Rounds the sums of a row's parts.
template <class A>
A rounded_row(const exact_sums& sums) {
  using R = real_t<A>;
  if constexpr (is_complex_v<A>) {
    return {sums.re.round<R>(), sums.im.round<R>()};
  } else {
    return sums.re.round<R>();
  }
}

}  // namespace tally::backends
