// CUB and Thrust of a CCCL other than the toolkit's, if built with one.
#include "bench/peers/cccl.hpp"

#include "bench/peers/device_peers.hpp"
#include "bench/peers/library.hpp"

namespace bench::peers {
namespace {

/// Null if not built.
const cccl_sources* find_sources() {
#ifdef TALLY_BENCH_CCCL
  static const library l{TALLY_BENCH_CCCL};
  if (l) return l.function<decltype(bench_cccl_sources)>("bench_cccl_sources")();
#endif
  return nullptr;
}

}  // namespace

contenders cccl_on_device(const workload& w) {
  const cccl_sources* const from = find_sources();
  if (from == nullptr) return {};
  source* const ways = w.what == operation::dot         ? from->dot
                       : w.what == operation::histogram ? from->histogram
                       : w.is_elementwise()             ? from->elementwise
                                                        : from->of_one;
  contenders list = ways(w);
  std::erase_if(list, [](const contender& c) { return c.name.starts_with("atomics"); });
  for (contender& c : list) c.name += ", other CCCL";
  return list;
}

}  // namespace bench::peers
