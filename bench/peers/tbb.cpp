// oneTBB's parallel_reduce, and std::transform_reduce under execution policies.
#include "bench/peers/peers.hpp"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_reduce.h>
#include <tbb/version.h>

#include <execution>
#include <functional>
#include <numeric>

namespace bench::peers {

contenders tbb(const workload& w) {
  static const ::tbb::global_control threads(::tbb::global_control::max_allowed_parallelism,
                                             static_cast<std::size_t>(all_threads()));
  const std::string version = ::TBB_runtime_version();
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    const auto one_liner = [=](const auto& policy) {
      return std::transform_reduce(policy, x.begin(), x.end(), y.begin(), A{}, std::plus<>{},
                                   term<A, X, Y>);
    };
    if (w.threads == 1) {
      list.push_back(on_host("std::transform_reduce (unseq)", "", w,
                             [=] { return one_liner(std::execution::unseq); }));
      return;
    }
    list.push_back(on_host("std::transform_reduce (par_unseq)", "oneTBB " + version, w,
                           [=] { return one_liner(std::execution::par_unseq); }));
    list.push_back(on_host("oneTBB", version, w, [=] {
      return ::tbb::parallel_reduce(
          ::tbb::blocked_range<std::size_t>(0, x.size()), A{},
          [=](const ::tbb::blocked_range<std::size_t>& part, A sum) {
            const auto first = static_cast<std::ptrdiff_t>(part.begin());
            const auto last = static_cast<std::ptrdiff_t>(part.end());
            return std::transform_reduce(std::execution::unseq, x.begin() + first, x.begin() + last,
                                         y.begin() + first, sum, std::plus<>{}, term<A, X, Y>);
          },
          std::plus<>{});
    }));
  });
  return list;
}

}  // namespace bench::peers
