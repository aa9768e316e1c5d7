// A column sums rows on a host with these functions, which it makes for one combination of types.
#pragma once

#include "src/core/order/dot_sum.hpp"
#include "src/core/sparse/row_results.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tally::backends {

/// The environment must be the default one when they are called.
template <class A>
struct row_kernels {
  /// Sums n rows from `first` on, in the row order; NaNs are canonical.
  void (*rows)(const spmv_arguments& a, std::size_t first, std::size_t n, A* sums) = nullptr;
  /// Sums a node of a long row's tree: n terms from term `first` of the matrix on.
  dot_sum<A> (*part)(const spmv_arguments& a, std::size_t first, std::size_t n) = nullptr;
};

/// Writes y of n rows from `first` on.
template <class A>
void multiply_rows(const row_kernels<A>& kernels, const spmv_arguments& a, std::size_t first,
                   std::size_t n) {
  if (are_sums<A>(a)) return kernels.rows(a, first, n, static_cast<A*>(a.y.data) + first);
  std::array<A, rows_of_block> sums;
  for (std::size_t i = 0; i < n; i += rows_of_block) {
    const std::size_t count = std::min(rows_of_block, n - i);
    kernels.rows(a, first + i, count, sums.data());
    write_rows(a, first + i, count, sums.data());
  }
}

}  // namespace tally::backends
