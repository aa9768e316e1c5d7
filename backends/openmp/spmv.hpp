#pragma once

#include "backends/backend.hpp"

namespace tally::backends::openmp {

void spmv(const executor& where, const spmv_arguments& arguments);

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& matrix);

csr_defect find_defect(const executor& where, const csr_operand& matrix);

}  // namespace tally::backends::openmp
