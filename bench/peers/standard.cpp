// The standard language and library, on one thread.
#include "bench/elementwise.hpp"
#include "bench/peers/peers.hpp"

#include <algorithm>
#include <cmath>
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

template <class T>
[[gnu::noinline]] T sum_in_loop(const T* x, std::size_t n) {
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}
template <class T>
[[gnu::noinline]] T asum_in_loop(const T* x, std::size_t n) {
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::abs(x[i]);
  return sum;
}
template <class T>
[[gnu::noinline]] T sum_of_squares_in_loop(const T* x, std::size_t n) {
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * x[i];
  return sum;
}
template <class T>
T nrm2_in_loop(const T* x, std::size_t n) {
  return std::sqrt(sum_of_squares_in_loop(x, n));
}
template <class T>
[[gnu::noinline]] T max_norm_in_loop(const T* x, std::size_t n) {
  T best = 0;
  for (std::size_t i = 0; i < n; ++i) best = std::max(best, std::abs(x[i]));
  return best;
}
template <class T>
[[gnu::noinline]] T wrms_norm_in_loop(const T* x, const T* w, std::size_t n) {
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += (x[i] * w[i]) * (x[i] * w[i]);
  return std::sqrt(sum / static_cast<T>(n));
}
/// The value, found with its index.
template <class T>
[[gnu::noinline]] T max_in_loop(const T* x, std::size_t n) {
  T best = x[0];
  std::size_t index = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (x[i] > best) best = x[i], index = i;
  }
  return x[index];
}
template <class T>
[[gnu::noinline]] std::int64_t iamax_in_loop(const T* x, std::size_t n) {
  T best = std::abs(x[0]);
  std::size_t index = 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (std::abs(x[i]) > best) best = std::abs(x[i]), index = i;
  }
  return static_cast<std::int64_t>(index);
}

}  // namespace

contenders standard_of_one(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class A>(std::span<const X> x, auto, std::type_identity<A>) {
    if constexpr (std::is_floating_point_v<X> && std::is_same_v<X, A>) {
      const auto add = [&](const char* name, auto f) {
        list.push_back(on_host(name, "-O3", w, [=] { return f(x.data(), x.size()); }));
      };
      if (w.what == operation::sum) add("plain loop", sum_in_loop<X>);
      if (w.what == operation::asum) add("plain loop", asum_in_loop<X>);
      if (w.what == operation::nrm2) add("plain loop", nrm2_in_loop<X>);
      if (w.what == operation::sum_of_squares) add("plain loop", sum_of_squares_in_loop<X>);
      if (w.what == operation::max_norm) add("plain loop", max_norm_in_loop<X>);
      if (w.what == operation::wrms_norm) {
        add("plain loop", [weights = static_cast<const X*>(w.y.data)](const X* v, std::size_t n) {
          return wrms_norm_in_loop(v, weights, n);
        });
      }
      if (w.what == operation::iamax) add("plain loop", iamax_in_loop<X>);
      if (w.what == operation::max) {
        add("plain loop", max_in_loop<X>);
        add("std::max_element",
            [](const X* first, std::size_t n) { return *std::max_element(first, first + n); });
      }
    }
  });
  return sequential(std::move(list));
}

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

namespace {

template <class G, class T>
[[gnu::noinline]] void in_loop(const G& g, const T* x, const T* y, std::size_t n, T* z) {
  for (std::size_t i = 0; i < n; ++i) z[i] = plain::at<G, T>(g, x, y, z, i);
}

}  // namespace

contenders standard_elementwise(const workload& w) {
  contenders list;
  bench::visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                                 std::type_identity<A>) {
    if constexpr (std::is_same_v<X, Y> && std::is_same_v<X, A> && std::is_floating_point_v<X>) {
      if (w.what == operation::scan && w.threads == 1) {
        list.push_back(
            on_host("std::inclusive_scan", "sequential", w,
                    [=, z = static_cast<X*>(w.z)] { std::inclusive_scan(x.begin(), x.end(), z); }));
      }
      plain::visit(w.what, [&](auto g) {
        const auto part = [=, x = x.data(), y = y.data(), z = static_cast<X*>(w.z)](
                              std::size_t first, std::size_t n) {
          in_loop(g, x + first, y + first, n, z + first);
        };
        if (w.threads == 1) {
          list.push_back(on_host("plain loop", "-O3", w, [=, n = x.size()] { part(0, n); }));
          return;
        }
        list.push_back(on_host("plain loop (OpenMP)", "-O3", w,
                               [=, n = x.size(), parts = static_cast<std::size_t>(w.threads)] {
#pragma omp parallel for schedule(static) num_threads(static_cast<int>(parts))
                                 for (std::size_t p = 0; p < parts; ++p) {
                                   const std::size_t first = n * p / parts;
                                   part(first, n * (p + 1) / parts - first);
                                 }
                               }));
      });
    }
  });
  return list;
}

namespace {

/// Updates z; returns the sum of products with y or itself.
template <bool is_dot, class T>
[[gnu::noinline]] T fused_in_loop(const T* x, const T* y, std::size_t n, T* z) {
  T sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = plain::function<tally::elementwise::axpy>{}(x[i], is_dot ? z[i] : y[i]);
    sum += z[i] * (is_dot ? y[i] : z[i]);
  }
  return sum;
}

}  // namespace

contenders standard_fused(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (std::is_same_v<X, Y> && std::is_same_v<X, A> && std::is_floating_point_v<X>) {
      const bool is_dot = w.what == operation::axpy_dot;
      const auto part = [=, loop = is_dot ? fused_in_loop<true, X> : fused_in_loop<false, X>,
                         z = static_cast<X*>(w.z)](std::size_t first, std::size_t n) {
        return loop(x.data() + first, y.data() + first, n, z + first);
      };
      const auto result = [=](X sum) { return is_dot ? sum : std::sqrt(sum); };
      if (w.threads == 1) {
        list.push_back(
            on_host("plain loop", "-O3", w, [=, n = x.size()] { return result(part(0, n)); }));
        return;
      }
      list.push_back(on_host("plain loop (OpenMP)", "-O3", w,
                             [=, n = x.size(), parts = static_cast<std::size_t>(w.threads)] {
                               X sum = 0;
#pragma omp parallel for schedule(static) num_threads(static_cast<int>(parts)) reduction(+ : sum)
                               for (std::size_t p = 0; p < parts; ++p) {
                                 const std::size_t first = n * p / parts;
                                 sum += part(first, n * (p + 1) / parts - first);
                               }
                               return result(sum);
                             }));
    }
  });
  return list;
}

contenders standard_rows(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    list.push_back(on_host("plain loop", "-O3", w,
                           [=, n = x.size(), results = std::make_shared<std::vector<A>>(w.rows)] {
                             for (std::size_t j = 0; j < w.rows; ++j) {
                               const Y* const row = y.data() + (w.y_has_rows ? j * n : 0);
                               (*results)[j] = sum_in_loop<A>(x.data() + j * n, row, n);
                             }
                             return results->front();
                           }));
  });
  return sequential(std::move(list));
}

namespace {

/// Calls f(first, last) for a part of [0, n) per thread.
template <class F>
void in_parts(int threads, std::size_t n, const F& f) {
  if (threads == 1) return f(std::size_t{0}, n);
  const auto parts = static_cast<std::size_t>(threads);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::size_t p = 0; p < parts; ++p) f(n * p / parts, n * (p + 1) / parts);
}

/// The sums of adjacent columns, row by row; with y those of products.
template <class T>
[[gnu::noinline]] void add_rows(const T* x, const T* y, std::size_t n, std::size_t stride,
                                std::size_t columns, T* z) {
  for (std::size_t j = 0; j < columns; ++j) z[j] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T factor = y == nullptr ? 1 : y[i];
    for (std::size_t j = 0; j < columns; ++j) z[j] += factor * x[i * stride + j];
  }
}

template <class T>
[[gnu::noinline]] void add_multiple(T factor, const T* x, std::size_t n, T* z) {
  for (std::size_t i = 0; i < n; ++i) z[i] += factor * x[i];
}

template <class T>
[[gnu::noinline]] void scatter_in_loop(const T* x, const std::int32_t* indices, std::size_t n,
                                       T* z) {
  for (std::size_t i = 0; i < n; ++i) z[indices[i]] += x[i];
}

/// One pass or vector by vector, as users write it.
template <class X>
void several_in_loops(const workload& w) {
  const auto* const x = static_cast<const X*>(w.x.data);
  const auto* const y = w.what == operation::gemv ? static_cast<const X*>(w.y.data) : nullptr;
  const auto* const indices = static_cast<const std::int32_t*>(w.y.data);
  auto* const z = static_cast<X*>(w.z);
  const std::size_t n = w.x.size;
  in_parts(w.threads, w.results(), [&](std::size_t first, std::size_t last) {
    if (w.what == operation::multi_axpy) {
      const X factor = static_cast<X>(plain::gamma / static_cast<double>(w.rows));
      for (std::size_t j = 0; j < w.rows; ++j) {
        add_multiple(factor, x + j * n + first, last - first, z + first);
      }
    } else if (w.columns) {
      add_rows(x + first, y, n, w.rows, last - first, z + first);
    } else if (w.what == operation::segmented_sum) {
      for (std::size_t j = first; j < last; ++j) {
        z[j] = sum_in_loop(x + indices[j], static_cast<std::size_t>(indices[j + 1] - indices[j]));
      }
    } else if (y != nullptr) {
      for (std::size_t j = first; j < last; ++j) z[j] = sum_in_loop<X>(x + j * n, y, n);
    } else {
      for (std::size_t j = first; j < last; ++j) z[j] = sum_in_loop(x + j * n, n);
    }
  });
}

}  // namespace

contenders standard_several(const workload& w) {
  contenders list;
  if (w.what == operation::scatter_add) {
    if (w.threads > 1) return list;  // threads would race
    list.push_back(on_host("plain loop", "-O3", w, [=] {
      scatter_in_loop(static_cast<const double*>(w.x.data),
                      static_cast<const std::int32_t*>(w.y.data), w.x.size,
                      static_cast<double*>(w.z));
    }));
    return list;
  }
  const bool is_double = w.x.element == tally::type::float64;
  list.push_back(on_host(w.threads > 1 ? "plain loop (OpenMP)" : "plain loop", "-O3", w, [=] {
    is_double ? several_in_loops<double>(w) : several_in_loops<float>(w);
  }));
  return list;
}

}  // namespace bench::peers
