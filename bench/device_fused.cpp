// An update with a sum of what it writes, on a CUDA device: one call, and the two that it stands
// for.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  std::vector<std::size_t> list;
  for (int k = full ? 10 : 20; k <= 28; k += full ? 2 : 8) list.push_back(std::size_t{1} << k);
  return list;
}

contenders ways(const workload& w, bool) {
  contenders list;
  const std::string label = tally::cuda().description();
  list.push_back(on_device(
      "tally::cuda", label,
      [w](cudaStream_t s, void* result) { compute(tally::cuda({.stream = s}), w, result, false); },
      w));
  list.push_back(on_device(
      "two calls of cuda", label,
      [w](cudaStream_t s, void* result) {
        const tally::executor where = tally::cuda({.stream = s});
        const tally::transform_arguments update = update_of(w);
        tally::transform(where, update);
        tally::reduce(where,
                      {update.z, tally::reduction::nrm2, {result, w.accumulator}, {.wait = false}});
      },
      w));
  list += device_limit(w);
  return list;
}

}  // namespace

const lane waxpby_nrm2_on_device = {.name = "waxpby-nrm2-cuda",
                                    .on_device = true,
                                    .what = operation::waxpby_nrm2,
                                    .sizes = sizes,
                                    .ways = ways};

}  // namespace bench
