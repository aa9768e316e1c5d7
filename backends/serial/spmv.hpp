#pragma once

#include "backends/backend.hpp"
#include "backends/row_kernels.hpp"

namespace tally::backends::serial {

void spmv(const executor& where, const spmv_arguments& arguments);

/// Nothing to know: rows are summed one after another.
std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& matrix);

csr_defect find_defect(const executor& where, const csr_operand& matrix);

/// The kernels for these types.
template <class A>
row_kernels<A> row_kernels_of(const spmv_arguments& a);

}  // namespace tally::backends::serial
