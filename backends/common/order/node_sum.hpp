// Nodes of a vector in parts, and their joining.
#pragma once

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/types/tables.hpp"

#include <tally/distributed/interval_sum.hpp>
#include <tally/distributed/joined_sum.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tally::backends {

/// The sum of a node; complex `A` for complex elements.
template <summand what, class A>
using node_sum =
    std::conditional_t<what == summand::product, dot_sum<A>,
                       std::conditional_t<what == summand::square, norm_sum<A>, reduce_sum<A>>>;

template <class F>
void with_node(summand what, type accumulator, const F& f) {
  using accumulators = type_list<float, double, std::complex<float>, std::complex<double>>;
  with_type<accumulators>(accumulator, [&]<class A>() {
    switch (what) {
      case summand::product:
        return f.template operator()<summand::product, A>();
      case summand::value:
        return f.template operator()<summand::value, A>();
      case summand::magnitude:
        return f.template operator()<summand::magnitude, A>();
      case summand::square:
        return f.template operator()<summand::square, A>();
    }
  });
}

/// Bytes of one; 0 for an invalid kind or type.
inline std::size_t node_sum_bytes(summand what, type a) {
  std::size_t bytes = 0;
  if (a != type::float32 && a != type::float64 && a != type::complex64 && a != type::complex128) {
    return bytes;
  }
  with_node(what, a, [&]<summand terms, class A>() { bytes = sizeof(node_sum<terms, A>); });
  return bytes;
}

template <summand what, class A>
inline constexpr int result_parts =
    is_complex_v<A> && (what == summand::product || what == summand::value) ? 2 : 1;

template <summand what, class A>
TALLY_HOST_DEVICE complex_number<real_t<A>> finish_node(const node_sum<what, A>& sum,
                                                        conjugate conjugated) {
  if constexpr (what == summand::product) {
    return finish_parts(sum, conjugated);
  } else if constexpr (what == summand::value) {
    return finish_parts(sum, reduction::sum);
  } else if constexpr (what == summand::magnitude) {
    return finish_parts(sum, reduction::asum);
  } else {
    return finish_parts(sum, reduction::nrm2);
  }
}

/// Sums that wait for their sibling; chunks from 0 have at most 64 nodes.
template <class Sum>
struct joined_nodes {
  static constexpr int max_held = 64;

  Sum held[max_held];
  int count = 0;

  TALLY_HOST_DEVICE void take(const Sum& node, int additions) {
    Sum sum = node;
    for (; additions > 0; --additions) sum = held[--count] + sum;
    held[count++] = sum;
  }
};

}  // namespace tally::backends
