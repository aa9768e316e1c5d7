// Stable counting sort by column, on a host.
#pragma once

#include "backends/common/sparse/csr.hpp"

#include <memory>

namespace tally::backends {

std::shared_ptr<const csr_transpose> transpose_on_host(const csr_operand& a, bool keeps_values);

}  // namespace tally::backends
