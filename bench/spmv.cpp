// Sparse matrix times vector on the host; "n" is a matrix. A plan without promises changes nothing
// here.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/matrices.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <array>
#include <functional>

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

/// Returns candidates with plans that know columns, or keep values too; of a transpose, that read
/// values or keep them. Plans are made once, or, to measure that, anew for every product; then of a
/// matrix also without promises.
contenders ours_with_plans(const workload& w, bool full, bool anew = false) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    // Its plan ignores columns.
    if (!w.transposes() && where.name() == "serial" && !anew) continue;
    const std::string name = "tally::" + std::string(where.name()) + " plan";
    const auto add = [&](const std::string& called, const std::function<tally::spmv_plan()>& make) {
      if (anew) {
        list.push_back(on_host(called, where.description(), w, [=] {
          const tally::spmv_plan plan = make();
          tally::spmv(where, spmv_of(w, w.z, &plan));
        }));
        return;
      }
      const on_demand<tally::spmv_plan> plan(make);
      list.push_back(on_host(called, where.description(), w,
                             [=] { tally::spmv(where, spmv_of(w, w.z, &plan())); }));
      list.back().set_up = [=] { make(); };
    };
    if (w.transposes() || anew) add(name, [=] { return tally::spmv_plan(where, w.matrix); });
    if (where.name() == "serial" && !w.transposes()) continue;
    if (!w.transposes()) {
      add(name + ", fixed columns",
          [=] { return tally::spmv_plan(where, w.matrix, {.fixed_columns = true}); });
    }
    add(name + ", fixed values",
        [=] { return tally::spmv_plan(where, w.matrix, {.fixed_values = true}); });
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list = w.transposes() ? contenders() : ours(w, full);
  list += ours_with_plans(w, full);
  for (source* other : {
           peers::standard_spmv,
           peers::mkl_spmv,
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

contenders ways_anew(const workload& w, bool full) {
  contenders list = ours(w, full);
  list += ours_with_plans(w, full, true);
  list += peers::mkl_spmv_anew(w);
  return list += limit_of_spmv(w, limit);
}

}  // namespace

std::vector<std::size_t> matrices_for(const types& t, bool on_device, bool full) {
  const bool listed =
      t == types_of(pair<double, double>{}) || (full && t == types_of(pair<float, float>{}));
  return listed ? matrices_of(on_device, full) : std::vector<std::size_t>{};
}

std::vector<std::size_t> few_matrices_for(const types& t, bool on_device, bool full) {
  std::vector<std::size_t> all = matrices_for(t, on_device, full);
  if (full || has_own_matrices()) return all;
  std::erase_if(all, [](std::size_t n) {
    constexpr std::array some = {"wiki-Vote", "soc-Slashdot0902", "27-point-64", "27-point-128"};
    return std::ranges::find(some, matrix_name(n)) == some.end();
  });
  return all;
}

contenders limit_of_spmv(const workload& w, source* limit) {
  const workload terms{w.matrix.values, w.matrix.column_indices, w.accumulator, w.threads};
  return limit_of_terms(terms, limit, ", of values and columns");
}

constexpr lane lanes[] = {
    {.name = "spmv",
     .on_all_threads = true,
     .offset = of_malloc,
     .what = operation::spmv,
     .sizes = [](const types& t, bool full) { return matrices_for(t, false, full); },
     .ways = ways},
    {.name = "spmv-new-plan",
     .on_all_threads = true,
     .offset = of_malloc,
     .what = operation::spmv,
     .sizes = [](const types& t, bool full) { return matrices_for(t, false, full); },
     .ways = ways_anew},
    {.name = "spmv-transpose",
     .on_all_threads = true,
     .offset = of_malloc,
     .what = operation::spmv,
     .transposes = true,
     .sizes = [](const types& t, bool full) { return few_matrices_for(t, false, full); },
     .ways = ways},
};
const std::span<const lane> spmv_lanes = lanes;

}  // namespace bench
