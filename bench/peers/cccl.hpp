// Between the program and the library of CUB and Thrust as another CCCL has them.
#pragma once

#include "bench/contender.hpp"

namespace bench::peers {

/// What cub.cu and histogram.cu have of that library's CCCL.
struct cccl_sources {
  source* dot;
  source* of_one;
  source* elementwise;
  source* histogram;
};

}  // namespace bench::peers

extern "C" [[gnu::visibility("default")]] const bench::peers::cccl_sources* bench_cccl_sources();
