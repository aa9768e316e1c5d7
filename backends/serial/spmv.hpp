#pragma once

#include "src/core/sparse/row_kernels.hpp"
#include "src/core/table.hpp"

namespace tally::backends::serial {

template <class A>
row_kernels<A> row_kernels_of(const csr_product& a);

}  // namespace tally::backends::serial
