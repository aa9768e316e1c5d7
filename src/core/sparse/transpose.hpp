// A host transposes matrices here.
#pragma once

#include "src/core/sparse/csr.hpp"

#include <memory>

namespace tally::backends {

/// Returns the transpose of a matrix without defects. A row of it has the terms of a column in the
/// order of the rows, those of one row as the row has them. It counts the terms of each column and
/// then puts each term, as the rows have them, behind the last one of its column.
std::shared_ptr<const csr_transpose> transpose_on_host(const csr_operand& a, bool keeps_values);

}  // namespace tally::backends
