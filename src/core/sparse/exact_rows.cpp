#include "src/core/sparse/exact_rows.hpp"

#include "src/core/sparse/row_results.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>

namespace tally::backends {
namespace {

/// Computes the exact sums of n rows from `first` on, each rounded once to A. `node` adds products
/// of contiguous vectors, so a block of x's elements is brought together first.
template <class A>
void sum_rows_exactly(const spmv_arguments& a, std::size_t first, std::size_t n, exact_node& node,
                      A* sums) {
  const index_vector offsets(a.a.row_offsets), columns(a.a.column_indices);
  const std::size_t size = size_of(a.x.element);
  const auto stride = a.x.increment * static_cast<std::ptrdiff_t>(size);
  const auto* const x = static_cast<const std::byte*>(a.x.data);
  alignas(64) std::byte gathered[4096];  // it is small, since the node takes most of a small stack
  const std::size_t most = sizeof(gathered) / size;
  for (std::size_t i = 0; i < n; ++i) {
    exact_arguments row;
    row.result = {&sums[i], type_of<A>};
    exact_sums sum;
    const auto end = static_cast<std::size_t>(offsets[first + i + 1]);
    for (auto j = static_cast<std::size_t>(offsets[first + i]); j < end; j += most) {
      const std::size_t terms = std::min(most, end - j);
      for (std::size_t k = 0; k < terms; ++k) {
        std::memcpy(gathered + k * size, x + columns[j + k] * stride, size);
      }
      row.x = a.a.values.slice(j, terms);
      row.y = {gathered, terms, 1, a.x.element};
      node(row, sum);
    }
    write_rounded(sum, row);
  }
}

}  // namespace

template <class A>
void multiply_rows_exactly(const spmv_arguments& a, std::size_t first, std::size_t n,
                           exact_node& node) {
  std::array<A, 64> sums;
  for (std::size_t i = 0; i < n; i += sums.size()) {
    const std::size_t count = std::min(sums.size(), n - i);
    sum_rows_exactly(a, first + i, count, node, sums.data());
    write_rows(a, first + i, count, sums.data());
  }
}

template void multiply_rows_exactly<float>(const spmv_arguments&, std::size_t, std::size_t,
                                           exact_node&);
template void multiply_rows_exactly<double>(const spmv_arguments&, std::size_t, std::size_t,
                                            exact_node&);
template void multiply_rows_exactly<std::complex<float>>(const spmv_arguments&, std::size_t,
                                                         std::size_t, exact_node&);
template void multiply_rows_exactly<std::complex<double>>(const spmv_arguments&, std::size_t,
                                                          std::size_t, exact_node&);

}  // namespace tally::backends
