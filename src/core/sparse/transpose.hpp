// Transposition on a host.
#pragma once

#include "src/core/sparse/csr.hpp"

#include <memory>

namespace tally::backends {

/// Returns the transpose of a matrix without defects, by a stable counting sort: terms of a column
/// stay in row order.
std::shared_ptr<const csr_transpose> transpose_on_host(const csr_operand& a, bool keeps_values);

}  // namespace tally::backends
