#include "backends/serial/exact.hpp"

#include <tally/error.hpp>

namespace tally::backends::serial {

void exact(const executor&, const exact_arguments&) { throw error(errc::missing_backend, "exact on serial"); }

}  // namespace tally::backends::serial
