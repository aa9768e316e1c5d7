// Kokkos's parallel_reduce on the host, in its default execution space.
#include "bench/elementwise.hpp"
#include "bench/peers/peers.hpp"

#include <Kokkos_Core.hpp>
#include <tally/tally.hpp>

#include <cmath>
#include <string>
#include <type_traits>

namespace bench::peers {
namespace {

using space = Kokkos::DefaultHostExecutionSpace;

/// Names of rows, "Kokkos OpenMP", and what more is known.
std::string row() { return std::string("Kokkos ") + space::name(); }
std::string version() { return std::to_string(KOKKOS_VERSION); }

}  // namespace

int kokkos_threads(const workload& w) {
  try {  // initialises Kokkos
    tally::kokkos();
  } catch (const tally::error&) {  // Kokkos for an absent device
    return 0;
  }
  const auto threads = static_cast<int>(space().concurrency());
  return threads > w.threads ? 0 : threads;
}

contenders kokkos_of_one(const workload& w) {
  const int threads = kokkos_threads(w);
  contenders list;
  visit(w, [&]<class X, class A>(std::span<const X> span, auto, std::type_identity<A>) {
    if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A>) {
      const auto add = [&, x = span.data(), n = span.size()](auto f) {
        list.push_back(
            on_host(row(), version(), w, [=] { return f(x, Kokkos::RangePolicy<space>(0, n)); }));
        list.back().threads = threads;
      };
      using place = typename Kokkos::MaxLoc<X, std::size_t>::value_type;
      if (threads == 0) return;
      if (w.what == operation::sum) {
        add([](const X* x, const auto& all) {
          A sum{};
          Kokkos::parallel_reduce(all, [=](std::size_t i, A& part) { part += x[i]; }, sum);
          return sum;
        });
      } else if (w.what == operation::asum) {
        add([](const X* x, const auto& all) {
          A sum{};
          Kokkos::parallel_reduce(
              all, [=](std::size_t i, A& part) { part += std::abs(x[i]); }, sum);
          return sum;
        });
      } else if (w.what == operation::max) {
        add([](const X* x, const auto& all) {
          place best;
          Kokkos::parallel_reduce(
              all,
              [=](std::size_t i, place& part) {
                if (x[i] > part.val) part.val = x[i], part.loc = i;
              },
              Kokkos::MaxLoc<X, std::size_t>(best));
          return best.val;
        });
      } else if (w.what == operation::iamax) {
        add([](const X* x, const auto& all) {
          place best;
          Kokkos::parallel_reduce(
              all,
              [=](std::size_t i, place& part) {
                if (std::abs(x[i]) > part.val) part.val = std::abs(x[i]), part.loc = i;
              },
              Kokkos::MaxLoc<X, std::size_t>(best));
          return static_cast<std::int64_t>(best.loc);
        });
      }
    }
  });
  return list;
}

contenders kokkos_elementwise(const workload& w) {
  const int threads = kokkos_threads(w);
  contenders list;
  if (threads == 0) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x_span, std::span<const Y> y_span,
                                          std::type_identity<A>) {
    if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A> && std::is_same_v<X, Y>) {
      plain::visit(w.what, [&]<class G>(G g) {
        list.push_back(on_host(row(), version(), w,
                               [=, x = x_span.data(), y = y_span.data(), z = static_cast<X*>(w.z)] {
                                 Kokkos::parallel_for(
                                     Kokkos::RangePolicy<space>(0, w.size()),
                                     [=](std::size_t i) { z[i] = plain::at<G, X>(g, x, y, z, i); });
                               }));
        list.back().threads = threads;
      });
    }
  });
  return list;
}

contenders kokkos(const workload& w) {
  const int threads = kokkos_threads(w);
  contenders list;
  if (threads == 0) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (!tally::is_complex_v<A>) {  // Kokkos has its own
      list.push_back(on_host(row(), version(), w, [x = x.data(), y = y.data(), n = x.size()] {
        A sum{};
        Kokkos::parallel_reduce(
            Kokkos::RangePolicy<space>(0, n),
            [=](std::size_t i, A& part) { part += term<A>(x[i], y[i]); }, sum);
        return sum;
      }));
      list.back().threads = threads;
    }
  });
  return list;
}

}  // namespace bench::peers
