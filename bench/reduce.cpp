// Sums and norms on the host: our executors, the peers, the limit.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {

std::vector<std::size_t> sizes_of_one(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && t != types_of(pair<float, float>{})) return {};
  if (full) return {8, 100, 1'000, 10'000, 100'000, 1'000'000, 1 << 22, 1 << 24, 1 << 26};
  return {1'000, 10'000, 1'000'000, 1 << 26};
}

contenders ways_of_one(const workload& w, bool full) {
  contenders list = ours_of_one(w, full);
  constexpr source* others[] = {
      limit,
      peers::standard_of_one,
      peers::openblas_of_one,
      peers::blis_of_one,
      peers::blas_of_mkl_of_one,
#if TALLY_BENCH_EIGEN
      peers::eigen,
#endif
#if TALLY_BENCH_KOKKOS
      peers::kokkos_of_one,
#endif
  };
  for (source* other : others) list += other(w);
  return list;
}

namespace {

constexpr lane of(std::string_view name, operation what) {
  return {.name = name,
          .on_all_threads = true,
          .offset = of_malloc,
          .what = what,
          .sizes = sizes_of_one,
          .ways = ways_of_one};
}

}  // namespace

constexpr lane lanes[] = {
    of("sum", operation::sum),           of("asum", operation::asum),
    of("nrm2", operation::nrm2),         of("sum-of-squares", operation::sum_of_squares),
    of("max-norm", operation::max_norm), of("wrms-norm", operation::wrms_norm),
};
const std::span<const lane> reduce_lanes = lanes;

}  // namespace bench
