// The exact grade on one thread, of any terms.
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/simd.hpp"

namespace tally::backends::simd {

const exact_kernels& exact_kernels_of(instruction_set set, exact_term term) {
  const bool values = term == exact_term::value || term == exact_term::magnitude;
  return values ? value_kernels_of(set) : product_kernels_of(set);
}

void backend::exact(const executor& where, const exact_arguments& a) const {
  write_exact(a, exact_kernels_of(set_for_exact(where, a), a.term));
}

}  // namespace tally::backends::simd
