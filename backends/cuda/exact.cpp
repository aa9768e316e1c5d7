#include "backends/cuda/exact.hpp"

#include <tally/error.hpp>

namespace tally::backends::cuda {

void exact(const executor&, const exact_arguments&) { throw error(errc::missing_backend, "exact on cuda"); }

}  // namespace tally::backends::cuda
