// Several dot products at once on a CUDA device: device time.
#include "bench/device.hpp"
#include "bench/lane.hpp"
#include "bench/peers/device_peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

constexpr types doubles = types_of(pair<double, double>{});
constexpr types floats = types_of(pair<float, float>{});

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != doubles && t != floats) return {};
  std::vector<std::size_t> list;
  for (int k = full ? 10 : 12; k <= 24; k += full ? 2 : 4) list.push_back(std::size_t{1} << k);
  return list;
}

std::vector<std::size_t> short_sizes(const types& t, bool full) {
  if (t != doubles && t != floats) return {};
  return full ? std::vector<std::size_t>{8, 31, 32, 64, 100} : std::vector<std::size_t>{32};
}

/// All at once, and one by one.
contenders ways(const workload& w, bool) {
  const auto rows_of = [](const tally::operand& v, std::size_t rows, bool all_the_same) {
    return tally::operand_rows{v, rows, all_the_same ? 0 : static_cast<std::ptrdiff_t>(v.size)};
  };
  const tally::dot_pairs pairs = {rows_of(w.x, w.rows, false), rows_of(w.y, w.rows, !w.y_has_rows)};
  contenders list;
  list.push_back(on_device(
      "tally::cuda", tally::cuda().description(),
      [=](cudaStream_t s, void* results) {
        tally::multi_dot(
            tally::cuda({.stream = s}),
            {pairs, tally::conjugate::none, {results, w.accumulator}, {.wait = false}});
      },
      w));
  if (!w.y_has_rows) {
    list.push_back(on_device(
        "tally::cuda one by one", "calls of tally::dot",
        [=](cudaStream_t s, void* results) {
          const std::size_t size = size_of(w.accumulator);
          for (std::size_t j = 0; j < pairs.size(); ++j) {
            const auto [x, y] = pairs[j];
            tally::dot(tally::cuda({.stream = s}),
                       {x,
                        y,
                        tally::conjugate::none,
                        {static_cast<char*>(results) + j * size, w.accumulator},
                        {.wait = false}});
          }
        },
        w));
  }
  list += peers::cublas_rows_on_device(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "multi-dot-cuda", .on_device = true, .rows = 16, .sizes = sizes, .ways = ways},
    {.name = "batched-dot-cuda",
     .on_device = true,
     .rows = 1'000'000,
     .y_has_rows = true,
     .sizes = short_sizes,
     .ways = ways},
};
const std::span<const lane> device_multi_dot_lanes = lanes;

}  // namespace bench
