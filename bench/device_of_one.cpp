// Sums, norms and extrema on a CUDA device: device time.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  std::vector<std::size_t> list;
  for (int k = 10; k <= 28; k += full ? 2 : 6) list.push_back(std::size_t{1} << k);
  return list;
}

contenders ways(const workload& w, bool) {
  contenders list;
  list.push_back(on_device(
      "tally::cuda", tally::cuda().description(),
      [w](cudaStream_t s, void* result) { compute(tally::cuda({.stream = s}), w, result, false); },
      w));
  for (source* other : {device_limit, peers::cublas_of_one_on_device, peers::cub_of_one_on_device,
                        peers::cccl_on_device})
    list += other(w);
  return list;
}

constexpr lane of(std::string_view name, operation what) {
  return {.name = name, .on_device = true, .what = what, .sizes = sizes, .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("sum-cuda", operation::sum),           of("asum-cuda", operation::asum),
    of("nrm2-cuda", operation::nrm2),         of("sum-of-squares-cuda", operation::sum_of_squares),
    of("max-norm-cuda", operation::max_norm), of("wrms-norm-cuda", operation::wrms_norm),
    of("max-cuda", operation::max),           of("iamax-cuda", operation::iamax),
};
const std::span<const lane> device_of_one_lanes = lanes;

}  // namespace bench
