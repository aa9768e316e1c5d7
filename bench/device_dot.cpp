// dot on a CUDA device, operands there: device time with the result there, and time of a call that
// returns it.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/peers/device_peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

std::vector<std::size_t> powers_of_two(int from, int to, int step) {
  std::vector<std::size_t> list;
  for (int k = from; k <= to; k += step) list.push_back(std::size_t{1} << k);
  return list;
}

std::vector<std::size_t> device_sizes(const types& t, bool full) {
  if (full) return powers_of_two(10, 28, 1);
  if (!contains(quick_pairs{}, t)) return {};
  return powers_of_two(10, 28, 2);
}

contenders on_device_ways(const workload& w, bool) {
  contenders list;
  list.push_back(on_device(
      "tally::cuda", tally::cuda().description(),
      [w](cudaStream_t s, void* result) {
        tally::dot(tally::cuda({.stream = s}),
                   {w.x, w.y, tally::conjugate::none, {result, w.accumulator}, {.wait = false}});
      },
      w));
  for (source* other :
       {device_limit, peers::cublas_on_device, peers::cub_on_device, peers::cccl_on_device})
    list += other(w);
  return list;
}

std::vector<std::size_t> to_host_sizes(const types& t, bool full) {
  if (!contains(quick_pairs{}, t)) return {};
  return powers_of_two(10, 20, full ? 2 : 5);
}

contenders to_host_ways(const workload& w, bool) {
  contenders list;
  visit(w, [&]<class A>(auto x, auto y, std::type_identity<A>) {
    for (const tally::executor& where : {tally::cuda({.stream = stream()}), tally::automatic()}) {
      list.push_back(on_host("tally::" + std::string(where.name()), where.description(), w,
                             [=] { return tally::dot<A>(where, x, y); }));
    }
  });
  for (source* other : {peers::cublas_to_host, peers::cub_to_host}) list += other(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "dot-cuda", .on_device = true, .sizes = device_sizes, .ways = on_device_ways},
    {.name = "dot-cuda-to-host", .on_device = true, .sizes = to_host_sizes, .ways = to_host_ways},
};
const std::span<const lane> device_dot_lanes = lanes;

}  // namespace bench
