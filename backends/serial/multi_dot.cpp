// Several dot products on one thread: one after another.
#include "backends/serial/multi_dot.hpp"

#include "backends/each_dot.hpp"
#include "backends/serial/dot.hpp"
#include "backends/serial/exact.hpp"

namespace tally::backends::serial {

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  each_dot<dot, exact>(where, a);
}

}  // namespace tally::backends::serial
