#include "backends/serial/reduce.hpp"

#include <tally/error.hpp>

namespace tally::backends::serial {

void reduce(const executor&, const reduce_arguments&) {
  throw error(errc::missing_backend, "reduce on serial");
}

}  // namespace tally::backends::serial
