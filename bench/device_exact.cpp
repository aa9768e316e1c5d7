// The exact grade on a CUDA device: device time.
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
  for (int k = full ? 10 : 12; k <= 28; k += full ? 2 : 8) list.push_back(std::size_t{1} << k);
  return list;
}

contenders ours(const workload& w) {
  contenders list;
  for (const bool exact : {true, false}) {
    list.push_back(on_device(
        exact ? "tally::cuda exact" : "tally::cuda", tally::cuda().description(),
        [w, exact](cudaStream_t s, void* result) {
          compute(tally::cuda({.stream = s}), w, result, false, exact);
        },
        w));
  }
  return list;
}

contenders ways(const workload& w, bool) {
  contenders list = ours(w);
  list += device_limit(w);
  list += peers::cub_on_device(w);
  return list;
}

contenders spread_ways(const workload& w, bool) { return ours(w); }

contenders sum_ways(const workload& w, bool) {
  contenders list = ours(w);
  list += peers::cub_of_one_on_device(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "exact-cuda", .on_device = true, .exact = true, .sizes = sizes, .ways = ways},
    {.name = "exact-cuda-spread",
     .on_device = true,
     .drawn = values::spread,
     .exact = true,
     .sizes = sizes,
     .ways = spread_ways},
    {.name = "exact-cuda-sum",
     .on_device = true,
     .exact = true,
     .what = operation::sum,
     .sizes = sizes,
     .ways = sum_ways},
};
const std::span<const lane> device_exact_lanes = lanes;

}  // namespace bench
