// The exact grade of rows, on a host.
#pragma once

#include "src/core/exact/exact_sums.hpp"
#include "src/core/sparse/csr.hpp"

#include <cstddef>

namespace tally::backends {

/// Writes y of n rows from `first` on. `node` adds products of contiguous vectors. (It is no part
/// of its callers, since a function that is for every A would take what one of them needs of the
/// stack beside what another one takes.)
template <class A>
void multiply_rows_exactly(const csr_product& a, std::size_t first, std::size_t n,
                           exact_node& node);

}  // namespace tally::backends
