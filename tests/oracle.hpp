// Oracle of the exact grade: sums by MPFR, precise enough for every bit, rounded once; and data
// that are hard to sum. Shares no code with the library.
#pragma once

#include <tally/operands/types.hpp>

#include <mpfr.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace oracle {

/// An integer or a double, for any real element type.
class real {
 public:
  template <class T>
  real(T value)
      : is_integer_(std::is_integral_v<T>),
        integer_(is_integer_ ? static_cast<std::int64_t>(value) : 0),
        fraction_(is_integer_ ? 0 : static_cast<double>(value)) {}

  /// Assigns to an MPFR number; returns nonzero if that rounds.
  int assign_to(mpfr_ptr variable) const {
    return is_integer_ ? mpfr_set_si(variable, integer_, MPFR_RNDN)
                       : mpfr_set_d(variable, fraction_, MPFR_RNDN);
  }

 private:
  bool is_integer_;
  std::int64_t integer_;
  double fraction_;
};

/// An exact number: every operation checks that MPFR did not round.
class number {
 public:
  /// Bits from 2^-2200 to 2^2300: holds sums of 2^64 products of doubles.
  static constexpr mpfr_prec_t precision = 4500;

  number();
  number(const number& other);
  number& operator=(const number& other);
  ~number();

  void add(const real& v);
  void add(const number& other);

  void add_magnitude(const real& v);

  /// Adds x * y, or -x * y if `minus`.
  void add_product(const real& x, const real& y, bool minus = false);

  void add_scaled(std::int64_t m, long exponent);

  void add_multiple(const number& other, std::int64_t m);

  /// Multiplies by 2^exponent.
  void scale(long exponent);

  /// Rounds once, to nearest even, with the library's NaN and zero. `R` is double or float, here
  /// and below.
  template <class R>
  R rounded() const;

  template <class R>
  R rounded_root() const;

  /// Negative, 0, positive for a < b, a == b, a > b; neither is NaN.
  friend int compare(const number& a, const number& b) { return mpfr_cmp(a.value_, b.value_); }
  bool finite() const { return mpfr_number_p(value_); }
  bool nan() const { return mpfr_nan_p(value_); }

 private:
  mpfr_t value_;
};

// Vectors of runtime types; results as bytes, each part rounded once.

struct elements {
  const std::vector<std::byte>& bytes;
  tally::type element;
};

/// sum_i x_i * y_i, x conjugated on request.
std::vector<std::byte> exact_dot(const elements& x, const elements& y, tally::type result,
                                 bool conjugate_x = false);

/// sum_i x_i.
std::vector<std::byte> exact_sum(const elements& x, tally::type result);

/// sum_i |x_i|, complex |re| + |im|.
std::vector<std::byte> exact_asum(const elements& x, tally::type result);

/// sqrt(sum_i |x_i|^2).
std::vector<std::byte> exact_nrm2(const elements& x, tally::type result);

template <class T>
struct pair_of_vectors {
  std::vector<T> x, y;
};

/// Elements in [-1, 1).
template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed);

/// Exponents uniform over 2^-spread to 2^spread.
template <class T>
std::vector<T> wide(std::size_t n, std::uint64_t seed, int spread);

/// Any finite bit patterns: every exponent, also subnormal.
template <class T>
std::vector<T> any_finite(std::size_t n, std::uint64_t seed);

/// A dot product of about this condition number, 2 sum|x_i y_i| / |sum x_i y_i|: algorithm 6.1
/// (GenDot) of Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005).
/// Products of the first half reach the condition number; the second half cancels them, ever
/// smaller, by a significand's bits a step, so n must be large enough.
template <class T>
pair_of_vectors<T> ill_conditioned(std::size_t n, double condition, std::uint64_t seed);

/// 2 sum|x_i y_i| / |sum x_i y_i|.
template <class T>
double condition(const pair_of_vectors<T>& v);

/// A sum of about this condition number: the products above, as rounded value and error.
template <class T>
std::vector<T> ill_conditioned_sum(std::size_t n, double condition, std::uint64_t seed);

/// The vectors and their negatives, shuffled: every sum is exactly 0.
template <class T>
pair_of_vectors<T> cancelling(const std::vector<T>& x, const std::vector<T>& y, std::uint64_t seed);

/// Replaces about one in `every` by NaN, infinity, zero of either sign, subnormal or the largest
/// number.
template <class T>
void sprinkle(std::vector<T>& x, std::uint64_t seed, unsigned every);

}  // namespace oracle
