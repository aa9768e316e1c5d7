#include "tests/oracle.hpp"

#include "tests/data.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace oracle {

namespace {

struct scratch {
  mpfr_t value;
  explicit scratch(mpfr_prec_t bits) { mpfr_init2(value, bits); }
  ~scratch() { mpfr_clear(value); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
};

void check(int rounded) {
  if (rounded != 0) throw std::logic_error("the oracle's precision was not enough");
}

/// A variable for each `place`, set to v.
mpfr_ptr factor(int place, const real& v) {
  static thread_local scratch factors[2] = {scratch(64), scratch(64)};
  mpfr_ptr f = factors[place].value;
  check(v.assign_to(f));
  return f;
}

template <class R>
R round(mpfr_srcptr x) {
  using limits = std::numeric_limits<R>;
  if (mpfr_nan_p(x)) return limits::quiet_NaN();
  if (mpfr_inf_p(x)) return mpfr_sgn(x) < 0 ? -limits::infinity() : limits::infinity();
  if (mpfr_zero_p(x)) return R(0);
  // A multiple of the result's unit in the last place, subnormal or not.
  const long quantum = std::max<long>(mpfr_get_exp(x), limits::min_exponent) - limits::digits;
  scratch units(number::precision);
  check(mpfr_mul_2si(units.value, x, -quantum, MPFR_RNDN));
  mpfr_rint(units.value, units.value, MPFR_RNDN);
  const R whole = static_cast<R>(mpfr_get_si(units.value, MPFR_RNDN));  // exact
  return std::copysign(std::ldexp(whole, static_cast<int>(quantum)), R(mpfr_sgn(x)));
}

/// No imaginary parts for real elements.
struct parts {
  std::vector<real> re, im;
};

parts parts_of(const elements& v) {
  parts all;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> != v.element) return;
    for (const T value : data::elements_of<T>(v.bytes)) {
      if constexpr (tally::is_complex_v<T>) {
        all.re.push_back(value.real());
        all.im.push_back(value.imag());
      } else {
        all.re.push_back(value);
      }
    }
  });
  return all;
}

void add_products(number& sum, const std::vector<real>& x, const std::vector<real>& y,
                  bool minus = false) {
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    sum.add_product(x[i], y[i], minus);
  }
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::vector<std::byte> rounded(const number& re, const number& im, tally::type result) {
  switch (result) {
    case tally::type::float32:
      return bytes_of(re.rounded<float>());
    case tally::type::float64:
      return bytes_of(re.rounded<double>());
    case tally::type::complex64:
      return bytes_of(std::complex<float>(re.rounded<float>(), im.rounded<float>()));
    case tally::type::complex128:
      return bytes_of(std::complex<double>(re.rounded<double>(), im.rounded<double>()));
    default:
      throw std::logic_error("no exact result has this type");
  }
}

}  // namespace

number::number() {
  mpfr_init2(value_, precision);
  mpfr_set_zero(value_, +1);
}
number::number(const number& other) : number() { mpfr_set(value_, other.value_, MPFR_RNDN); }
number& number::operator=(const number& other) {
  mpfr_set(value_, other.value_, MPFR_RNDN);
  return *this;
}
number::~number() { mpfr_clear(value_); }

void number::add(const real& v) { check(mpfr_add(value_, value_, factor(0, v), MPFR_RNDN)); }

void number::add(const number& other) { check(mpfr_add(value_, value_, other.value_, MPFR_RNDN)); }

void number::add_magnitude(const real& v) {
  mpfr_ptr magnitude = factor(0, v);
  mpfr_abs(magnitude, magnitude, MPFR_RNDN);
  check(mpfr_add(value_, value_, magnitude, MPFR_RNDN));
}

void number::add_product(const real& x, const real& y, bool minus) {
  static thread_local scratch product(128);  // two factors of at most 64 bits
  check(mpfr_mul(product.value, factor(0, x), factor(1, y), MPFR_RNDN));
  check((minus ? mpfr_sub : mpfr_add)(value_, value_, product.value, MPFR_RNDN));
}

void number::add_scaled(std::int64_t m, long exponent) {
  mpfr_ptr term = factor(0, m);
  check(mpfr_mul_2si(term, term, exponent, MPFR_RNDN));
  check(mpfr_add(value_, value_, term, MPFR_RNDN));
}

void number::add_multiple(const number& other, std::int64_t m) {
  number term = other;
  check(mpfr_mul_si(term.value_, term.value_, m, MPFR_RNDN));
  add(term);
}

void number::scale(long exponent) { check(mpfr_mul_2si(value_, value_, exponent, MPFR_RNDN)); }

template <class R>
R number::rounded() const {
  return round<R>(value_);
}

template <class R>
R number::rounded_root() const {
  // Rounded to odd: truncated, with a sticky bit, which no later rounding can tell from the root.
  scratch root(1000);
  const bool inexact = mpfr_sqrt(root.value, value_, MPFR_RNDZ) != 0;
  if (inexact && !mpfr_nan_p(root.value)) {
    mpfr_prec_round(root.value, 1001, MPFR_RNDN);
    mpfr_nextabove(root.value);
  }
  return round<R>(root.value);
}

template double number::rounded() const;
template float number::rounded() const;
template double number::rounded_root() const;
template float number::rounded_root() const;

std::vector<std::byte> exact_dot(const elements& x, const elements& y, tally::type result,
                                 bool conjugate_x) {
  const parts px = parts_of(x), py = parts_of(y);
  number re, im;
  add_products(re, px.re, py.re);
  add_products(re, px.im, py.im, !conjugate_x);
  add_products(im, px.im, py.re, conjugate_x);
  add_products(im, px.re, py.im);
  return rounded(re, im, result);
}

std::vector<std::byte> exact_sum(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number re, im;
  for (const real& v : p.re) re.add(v);
  for (const real& v : p.im) im.add(v);
  return rounded(re, im, result);
}

std::vector<std::byte> exact_asum(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number sum;
  for (const real& v : p.re) sum.add_magnitude(v);
  for (const real& v : p.im) sum.add_magnitude(v);
  return rounded(sum, number(), result);
}

std::vector<std::byte> exact_nrm2(const elements& x, tally::type result) {
  const parts p = parts_of(x);
  number sum;
  add_products(sum, p.re, p.re);
  add_products(sum, p.im, p.im);
  switch (result) {
    case tally::type::float32:
      return bytes_of(sum.rounded_root<float>());
    case tally::type::float64:
      return bytes_of(sum.rounded_root<double>());
    default:
      throw std::logic_error("no norm has this type");
  }
}

template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> unit(-1, 1);
  std::vector<T> x(n);
  for (T& v : x) v = unit(random);
  return x;
}

template <class T>
std::vector<T> wide(std::size_t n, std::uint64_t seed, int spread) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> unit(-1, 1);
  std::uniform_int_distribution<int> exponent(-spread, spread);
  std::vector<T> x(n);
  for (T& v : x) v = std::ldexp(unit(random), exponent(random));
  return x;
}

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

template <class T>
double condition(const pair_of_vectors<T>& v) {
  number dot, magnitude;
  for (std::size_t i = 0; i < v.x.size(); ++i) {
    dot.add_product(v.x[i], v.y[i]);
    magnitude.add_product(std::abs(v.x[i]), std::abs(v.y[i]));
  }
  return 2 * magnitude.rounded<double>() / std::abs(dot.rounded<double>());
}

template <class T>
std::vector<T> ill_conditioned_sum(std::size_t n, double condition, std::uint64_t seed) {
  const auto v = ill_conditioned<T>(std::max<std::size_t>(n / 2, 4), condition, seed);
  std::vector<T> x;
  for (std::size_t i = 0; i < v.x.size(); ++i) {
    const T factor = std::ldexp(v.x[i], -20);  // so that no float overflows
    const T product = factor * v.y[i];
    x.push_back(product);
    x.push_back(std::fma(factor, v.y[i], -product));
  }
  std::shuffle(x.begin(), x.end(), std::mt19937_64(seed + 1));
  x.resize(n);
  return x;
}

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

template std::vector<double> uniform(std::size_t, std::uint64_t);
template std::vector<double> wide(std::size_t, std::uint64_t, int);
template std::vector<double> any_finite(std::size_t, std::uint64_t);
template pair_of_vectors<double> ill_conditioned(std::size_t, double, std::uint64_t);
template double condition(const pair_of_vectors<double>&);
template std::vector<double> ill_conditioned_sum(std::size_t, double, std::uint64_t);
template pair_of_vectors<double> cancelling(const std::vector<double>&, const std::vector<double>&,
                                            std::uint64_t);
template void sprinkle(std::vector<double>&, std::uint64_t, unsigned);
template std::vector<float> uniform(std::size_t, std::uint64_t);
template std::vector<float> wide(std::size_t, std::uint64_t, int);
template std::vector<float> any_finite(std::size_t, std::uint64_t);
template pair_of_vectors<float> ill_conditioned(std::size_t, double, std::uint64_t);
template double condition(const pair_of_vectors<float>&);
template std::vector<float> ill_conditioned_sum(std::size_t, double, std::uint64_t);
template pair_of_vectors<float> cancelling(const std::vector<float>&, const std::vector<float>&,
                                           std::uint64_t);
template void sprinkle(std::vector<float>&, std::uint64_t, unsigned);

}  // namespace oracle
