// An update with a sum runs on OpenMP's threads, with the simd column's kernels.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/fused.hpp"

namespace tally::backends::openmp {
namespace {

/// Shares a sum out.
auto shared_by(int threads) {
  return [threads]<class Sum>(std::size_t size, const auto& node) {
    return sum_of_shares<Sum>(size, threads, node);
  };
}

}  // namespace

void fused_dot(const executor& where, const transform_arguments& update, type computation,
               const dot_arguments& a) {
  simd::fused_dot_on_host(where.instructions(), update, computation, a,
                          shared_by(threads_of(where)));
}

void fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                const reduce_arguments& a) {
  simd::fused_nrm2_on_host(where.instructions(), update, computation, a,
                           shared_by(threads_of(where)));
}

}  // namespace tally::backends::openmp
