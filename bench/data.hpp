// A run's data: fresh random vectors, and the true value of their product.
#pragma once

#include "bench/workload.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace bench {

/// Operands: uniform in [-1, 1), complex parts too, `bool` either value, `int8` any; uniform in
/// (0, 2]; uniform times 2^-100 ... 2^100 (float: 2^-15 ... 2^15); or for a condition number of the
/// product. Keys of "n" bins: uniform; the k-th with probability about 1 / k; all equal. Keys of
/// 256 bins: the bits common to "n" random words.
enum class values {
  uniform,
  positive,
  spread,
  ill_conditioned,
  keys,
  zipf_keys,
  one_key,
  common_bits
};

inline constexpr std::size_t samples_of_histogram = std::size_t{1} << 25;

inline constexpr std::size_t samples_of_scatter_add = std::size_t{1} << 21;

constexpr std::size_t bins_of(values drawn, std::size_t n) {
  return drawn == values::common_bits ? 256 : n;
}

/// Length of vectors with condition number 10^k, where "n" is k.
inline constexpr std::size_t ill_conditioned_size = 1000;

/// Host memory, `offset` bytes past a page border, with n random elements, which depend on the seed
/// alone.
class host_vector {
 public:
  host_vector() = default;
  host_vector(tally::type element, std::size_t n, std::uint64_t seed, std::size_t offset,
              values drawn = values::uniform);

  tally::operand first(std::size_t n) const {
    return {static_cast<char*>(memory_.get()) + offset_, n, 1, element_};
  }
  std::size_t size() const { return size_; }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(static_cast<char*>(memory_.get()) + offset_), size_};
  }

 private:
  struct release {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, release> memory_;
  std::size_t size_ = 0;
  std::size_t offset_ = 0;
  tally::type element_ = tally::type::float64;
};

/// Fills float64 vectors for a condition number 2 sum |x_i y_i| / |sum x_i y_i| of about
/// 10^exponent: half of the elements with growing exponents, the others nearly cancelling the sum
/// so far. (Ogita, Rump and Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26 (2005),
/// algorithm 6.1.)
void fill_ill_conditioned(host_vector& x, host_vector& y, int exponent, std::uint64_t seed);

void fill_keys(host_vector& x, values drawn, std::size_t n, std::uint64_t seed);

/// Offsets of segments of n elements, with lengths from 0 to twice the mean.
void fill_offsets(host_vector& offsets, std::size_t n, std::size_t mean, std::uint64_t seed);

/// A product in twice a double's digits: errors of products by fma, of sums by two-sum, summed
/// separately.
struct reference {
  struct part {
    double sum = 0;
    double rest = 0;
  };
  part real, imaginary;
  double magnitude = 0;  ///< sum |x_i| |y_i|, for ill-conditioned data |sum x_i y_i|: the base of
                         ///< relative errors
  std::vector<double> rows;           ///< of spmv: sum |a_ij| |x_j| by row
  std::vector<long double> elements;  ///< of sigmoid and exp: the checked ones

  /// |result - this| / magnitude, for a result of type `element`.
  double error_of(const void* result, tally::type element) const;

  /// The largest row error of spmv, relative to the row's sum of magnitudes.
  double error_of_rows(const void* result, const void* expected, tally::type element) const;

  /// The largest |result_i - elements_i| in ulp of type `element`; no element is subnormal.
  double error_of_elements(const void* result, tally::type element) const;
};

/// The largest |result_i - expected_i| over the largest |expected_i|.
double largest_difference(const void* result, const void* expected, std::size_t n,
                          tally::type element);

/// Returns the reference for operands in host memory.
reference reference_of(const workload& w, values drawn = values::uniform);

}  // namespace bench
