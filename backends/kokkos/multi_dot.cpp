// Several sums, one after another.
#include "backends/kokkos/kokkos.hpp"

#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

/// So that none fails after another has written.
void allocate_for_sums(const executor& where) {
  locked([&] {
    const space on = space_of(where);
    (void)scratch(on, node_bytes);
    (void)memory_of_launches(on);
  });
}

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  outside_regions([&] {
    allocate_for_sums(where);
    multi_dot_in_turn(where, a);
  });
}

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  outside_regions([&] { allocate_for_sums(where); });
  backends::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
}

}  // namespace tally::backends::kokkos
