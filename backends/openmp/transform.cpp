// The element-wise functions run on OpenMP's threads, with the simd column's kernels.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/transform.hpp"

namespace tally::backends::openmp {

void transform(const executor& where, const transform_arguments& a) {
  simd::transform_node* const node = simd::transform_node_of(where.instructions());
  const bool past_caches = simd::goes_past_caches(a);
  // Shares are multiples of a page of bytes or more, so that threads share no cache line except at
  // the ends.
  constexpr std::size_t least = 4096;
  const auto threads = static_cast<std::size_t>(threads_of(where));
  const std::size_t share = (a.x.size / threads / least + 1) * least;
  const auto shares = static_cast<int>((a.x.size + share - 1) / share);
#pragma omp parallel for num_threads(shares) schedule(static)
  for (int i = 0; i < shares; ++i) {
    const default_environment environment;
    const std::size_t first = static_cast<std::size_t>(i) * share;
    const std::size_t n = std::min(share, a.x.size - first);
    transform_arguments part = a;
    part.x = a.x.slice(first, n);
    if (transforms::is_binary(a.what)) part.y = a.y.slice(first, n);
    part.z = a.z.slice(first, n);
    node(part, past_caches);
  }
}

}  // namespace tally::backends::openmp
