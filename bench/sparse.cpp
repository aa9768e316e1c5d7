// Other functions of sparse matrices on the host: products with several vectors, assembly from
// entries, functions of rows; "n" is a matrix.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace bench {
namespace {

/// Calls add(executor, name) for ours on the host.
template <class Add>
void for_each_of_ours(const workload& w, bool full, const Add& add) {
  for (const tally::executor& where : host_executors(w.threads, full)) {
    const bool is_forced = where.name() == "simd" && where != tally::simd();
    add(where, "tally::" + (is_forced ? where.description() : std::string(where.name())));
  }
}

contenders ours(const workload& w, bool full) {
  contenders list;
  for_each_of_ours(w, full, [&](const tally::executor& where, const std::string& name) {
    list.push_back(on_host(name, where.description(), w, [=] { compute(where, w, w.z, true); }));
  });
  return list;
}

contenders ways_of_spmm(const workload& w, bool full) {
  contenders list = ours(w, full);
  for_each_of_ours(w, full, [&](const tally::executor& where, const std::string& name) {
    if (where.name() == "serial") return;  // its plan ignores columns
    const on_demand<tally::spmv_plan> plan(
        [=] { return tally::spmv_plan(where, w.matrix, tally::fixed_columns); });
    list.push_back(on_host(name + " plan, fixed columns", where.description(), w,
                           [=] { tally::spmm(where, spmm_of(w, w.z, &plan())); }));
  });
  for (source* other : {
           peers::standard_sparse,
           peers::mkl_spmv,
#if TALLY_BENCH_EIGEN
           peers::eigen_spmv,
#endif
       })
    list += other(w);
  return list += limit_of_sparse(w, limit);
}

contenders ways_of_assembly(const workload& w, bool full) {
  struct arrays {
    std::vector<std::int32_t> offsets, columns;
  };
  contenders list;
  for_each_of_ours(w, full, [&](const tally::executor& where, const std::string& name) {
    const on_demand<std::shared_ptr<arrays>> made([=] {
      return std::make_shared<arrays>(std::vector<std::int32_t>(w.matrix.rows + 1),
                                      std::vector<std::int32_t>(w.matrix.nonzeros()));
    });
    list.push_back(on_host(name, where.description(), w, [=] {
      arrays& to = *made();
      tally::csr_from_coo(where, assembly_of(w, w.z, to.offsets.data(), to.columns.data()));
    }));
  });
  list += peers::standard_sparse(w);
#if TALLY_BENCH_EIGEN
  list += peers::eigen_assembly(w);
#endif
  return list;
}

contenders ways_of_rows(const workload& w, bool full) {
  contenders list = ours(w, full);
  list += peers::standard_sparse(w);
  return list += limit_of_sparse(w, limit);
}

std::vector<std::size_t> sizes(const types& t, bool full) {
  return few_matrices_for(t, false, full);
}

constexpr lane of(std::string_view name, operation what,
                  contenders (*ways)(const workload& w, bool full), std::size_t vectors = 1) {
  return {.name = name,
          .on_all_threads = true,
          .offset = of_malloc,
          .what = what,
          .rows = vectors,
          .sizes = sizes,
          .ways = ways};
}

}  // namespace

contenders limit_of_sparse(const workload& w, source* limit) {
  const tally::csr_operand& a = w.matrix;
  workload terms{a.values, a.column_indices, w.accumulator, w.threads};
  switch (w.what) {
    case operation::spmm:
      terms.what = operation::sum;
      if (w.x.size <= a.values.size) return limit_of_terms(terms, limit, ", of values");
      terms.x = w.x;
      return limit_of_terms(terms, limit, ", of X");
    case operation::diagonal:
      terms.x = a.column_indices;
      terms.what = operation::sum;
      return limit_of_terms(terms, limit, ", of columns");
    case operation::scale_rows:
      terms.y = {};
      terms.z = w.z;
      terms.what = operation::copy;
      return limit_of_terms(terms, limit, ", of values");
    default:
      terms.what = operation::sum;
      return limit_of_terms(terms, limit, ", of values");
  }
}

constexpr lane lanes[] = {of("spmm-4", operation::spmm, ways_of_spmm, 4),
                          of("spmm-8", operation::spmm, ways_of_spmm, 8),
                          of("spmm-32", operation::spmm, ways_of_spmm, 32),
                          of("csr-from-coo", operation::assembly, ways_of_assembly),
                          of("diagonal", operation::diagonal, ways_of_rows),
                          of("row-norms", operation::row_norms, ways_of_rows),
                          of("scale-rows", operation::scale_rows, ways_of_rows)};
const std::span<const lane> sparse_lanes = lanes;

}  // namespace bench
