// The exact grade on the host, against the default grade and other accurate sums; and errors
// against the condition number.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

constexpr types doubles = types_of(pair<double, double>{});
constexpr types floats = types_of(pair<float, float>{});

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != doubles && t != floats) return {};
  if (full) return {8, 100, 1'000, 10'000, 100'000, 1'000'000, 1 << 20, 1 << 22, 1 << 24, 1 << 26};
  return {100, 1'000, 1 << 20, 1 << 26};
}

std::vector<std::size_t> few_sizes(const types& t, bool full) {
  return t == doubles || (full && t == floats) ? std::vector<std::size_t>{1'000, 1 << 20, 1 << 26}
                                               : std::vector<std::size_t>{};
}

contenders ours(const workload& w) {
  contenders list;
  for (const tally::executor& where : {w.threads > 1 ? tally::openmp() : tally::simd()}) {
    visit(w, [&]<class A>(auto, auto, std::type_identity<A>) {
      const std::string name = "tally::" + std::string(where.name());
      const auto call = [=](bool exact) {
        A r;
        compute(where, w, &r, true, exact);
        return r;
      };
      list.push_back(on_host(name + " exact", where.description() + ", tally::exact", w,
                             [=] { return call(true); }));
      list.push_back(
          on_host(name, where.description() + ", default", w, [=] { return call(false); }));
    });
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list = ours(w);
  list += limit(w);
  // Some take a second a call.
  if (w.threads == 1 && (full || w.size() <= 1 << 20)) list += peers::accurate(w);
  return list;
}

contenders spread_ways(const workload& w, bool) {
  contenders list = ours(w);
  return list += limit(w);
}

contenders sum_ways(const workload& w, bool) {
  contenders list = ours(w);
  list += limit(w);
#if TALLY_BENCH_XSUM
  if (w.threads == 1) list += peers::xsum(w);
#endif
  return list;
}

std::vector<std::size_t> exponents(const types& t, bool full) {
  std::vector<std::size_t> list;
  if (t != doubles) return list;
  for (std::size_t k = 4; k <= 40; k += full ? 2 : 4) list.push_back(k);
  return list;
}

contenders all_ways(const workload& w, bool) {
  contenders list = ours(w);
  list += peers::accurate(w);
  list += peers::standard(w);
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "exact",
     .on_all_threads = true,
     .offset = of_malloc,
     .exact = true,
     .sizes = sizes,
     .ways = ways},
    {.name = "exact-spread",
     .on_all_threads = true,
     .offset = of_malloc,
     .drawn = values::spread,
     .exact = true,
     .sizes = few_sizes,
     .ways = spread_ways},
    {.name = "exact-sum",
     .on_all_threads = true,
     .offset = of_malloc,
     .exact = true,
     .what = operation::sum,
     .sizes = few_sizes,
     .ways = sum_ways},
    {.name = "exact-sum-spread",
     .on_all_threads = true,
     .offset = of_malloc,
     .drawn = values::spread,
     .exact = true,
     .what = operation::sum,
     .sizes = few_sizes,
     .ways = sum_ways},
    {.name = "accuracy",
     .offset = of_malloc,
     .drawn = values::ill_conditioned,
     .exact = true,
     .sizes = exponents,
     .ways = all_ways},
};
const std::span<const lane> exact_lanes = lanes;

}  // namespace bench
