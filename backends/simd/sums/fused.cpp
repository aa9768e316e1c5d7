// An update with a sum on one thread.
#include "backends/simd/sums/fused.hpp"
#include "backends/simd/simd.hpp"

namespace tally::backends::simd {
namespace {

constexpr auto whole = [](std::size_t size, auto&, const auto& node) { return node(0, size); };

}  // namespace

void backend::fused_dot(const executor& where, const transform_arguments& update, type computation,
                        const dot_arguments& a) const {
  if (is_exact(a.options, a.result)) {
    return serial::backend::fused_dot(where, update, computation, a);
  }
  fused_dot_on_host(where.instructions(), update, computation, a, whole);
}

void backend::fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                         const reduce_arguments& a) const {
  if (is_exact(a.options, a.result)) {
    return serial::backend::fused_nrm2(where, update, computation, a);
  }
  fused_nrm2_on_host(where.instructions(), update, computation, a, whole);
}

}  // namespace tally::backends::simd
