// The ladder on the host: ways of writing a dot product, from slow to fast, some wrong. The project
// began as an exercise of 2021, whose figures stand beside each rung: 2^20 doubles, 4 threads.
#include "bench/ladder.hpp"

#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/peers/peers.hpp"

#include <tally/tally.hpp>

#include <atomic>
#include <functional>
#include <numeric>

namespace bench {

std::vector<std::size_t> ladder_sizes(const types& t, bool) {
  if (!contains(quick_pairs{}, t)) return {};
  return {std::size_t{1} << 20};
}

contender rung(std::string name, double us_in_2021, contender c) {
  c.name = std::move(name);
  c.us_in_2021 = us_in_2021;
  return c;
}

namespace {

template <class A, class X, class Y>
A loop(const X* x, const Y* y, std::size_t n) {
  A sum{};
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<A>(x[i]) * static_cast<A>(y[i]);
  return sum;
}

/// Additions that the compiler may reorder.
template <class A, class X, class Y>
A simd_loop(const X* x, const Y* y, std::size_t n) {
  A sum{};
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<A>(x[i]) * static_cast<A>(y[i]);
  return sum;
}

template <class A, class X, class Y>
A unrolled(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t width = 8;
  A sums[width] = {};
  std::size_t i = 0;
  for (; i + width <= n; i += width) {
    for (std::size_t k = 0; k < width; ++k) {
      sums[k] += static_cast<A>(x[i + k]) * static_cast<A>(y[i + k]);
    }
  }
  for (; i < n; ++i) sums[0] += static_cast<A>(x[i]) * static_cast<A>(y[i]);
  return std::accumulate(sums, sums + width, A{});
}

/// One unlocked sum for all threads: updates get lost. (Atomic loads and stores keep the behaviour
/// defined.)
template <class A, class X, class Y>
A racing(const X* x, const Y* y, std::size_t n, int threads) {
  std::atomic<A> sum{};
#pragma omp parallel for num_threads(threads)
  for (std::size_t i = 0; i < n; ++i) {
    const A before = sum.load(std::memory_order_relaxed);
    sum.store(before + static_cast<A>(x[i]) * static_cast<A>(y[i]), std::memory_order_relaxed);
  }
  return sum;
}

template <class A, class X, class Y>
A partials(const X* x, const Y* y, std::size_t n, int threads) {
  A sum{};
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<A>(x[i]) * static_cast<A>(y[i]);
  return sum;
}

/// Recursive halves as tasks, down to a worthwhile length.
template <class A, class X, class Y>
A sum_of_halves(const X* x, const Y* y, std::size_t n) {
  constexpr std::size_t task_size = std::size_t{1} << 15;
  if (n <= task_size) return simd_loop<A>(x, y, n);
  const std::size_t half = n / 2;
  A left{};
#pragma omp task shared(left)
  left = sum_of_halves<A>(x, y, half);
  const A right = sum_of_halves<A>(x + half, y + half, n - half);
#pragma omp taskwait
  return left + right;
}

template <class A, class X, class Y>
A tasks(const X* x, const Y* y, std::size_t n, int threads) {
  A sum{};
#pragma omp parallel num_threads(threads)
#pragma omp single
  sum = sum_of_halves<A>(x, y, n);
  return sum;
}

contenders ways(const workload& one, bool) {
  workload all = one;
  all.threads = all_threads();
  contenders list = limit(all);
  visit<quick_pairs>(
      one, [&]<class X, class Y, class A>(std::span<const X> x_all, std::span<const Y> y_all,
                                          std::type_identity<A>) {
        const X* const x = x_all.data();
        const Y* const y = y_all.data();
        const std::size_t n = x_all.size();
        const int threads = all.threads;
        // The exercise measured doubles.
        const auto of_doubles = [](double us) { return std::is_same_v<Y, double> ? us : 0; };
        const auto add = [&](std::string name, double us_in_2021, const workload& w, auto f) {
          list.push_back(rung(std::move(name), of_doubles(us_in_2021), on_host("", "", w, f)));
        };
        add("loop", 1449, one, [=] { return loop<A>(x, y, n); });
        // The initial int 0 makes it add in int: each step converts and truncates.
        add("loop in the wrong type", 2302, one,
            [=] { return static_cast<A>(std::inner_product(x, x + n, y, 0)); });
        add("one-liner (transform_reduce)", 1281, one,
            [=] { return std::transform_reduce(x, x + n, y, A{}, std::plus<>{}, term<A, X, Y>); });
        add("simd loop", 871, one, [=] { return simd_loop<A>(x, y, n); });
        add("unrolled loop", 820, one, [=] { return unrolled<A>(x, y, n); });
        add("racing threads", 0, all, [=] { return racing<A>(x, y, n, threads); });
        add("a partial sum a thread", 398, all, [=] { return partials<A>(x, y, n, threads); });
        add("tasks", 326, all, [=] { return tasks<A>(x, y, n, threads); });
        for (source* blas : {peers::openblas, peers::blis}) {
          const contenders on_one = blas(one), on_all = blas(all);
          if (on_one.empty()) continue;  // absent, or a mixed pair
          list.push_back(rung(on_one[0].name + " on one thread", of_doubles(812), on_one[0]));
          list.push_back(rung(on_all[0].name + " on all threads", of_doubles(252), on_all[0]));
          break;
        }
        add("tally::simd", 0, one, [=] { return tally::dot<A>(tally::simd(), x_all, y_all); });
        add("tally::automatic", 0, all, [=] { return tally::dot<A>(x_all, y_all); });
      });
  return list;
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "ladder", .sizes = ladder_sizes, .ways = ways},
};
const std::span<const lane> ladder_lanes = lanes;

}  // namespace bench
