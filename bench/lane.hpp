// A lane: one list of contenders, over pairs of types, sizes and threads. Each stands in a file of
// its own; main.cpp runs them in turn.
#pragma once

#include "bench/contender.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace bench {

struct lane {
  std::string_view name;
  bool on_device = false;       ///< the operands are in the memory of the CUDA device
  bool on_all_threads = false;  ///< on one thread and on all of them; else the contenders decide
  std::size_t offset = 0;       ///< bytes past a page at which the operands start on the host
  /// The sizes for a pair of types; empty for none. Both lists are longer in the full comparison.
  std::vector<std::size_t> (*sizes)(const types& t, bool full);
  contenders (*ways)(const workload& w, bool full);
};

extern const lane dot;  // dot.cpp
extern const lane dot_aligned;
extern const lane ladder;  // ladder.cpp
#if TALLY_BENCH_CUDA
extern const lane dot_on_device;  // device_dot.cpp
extern const lane dot_to_host;
extern const lane ladder_on_device;  // device_ladder.cu
extern const lane transfer;          // transfer.cpp
#endif

}  // namespace bench
