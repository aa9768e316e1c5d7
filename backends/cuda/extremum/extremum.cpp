#include "backends/cuda/cuda.hpp"

#include "backends/cuda/extremum/kernels.hpp"
#include "backends/cuda/runtime/sum.hpp"

#include <algorithm>

namespace tally::backends::cuda {
namespace {

const extremum_kernel& kernel_of(const extremum_arguments& a) {
  switch (a.what) {
    case extreme::min:
      return extremum_kernel_of<extreme::min>(a.x.element);
    case extreme::max:
      return extremum_kernel_of<extreme::max>(a.x.element);
    case extreme::minmax:
      return extremum_kernel_of<extreme::minmax>(a.x.element);
    default:
      return extremum_kernel_of<extreme::iamax>(a.x.element);
  }
}

}  // namespace

void backend::extremum(const executor& where, const extremum_arguments& a) const {
  sum_job job;
  job.x = a.x.data;
  job.x_increment = a.x.increment;
  job.x_type = a.x.element;
  job.n = static_cast<std::int64_t>(a.x.size);

  static constexpr const char* names[] = {"min", "max", "minmax", "iamax"};
  static constexpr std::size_t result_bytes[] = {16, 16, 32, 8};
  const auto size = static_cast<int>(size_of(a.x.element));
  const extremum_kernel& kernel = kernel_of(a);
  // A complex element that is aligned only as its parts are can straddle two loads.
  const bool contiguous =
      a.x.increment == 1 &&
      reinterpret_cast<std::uintptr_t>(a.x.data) % static_cast<unsigned>(size) == 0;
  const std::size_t head = contiguous ? static_cast<std::size_t>(head_of(a.x.data, size)) : 0;
  const auto tile = static_cast<std::size_t>(tile_of(size, contiguous));
  const std::size_t tiles = (a.x.size + head + tile - 1) / tile;
  run_sum(where, names[static_cast<int>(a.what)], contiguous ? kernel.contiguous : kernel.any,
          shape_of_nodes(std::max<std::size_t>(1, tiles), kernel.words), kernel.words, job,
          a.result, result_bytes[static_cast<int>(a.what)], a.options.wait);
}

}  // namespace tally::backends::cuda
