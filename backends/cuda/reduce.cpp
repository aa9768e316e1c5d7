#include "backends/cuda/reduce.hpp"

#include <tally/error.hpp>

namespace tally::backends::cuda {

void reduce(const executor&, const reduce_arguments&) { throw error(errc::missing_backend, "reduce on cuda"); }

}  // namespace tally::backends::cuda
