// Several dot products on Kokkos's default execution space: one after another.
#include "backends/kokkos/multi_dot.hpp"

#include "backends/each_dot.hpp"
#include "backends/kokkos/dot.hpp"
#include "backends/kokkos/exact.hpp"

namespace tally::backends::kokkos {

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  each_dot<dot, exact>(where, a);
}

}  // namespace tally::backends::kokkos
