// The measured limits: how fast the operands' bytes can be read at all, at the same size and so
// from the same level of the memory; of what writes a vector, how fast as many bytes can be read
// and written. No loads and stores are wider than theirs, they lie where the contenders' lie, and
// where it isn't clear how many should be in flight, several ways are tried first.
#pragma once

#include "bench/contender.hpp"

#include <algorithm>
#include <vector>

namespace bench {

source limit;         // on one thread, and on all where the workload may
source device_limit;  // a read and a copy, or a read and a write

/// Finds the limit of a sparse matrix times a vector by one of those: by reading the values and the
/// columns, which are most of what has to be read.
contenders limit_of_spmv(const workload& w, source* limit);

/// The number of vectors that what writes one reads beside it.
inline int inputs_of(const workload& w) { return w.x_alone() ? 1 : 2; }

/// Returns the one of `ways` that takes the least time in any of three turns; `seconds(way)` is the
/// time of one call.
template <class Way, class Seconds>
const Way& fastest(const std::vector<Way>& ways, const Seconds& seconds) {
  std::vector<double> least(ways.size(), 1e30);
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < ways.size(); ++i) least[i] = std::min(least[i], seconds(ways[i]));
  }
  return ways[static_cast<std::size_t>(std::ranges::min_element(least) - least.begin())];
}

}  // namespace bench
