// Several dot products at once on the host: 16 vectors against one, many short pairs.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/peers/peers.hpp"

#include <tally/tally.hpp>

#include <memory>

namespace bench {
namespace {

constexpr types doubles = types_of(pair<double, double>{});
constexpr types floats = types_of(pair<float, float>{});

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  if (full) return {1'000, 10'000, 100'000, 1 << 20, 1 << 22, 1 << 24};
  return {10'000, 1 << 20, 1 << 22};
}

std::vector<std::size_t> short_sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  return full ? std::vector<std::size_t>{8, 32, 100} : std::vector<std::size_t>{32};
}

/// All at once, and one by one.
contenders ours(const workload& w) {
  contenders list;
  for (const tally::executor& where :
       {w.threads > 1 ? tally::openmp({.threads = w.threads}) : tally::simd()}) {
    visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                            std::type_identity<A>) {
      const std::string name = "tally::" + std::string(where.name());
      const auto results = std::make_shared<std::vector<A>>(w.rows);
      const auto rows = tally::rows(x.data(), w.rows, x.size());
      list.push_back(on_host(name, where.description(), w, [=] {
        if (w.y_has_rows) {
          tally::batched_dot(where, rows, tally::rows(y.data(), w.rows, y.size()), results->data());
        } else {
          tally::multi_dot(where, rows, y, results->data());
        }
        return results->front();
      }));
      if (w.y_has_rows) return;
      list.push_back(on_host(name + " one by one", "calls of tally::dot", w, [=] {
        for (std::size_t j = 0; j < w.rows; ++j) {
          tally::dot(where, std::span(x.data() + j * x.size(), x.size()), y, results->data() + j);
        }
        return results->front();
      }));
    });
  }
  return list;
}

contenders ways(const workload& w, bool) {
  contenders list = ours(w);
  for (source* other : {peers::standard_rows, peers::openblas_rows, limit}) list += other(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "multi-dot",
     .on_all_threads = true,
     .offset = of_malloc,
     .rows = 16,
     .sizes = sizes,
     .ways = ways},
    {.name = "batched-dot",
     .on_all_threads = true,
     .offset = of_malloc,
     .rows = 1'000'000,
     .y_has_rows = true,
     .sizes = short_sizes,
     .ways = ways},
};
const std::span<const lane> multi_dot_lanes = lanes;

}  // namespace bench
