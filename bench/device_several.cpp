// Several results at once on a CUDA device: device time.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

namespace bench {
namespace {

constexpr types doubles = types_of(pair<double, double>{});
constexpr types floats = types_of(pair<float, float>{});

/// Elements per vector.
std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  return full ? std::vector<std::size_t>{64, 1024, 1 << 14, 1 << 17}
              : std::vector<std::size_t>{1024, 1 << 17};
}
std::vector<std::size_t> long_sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  return full ? std::vector<std::size_t>{1 << 16, 1 << 20, 1 << 24, 1 << 26}
              : std::vector<std::size_t>{1 << 20, 1 << 25};
}
std::vector<std::size_t> elements(const types&, bool full) {
  return full ? std::vector<std::size_t>{1 << 20, 1 << 25, 1 << 28}
              : std::vector<std::size_t>{1 << 20, 1 << 25};
}
/// Results.
std::vector<std::size_t> bins(const types&, bool full) {
  return full ? std::vector<std::size_t>{16, 4096, 1 << 16, 1 << 20, 1 << 22}
              : std::vector<std::size_t>{64, 1 << 16, 1 << 20};
}

contenders ways(const workload& w, bool) {
  contenders list;
  list.push_back(on_device(
      "tally::cuda", tally::cuda().description(),
      [w](cudaStream_t s, void* z) { compute(tally::cuda({.stream = s}), w, z, false); }, w));
  for (source* other :
       {peers::cublas_several_on_device, peers::cub_several_on_device, peers::atomics_on_device}) {
    list += other(w);
  }
  return list += limit_of_several(w, device_limit);
}

constexpr lane of(std::string_view name, operation what, std::size_t rows, bool columns,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full),
                  values drawn = values::uniform) {
  return {.name = name,
          .on_device = true,
          .drawn = drawn,
          .what = what,
          .rows = rows,
          .columns = columns,
          .sizes = sizes_of,
          .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("sums-cuda", operation::sums, 1024, false, sizes),
    of("sums-columns-cuda", operation::sums, 1024, true, sizes),
    of("gemv-cuda", operation::gemv, 1024, false, sizes),
    of("gemv-columns-cuda", operation::gemv, 1024, true, sizes),
    of("multi-axpy-cuda", operation::multi_axpy, 8, false, long_sizes),
    of("segmented-sum-4-cuda", operation::segmented_sum, 4, false, elements),
    of("segmented-sum-30-cuda", operation::segmented_sum, 30, false, elements),
    of("segmented-sum-1000-cuda", operation::segmented_sum, 1000, false, elements),
    of("scatter-add-cuda", operation::scatter_add, 1, false, bins, values::keys),
    of("scatter-add-zipf-cuda", operation::scatter_add, 1, false, bins, values::zipf_keys),
};
const std::span<const lane> device_several_lanes = lanes;

}  // namespace bench
