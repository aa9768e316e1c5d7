// Measured limits: reading the operands' bytes at the same size, so from the same level of memory;
// for written vectors, reading and writing as many. Loads and stores are as wide, and data lie
// where the candidates' do; where the best number of streams is unclear, several are tried first.
#pragma once

#include "bench/contender.hpp"

#include <algorithm>
#include <vector>

namespace bench {

source limit;         // on one thread, and on all where the workload permits
source device_limit;  // a read and a copy, or a read and a write

/// One of those for `terms`, a part of what is read.
contenders limit_of_terms(const workload& terms, source* limit, const char* label);
/// One of those for a sparse product: reads values and columns, most of the data.
contenders limit_of_spmv(const workload& w, source* limit);
/// The same for another function of a matrix: reads its largest operand; copies scaled values.
contenders limit_of_sparse(const workload& w, source* limit);
/// The same for several results: reads the vectors, segments or samples.
contenders limit_of_several(const workload& w, source* limit);

inline int inputs_of(const workload& w) { return w.x_alone() ? 1 : 2; }

/// Returns the one with the least time in any of three turns; `seconds(way)` measures one call.
template <class Way, class Seconds>
const Way& fastest(const std::vector<Way>& ways, const Seconds& seconds) {
  std::vector<double> least(ways.size(), 1e30);
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < ways.size(); ++i) least[i] = std::min(least[i], seconds(ways[i]));
  }
  return ways[static_cast<std::size_t>(std::ranges::min_element(least) - least.begin())];
}

}  // namespace bench
