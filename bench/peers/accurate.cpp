// Common accurate sums: more digits, compensation, MPFR, and a bare superaccumulator. Compiled
// without contraction, which would break the two-sums.
#include "bench/peers/peers.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <cmath>
#include <concepts>

#if TALLY_BENCH_MPFR
#include <mpfr.h>
#endif

namespace bench::peers {
namespace {

template <class T>
[[gnu::noinline]] T long_double_loop(const T* x, const T* y, std::size_t n) {
  long double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<long double>(x[i]) * y[i];
  return static_cast<T>(sum);
}

template <class T>
[[gnu::noinline]] T kahan(const T* x, const T* y, std::size_t n) {
  T sum = 0, lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const T term = x[i] * y[i] - lost;
    const T next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  return sum;
}

#if defined(__x86_64__)
#define TALLY_BENCH_FMA [[gnu::target("avx2,fma")]]
bool has_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#else
#define TALLY_BENCH_FMA
bool has_fma() { return true; }
#endif

TALLY_BENCH_FMA inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
TALLY_BENCH_FMA inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// Ogita, Rump and Oishi's Dot2, as in twice the digits, over 32 lanes that compilers vectorise.
template <class T>
TALLY_BENCH_FMA [[gnu::noinline]] T dot2(const T* x, const T* y, std::size_t n) {
  constexpr std::size_t lanes = 32;
  T sum[lanes] = {}, rest[lanes] = {};
  for (std::size_t i = 0; i < n; i += lanes) {
    const std::size_t count = n - i < lanes ? n - i : lanes;
    for (std::size_t lane = 0; lane < count; ++lane) {
      const T a = x[i + lane], b = y[i + lane];
      const T product = a * b;
      const T below = fused(a, b, -product);
      const T next = sum[lane] + product;
      const T taken = next - sum[lane];
      rest[lane] += ((sum[lane] - (next - taken)) + (product - taken)) + below;
      sum[lane] = next;
    }
  }
  T total = 0, total_rest = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const T next = total + sum[lane];
    const T taken = next - total;
    total_rest += ((total - (next - taken)) + (sum[lane] - taken)) + rest[lane];
    total = next;
  }
  return total + total_rest;
}

template <class T>
T superaccumulator(const T* x, const T* y, std::size_t n) {
  tally::exact_sum<T> sum;
  sum.add_products(x, y, n);
  return sum.template round<T>();
}

#if TALLY_BENCH_MPFR
/// Enough bits for every sum of products here: each step is exact.
template <class T>
T mpfr_loop(const T* x, const T* y, std::size_t n) {
  mpfr_t sum, a, product;
  mpfr_inits2(2200, sum, static_cast<mpfr_ptr>(nullptr));
  mpfr_init2(a, 53);
  mpfr_init2(product, 106);
  mpfr_set_zero(sum, 1);
  for (std::size_t i = 0; i < n; ++i) {
    mpfr_set_d(a, static_cast<double>(x[i]), MPFR_RNDN);
    mpfr_mul_d(product, a, static_cast<double>(y[i]), MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
  }
  const T result = std::is_same_v<T, double> ? static_cast<T>(mpfr_get_d(sum, MPFR_RNDN))
                                             : static_cast<T>(mpfr_get_flt(sum, MPFR_RNDN));
  mpfr_clears(sum, a, product, static_cast<mpfr_ptr>(nullptr));
  return result;
}
#endif

}  // namespace

contenders accurate(const workload& w) {
  contenders list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (std::same_as<X, Y> && std::same_as<A, X> && std::floating_point<X>) {
      const auto add = [&](const char* name, const char* label,
                           A (*dot)(const X*, const X*, std::size_t)) {
        list.push_back(on_host(name, label, w, [=] { return dot(x.data(), y.data(), x.size()); }));
      };
      add("long double loop", "-O3", &long_double_loop<X>);
      add("Kahan", "rounded products", &kahan<X>);
      if (has_fma()) add("Dot2", "compensated, 32 lanes", &dot2<X>);
      add("exact_sum loop", "tally::exact_sum, a superaccumulator alone", &superaccumulator<X>);
#if TALLY_BENCH_MPFR
      if (w.size() <= 10'000) add("MPFR loop", "2200 bits", &mpfr_loop<X>);
#endif
    }
  });
  return sequential(std::move(list));
}

}  // namespace bench::peers
