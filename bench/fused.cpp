// An update with a sum on the host: our executors in one call and in two; a plain loop.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

#include <tally/tally.hpp>

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{}) && !(full && t == types_of(pair<float, float>{})))
    return {};
  if (full) return {100, 1'000, 10'000, 100'000, 1'000'000, 1 << 22, 1 << 24, 1 << 26};
  return {10'000, 1 << 24};
}
std::vector<std::size_t> longest(const types& t, bool full) {
  const std::vector<std::size_t> list = sizes(t, full);
  return full || list.empty() ? list : std::vector<std::size_t>{list.back()};
}

contenders two_calls(const workload& w) {
  contenders list;
  for (const tally::executor& where : host_executors(w.threads, false)) {
    visit(w, [&]<class A>(auto, auto, std::type_identity<A>) {
      if constexpr (std::is_floating_point_v<A>) {
        list.push_back(
            on_host("two calls of " + std::string(where.name()), where.description(), w, [=] {
              A sum;
              compute_in_two_calls(where, w, &sum, true);
              return sum;
            }));
      }
    });
  }
  return list;
}

contenders ways(const workload& w, bool full) {
  contenders list = ours_of_one(w, full);
  for (source* other : {limit, two_calls, peers::standard_fused}) list += other(w);
  return list;
}

constexpr lane of(std::string_view name, operation what,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full)) {
  return {.name = name,
          .on_all_threads = true,
          .offset = of_malloc,
          .what = what,
          .sizes = sizes_of,
          .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("waxpby-nrm2", operation::waxpby_nrm2, sizes),
    of("axpy-dot", operation::axpy_dot, longest),
};
const std::span<const lane> fused_lanes = lanes;

}  // namespace bench
