// An update with a sum on a CUDA device: one call, the two equivalent ones, and cuBLAS's.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  std::vector<std::size_t> list;
  for (int k = full ? 10 : 20; k <= 28; k += full ? 2 : 8) list.push_back(std::size_t{1} << k);
  return list;
}

std::vector<std::size_t> longest(const types& t, bool full) {
  if (full) return sizes(t, full);
  if (t != types_of(pair<double, double>{})) return {};
  return {std::size_t{1} << 28};
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
        compute_in_two_calls(tally::cuda({.stream = s}), w, result, false);
      },
      w));
  for (source* other : {device_limit, peers::cublas_fused_on_device}) list += other(w);
  return list;
}

constexpr lane of(std::string_view name, operation what,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full)) {
  return {.name = name, .on_device = true, .what = what, .sizes = sizes_of, .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("waxpby-nrm2-cuda", operation::waxpby_nrm2, sizes),
    of("axpy-dot-cuda", operation::axpy_dot, longest),
};
const std::span<const lane> device_fused_lanes = lanes;

}  // namespace bench
