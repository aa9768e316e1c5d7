// Kokkos's parallel_reduce on the host, in the execution space that it was built with.
#include "bench/peers/peers.hpp"

#include <Kokkos_Core.hpp>
#include <tally/tally.hpp>

#include <string>

namespace bench::peers {

contenders kokkos(const workload& w) {
  try {  // have it initialised
    tally::kokkos();
  } catch (const tally::error&) {  // a Kokkos for a device that is not here
    return {};
  }
  using space = Kokkos::DefaultHostExecutionSpace;
  const auto threads = static_cast<int>(space().concurrency());
  if (threads > w.threads) return {};
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (!tally::is_complex_v<A>) {  // of its own kind in Kokkos
      list.push_back(on_host("Kokkos", std::to_string(KOKKOS_VERSION) + " " + space::name(), w,
                             [x = x.data(), y = y.data(), n = x.size()] {
                               A sum{};
                               Kokkos::parallel_reduce(
                                   Kokkos::RangePolicy<space>(0, n),
                                   [=](std::size_t i, A& part) { part += term<A>(x[i], y[i]); },
                                   sum);
                               return sum;
                             }));
      list.back().threads = threads;
    }
  });
  return list;
}

}  // namespace bench::peers
