#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/row_kernels.hpp"

namespace tally::backends::serial {

template <class A>
row_kernels<A> row_kernels_of(const csr_product& a);

}  // namespace tally::backends::serial
