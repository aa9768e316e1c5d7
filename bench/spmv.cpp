// Sparse matrix times vector on the host; "n" is a matrix. A plan changes nothing here.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/matrices.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

contenders ours(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    const std::string label = where.description();
    std::string name = "tally::" + std::string(where.name());
    if (where.name() == "simd" && where != tally::simd()) name = "tally::" + label;
    list.push_back(on_host(name, label, w, [=] { compute(where, w, w.z, true); }));
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list = ours(w, full);
  for (source* other : {
           peers::standard_spmv,
#if TALLY_BENCH_EIGEN
           peers::eigen_spmv,
#endif
#if TALLY_BENCH_KOKKOS_KERNELS
           peers::kokkos_kernels_spmv,
#endif
       })
    list += other(w);
  return list += limit_of_spmv(w, limit);
}

}  // namespace

std::vector<std::size_t> matrices_for(const types& t, bool on_device, bool full) {
  const bool listed =
      t == types_of(pair<double, double>{}) || (full && t == types_of(pair<float, float>{}));
  return listed ? matrices_of(on_device, full) : std::vector<std::size_t>{};
}

contenders limit_of_spmv(const workload& w, source* limit) {
  const workload terms{w.matrix.values, w.matrix.column_indices, w.accumulator, w.threads};
  contenders list = limit(terms);
  for (contender& c : list) {
    c.label += ", of values and columns";
    if (c.bytes == 0) c.bytes = terms.bytes();
  }
  return list;
}

const lane spmv = {.name = "spmv",
                   .on_all_threads = true,
                   .offset = of_malloc,
                   .what = operation::spmv,
                   .sizes = [](const types& t, bool full) { return matrices_for(t, false, full); },
                   .ways = ways};

}  // namespace bench
