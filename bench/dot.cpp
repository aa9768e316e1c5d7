// dot on the host: our executors, the peers, the limit.
#include "backends/backend.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/peers/peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

constexpr source* others[] = {
    limit,         peers::standard, peers::openblas, peers::blis,
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

std::vector<std::size_t> sizes(const types& t, bool full) {
  constexpr std::size_t workload_of_2021 = std::size_t{1} << 20;
  if (full) {
    return {8,       100,     1'000,   10'000, 100'000, 1'000'000, workload_of_2021,
            1 << 22, 1 << 24, 1 << 26, 1 << 28};
  }
  if (t == types_of(pair<float, bool>{})) return {workload_of_2021};
  if (!contains(quick_pairs{}, t)) return {};
  return {8, 100, 1'000, 10'000, 1'000'000, workload_of_2021, 1 << 26};
}

std::vector<std::size_t> aligned_sizes(const types& t, bool full) {
  if (full) return sizes(t, full);
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  return {100, 1'000, 10'000, 1'000'000};
}

/// The executors that run on host memory, with what the threads allow.
std::vector<tally::executor> executors(int threads, bool full) {
  std::vector<tally::executor> list;
  for (const tally::executor& where : tally::executors()) {
    const bool threaded = where.name() == "openmp" || where.name() == "kokkos";
    const bool on_host = where.backend()->reaches(where, {});
    if (on_host && threaded == (threads > 1)) list.push_back(where);
  }
  if (threads > 1) {
    list.push_back(tally::automatic());
  } else if (full) {
    for (const tally::instruction_set set : tally::instruction_sets()) {
      const tally::executor forced = tally::simd({.instructions = set});
      if (forced != tally::simd()) list.push_back(forced);
    }
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : executors(w.threads, full)) {
    visit(w, [&]<class A>(auto x, auto y, std::type_identity<A>) {
      const std::string label = where.description();
      std::string name = "tally::" + std::string(where.name());
      if (where.name() == "simd" && where != tally::simd()) name = "tally::" + label;
      list.push_back(on_host(name, label, w, [=] { return tally::dot<A>(where, x, y); }));
    });
  }
  for (source* other : others) list += other(w);
  return list;
}

}  // namespace

const lane dot = {
    .name = "dot", .on_all_threads = true, .offset = of_malloc, .sizes = sizes, .ways = ways};

/// The same on vectors that start with a page.
const lane dot_aligned = {.name = "dot-aligned", .sizes = aligned_sizes, .ways = ways};

}  // namespace bench
