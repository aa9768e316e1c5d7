// The standard language and library, on one thread.
#include "bench/peers/peers.hpp"

#include <functional>
#include <numeric>

namespace bench::peers {
namespace {

template <class A, class X, class Y>
[[gnu::noinline]] A sum_in_loop(const X* x, const Y* y, std::size_t n) {
  A sum{};
  for (std::size_t i = 0; i < n; ++i) sum += term<A>(x[i], y[i]);
  return sum;
}

}  // namespace

contenders standard(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    list.push_back(on_host("plain loop", "-O3", w,
                           [=] { return sum_in_loop<A>(x.data(), y.data(), x.size()); }));
    list.push_back(on_host("std::transform_reduce", "sequential", w, [=] {
      return std::transform_reduce(x.begin(), x.end(), y.begin(), A{}, std::plus<>{},
                                   term<A, X, Y>);
    }));
  });
  return sequential(std::move(list));
}

}  // namespace bench::peers
