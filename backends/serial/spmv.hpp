#pragma once

#include "backends/backend.hpp"

namespace tally::backends::serial {

void spmv(const executor& where, const spmv_arguments& arguments);

/// Nothing to know: rows are summed one after another.
std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& matrix);

csr_defect find_defect(const executor& where, const csr_operand& matrix);

/// The sums of n rows from `first` on, in the row order. The environment must be the default one.
template <class A>
void sum_rows(const spmv_arguments& a, std::size_t first, std::size_t n, A* sums);

}  // namespace tally::backends::serial
