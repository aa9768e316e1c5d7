// An update with a sum is two calls here.
#include "backends/serial/serial.hpp"

namespace tally::backends::serial {

void fused_dot(const executor& where, const transform_arguments& update, type computation,
               const dot_arguments& a) {
  serial::transform(where, update, computation);
  if (is_exact(a.options, a.result)) return exact(where, exact_of(a));
  serial::dot(where, a);
}

void fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                const reduce_arguments& a) {
  serial::transform(where, update, computation);
  if (is_exact(a.options, a.result)) return exact(where, exact_of(a));
  serial::reduce(where, a);
}

}  // namespace tally::backends::serial
