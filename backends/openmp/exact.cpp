#include "backends/openmp/exact.hpp"

#include <tally/error.hpp>

namespace tally::backends::openmp {

void exact(const executor&, const exact_arguments&) { throw error(errc::missing_backend, "exact on openmp"); }

}  // namespace tally::backends::openmp
