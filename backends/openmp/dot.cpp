// dot on OpenMP's threads: each sums whole nodes of the order's tree with the simd column's kernel,
// so their number decides nothing but the time. The caller's OpenMP settings are left as they are.
#include "backends/openmp/dot.hpp"

#include "backends/floating_point_environment.hpp"
#include "backends/openmp/threads.hpp"
#include "backends/pairs.hpp"
#include "backends/simd/dot.hpp"
#include "backends/tree.hpp"

#include <tally/order.hpp>

#include <algorithm>
#include <vector>

namespace tally::backends::openmp {
namespace {

/// Shares are nodes of the tree: aligned groups of 2^k chunks, and at most this many for each
/// thread. That leaves no thread more than 1/16 above the mean, however many there are, and from
/// 2^18 elements a thread up each share is long enough for the kernel's two streams.
constexpr std::size_t shares_per_thread = 32;

template <class A>
dot_sum<A> sum(simd::dot_node<A>* node, const operand& x, const operand& y, int threads) {
  const std::size_t most = shares_per_thread * static_cast<std::size_t>(threads);
  std::size_t share = order::chunk;
  while (x.size / share > most) share *= 2;
  const std::size_t shares = (x.size + share - 1) / share;

  std::vector<dot_sum<A>> sums(shares);
#pragma omp parallel num_threads(threads)
  {
    const default_environment environment;
#pragma omp for schedule(static) nowait
    for (std::size_t i = 0; i < shares; ++i) {
      const std::size_t first = i * share;
      const std::size_t n = std::min(share, x.size - first);
      sums[i] = node(x.slice(first, n), y.slice(first, n));
    }
  }

  tree<dot_sum<A>> nodes;
  for (const dot_sum<A>& sum : sums) nodes.add(sum);
  return nodes.total();
}

}  // namespace

void dot(const executor& where, const dot_arguments& a) {
  const default_environment environment;
  const int threads = where.threads() > 0 ? where.threads() : default_threads();
  with_accumulator(a.result.element, [&]<class A>() {
    auto* const node = simd::node_of<A>(where.instructions(), a.x.element, a.y.element);
    *static_cast<A*>(a.result.data) = finish(sum<A>(node, a.x, a.y, threads), a.conjugated);
  });
}

}  // namespace tally::backends::openmp
