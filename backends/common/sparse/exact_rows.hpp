// Rows in the exact grade, on a host.
#pragma once

#include "backends/common/exact/exact_sums.hpp"
#include "backends/common/sparse/csr.hpp"

#include <cstddef>

namespace tally::backends {

/// Interleaved terms of short real sums: the factors of term k of sum i are a[k * sums + i] and b[k
/// * sums + i]. Shorter sums are padded with zeros.
struct exact_group {
  static constexpr std::size_t sums = 8;
  /// Longer rows are summed singly. Small for small stacks.
  static constexpr std::size_t max_length = 32;

  const double* a;
  const double* b;
  std::size_t length;
  bool of_floats;  ///< float factors, sums to be rounded to float
};

/// Writes sums rounded once to double, or for floats to a double that rounds to the right float;
/// NaN if undecided.
using exact_group_sum = void(const exact_group& group, double* sums);

struct exact_row_kernels {
  exact_node& node;  ///< adds products of contiguous vectors
  exact_group_sum* sum_group = nullptr;
};

/// Writes y for n rows from `first`. (Not inlined: a caller for every A would have all variants'
/// stack frames.)
template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           const exact_row_kernels& kernels);

/// Gathered factors. Small, since a node takes most of a small stack.
struct exact_factors {
  static constexpr std::size_t doubles = exact_group::sums * exact_group::max_length;
  alignas(64) double a[doubles];
  alignas(64) double b[doubles];
};
/// Adds terms [begin, end) of one row to its sums.
void add_part_of_row(const csr_product& a, std::size_t begin, std::size_t end, exact_node& node,
                     exact_factors& room, exact_sums& to);
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
