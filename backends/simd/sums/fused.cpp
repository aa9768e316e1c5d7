// Updates with sums on one thread.
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

void backend::multi_axpy_dot(const executor& where, const multi_axpy_arguments& update,
                             type computation, bool alpha_on_host, const multi_sum& sums) const {
  if (!is_in_tiles(sums)) {
    return serial::backend::multi_axpy_dot(where, update, computation, alpha_on_host, sums);
  }
  multi_axpy_dot_on_host(where, update, computation, sums,
                         [](std::size_t tiles, const auto& run_tile) {
                           for (std::size_t i = 0; i < tiles; ++i) run_tile(i);
                         });
}

}  // namespace tally::backends::simd
