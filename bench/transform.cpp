// Element-wise functions on the host: our executors, the peers, a copy.
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/ours.hpp"
#include "bench/peers/peers.hpp"

namespace bench {
namespace {

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<float, float>{}) && !(full && t == types_of(pair<double, double>{})))
    return {};
  if (full) return {8, 100, 1'000, 10'000, 100'000, 1'000'000, 1 << 22, 1 << 24, 1 << 26};
  return {10'000, 1'000'000, 1 << 26};
}
/// A million elements alone, or a long vector.
std::vector<std::size_t> a_million(const types& t, bool full) {
  const std::vector<std::size_t> list = sizes(t, full);
  return full || list.empty() ? list : std::vector<std::size_t>{1'000'000};
}
std::vector<std::size_t> longest(const types& t, bool full) {
  const std::vector<std::size_t> list = sizes(t, full);
  return full || list.empty() ? list : std::vector<std::size_t>{list.back()};
}
std::vector<std::size_t> sizes_in_full(const types& t, bool full) {
  return full ? sizes(t, full) : std::vector<std::size_t>{};
}

contenders ways(const workload& w, bool full) {
  contenders list = ours_of_one(w, full);
  constexpr source* others[] = {
      limit,
      peers::standard_elementwise,
      peers::openblas_axpy,
      peers::blis_axpy,
      peers::mkl_elementwise,
#if TALLY_BENCH_EIGEN
      peers::eigen,
#endif
#if TALLY_BENCH_KOKKOS
      peers::kokkos_elementwise,
#endif
  };
  for (source* other : others) list += other(w);
  return list;
}

constexpr lane of(std::string_view name, operation what,
                  std::vector<std::size_t> (*sizes_of)(const types& t, bool full),
                  values drawn = values::uniform) {
  return {.name = name,
          .on_all_threads = true,
          .offset = of_malloc,
          .drawn = drawn,
          .what = what,
          .sizes = sizes_of,
          .ways = ways};
}

}  // namespace

constexpr lane lanes[] = {
    of("copy", operation::copy, sizes_in_full),
    of("axpy", operation::axpy, sizes),
    of("waxpby", operation::waxpby, a_million),
    of("axpbypcz", operation::axpbypcz, longest),
    of("add", operation::add, sizes_in_full),
    of("mul", operation::mul, sizes_in_full),
    of("relu", operation::relu, sizes),
    of("sigmoid", operation::sigmoid, sizes),
    of("exp", operation::exp, a_million),
    of("inv", operation::inv, a_million),
    of("abs", operation::abs, a_million),
    of("sqrt", operation::sqrt, a_million, values::positive),
    of("log", operation::log, a_million, values::positive),
    of("tanh", operation::tanh, a_million),
    of("sign", operation::sign, a_million),
    of("scale", operation::scale, a_million),
    of("add-constant", operation::add_constant, a_million),
    of("clamp", operation::clamp, a_million),
    of("pow", operation::pow, a_million),
    of("compare-constant", operation::compare_constant, a_million),
    of("div", operation::div, a_million),
    of("minimum", operation::minimum, a_million),
    of("maximum", operation::maximum, a_million),
    of("compare", operation::compare, a_million),
    of("where", operation::where, a_million),
    of("jacobi-step", operation::jacobi_step, a_million),
    of("scan", operation::scan, sizes),
};
const std::span<const lane> transform_lanes = lanes;

}  // namespace bench
