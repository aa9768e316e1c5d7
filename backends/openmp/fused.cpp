// An update with a sum on OpenMP threads.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/sums/fused.hpp"

namespace tally::backends::openmp {
namespace {

auto shared_by(int threads) {
  return [threads](std::size_t size, auto& sums, const auto& node) {
    return sum_of_parts(size, threads, sums, node);
  };
}

}  // namespace

void backend::fused_dot(const executor& where, const transform_arguments& update, type computation,
                        const dot_arguments& a) const {
  if (is_exact(a.options, a.result)) {
    return simd::backend::fused_dot(where, update, computation, a);
  }
  simd::fused_dot_on_host(where.instructions(), update, computation, a,
                          shared_by(threads_of(where)));
}

void backend::fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                         const reduce_arguments& a) const {
  if (is_exact(a.options, a.result)) {
    return simd::backend::fused_nrm2(where, update, computation, a);
  }
  simd::fused_nrm2_on_host(where.instructions(), update, computation, a,
                           shared_by(threads_of(where)));
}

}  // namespace tally::backends::openmp
