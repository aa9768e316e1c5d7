#include "src/core/sparse/exact_rows.hpp"

#include "src/core/sparse/gathered.hpp"
#include "src/core/sparse/row_results.hpp"

#include <algorithm>
#include <array>
#include <complex>

namespace tally::backends {
namespace {

/// Computes the exact sums of n rows from `first` on, each rounded once to A. `node` adds products
/// of contiguous vectors, so a block of x's elements is brought together first, and one of values
/// that lie at places.
template <class A>
void sum_rows_exactly(const csr_product& a, std::size_t first, std::size_t n, exact_node& node,
                      A* sums) {
  const row_bounds rows(a.a);
  const index_vector columns(a.a.column_indices);
  // These are small, since the node takes most of a small stack.
  alignas(64) std::byte elements[2048], values[2048];
  const std::size_t most =
      sizeof(elements) / std::max(size_of(a.x.element), size_of(a.a.values.element));
  for (std::size_t i = 0; i < n; ++i) {
    exact_arguments row;
    row.conjugated = a.conjugated;
    row.result = {&sums[i], type_of<A>};
    exact_sums sum;
    const std::size_t end = rows.end(first + i);
    for (std::size_t j = rows.begin(first + i); j < end; j += most) {
      const std::size_t terms = std::min(most, end - j);
      row.x = a.has_places() ? gathered(a.a.values, index_vector(a.places), j, terms, values)
                             : a.a.values.slice(j, terms);
      row.y = gathered(a.x, columns, j, terms, elements);
      node(row, sum);
    }
    write_result(sum, row);
  }
}

}  // namespace

template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           exact_node& node) {
  std::array<A, 64> sums;
  for (std::size_t i = 0; i < n; i += sums.size()) {
    const std::size_t count = std::min(sums.size(), n - i);
    sum_rows_exactly(a, first + i, count, node, sums.data());
    write_rows(a, first + i, count, sums.data());
  }
}

template void multiply_rows_exactly<float>(const csr_product&, std::size_t, std::size_t,
                                           exact_node&);
template void multiply_rows_exactly<double>(const csr_product&, std::size_t, std::size_t,
                                            exact_node&);
template void multiply_rows_exactly<std::complex<float>>(const csr_product&, std::size_t,
                                                         std::size_t, exact_node&);
template void multiply_rows_exactly<std::complex<double>>(const csr_product&, std::size_t,
                                                          std::size_t, exact_node&);

}  // namespace tally::backends
