// Update and sum in two calls, for backends without a gain from one pass.
#pragma once

#include "backends/backend.hpp"

#include <tally/types.hpp>

namespace tally::backends {

/// The definition of `fused_dot` and `fused_nrm2`.
inline void fused_in_two_calls(const executor& where, const transform_arguments& update,
                               type computation, const dot_arguments& a) {
  const backend& column = *where.backend();
  column.transform(where, update, computation);
  if (is_exact(a.options, a.result)) return column.exact(where, exact_of(a));
  column.dot(where, a);
}
inline void fused_in_two_calls(const executor& where, const transform_arguments& update,
                               type computation, const reduce_arguments& a) {
  const backend& column = *where.backend();
  column.transform(where, update, computation);
  if (is_exact(a.options, a.result)) return column.exact(where, exact_of(a));
  column.reduce(where, a);
}

}  // namespace tally::backends
