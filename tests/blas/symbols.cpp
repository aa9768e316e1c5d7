// The rules of docs/blas.md, through each symbol of each library, in the settings of the
// environment: expected values are Tally's on `serial`, or a literal loop.
#include "tests/blas/calls.hpp"

#include "bindings/blas/names.h"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace blas_test {
namespace {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

template <class T>
struct real {
  using type = T;
};
template <class T>
struct real<std::complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename real<T>::type;
template <class T>
constexpr real_t<T> nan = std::numeric_limits<real_t<T>>::quiet_NaN();

tally::grade grade_of_environment() {
  const char* const name = std::getenv("TALLY_BLAS_GRADE");
  if (name != nullptr && std::string(name) == "exact") return tally::exact;
  return {};
}

/// Multiples of 2^-23 in [-1, 1).
template <class T>
T random_number() {
  static std::uint64_t state = 1;
  const auto next = [] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<real_t<T>>(static_cast<std::int32_t>(state >> 32) >> 8) * 0x1p-23F;
  };
  if constexpr (is_complex<T>) {
    const auto re = next();
    return {re, next()};
  } else {
    return next();
  }
}

/// A vector of a program: elements in memory, which may be unaligned.
template <class T>
class operand {
 public:
  operand(length n, length increment, bool is_aligned = true)
      : n_(n),
        increment_(increment),
        shift_(is_aligned ? 0 : 1),
        bytes_(size_of(n, increment) * sizeof(T) + 1) {
    for (std::size_t i = 0; i < size_of(n, increment); ++i) write(i, random_number<T>());
  }

  /// Its lowest address.
  T* data() { return reinterpret_cast<T*>(bytes_.data() + shift_); }
  length increment() const { return increment_; }
  T operator[](length i) const { return read(index(i)); }
  void set(length i, T value) { write(index(i), value); }
  std::vector<T> elements() const {
    std::vector<T> all;
    for (length i = 0; i < n_; ++i) all.push_back((*this)[i]);
    return all;
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  static std::size_t size_of(length n, length increment) {
    return static_cast<std::size_t>(n == 0 ? 0 : (n - 1) * std::abs(increment) + 1);
  }
  std::size_t index(length i) const {
    return static_cast<std::size_t>(increment_ < 0 ? (i - (n_ - 1)) * increment_ : i * increment_);
  }
  T read(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + shift_ + i * sizeof(T), sizeof(T));
    return value;
  }
  void write(std::size_t i, T value) {
    std::memcpy(bytes_.data() + shift_ + i * sizeof(T), &value, sizeof(T));
  }

  length n_, increment_;
  std::size_t shift_;
  std::vector<char> bytes_;
};

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out.precision(20);
  out << value;
  return out.str();
}

template <class T>
void expect_bits(const T& found, const T& expected, const std::string& what) {
  EXPECT_EQ(std::memcmp(&found, &expected, sizeof(T)), 0)
      << what << ": " << text(found) << ", not " << text(expected);
}
template <class T>
void expect_bits(const std::vector<T>& found, const std::vector<T>& expected,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    expect_bits(found[i], expected[i], what + ", element " + std::to_string(i));
    if (testing::Test::HasFailure()) return;
  }
}

struct layout {
  length n, incx, incy;
  bool is_x_aligned = true, is_y_aligned = true;

  std::string text() const {
    return "n " + std::to_string(n) + ", incx " + std::to_string(incx) + ", incy " +
           std::to_string(incy) + (is_x_aligned ? "" : ", x unaligned") +
           (is_y_aligned ? "" : ", y unaligned");
  }
};
/// The last one is long enough for threads.
const layout layouts[] = {{1, 1, 1},          {7, 1, 1},
                          {1030, 1, 1},       {300, 2, 1},
                          {300, 1, -1},       {77, -3, 2},
                          {33, 0, 1},         {33, 1, 0},
                          {600, 1, 1, false}, {600, 2, -1, true, false},
                          {5, 0, 0},          {9, 0, -2, false, false},
                          {70001, 1, 1}};

const tally::executor serial = tally::serial();
const tally::grade grade = grade_of_environment();

/// One NaN: positive, quiet, without payload.
template <class T>
T of_parts(real_t<T> re, real_t<T> im) {
  if constexpr (is_complex<T>) {
    return {re, im};
  } else {
    return re;
  }
}

// A subnormal factor, and a number whose product with it is normal.
template <class T>
const T subnormal = std::numeric_limits<real_t<T>>::denorm_min();
template <class T>
const T huge = std::ldexp(real_t<T>(1), std::numeric_limits<real_t<T>>::max_exponent - 8);

// --- Sums ----------------------------------------------------------------------------------------

template <class T, class R>
void test_products(const route& by, tally::conjugate conjugated) {
  for (const length n : {0, -1}) {
    expect_bits(call_dot<R, T>(by, n, nullptr, 1, nullptr, 1), R{}, "no elements");
  }
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned), y(l.n, l.incy, l.is_y_aligned);
    const R expected = tally::dot<R>(serial, x.elements(), y.elements(), {conjugated, grade});
    expect_bits(call_dot<R, T>(by, l.n, x.data(), l.incx, y.data(), l.incy), expected, l.text());
  }
  operand<T> x(40, 1);
  x.set(17, of_parts<T>(-nan<T>, 0));
  expect_bits(call_dot<R, T>(by, 40, x.data(), 1, x.data(), 1), of_parts<R>(nan<R>, nan<R>), "NaN");
}

template <class T, class R>
void test_dot(const route& by) {
  test_products<T, R>(by, tally::conjugate::none);
}
template <class T, class R>
void test_dotu(const route& by) {
  test_products<T, R>(by, tally::conjugate::none);
}
template <class T, class R>
void test_dotc(const route& by) {
  test_products<T, R>(by, tally::conjugate::x);
}

template <class T, class R>
void test_sdsdot(const route& by) {
  expect_bits(call_sdsdot(by, 0, 2.5F, nullptr, 1, nullptr, 1), 2.5F, "no elements");
  for (const layout& l : layouts) {
    operand<float> x(l.n, l.incx, l.is_x_aligned), y(l.n, l.incy, l.is_y_aligned);
    const double sum = 0.75 + tally::dot<double>(serial, x.elements(), y.elements(), grade);
    expect_bits(call_sdsdot(by, l.n, 0.75F, x.data(), l.incx, y.data(), l.incy),
                static_cast<float>(sum), l.text());
  }
  // In float the 1 would be lost.
  const float x[] = {0x1p30F, 1}, y[] = {1, 1};
  expect_bits(call_sdsdot(by, 2, -0x1p30F, x, 1, y, 1), 1.F, "b is added to the double");
  const float infinite = std::numeric_limits<float>::infinity(), one = 1;
  for (const float b : {-nan<float>, -infinite}) {
    expect_bits(call_sdsdot(by, 1, b, &infinite, 1, &one, 1), nan<float>, "NaN");
  }
}

template <class T, class R, class Sum>
void test_reduction(const route& by, bool takes_any_increment, const Sum& sum) {
  for (const length n : {0, -1}) {
    expect_bits(call_of_one<R, T>(by, n, nullptr, 1), R{}, "no elements");
  }
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned);
    const R expected = l.incx > 0 || takes_any_increment ? sum(x.elements()) : R{};
    expect_bits(call_of_one<R, T>(by, l.n, x.data(), l.incx), expected, l.text());
  }
  operand<T> x(40, 1);
  x.set(17, of_parts<T>(0, -nan<T>));
  if constexpr (is_complex<T>) {
    expect_bits(call_of_one<R, T>(by, 40, x.data(), 1), nan<R>, "NaN");
  }
}
template <class T, class R>
void test_asum(const route& by) {
  test_reduction<T, R>(by, false, [](const auto& x) { return tally::asum(serial, x, grade); });
}
template <class T, class R>
void test_nrm2(const route& by) {
  test_reduction<T, R>(by, true, [](const auto& x) { return tally::nrm2(serial, x, grade); });
  const T large = of_parts<T>(std::numeric_limits<R>::max() / 4, 0);
  expect_bits(call_of_one<R, T>(by, 4, &large, 0), std::numeric_limits<R>::max() / 2, "four times");
}

/// Netlib's loop.
template <class T>
length first_greatest(const std::vector<T>& x) {
  const auto magnitude = [](const T& v) {
    if constexpr (is_complex<T>) {
      return std::abs(v.real()) + std::abs(v.imag());
    } else {
      return std::abs(v);
    }
  };
  length result = 0;
  auto greatest = magnitude(x[0]);
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (magnitude(x[i]) > greatest) greatest = magnitude(x[i]), result = static_cast<length>(i);
  }
  return result;
}
template <class T, class R>
void test_iamax(const route& by) {
  const length none = by.is_c() ? 0 : -1;
  for (const length n : {0, -1}) EXPECT_EQ(call_iamax<T>(by, n, nullptr, 1), none);
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned);
    const length expected = l.incx > 0 ? first_greatest(x.elements()) : none;
    EXPECT_EQ(call_iamax<T>(by, l.n, x.data(), l.incx), expected) << l.text();
  }
  const T in_middle[] = {1, of_parts<T>(nan<T>, 0), 2}, in_front[] = {of_parts<T>(nan<T>, 0), 1, 2};
  EXPECT_EQ(call_iamax<T>(by, 3, in_middle, 1), 2);
  EXPECT_EQ(call_iamax<T>(by, 3, in_front, 1), 0);
  operand<T> unaligned(9, 2, false);
  for (const length i : {0, 4}) unaligned.set(i, of_parts<T>(nan<T>, 0));
  EXPECT_EQ(call_iamax<T>(by, 9, unaligned.data(), 2), 0);
  // Subnormal magnitudes, and equal ones, that another environment would tell apart or not.
  const T smallest = subnormal<T>, a_nan = of_parts<T>(nan<T>, 0);
  const T of_subnormals[] = {smallest, a_nan, subnormal<T> + subnormal<T>};
  const T of_equals[] = {1, a_nan, is_complex<T> ? of_parts<T>(1, subnormal<real_t<T>>) : T(1)};
  EXPECT_EQ(call_iamax<T>(by, 3, of_subnormals, 1), 2);
  EXPECT_EQ(call_iamax<T>(by, 3, of_equals, 1), 0);
  const T signaling = of_parts<T>(std::numeric_limits<real_t<T>>::signaling_NaN(), 0);
  const T of_signaling[] = {1, signaling, 2};
  EXPECT_EQ(call_iamax<T>(by, 3, of_signaling, 1), 2);
}

// --- Updates -------------------------------------------------------------------------------------

/// The product of Tally's element-wise functions.
template <class T>
T times(T a, T b) {
  if constexpr (is_complex<T>) {
    if (a.imag() == 0) return {a.real() * b.real(), a.real() * b.imag()};
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

/// Calls `update` on each layout, and compares y with that of the loop `step(x_i, y_i)`; then on x
/// and y that overlap.
template <class T, class Update, class Step>
void test_update(const Update& update, const Step& step) {
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned), y(l.n, l.incy, l.is_y_aligned), expected = y;
    const std::vector<char> before = x.bytes();
    for (length i = 0; i < l.n; ++i) expected.set(i, step(x[i], expected[i]));
    update(l.n, x.data(), l.incx, y.data(), l.incy);
    expect_bits(y.elements(), expected.elements(), l.text());
    EXPECT_EQ(x.bytes(), before) << l.text();
  }
  for (const length distance : {0, 1, 3}) {
    for (const length increment : {1, 2, -1}) {
      for (const bool is_aligned : {true, false}) {
        constexpr length n = 70;
        operand<T> all(2 * n + 3, 1, is_aligned);
        std::vector<T> expected = all.elements();
        for (length i = 0; i < n; ++i) {
          const length at = increment < 0 ? (i - (n - 1)) * increment : i * increment;
          T& to = expected[static_cast<std::size_t>(at + distance)];
          to = step(expected[static_cast<std::size_t>(at)], to);
        }
        T* const y = reinterpret_cast<T*>(reinterpret_cast<char*>(all.data()) +
                                          distance * static_cast<length>(sizeof(T)));
        update(n, all.data(), increment, y, increment);
        expect_bits(
            all.elements(), expected,
            "y " + std::to_string(distance) + " after x, increment " + std::to_string(increment));
      }
    }
  }
}

template <class T>
const T alpha = of_parts<T>(1.25F, -0.375F);
template <class T>
const T beta = of_parts<T>(0.7F, 0.1F);

template <class T, class R>
void test_axpy(const route& by) {
  for (const length n : {0, -1}) call_axpy<T>(by, n, alpha<T>, nullptr, 1, nullptr, 1);
  test_update<T>([&](length n, const T* x, length incx, T* y,
                     length incy) { call_axpy<T>(by, n, alpha<T>, x, incx, y, incy); },
                 [](T x, T y) { return times(alpha<T>, x) + y; });
  T x = of_parts<T>(nan<T>, nan<T>), y = 1;
  call_axpy<T>(by, 1, 0, &x, 1, &y, 1);
  expect_bits(y, T(1), "alpha 0");
  x = of_parts<T>(-nan<T>, -nan<T>);
  call_axpy<T>(by, 1, 1, &x, 1, &y, 1);
  expect_bits(y, of_parts<T>(nan<T>, nan<T>), "NaN");
  x = huge<T>, y = 0;
  call_axpy<T>(by, 1, subnormal<T>, &x, 1, &y, 1);
  expect_bits(y, times(subnormal<T>, huge<T>), "subnormal alpha");
}

template <class T, class R>
void test_axpby(const route& by) {
  for (const length n : {0, -1}) call_axpby<T>(by, n, alpha<T>, nullptr, 1, beta<T>, nullptr, 1);
  test_update<T>([&](length n, const T* x, length incx, T* y,
                     length incy) { call_axpby<T>(by, n, alpha<T>, x, incx, beta<T>, y, incy); },
                 [](T x, T y) { return times(alpha<T>, x) + times(beta<T>, y); });
  for (const bool is_aligned : {true, false}) {
    operand<T> x(5, 1, is_aligned), y(5, 2, is_aligned);
    for (length i = 0; i < 5; ++i) y.set(i, of_parts<T>(nan<T>, nan<T>));
    call_axpby<T>(by, 5, alpha<T>, x.data(), 1, 0, y.data(), 2);
    for (length i = 0; i < 5; ++i) expect_bits(y[i], times(alpha<T>, x[i]), "beta 0");
  }
  T x = of_parts<T>(nan<T>, nan<T>), y = 2;
  call_axpby<T>(by, 1, 0, &x, 1, beta<T>, &y, 1);
  expect_bits(y, times(beta<T>, T(2)), "alpha 0");
  call_axpby<T>(by, 1, 0, &x, 1, T(-0.0), &x, 1);
  expect_bits(x, T(0), "alpha and beta 0");
  x = huge<T>, y = 0;
  call_axpby<T>(by, 1, subnormal<T>, &x, 1, 1, &y, 1);
  expect_bits(y, times(subnormal<T>, huge<T>), "subnormal alpha");
  call_axpby<T>(by, 1, 0, &y, 1, subnormal<T>, &x, 1);
  expect_bits(x, times(subnormal<T>, huge<T>), "subnormal beta");
}

template <class T, class R>
void test_scal(const route& by) {
  for (const length n : {0, -1}) call_scal<R, T>(by, n, alpha<R>, nullptr, 1);
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned), expected = x;
    for (length i = 0; i < l.n && l.incx > 0; ++i) {
      if constexpr (is_complex<T> && !is_complex<R>) {
        expected.set(i, {alpha<R> * x[i].real(), alpha<R> * x[i].imag()});
      } else {
        expected.set(i, times(alpha<T>, x[i]));
      }
    }
    call_scal<R, T>(by, l.n, alpha<R>, x.data(), l.incx);
    EXPECT_EQ(x.bytes(), expected.bytes()) << l.text();
  }
  T x = of_parts<T>(nan<T>, nan<T>);
  call_scal<R, T>(by, 1, 0, &x, 1);
  expect_bits(x, of_parts<T>(nan<T>, nan<T>), "0 times NaN");
  x = of_parts<T>(-nan<T>, -nan<T>);
  call_scal<R, T>(by, 1, 1, &x, 1);
  expect_bits(x, of_parts<T>(-nan<T>, -nan<T>), "alpha 1");
  x = huge<T>;
  call_scal<R, T>(by, 1, subnormal<R>, &x, 1);
  expect_bits(x, times(subnormal<T>, huge<T>), "subnormal alpha");
  if constexpr (is_complex<R>) {
    const T nearly_one = {1, subnormal<real_t<T>>};
    x = huge<T>;
    call_scal<R, T>(by, 1, nearly_one, &x, 1);
    expect_bits(x, times(nearly_one, huge<T>), "alpha with a subnormal part");
  }
}

template <class T, class R>
void test_copy(const route& by) {
  for (const length n : {0, -1}) call_move<const T, T>(by, n, nullptr, 1, nullptr, 1);
  test_update<T>([&](length n, const T* x, length incx, T* y,
                     length incy) { call_move<const T, T>(by, n, x, incx, y, incy); },
                 [](T x, T) { return x; });
  const T x = of_parts<T>(-nan<T>, -nan<T>);
  T y = 0;
  call_move<const T, T>(by, 1, &x, 1, &y, 1);
  expect_bits(y, x, "a NaN's bits");
}

template <class T, class R>
void test_swap(const route& by) {
  for (const length n : {0, -1}) call_move<T, T>(by, n, nullptr, 1, nullptr, 1);
  for (const layout& l : layouts) {
    operand<T> x(l.n, l.incx, l.is_x_aligned), y(l.n, l.incy, l.is_y_aligned);
    operand<T> expected_x = x, expected_y = y;
    for (length i = 0; i < l.n; ++i) {
      const T held = expected_x[i];
      expected_x.set(i, expected_y[i]);
      expected_y.set(i, held);
    }
    call_move<T, T>(by, l.n, x.data(), l.incx, y.data(), l.incy);
    EXPECT_EQ(x.bytes(), expected_x.bytes()) << l.text();
    EXPECT_EQ(y.bytes(), expected_y.bytes()) << l.text();
  }
  operand<T> all(50, 1);
  std::vector<T> expected = all.elements();
  for (std::size_t i = 0; i < 49; ++i) std::swap(expected[i], expected[i + 1]);
  call_move<T, T>(by, 49, all.data(), 1, all.data() + 1, 1);
  expect_bits(all.elements(), expected, "y after x");
}

// --- gemv ----------------------------------------------------------------------------------------

struct product {
  length m, n, lda, incx, incy;
  bool is_a_aligned = true, is_x_aligned = true, is_y_aligned = true;
};
/// Large enough for threads.
const product large_product = {300, 250, 300, 1, 1};
const product products[] = {{1, 1, 1, 1, 1},
                            {5, 3, 6, 1, 1},
                            {3, 40, 41, 2, -1},
                            {70, 5, 70, -1, 3},
                            {9, 1100, 9, 1, 1},
                            {6, 5, 7, 1, 2, false},
                            {6, 5, 7, 1, -2, true, false, false}};

template <class T>
struct multiplication {
  bool by_rows;
  char operation;
  product p;
  T alpha, beta;

  bool is_transposed() const { return operation == 'T' || operation == 'C'; }
  bool is_conjugated() const { return operation == 'C' || operation == 'R'; }
  length height() const { return is_transposed() ? p.n : p.m; }
  length width() const { return is_transposed() ? p.m : p.n; }
  /// C's lda of rows.
  length lda() const { return by_rows ? p.lda - p.m + p.n : p.lda; }
  length size() const { return lda() * (by_rows ? p.m : p.n); }
  std::string text() const {
    return std::string(by_rows ? "by rows " : "by columns ") + operation + " " +
           std::to_string(p.m) + " x " + std::to_string(p.n) + ", beta " + blas_test::text(beta);
  }

  /// y as it is documented, each sum with the bits of dot.
  std::vector<T> expected(const operand<T>& a, const std::vector<T>& x,
                          const std::vector<T>& y) const {
    std::vector<T> result;
    for (length i = 0; i < height(); ++i) {
      std::vector<T> row;
      for (length j = 0; j < width(); ++j) {
        const length r = is_transposed() ? j : i, c = is_transposed() ? i : j;
        row.push_back(a[by_rows ? r * lda() + c : r + c * lda()]);
      }
      const auto conjugated = is_conjugated() ? tally::conjugate::x : tally::conjugate::none;
      const T sum = times(alpha, tally::dot<T>(serial, row, x, {conjugated, grade}));
      result.push_back(beta == T(0) ? sum : sum + times(beta, y[static_cast<std::size_t>(i)]));
    }
    return result;
  }
};

template <class T>
void test_product(const route& by, const multiplication<T>& m) {
  const product& p = m.p;
  operand<T> a(m.size(), 1, p.is_a_aligned), x(m.width(), p.incx, p.is_x_aligned),
      y(m.height(), p.incy, p.is_y_aligned);
  for (length i = 0; i < m.height() && m.beta == T(0); ++i) y.set(i, of_parts<T>(nan<T>, nan<T>));
  const std::vector<T> expected = m.expected(a, x.elements(), y.elements());
  call_gemv<T>(by, m.by_rows, m.operation, p.m, p.n, m.alpha, a.data(), m.lda(), x.data(), p.incx,
               m.beta, y.data(), p.incy);
  expect_bits(y.elements(), expected, m.text());
}

template <class T, class R>
void test_gemv(const route& by) {
  for (const bool by_rows : {false, true}) {
    if (by_rows && !by.is_c()) continue;
    for (const char operation : {'N', 'T', 'C', 'R'}) {
      for (const product& p : products) {
        for (const T factor : {T(0), T(1), beta<T>}) {
          test_product<T>(by, {by_rows, operation, p, factor == T(1) ? T(1) : alpha<T>, factor});
        }
      }
    }
    test_product<T>(by, {by_rows, 'N', large_product, alpha<T>, beta<T>});
    test_product<T>(by, {by_rows, 'T', large_product, alpha<T>, beta<T>});
    if (testing::Test::HasFailure()) return;
  }
  if constexpr (is_complex<T>) {  // OpenBLAS's other letters conjugate x, too
    for (const auto& [letter, operation] :
         {std::pair('O', 'N'), {'u', 'T'}, {'S', 'R'}, {'D', 'C'}}) {
      if (by.is_c()) continue;
      const multiplication<T> m{false, operation, {3, 5, 3, -2, 1}, alpha<T>, beta<T>};
      operand<T> a(m.size(), 1), x(m.width(), -2), y(m.height(), 1);
      std::vector<T> conjugated = x.elements();
      for (T& each : conjugated) each = std::conj(each);
      const std::vector<T> expected = m.expected(a, conjugated, y.elements());
      call_gemv<T>(by, false, letter, 3, 5, alpha<T>, a.data(), 3, x.data(), -2, beta<T>, y.data(),
                   1);
      expect_bits(y.elements(), expected, std::string("letter ") + letter);
    }
  }
  // Quick returns.
  T y[] = {1, 2};
  call_gemv<T>(by, false, 'N', 2, 0, 1, nullptr, 2, nullptr, 1, 0, y, 1);
  call_gemv<T>(by, false, 'T', 0, 2, 1, nullptr, 1, nullptr, 1, 0, y, 1);
  call_gemv<T>(by, false, 'N', 2, 2, 0, nullptr, 2, nullptr, 1, 1, y, 1);
  EXPECT_EQ(y[0], T(1));
  EXPECT_EQ(y[1], T(2));
  call_gemv<T>(by, false, 'N', 2, 2, 0, nullptr, 2, nullptr, 1, 2, y, -1);
  EXPECT_EQ(y[0], T(2));
  EXPECT_EQ(y[1], T(4));
  y[0] = of_parts<T>(nan<T>, nan<T>);
  call_gemv<T>(by, false, 'N', 2, 2, 0, nullptr, 2, nullptr, 1, 0, y, 1);
  expect_bits(y[0], T(0), "alpha and beta 0");
  y[0] = 1;
  call_gemv<T>(by, false, 'N', 2, 2, 0, nullptr, 2, nullptr, 1, T(-0.0), y, 1);
  expect_bits(y[0], T(0), "alpha 0, beta -0");
  T one = 1, x_of_one = huge<T>, y_of_one = 0;
  call_gemv<T>(by, false, 'N', 1, 1, subnormal<T>, &one, 1, &x_of_one, 1, 0, &y_of_one, 1);
  call_gemv<T>(by, false, 'N', 1, 1, 0, &one, 1, &one, 1, subnormal<T>, &x_of_one, 1);
  expect_bits(y_of_one, times(subnormal<T>, huge<T>), "subnormal alpha");
  expect_bits(x_of_one, times(subnormal<T>, huge<T>), "subnormal beta");
  // y is x, and a column of A: both are read first.
  const multiplication<T> m{false, 'N', {4, 4, 4, 1, 1}, 1, 1};
  operand<T> a(16, 1);
  std::vector<T> column = a.elements();
  column.resize(4);
  const std::vector<T> expected = m.expected(a, column, column);
  call_gemv<T>(by, false, 'N', 4, 4, 1, a.data(), 4, a.data(), 1, 1, a.data(), 1);
  for (length i = 0; i < 4; ++i)
    expect_bits(a[i], expected[static_cast<std::size_t>(i)], "overlap");
}

// --- All of them ---------------------------------------------------------------------------------

using routine_test = std::function<void(const route&)>;
const std::map<std::string, routine_test>& routine_tests() {
#define ROW(name, c_name, shape, T, R) {#name, test_##shape<T, R>},
  static const std::map<std::string, routine_test> all = {TALLY_BLAS_ROUTINES(ROW)};
  return all;
}

class Blas : public testing::TestWithParam<std::string> {
 protected:
  /// Tests the routine's symbols, or one of each function of the first library; returns how many.
  static std::size_t test_symbols(bool all) {
    std::set<convention> called;
    std::size_t number = 0;
    for (const library& from : libraries()) {
      for (const symbol& each : from.symbols) {
        if (each.routine != GetParam()) continue;
        if (!called.insert(each.called).second && !all) continue;
        SCOPED_TRACE(std::string(from.path) + ": " + each.name);
        routine_tests().at(each.routine)(
            {from[each.name], each.called,
             from.returns_complex_in_memory && each.called <= convention::fortran64});
        ++number;
        if (HasFailure()) return number;
      }
    }
    return number;
  }
};

TEST_P(Blas, EverySymbol) {
  const bool has_settings =
      std::getenv("TALLY_BLAS_EXECUTOR") != nullptr || std::getenv("TALLY_BLAS_GRADE") != nullptr;
  EXPECT_GE(test_symbols(!has_settings), has_settings ? 4U : 33U);
}

TEST_P(Blas, EveryEnvironment) {
  for (std::size_t i = 1; i < std::size(environments); ++i) {
    SCOPED_TRACE("environment " + std::to_string(i));
    environment_of_calls = environments[i];
    test_symbols(false);
    environment_of_calls = environments[0];
    if (HasFailure()) return;
  }
}

std::vector<std::string> routines() {
  std::vector<std::string> all;
  for (const auto& [name, test] : routine_tests()) all.push_back(name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Blas, testing::ValuesIn(routines()),
                         [](const auto& routine) { return routine.param; });

TEST(BlasNames, AreDistinctAndOfTheirForms) {
  std::set<std::string> names;
  for (const symbol& each : symbols()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_NE(std::string(each.name).find(each.routine), std::string::npos) << each.name;
  }
  for (const char* const name :
       {"ddot_", "ddot", "scipy_ddot_", "cblas_ddot", "scipy_cblas_ddot", "ddot_64_",
        "scipy_ddot_64_", "ddot64_", "cblas_ddot64_", "cblas_ddot_64", "scipy_cblas_ddot64_",
        "ddotsub_", "zdotcsub_", "cblas_zdotc_sub", "scipy_cblas_cdotu_sub64_", "isamaxsub_64_"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), 46U * 11 + 20 * 2);
}

}  // namespace
}  // namespace blas_test
