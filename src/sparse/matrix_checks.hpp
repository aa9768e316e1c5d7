// Checks of sparse matrices that public functions share.
#pragma once

#include <tally/sparse/csr_view.hpp>

#include "src/check.hpp"

namespace tally {

/// Checks the matrix without reading it.
void check_matrix(const check& check, const csr_operand& a);

/// Checks that the executor can read the matrix.
void check_reach(const check& check, const executor& where, const csr_operand& a);

/// Checks the first and the last offset. Pre: three arrays, host-accessible.
void check_ends(const check& check, const csr_operand& a);

}  // namespace tally
