#include "backends/openmp/exact.hpp"
#include "backends/openmp/openmp.hpp"

namespace tally::backends::openmp {

void backend::exact(const executor& where, const exact_arguments& a) const {
  write_exact(
      where, a, [&](instruction_set set) { return simd::exact_kernels_of(set, a.term).node; },
      [&] { simd::backend::exact(where, a); });
}

}  // namespace tally::backends::openmp
