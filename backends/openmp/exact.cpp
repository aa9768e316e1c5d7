#include "backends/openmp/exact.hpp"
#include "backends/openmp/openmp.hpp"

namespace tally::backends::openmp {

void backend::exact(const executor& where, const exact_arguments& a) const {
  write_exact(where, a, simd::exact_node_of, [&] { simd::backend::exact(where, a); });
}

}  // namespace tally::backends::openmp
