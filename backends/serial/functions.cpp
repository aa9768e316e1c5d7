// The caller's functions on the calling thread; the whole range is one part.
#include "backends/serial/serial.hpp"

namespace tally::backends::serial {

void for_each_part(const executor&, const char*, std::size_t size, const part_calls& calls) {
  calls.prepare(calls.context, size > 0 ? 1 : 0);
  if (size > 0) calls.run(calls.context, 0, 0, size);
  calls.finish(calls.context);
}

}  // namespace tally::backends::serial
