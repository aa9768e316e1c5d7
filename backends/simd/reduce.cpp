#include "backends/simd/reduce.hpp"

#include <tally/error.hpp>

namespace tally::backends::simd {

void reduce(const executor&, const reduce_arguments&) { throw error(errc::missing_backend, "reduce on simd"); }

}  // namespace tally::backends::simd
