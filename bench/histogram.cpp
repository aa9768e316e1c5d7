// Histograms of 2^25 samples on the host; "n" is the number of bins. And keys of 256 bins by
// entropy.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

constexpr types keys = types_of(pair<std::int32_t, std::int32_t, std::int32_t>{});
constexpr types bytes = types_of(pair<std::uint8_t, std::int32_t, std::int32_t>{});
constexpr types floats = types_of(pair<float, std::int32_t, std::int32_t>{});

std::vector<std::size_t> sizes_of_keys(const types& t, bool full) {
  if (t == bytes) return {256};
  if (t != keys) return {};
  if (full) return {16, 256, 1024, 4096, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 25};
  return {256, 4096, 1 << 16, 1 << 20};
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

contenders ours(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    const std::string label = where.description();
    std::string name = "tally::" + std::string(where.name());
    if (where.name() == "simd" && where != tally::simd()) name = "tally::" + label;
    contender c = on_host(name, label, w, [=] {
      tally::histogram(where, histogram_of(w));
      return 0;
    });
    c.compute = [=](void* result) { compute(where, w, result, true); };
    list.push_back(std::move(c));
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list = ours(w, full);
  for (source* other : {peers::histogram, limit}) list += other(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "bincount",
     .on_all_threads = true,
     .drawn = values::keys,
     .what = operation::histogram,
     .sizes = sizes_of_keys,
     .ways = ways},
    {.name = "bincount-zipf",
     .on_all_threads = true,
     .drawn = values::zipf_keys,
     .what = operation::histogram,
     .sizes = sizes_of_keys,
     .ways = ways},
    {.name = "bincount-constant",
     .on_all_threads = true,
     .drawn = values::one_key,
     .what = operation::histogram,
     .sizes = sizes_of_keys,
     .ways = ways},
    {.name = "bincount-entropy",
     .on_all_threads = true,
     .drawn = values::common_bits,
     .what = operation::histogram,
     .sizes = words,
     .ways = ways},
    {.name = "histogram-even",
     .on_all_threads = true,
     .what = operation::histogram,
     .bins = tally::binning::even,
     .sizes = sizes_of_samples,
     .ways = ways},
    {.name = "histogram-range",
     .on_all_threads = true,
     .what = operation::histogram,
     .bins = tally::binning::edges,
     .sizes = sizes_of_samples,
     .ways = ways},
};
const std::span<const lane> histogram_lanes = lanes;

}  // namespace bench
