// Histograms of 2^25 samples on a CUDA device: device time; "n" is the number of bins. And keys of
// 256 bins by entropy.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/device_peers.hpp"

namespace bench {
namespace {

constexpr types keys = types_of(pair<std::int32_t, std::int32_t, std::int32_t>{});
constexpr types bytes = types_of(pair<std::uint8_t, std::int32_t, std::int32_t>{});
constexpr types floats = types_of(pair<float, std::int32_t, std::int32_t>{});

std::vector<std::size_t> sizes_of_keys(const types& t, bool full) {
  if (t == bytes) return {256};
  if (t != keys) return {};
  if (full) return {16, 256, 1024, 4096, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 25};
  return {256, 4096, 1 << 14, 1 << 16, 1 << 20};
}

std::vector<std::size_t> words(const types& t, bool full) {
  if (t == floats) return {};
  return full ? std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 8} : std::vector<std::size_t>{1, 3, 5};
}

std::vector<std::size_t> sizes_of_samples(const types& t, bool full) {
  if (t != floats) return {};
  return full ? std::vector<std::size_t>{16, 256, 4096, 1 << 16}
              : std::vector<std::size_t>{256, 4096};
}

/// Counts outside samples too, so that bincount need not wait.
contenders ours(const workload& w) {
  const on_demand<device_memory> outside(
      [] { return device_memory(sizeof(tally::outside_counts)); });
  return {counts_on_device(
      "tally::cuda", tally::cuda().description(),
      [=](cudaStream_t s) {
        tally::histogram_arguments a = histogram_of(w);
        a.options.outside = static_cast<tally::outside_counts*>(outside().data());
        tally::histogram(tally::cuda({.stream = s}), a);
      },
      w)};
}

contenders ways(const workload& w, bool) {
  contenders list = ours(w);
  for (source* other : {peers::histogram_on_device, device_limit, peers::cccl_on_device})
    list += other(w);
  return list;
}

constexpr lane lane_of(std::string_view name, values drawn,
                       std::vector<std::size_t> (*sizes)(const types&, bool),
                       tally::binning bins = tally::binning::keys) {
  return {.name = name,
          .on_device = true,
          .drawn = drawn,
          .what = operation::histogram,
          .bins = bins,
          .sizes = sizes,
          .ways = ways};
}

}  // namespace

contender counts_on_device(std::string name, std::string label, std::function<void(cudaStream_t)> f,
                           const workload& w) {
  contender c =
      on_device(std::move(name), std::move(label), [f](cudaStream_t s, void*) { f(s); }, w);
  c.compute = [f, counts = w.y](void* result) {
    f(stream());
    std::vector<std::int32_t> on_host(counts.size);
    check(cudaMemcpyAsync(on_host.data(), counts.data, counts.size * sizeof(std::int32_t),
                          cudaMemcpyDeviceToHost, stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
    *static_cast<std::int64_t*>(result) = checksum(tally::as_operand(on_host));
  };
  return c;
}

constexpr lane lanes[] = {
    lane_of("bincount-cuda", values::keys, sizes_of_keys),
    lane_of("bincount-zipf-cuda", values::zipf_keys, sizes_of_keys),
    lane_of("bincount-constant-cuda", values::one_key, sizes_of_keys),
    lane_of("bincount-entropy-cuda", values::common_bits, words),
    lane_of("histogram-even-cuda", values::uniform, sizes_of_samples, tally::binning::even),
    lane_of("histogram-range-cuda", values::uniform, sizes_of_samples, tally::binning::edges),
};
const std::span<const lane> device_histogram_lanes = lanes;

}  // namespace bench
