// Interface to a library of another CCCL's CUB and Thrust.
#pragma once

#include "bench/contender.hpp"

namespace bench::peers {

/// Sources with that library's CCCL.
struct cccl_sources {
  source* dot;
  source* of_one;
  source* elementwise;
  source* histogram;
};

}  // namespace bench::peers

extern "C" [[gnu::visibility("default")]] const bench::peers::cccl_sources* bench_cccl_sources();
