// dot on the host: our executors, the peers, the limit.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

constexpr source* others[] = {
    limit,         peers::standard,    peers::openblas,
    peers::blis,   peers::blas_of_mkl, peers::numkong,
#if TALLY_BENCH_EIGEN
    peers::eigen,
#endif
#if TALLY_BENCH_TBB
    peers::tbb,
#endif
#if TALLY_BENCH_KOKKOS
    peers::kokkos,
#endif
};

/// Types of machine learning.
constexpr tally::type_list<pair<tally::float16, tally::float16>,
                           pair<tally::bfloat16, tally::bfloat16>, pair<std::int8_t, std::int8_t>>
    short_pairs;

std::vector<std::size_t> sizes(const types& t, bool full) {
  constexpr std::size_t workload_of_2021 = std::size_t{1} << 20;
  if (full) {
    return {8,       100,     1'000,   10'000, 100'000, 1'000'000, workload_of_2021,
            1 << 22, 1 << 24, 1 << 26, 1 << 28};
  }
  if (t == types_of(pair<float, bool>{})) return {workload_of_2021};
  if (contains(short_pairs, t)) return {10'000, 1'000'000};
  if (!contains(quick_pairs{}, t)) return {};
  return {8, 100, 1'000, 10'000, 1'000'000, workload_of_2021, 1 << 26};
}

std::vector<std::size_t> aligned_sizes(const types& t, bool full) {
  if (full) return sizes(t, full);
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  return {100, 1'000, 10'000, 1'000'000};
}

contenders ways(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    visit(w, [&]<class A>(auto x, auto y, std::type_identity<A>) {
      const std::string label = where.description();
      std::string name = "tally::" + std::string(where.name());
      if (where.name() == "simd" && where != tally::simd()) {
        name = "tally::" + label;
      }
      list.push_back(on_host(name, label, w, [=] { return tally::dot<A>(where, x, y); }));
    });
  }
  for (source* other : others) list += other(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "dot", .on_all_threads = true, .offset = of_malloc, .sizes = sizes, .ways = ways},
    // Page-aligned vectors.
    {.name = "dot-aligned", .sizes = aligned_sizes, .ways = ways},
};
const std::span<const lane> dot_lanes = lanes;

}  // namespace bench
