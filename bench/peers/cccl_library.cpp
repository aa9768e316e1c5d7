// Exports of the library of another CCCL.
#include "bench/peers/cccl.hpp"
#include "bench/peers/device_peers.hpp"

const bench::peers::cccl_sources* bench_cccl_sources() {
  using namespace bench::peers;
  static constexpr cccl_sources sources = {cub_on_device, cub_of_one_on_device,
                                           cub_elementwise_on_device, histogram_on_device};
  return &sources;
}
