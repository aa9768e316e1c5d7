#include "backends/cuda/cuda.hpp"
#include "backends/cuda/gather/job.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>

namespace tally::backends::cuda {

void backend::gather(const executor& where, const gather_arguments& a) const {
  const current_device current(where.device());
  gather_job job{gathered_elements(a), static_cast<std::int64_t>(a.indices.size),
                 static_cast<int>(alignment_of(a.x.element))};
  constexpr std::int64_t threads = threads_of_gather;
  const auto blocks =
      std::min<std::int64_t>((job.n + threads - 1) / threads, std::int64_t{1} << 30);
  launch(gather_kernel(), {static_cast<unsigned>(blocks), threads_of_gather}, &job, where.device(),
         where.stream());
}

}  // namespace tally::backends::cuda
