// An update with a sum on one thread.
#include "backends/simd/sums/fused.hpp"
#include "backends/simd/simd.hpp"

namespace tally::backends::simd {
namespace {

constexpr auto whole = [](std::size_t size, auto&, const auto& node) { return node(0, size); };

}  // namespace

void backend::fused(const executor& where, const fused_update& a) const {
  if (a.is_exact()) return serial::backend::fused(where, a);
  fused_on_host(where.instructions(), a, whole);
}

}  // namespace tally::backends::simd
