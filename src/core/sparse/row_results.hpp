// From rows' sums to y, on a host: y_i becomes alpha * sum + beta * a_i, where a is y or the vector
// that is added to the product.
#pragma once

#include "src/core/sparse/csr.hpp"

#include <complex>
#include <cstddef>

namespace tally::backends {

/// Says whether y is the sums as they are, one after another.
template <class A>
bool are_sums(const csr_product& a) {
  return a.y.element == type_of<A> && a.y.increment == 1 && !a.reads_addend() &&
         a.alpha.as<std::complex<double>>() == 1.0;
}

/// So many rows have their sums held at a time.
inline constexpr std::size_t rows_of_block = 512;

/// Writes y_i of n rows from `first` on.
template <class A>
void write_rows(const csr_product& a, std::size_t first, std::size_t n, const A* sums);

}  // namespace tally::backends
