// Assembly of a sparse matrix in host memory.
#pragma once

#include "backends/common/sparse/assembly.hpp"

#include <tally/executor.hpp>
#include <tally/sparse/assembly.hpp>

namespace tally {

/// csr_from_coo on the threads of `host`. Nothing is written if an entry is outside the matrix.
/// Pre: valid arguments, but for the indices; memory that the host reaches.
backends::assembled assemble_on_host(const executor& host, const coo_arguments& a);

}  // namespace tally
