// The oracle of the exact grade: sums by MPFR, with precision enough for every bit, rounded once;
// and data that are hard to sum. Shares no code with the library.
#pragma once

#include <tally/types.hpp>

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace oracle {

/// A real number, exactly. Every operation checks that MPFR rounded nothing.
class number {
 public:
  /// From 2^-2200 to 2^2300: sums of 2^64 products of doubles have no bit outside.
  static constexpr mpfr_prec_t precision = 4500;

  number() {
    mpfr_init2(value_, precision);
    mpfr_set_zero(value_, +1);
  }
  number(const number& other) : number() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  number& operator=(const number& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~number() { mpfr_clear(value_); }

  /// Adds a number of any real element type.
  template <class T>
  void add(T v) {
    check(mpfr_add(value_, value_, factor(0, v), MPFR_RNDN));
  }
  void add(const number& other) { check(mpfr_add(value_, value_, other.value_, MPFR_RNDN)); }

  /// Adds |v|.
  template <class T>
  void add_magnitude(T v) {
    mpfr_ptr magnitude = factor(0, v);
    mpfr_abs(magnitude, magnitude, MPFR_RNDN);
    check(mpfr_add(value_, value_, magnitude, MPFR_RNDN));
  }

  /// Adds x * y, or with `minus` -x * y.
  template <class X, class Y>
  void add_product(X x, Y y, bool minus = false) {
    static thread_local scratch product(128);  // two factors of at most 64 bits
    check(mpfr_mul(product.value, factor(0, x), factor(1, y), MPFR_RNDN));
    check((minus ? mpfr_sub : mpfr_add)(value_, value_, product.value, MPFR_RNDN));
  }

  /// Adds m * 2^exponent.
  void add_scaled(std::int64_t m, long exponent) {
    mpfr_ptr term = factor(0, m);
    check(mpfr_mul_2si(term, term, exponent, MPFR_RNDN));
    check(mpfr_add(value_, value_, term, MPFR_RNDN));
  }

  /// Adds m * other.
  void add_multiple(const number& other, std::int64_t m) {
    number term = other;
    check(mpfr_mul_si(term.value_, term.value_, m, MPFR_RNDN));
    add(term);
  }

  /// The sum times 2^exponent.
  void scale(long exponent) { check(mpfr_mul_2si(value_, value_, exponent, MPFR_RNDN)); }

  /// To nearest even, once; the NaN and the zero that the library promises.
  template <class R>
  R rounded() const {
    return round<R>(value_);
  }

  /// The square root, rounded to nearest even.
  template <class R>
  R rounded_root() const {
    // Rounded to odd: cut off, and if anything was, a bit put behind. No later rounding can tell
    // that from the root itself.
    scratch root(1000);
    const bool inexact = mpfr_sqrt(root.value, value_, MPFR_RNDZ) != 0;
    if (inexact && !mpfr_nan_p(root.value)) {
      mpfr_prec_round(root.value, 1001, MPFR_RNDN);
      mpfr_nextabove(root.value);
    }
    return round<R>(root.value);
  }

  /// Negative, 0, positive as a < b, a == b, a > b; of numbers that are not NaN.
  friend int compare(const number& a, const number& b) { return mpfr_cmp(a.value_, b.value_); }
  bool finite() const { return mpfr_number_p(value_); }
  bool nan() const { return mpfr_nan_p(value_); }

 private:
  struct scratch {
    mpfr_t value;
    explicit scratch(mpfr_prec_t bits) { mpfr_init2(value, bits); }
    ~scratch() { mpfr_clear(value); }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
  };

  static void check(int rounded) {
    if (rounded != 0) throw std::logic_error("the oracle's precision was not enough");
  }

  /// A variable of its own for each `place`, set to v.
  template <class T>
  static mpfr_ptr factor(int place, T v) {
    static thread_local scratch factors[2] = {scratch(64), scratch(64)};
    mpfr_ptr f = factors[place].value;
    if constexpr (std::is_integral_v<T>) {
      check(mpfr_set_si(f, static_cast<long>(v), MPFR_RNDN));
    } else {
      check(mpfr_set_d(f, static_cast<double>(v), MPFR_RNDN));
    }
    return f;
  }

  template <class R>
  static R round(mpfr_srcptr x) {
    using limits = std::numeric_limits<R>;
    if (mpfr_nan_p(x)) return limits::quiet_NaN();
    if (mpfr_inf_p(x)) return mpfr_sgn(x) < 0 ? -limits::infinity() : limits::infinity();
    if (mpfr_zero_p(x)) return R(0);
    // A multiple of the quantum: the unit in the last place of the result, subnormal or not.
    const long quantum = std::max<long>(mpfr_get_exp(x), limits::min_exponent) - limits::digits;
    scratch units(precision);
    check(mpfr_mul_2si(units.value, x, -quantum, MPFR_RNDN));
    mpfr_rint(units.value, units.value, MPFR_RNDN);
    const R whole = static_cast<R>(mpfr_get_si(units.value, MPFR_RNDN));  // exact
    return std::copysign(std::ldexp(whole, static_cast<int>(quantum)), R(mpfr_sgn(x)));
  }

  mpfr_t value_;
};

// For vectors whose element types are told at run time: these give the bytes of the result, each
// part rounded once.

struct elements {
  const std::vector<std::byte>& bytes;
  tally::type element;
};

/// sum_i x_i * y_i, x conjugated if asked for.
std::vector<std::byte> exact_dot(const elements& x, const elements& y, tally::type result,
                                 bool conjugate_x = false);

/// sum_i x_i.
std::vector<std::byte> exact_sum(const elements& x, tally::type result);

/// sum_i |x_i|, of complex ones |re| + |im|.
std::vector<std::byte> exact_asum(const elements& x, tally::type result);

/// sqrt(sum_i |x_i|^2).
std::vector<std::byte> exact_nrm2(const elements& x, tally::type result);

// Data.

template <class T>
struct pair_of_vectors {
  std::vector<T> x, y;
};

/// In [-1, 1).
template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> unit(-1, 1);
  std::vector<T> x(n);
  for (T& v : x) v = unit(random);
  return x;
}

/// With exponents spread evenly over 2^-spread to 2^spread.
template <class T>
std::vector<T> wide(std::size_t n, std::uint64_t seed, int spread) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> unit(-1, 1);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  std::vector<T> x(n);
  for (T& v : x) v = std::ldexp(unit(random), exponent(random));
  return x;
}

/// Any bits that are a finite number: every exponent, subnormals among them.
template <class T>
std::vector<T> any_finite(std::size_t n, std::uint64_t seed) {
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  for (T& v : x) {
    do {
      v = __builtin_bit_cast(T, static_cast<word>(random()));
    } while (!std::isfinite(v));
  }
  return x;
}

/// A dot product of about this condition number, 2 sum|x_i y_i| / |sum x_i y_i|: algorithm 6.1
/// (GenDot) of Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
/// The first half has products of up to the condition number in magnitude; the second half, ever
/// smaller, cancels what has come so far, a significand's bits a step: it takes enough of them.
template <class T>
pair_of_vectors<T> ill_conditioned(std::size_t n, double condition, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> unit(-1, 1);
  std::uniform_real_distribution<double> share(0, 1);
  const double bits = std::log2(condition);
  const std::size_t half = n / 2;
  pair_of_vectors<T> v{std::vector<T>(n), std::vector<T>(n)};
  number dot;
  for (std::size_t i = 0; i < half; ++i) {
    int e = static_cast<int>(std::lround(share(random) * bits / 2));
    if (i == 0) e = static_cast<int>(std::lround(bits / 2)) + 1;
    if (i == half - 1) e = 0;
    v.x[i] = std::ldexp(unit(random), e);
    v.y[i] = std::ldexp(unit(random), e);
    dot.add_product(v.x[i], v.y[i]);
  }
  for (std::size_t i = half; i < n; ++i) {
    const double left = static_cast<double>(n - 1 - i) / static_cast<double>(n - half - 1);
    const int e = static_cast<int>(std::lround(left * bits / 2));
    do {
      v.x[i] = std::ldexp(unit(random), e);
    } while (v.x[i] == 0);
    const double wanted = std::ldexp(unit(random), e) - dot.rounded<double>();  // > max of float
    v.y[i] = static_cast<T>(wanted / v.x[i]);
    dot.add_product(v.x[i], v.y[i]);
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  pair_of_vectors<T> shuffled{std::vector<T>(n), std::vector<T>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    shuffled.x[i] = v.x[order[i]];
    shuffled.y[i] = v.y[order[i]];
  }
  return shuffled;
}

/// 2 sum|x_i y_i| / |sum x_i y_i|.
template <class T>
double condition(const pair_of_vectors<T>& v) {
  number dot, magnitude;
  for (std::size_t i = 0; i < v.x.size(); ++i) {
    dot.add_product(v.x[i], v.y[i]);
    magnitude.add_product(std::abs(v.x[i]), std::abs(v.y[i]));
  }
  return 2 * magnitude.rounded<double>() / std::abs(dot.rounded<double>());
}

/// A sum of about this condition number: the products above, each as its rounded value and the
/// error of that.
template <class T>
std::vector<T> ill_conditioned_sum(std::size_t n, double condition, std::uint64_t seed) {
  const auto v = ill_conditioned<T>(std::max<std::size_t>(n / 2, 4), condition, seed);
  std::vector<T> x;
  for (std::size_t i = 0; i < v.x.size(); ++i) {
    const T factor = std::ldexp(v.x[i], -20);  // no float overflows then
    const T product = factor * v.y[i];
    x.push_back(product);
    x.push_back(std::fma(factor, v.y[i], -product));
  }
  std::shuffle(x.begin(), x.end(), std::mt19937_64(seed + 1));
  x.resize(n);
  return x;
}

/// The same vectors with their negatives behind, shuffled: every sum and dot product is exactly 0.
template <class T>
pair_of_vectors<T> cancelling(const std::vector<T>& x, const std::vector<T>& y,
                              std::uint64_t seed) {
  std::vector<std::size_t> order(2 * x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  pair_of_vectors<T> v;
  for (const std::size_t i : order) {
    v.x.push_back(i < x.size() ? x[i] : static_cast<T>(-x[i - x.size()]));
    v.y.push_back(y[i % x.size()]);
  }
  return v;
}

/// Replaces about one element in `every` by a NaN, an infinity, a zero of either sign, a subnormal
/// or the largest number.
template <class T>
void sprinkle(std::vector<T>& x, std::uint64_t seed, unsigned every) {
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  const T choices[] = {limits::quiet_NaN(),
                       -limits::signaling_NaN(),
                       limits::infinity(),
                       -limits::infinity(),
                       T(0),
                       -T(0),
                       limits::denorm_min(),
                       -limits::denorm_min(),
                       limits::max(),
                       -limits::max()};
  for (T& v : x) {
    if (random() % every == 0) v = choices[random() % std::size(choices)];
  }
}

}  // namespace oracle
