// Several results at once on the host: sums of vectors, gemv, an update by several vectors, sums of
// segments, and of samples by index.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

constexpr types doubles = types_of(pair<double, double>{});
constexpr types floats = types_of(pair<float, float>{});

/// Elements per vector.
std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  return full ? std::vector<std::size_t>{100, 1'000, 10'000, 100'000}
              : std::vector<std::size_t>{1'000, 10'000};
}
std::vector<std::size_t> long_sizes(const types& t, bool full) {
  if (t != doubles && !(full && t == floats)) return {};
  return full ? std::vector<std::size_t>{1'000, 100'000, 1 << 20, 1 << 23}
              : std::vector<std::size_t>{100'000, 1 << 23};
}
std::vector<std::size_t> elements(const types&, bool full) {
  return full ? std::vector<std::size_t>{1 << 16, 1 << 20, 1 << 24}
              : std::vector<std::size_t>{1 << 16, 1 << 24};
}
/// Results.
std::vector<std::size_t> bins(const types&, bool full) {
  return full ? std::vector<std::size_t>{1, 64, 4096, 1 << 16, 1 << 20, 1 << 24}
              : std::vector<std::size_t>{64, 1 << 16, 1 << 20};
}

contenders ways(const workload& w, bool full) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, full)) {
    const std::string label = where.description();
    std::string name = "tally::" + std::string(where.name());
    if (where.name() == "simd" && where != tally::simd()) name = "tally::" + label;
    list.push_back(on_host(name, label, w, [=] { compute(where, w, w.z, true); }));
  }
  for (source* other : {peers::standard_several, peers::openblas_several, peers::mkl_several}) {
    list += other(w);
  }
  return list += limit_of_several(w, limit);
}

constexpr lane of(std::string_view name, operation what, std::size_t rows, bool columns,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full),
                  values drawn = values::uniform) {
  return {.name = name,
          .on_all_threads = true,
          .offset = of_malloc,
          .drawn = drawn,
          .what = what,
          .rows = rows,
          .columns = columns,
          .sizes = sizes_of,
          .ways = ways};
}

}  // namespace

contenders limit_of_several(const workload& w, source* limit) {
  workload terms = w;
  terms.what = operation::sum;
  if (is_indexed(w.what)) terms.rows = 1;
  terms.x.size *= terms.rows;
  terms.rows = 1;
  terms.columns = false;
  return limit_of_terms(terms, limit, ", of the elements alone");
}

constexpr lane lanes[] = {
    of("sums", operation::sums, 1024, false, sizes),
    of("sums-columns", operation::sums, 1024, true, sizes),
    of("gemv", operation::gemv, 1024, false, sizes),
    of("gemv-columns", operation::gemv, 1024, true, sizes),
    of("multi-axpy", operation::multi_axpy, 8, false, long_sizes),
    of("segmented-sum-4", operation::segmented_sum, 4, false, elements),
    of("segmented-sum-30", operation::segmented_sum, 30, false, elements),
    of("segmented-sum-1000", operation::segmented_sum, 1000, false, elements),
    of("scatter-add", operation::scatter_add, 1, false, bins, values::keys),
    of("scatter-add-zipf", operation::scatter_add, 1, false, bins, values::zipf_keys),
};
const std::span<const lane> several_lanes = lanes;

}  // namespace bench
