// Several dot products run on one thread, one after another.

#include "backends/serial/exact.hpp"
#include "backends/serial/serial.hpp"
#include "src/core/order/each_dot.hpp"

namespace tally::backends::serial {

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  each_dot<dot, exact>(where, a);
}

}  // namespace tally::backends::serial
