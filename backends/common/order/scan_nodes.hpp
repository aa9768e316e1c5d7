// Nodes before an element of a scan, and their sum with what follows: order 1's tree over the
// elements up to that one.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/interval_numbers.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/types.hpp>

#include <bit>
#include <cstdint>

namespace tally::backends {

/// Sums of the chunks so far: a node for each 1 bit of their number, the largest first.
template <class R>
struct scan_nodes {
  R held[64];
  int count = 0;
  std::int64_t chunks = 0;

  scan_nodes() = default;
  /// Those of component `part` of `parts`.
  scan_nodes(const scan_arguments& a, int part, int parts) : chunks(a.chunks) {
    const auto* const from = static_cast<const R*>(a.nodes);
    count = std::popcount(static_cast<std::uint64_t>(chunks));
    for (int k = 0; k < count; ++k) held[k] = from[k * parts + part];
  }

  /// The node of the next `more` chunks, a power of two that divides `chunks`.
  void take(R sum, std::int64_t more = 1) {
    for (std::int64_t bit = more; (chunks & bit) != 0; bit <<= 1) sum = plus(held[--count], sum);
    held[count++] = sum;
    chunks += more;
  }
  /// Returns the sum of all chunks and `last`, which follows.
  R with(R last) const {
    for (int k = count; k-- > 0;) last = plus(held[k], last);
    return last;
  }
};

/// Calls `scan(x, y, nodes)` with real vectors, one for each component.
template <class R, class Scan>
void scan_components(const scan_arguments& a, const Scan& scan) {
  const int parts = is_complex(a.y.element) ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    const operand y = component_of(a.y, part);
    scan_nodes<R> nodes(a, part, parts);
    scan(component_of(a.x, part),
         output_operand{const_cast<void*>(y.data), y.size, y.increment, y.element}, nodes);
  }
}

}  // namespace tally::backends
