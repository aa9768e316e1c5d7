// Compiled without contraction: a fused a * b + c would break the two-sums.
#include "bench/data.hpp"

#include "bench/elementwise.hpp"

#include "backends/common/types/tables.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <new>
#include <random>
#include <utility>

namespace bench {
namespace {

using tally::backends::with_type;

constexpr std::size_t block = std::size_t{1} << 16;  // filled by one generator, summed by one
                                                     // thread
constexpr std::size_t page = 4096;

template <class T>
T random(std::mt19937_64& engine) {
  if constexpr (tally::is_complex_v<T>) {
    const auto re = random<tally::real_t<T>>(engine);
    return {re, random<tally::real_t<T>>(engine)};
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return static_cast<T>(engine() >> 56);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(engine() >> 63);
  } else {
    // Enough digits that rounding never gives 1.
    constexpr int digits = sizeof(T) == sizeof(double) ? 53 : 24;
    return static_cast<T>(std::ldexp(static_cast<double>(engine() >> (64 - digits)), 1 - digits) -
                          1);
  }
}

template <class T>
T spread_out(T value, std::mt19937_64& engine) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    constexpr int max_exponent = sizeof(T) == sizeof(double) ? 100 : 15;
    return std::ldexp(value,
                      std::uniform_int_distribution<int>(-max_exponent, max_exponent)(engine));
  } else {
    return value;
  }
}

template <class T>
void fill(void* memory, std::size_t n, std::uint64_t seed, values drawn) {
  auto* const elements = static_cast<T*>(memory);
  const std::size_t blocks = (n + block - 1) / block;
#pragma omp parallel for schedule(static)
  for (std::size_t b = 0; b < blocks; ++b) {
    std::seed_seq sequence{seed, static_cast<std::uint64_t>(b)};
    std::mt19937_64 engine(sequence);
    for (std::size_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
      elements[i] = random<T>(engine);
      if (drawn == values::spread) elements[i] = spread_out(elements[i], engine);
      if (drawn == values::positive) elements[i] = static_cast<T>(T(1) - elements[i]);
    }
  }
}

void add(reference::part& part, double value) {
  const double sum = part.sum + value;
  const double taken = sum - part.sum;
  part.rest += (part.sum - (sum - taken)) + (value - taken);
  part.sum = sum;
}

void add_product(reference::part& part, double a, double b) {
  const double product = a * b;
  part.rest += std::fma(a, b, -product);
  add(part, product);
}

void add(reference& total, const reference& other) {
  add(total.real, other.real.sum);
  total.real.rest += other.real.rest;
  add(total.imaginary, other.imaginary.sum);
  total.imaginary.rest += other.imaginary.rest;
  total.magnitude += other.magnitude;
}

template <class X>
reference sum(std::span<const X> x, bool of_magnitudes) {
  reference r;
  for (const X& value : x) {
    if (of_magnitudes) {
      if constexpr (tally::is_complex_v<X>) {
        add(r.real, std::abs(static_cast<double>(value.real())));
        add(r.real, std::abs(static_cast<double>(value.imag())));
      } else {
        add(r.real, std::abs(static_cast<double>(value)));
      }
      r.magnitude = r.real.sum;
      continue;
    }
    if constexpr (tally::is_complex_v<X>) {
      add(r.real, value.real());
      add(r.imaginary, value.imag());
      r.magnitude += std::abs(value);
    } else {
      add(r.real, static_cast<double>(value));
      r.magnitude += std::abs(static_cast<double>(value));
    }
  }
  return r;
}

template <class X, class Y>
reference sum(std::span<const X> x, std::span<const Y> y) {
  reference r;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (tally::is_complex_v<X>) {
      add_product(r.real, x[i].real(), y[i].real());
      add_product(r.real, -x[i].imag(), y[i].imag());
      add_product(r.imaginary, x[i].real(), y[i].imag());
      add_product(r.imaginary, x[i].imag(), y[i].real());
      r.magnitude += std::abs(std::complex<double>(x[i])) * std::abs(std::complex<double>(y[i]));
    } else {
      const auto a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
      add_product(r.real, a, b);
      r.magnitude += std::abs(a * b);
    }
  }
  return r;
}

std::complex<double> value_of(const void* result, tally::type element) {
  return with_type<tally::accumulator_types>(element, [&]<class A>() -> std::complex<double> {
    const A& value = *static_cast<const A*>(result);
    if constexpr (tally::is_complex_v<A>) {
      return value;
    } else {
      return static_cast<double>(value);
    }
  });
}

}  // namespace

host_vector::host_vector(tally::type element, std::size_t n, std::uint64_t seed, std::size_t offset,
                         values drawn)
    : memory_(std::aligned_alloc(page, (offset + n * size_of(element) + page - 1) / page * page)),
      size_(n),
      offset_(offset),
      element_(element) {
  if (!memory_) throw std::bad_alloc();
  with_type(element, [&]<class T>() {
    fill<T>(static_cast<char*>(memory_.get()) + offset, n, seed, drawn);
  });
}

double reference::error_of(const void* result, tally::type element) const {
  const std::complex<double> r = value_of(result, element);
  const double re = (r.real() - real.sum) - real.rest;
  const double im = (r.imag() - imaginary.sum) - imaginary.rest;
  return std::hypot(re, im) / magnitude;
}

double reference::error_of_rows(const void* result, const void* expected,
                                tally::type element) const {
  double most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto at = [&](const void* data) {
      const auto* const bytes = static_cast<const char*>(data);
      return value_of(bytes + i * size_of(element), element).real();
    };
    const double difference = std::abs(at(result) - at(expected));
    if (difference == 0) continue;
    const double error = difference / rows[i];
    most = std::isnan(error) ? HUGE_VAL : std::max(most, error);
  }
  return most;
}

double reference::error_of_elements(const void* result, tally::type element) const {
  return with_type<tally::floating_point_types>(element, [&]<class T>() {
    constexpr int digits = std::is_same_v<T, tally::float16>    ? 11
                           : std::is_same_v<T, tally::bfloat16> ? 8
                                                                : std::numeric_limits<T>::digits;
    const T* const r = static_cast<const T*>(result);
    double most = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto difference =
          static_cast<double>(std::abs(static_cast<double>(r[i]) - elements[i]));
      const double error = std::ldexp(difference, digits - 1 - std::ilogb(elements[i]));
      most = std::isnan(error) ? HUGE_VAL : std::max(most, error);
    }
    return most;
  });
}

void fill_ill_conditioned(host_vector& x_vector, host_vector& y_vector, int exponent,
                          std::uint64_t seed) {
  const std::span<double> x = x_vector.as<double>(), y = y_vector.as<double>();
  const std::size_t n = x.size(), half = n / 2;
  std::mt19937_64 engine(seed);
  const double bits = exponent * std::log2(10.0);
  std::uniform_real_distribution<double> up_to(0, bits / 2);
  tally::exact_sum<double> sum;
  for (std::size_t i = 0; i < half; ++i) {
    const double e = i == 0 ? bits / 2 + 1 : i + 1 == half ? 0 : up_to(engine);
    x[i] = std::ldexp(random<double>(engine), static_cast<int>(std::lround(e)));
    y[i] = std::ldexp(random<double>(engine), static_cast<int>(std::lround(e)));
    sum.add_product(x[i], y[i]);
  }
  for (std::size_t i = half; i < n; ++i) {
    const double e = bits / 2 * static_cast<double>(n - 1 - i) / static_cast<double>(n - half);
    const double scale = std::ldexp(1.0, static_cast<int>(std::lround(e)));
    do {
      x[i] = random<double>(engine) * scale;
    } while (x[i] == 0);
    y[i] = (random<double>(engine) * scale - sum.round<double>()) / x[i];
    sum.add_product(x[i], y[i]);
  }
  for (std::size_t i = n - 1; i > 0; --i) {
    const std::size_t j = std::uniform_int_distribution<std::size_t>(0, i)(engine);
    std::swap(x[i], x[j]);
    std::swap(y[i], y[j]);
  }
}

namespace {

template <class X>
void fill_keys(std::span<X> x, values drawn, std::size_t n, std::uint64_t seed) {
  const auto bins = static_cast<double>(bins_of(drawn, n));
  const std::size_t blocks = (x.size() + block - 1) / block;
#pragma omp parallel for schedule(static)
  for (std::size_t b = 0; b < blocks; ++b) {
    std::seed_seq sequence{seed, static_cast<std::uint64_t>(b)};
    std::mt19937_64 engine(sequence);
    for (std::size_t i = b * block; i < std::min(x.size(), (b + 1) * block); ++i) {
      const double place = std::ldexp(static_cast<double>(engine() >> 11), -53);
      double key = std::floor(bins * place);
      if (drawn == values::zipf_keys) key = std::floor(std::pow(bins, place) - 1);
      if (drawn == values::one_key) key = std::floor(bins / 3);
      if (drawn == values::common_bits) {
        std::uint64_t bits = 255;
        for (std::size_t k = 0; k < n; ++k) bits &= engine();
        key = static_cast<double>(bits);
      }
      x[i] = static_cast<X>(key);
    }
  }
}

}  // namespace

void fill_keys(host_vector& x, values drawn, std::size_t n, std::uint64_t seed) {
  if (x.first(1).element == tally::type::uint8) {
    fill_keys(x.as<std::uint8_t>(), drawn, n, seed);
  } else {
    fill_keys(x.as<std::int32_t>(), drawn, n, seed);
  }
}

void fill_offsets(host_vector& offsets, std::size_t n, std::size_t mean, std::uint64_t seed) {
  const std::span<std::int32_t> all = offsets.as<std::int32_t>();
  std::mt19937_64 engine(seed);
  for (std::size_t i = 1; i + 1 < all.size(); ++i) {
    all[i] = static_cast<std::int32_t>(i * mean + engine() % mean);
  }
  all.front() = 0;
  all.back() = static_cast<std::int32_t>(n);
}

namespace {

/// The exact sum; `rest` is its rounding error.
reference exact_reference(const workload& w) {
  tally::exact_sum<double> sum;
  sum.add_products(static_cast<const double*>(w.x.data), static_cast<const double*>(w.y.data),
                   w.size());
  reference r;
  r.real.sum = sum.round<double>();
  sum.add(-r.real.sum);
  r.real.rest = sum.round<double>();
  r.magnitude = std::abs(r.real.sum);
  return r;
}

/// `rest` corrects the rounding.
reference root_of(const reference& squares) {
  reference r;
  const double root = std::sqrt(squares.real.sum);
  r.real.sum = r.magnitude = root;
  r.real.rest = (std::fma(-root, root, squares.real.sum) + squares.real.rest) / (2 * root);
  return r;
}

constexpr bool is_of_squares(operation what) {
  return what == operation::nrm2 || what == operation::sum_of_squares;
}

reference reference_of_rows(const workload& w) {
  reference r;
  visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, const T*) {
    r.rows.resize(w.matrix.height());
    if (w.transposes()) {
      for (std::size_t i = 0; i < a.rows; ++i) {
        for (auto j = a.row_offsets[i]; j < a.row_offsets[i + 1]; ++j) {
          const auto k = static_cast<std::size_t>(j);
          r.rows[static_cast<std::size_t>(a.column_indices[k])] +=
              std::abs(static_cast<double>(a.values[k]) * x[i]);
        }
      }
      return;
    }
#pragma omp parallel for schedule(dynamic, 1024)
    for (std::size_t i = 0; i < a.rows; ++i) {
      for (auto j = a.row_offsets[i]; j < a.row_offsets[i + 1]; ++j) {
        const auto k = static_cast<std::size_t>(j);
        r.rows[i] += std::abs(static_cast<double>(a.values[k]) * x[a.column_indices[k]]);
      }
    }
  });
  return r;
}

/// At least eleven digits more than a double: the error is below a hundredth of a double's ulp.
static_assert(std::numeric_limits<long double>::digits >= 64);
reference reference_of_elements(const workload& w) {
  reference r;
  r.elements.resize(std::min(w.size(), max_checked));
  with_type<tally::floating_point_types>(w.x.element, [&]<class T>() {
    const T* const x = static_cast<const T*>(w.x.data);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < r.elements.size(); ++i) {
      plain::visit(w.what, [&]<class G>(G g) {
        if constexpr (tally::detail::inputs(G::ours) == 1) {
          r.elements[i] = g(static_cast<long double>(static_cast<double>(x[i])));
        }
      });
    }
  });
  return r;
}

}  // namespace

double largest_difference(const void* result, const void* expected, std::size_t n,
                          tally::type element) {
  return with_type<tally::real_types>(element, [&]<class T>() {
    const T *const r = static_cast<const T*>(result), *const e = static_cast<const T*>(expected);
    double most = 0, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto a = static_cast<double>(r[i]), b = static_cast<double>(e[i]);
      most = std::max(most, std::abs(a - b));
      largest = std::max(largest, std::abs(b));
    }
    return most > 0 ? most / largest : 0;
  });
}

reference reference_of(const workload& w, values drawn) {
  if (drawn == values::ill_conditioned) return exact_reference(w);
  if (w.what == operation::spmv) return reference_of_rows(w);
  if (is_transcendental(w.what)) return reference_of_elements(w);
  if (writes(w.what) || has_several(w.what) || w.has_matrix() || w.what == operation::histogram ||
      w.what == operation::wrms_norm)
    return {};  // compared with ours
  const std::size_t blocks = (w.size() + block - 1) / block;
  std::vector<reference> parts(blocks);
  visit(w, [&](auto x, auto y, auto) {
#pragma omp parallel for schedule(static)
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t first = b * block, count = std::min(block, w.size() - first);
      const auto part = x.subspan(first, count);
      parts[b] = is_of_squares(w.what) ? sum(part, part)
                 : w.x_alone()         ? sum(part, w.what == operation::asum)
                                       : sum(part, y.subspan(first, count));
    }
  });
  reference total;
  for (const reference& part : parts) add(total, part);
  return w.what == operation::nrm2 ? root_of(total) : total;
}

std::string name(const types& t) {
  std::string text(tally::name(t.x));
  text += 'x';
  text += tally::name(t.y);
  if (t.accumulator != t.x && t.accumulator != t.y) (text += '=') += tally::name(t.accumulator);
  return text;
}

int all_threads() { return omp_get_max_threads(); }

}  // namespace bench
