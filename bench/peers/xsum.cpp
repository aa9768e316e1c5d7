// Radford Neal's xsum, from its sources, on one thread.
#include "bench/peers/xsum.h"
#include "bench/peers/peers.hpp"

namespace bench::peers {

contenders xsum(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class A>(std::span<const X> x, auto, std::type_identity<A>) {
    if constexpr (std::is_same_v<X, double> && std::is_same_v<A, double>) {
      const auto add = [&](const char* name, auto sum) {
        list.push_back(on_host(name, "-O3", w, [=] { return sum(x.data(), x.size()); }));
      };
      add("xsum large", &tally_bench_xsum_large);
      add("xsum small", &tally_bench_xsum_small);
    }
  });
  return sequential(std::move(list));
}

}  // namespace bench::peers
