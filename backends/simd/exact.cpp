#include "backends/simd/exact.hpp"

#include <tally/error.hpp>

namespace tally::backends::simd {

void exact(const executor&, const exact_arguments&) { throw error(errc::missing_backend, "exact on simd"); }

}  // namespace tally::backends::simd
