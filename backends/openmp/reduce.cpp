#include "backends/openmp/reduce.hpp"

#include <tally/error.hpp>

namespace tally::backends::openmp {

void reduce(const executor&, const reduce_arguments&) { throw error(errc::missing_backend, "reduce on openmp"); }

}  // namespace tally::backends::openmp
