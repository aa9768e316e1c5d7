// Several dot products on Kokkos, one by one.

#include "backends/common/order/each_dot.hpp"
#include "backends/kokkos/kokkos.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {

void multi_dot(const executor& where, const multi_dot_arguments& a) {
  {  // for the longest, so that none fails after another has written
    std::size_t longest = 0;
    for (std::size_t j = 0; j < a.pairs.size(); ++j) longest = std::max(longest, a.pairs[j].x.size);
    const auto lock = acquire();
    (void)scratch((1 + node_count(longest)) * sizeof(dot_sum<std::complex<double>>));
  }
  each_dot<dot, exact>(where, a);
}

}  // namespace tally::backends::kokkos
