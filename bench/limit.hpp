// The measured limits: how fast the operands' bytes can be read at all, at the same size and so
// from the same level of the memory; of what writes a vector, how fast x can be copied.
#pragma once

#include "bench/contender.hpp"

namespace bench {

source limit;         // on one thread, and on all where the workload may
source device_limit;  // a read and a copy

/// Finds the limit of a sparse matrix times a vector by one of those: by reading the values and the
/// columns, which are most of what has to be read.
contenders limit_of_spmv(const workload& w, source* limit);

}  // namespace bench
