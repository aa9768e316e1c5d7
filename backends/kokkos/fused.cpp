// An update with a sum is two calls here.
#include "backends/kokkos/kokkos.hpp"

namespace tally::backends::kokkos {

void fused_dot(const executor& where, const transform_arguments& update, type computation,
               const dot_arguments& a) {
  kokkos::transform(where, update, computation);
  if (is_exact(a.options, a.result)) return exact(where, exact_of(a));
  kokkos::dot(where, a);
}

void fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                const reduce_arguments& a) {
  kokkos::transform(where, update, computation);
  if (is_exact(a.options, a.result)) return exact(where, exact_of(a));
  kokkos::reduce(where, a);
}

}  // namespace tally::backends::kokkos
