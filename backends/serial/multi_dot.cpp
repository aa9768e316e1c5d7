// Several dot products, one by one.

#include "backends/common/order/each_dot.hpp"
#include "backends/serial/exact.hpp"
#include "backends/serial/serial.hpp"

namespace tally::backends::serial {

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  each_dot<dot, exact>(where, a);
}

}  // namespace tally::backends::serial
