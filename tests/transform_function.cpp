// transform with functions of the caller's: on every executor the bits of a literal loop, for every
// type, size, alignment and stride, also where the output is an input; what the functions throw
// comes back.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using data::kind;
using data::layout;
using tally::order::chunk;

/// n elements laid out among others.
template <class T>
class laid_out {
 public:
  laid_out(std::size_t n, std::uint64_t seed, layout l, kind k = kind::plain)
      : n_(n), layout_(l), count_(l.offset + n * step() + 3), memory_(new T[count_]) {
    const auto bytes = data::random_bytes<T>(count_, seed, k);
    std::memcpy(static_cast<void*>(memory_.get()), bytes.data(), bytes.size());
  }
  laid_out(const laid_out& other)
      : n_(other.n_), layout_(other.layout_), count_(other.count_), memory_(new T[count_]) {
    std::copy_n(other.memory_.get(), count_, memory_.get());
  }
  T& operator[](std::size_t i) {
    return memory_[layout_.offset + (layout_.increment < 0 ? n_ - 1 - i : i) * step()];
  }
  tally::strided_view<T> view() {
    return tally::strided(memory_.get() + layout_.offset, n_, layout_.increment);
  }
  bool has_bits_of(const laid_out& other) const {
    return std::memcmp(static_cast<const void*>(memory_.get()),
                       static_cast<const void*>(other.memory_.get()), count_ * sizeof(T)) == 0;
  }

 private:
  std::size_t step() const { return static_cast<std::size_t>(std::abs(layout_.increment)); }

  std::size_t n_;
  layout layout_;
  std::size_t count_;
  std::unique_ptr<T[]> memory_;
};

/// Functions of any types, whose values any type can hold: of the first element and of the bits of
/// the second.
template <class Z>
struct mix {
  template <class X>
  Z operator()(const X& x) const {
    if constexpr (tally::is_complex_v<X>) {
      return (*this)(x.real() - x.imag());
    } else if constexpr (std::is_integral_v<Z>) {
      return static_cast<Z>(static_cast<float>(x) < 0.25f);
    } else if constexpr (tally::is_complex_v<Z>) {
      return Z(static_cast<tally::real_t<Z>>(x), static_cast<tally::real_t<Z>>(x < X(0)));
    } else {
      return static_cast<Z>(static_cast<float>(x) * 0.75f);
    }
  }
  template <class X, class Y>
  Z operator()(const X& x, const Y& y) const {
    return data::bits(y)[0] % 3 == 0 ? Z{} : (*this)(x);
  }
};

class TransformFunction : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    OnEveryExecutor::SetUp();
    if (!IsSkipped() && data::on_device(where())) {
      GTEST_SKIP() << "a device: see transform_device.cu";
    }
  }

  static void expect(bool equal, const std::string& form, std::size_t n,
                     std::span<const tally::type> types, std::span<const layout> layouts) {
    if (equal) return;
    std::string text = form + ", n = " + std::to_string(n);
    for (std::size_t k = 0; k < types.size(); ++k) {
      text += ", " + std::string(tally::name(types[k])) + " with offset " +
              std::to_string(layouts[k].offset) + " and increment " +
              std::to_string(layouts[k].increment);
    }
    FAIL() << text;
  }

  template <class X, class Y, class Z>
  void compare(std::size_t n, layout lx, layout ly, layout lz, kind k = kind::plain) {
    laid_out<X> x(n, n + 1, lx, k);
    laid_out<Y> y(n, n + 2, ly, k);
    laid_out<Z> z(n, n + 3, lz);
    const tally::type types[] = {tally::type_of<X>, tally::type_of<Y>, tally::type_of<Z>};
    const layout layouts[] = {lx, ly, lz};
    const mix<Z> f;
    laid_out<Z> want = z;
    for (std::size_t i = 0; i < n; ++i) want[i] = tally::functions::canonical(f(x[i]));
    tally::transform(where(), x.view(), z.view(), f);
    ASSERT_NO_FATAL_FAILURE(expect(z.has_bits_of(want), "one", n, types, layouts));
    for (std::size_t i = 0; i < n; ++i) want[i] = tally::functions::canonical(f(x[i], y[i]));
    tally::transform(where(), x.view(), y.view(), z.view(), f);
    ASSERT_NO_FATAL_FAILURE(expect(z.has_bits_of(want), "two", n, types, layouts));
  }

  template <class T>
  void compare_in_place(std::size_t n, layout l) {
    const laid_out<T> before(n, n + 1, l);
    laid_out<T> other(n, n + 2, l);
    const mix<T> f;
    // Into the only input, the first, the second and both.
    for (const int which : {0, 1, 2, 3}) {
      laid_out<T> x = before, want = before;
      for (std::size_t i = 0; i < n; ++i) {
        want[i] =
            which == 0 ? f(x[i]) : f(which == 2 ? other[i] : x[i], which == 1 ? other[i] : x[i]);
      }
      if (which == 0) tally::transform(where(), x.view(), x.view(), f);
      if (which == 1) tally::transform(where(), x.view(), other.view(), x.view(), f);
      if (which == 2) tally::transform(where(), other.view(), x.view(), x.view(), f);
      if (which == 3) tally::transform(where(), x.view(), x.view(), x.view(), f);
      const std::string form = "in place, " + std::to_string(which);
      const tally::type types[] = {tally::type_of<T>};
      const layout layouts[] = {l};
      ASSERT_NO_FATAL_FAILURE(expect(x.has_bits_of(want), form, n, types, layouts));
    }
  }
};

const std::size_t sizes[] = {0,
                             1,
                             2,
                             3,
                             4,
                             5,
                             7,
                             8,
                             9,
                             15,
                             16,
                             17,
                             31,
                             33,
                             63,
                             64,
                             65,
                             127,
                             129,
                             257,
                             1000,
                             chunk - 1,
                             chunk,
                             chunk + 1,
                             5 * chunk + 3,
                             200 * chunk + 7};

TEST_P(TransformFunction, EveryTypeAndSize) {
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, {}, {}, {})));
      ASSERT_NO_FATAL_FAILURE(compare_in_place<T>(n, {}));
    }
  });
}

TEST_P(TransformFunction, EveryAlignmentAndStride) {
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    for (const std::size_t n : {std::size_t{70}, 3 * chunk + 5}) {
      for (const std::size_t offset : {1, 2, 3, 7, 15}) {
        const layout l{.offset = offset};
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, l, l, l)));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, l, {}, {})));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, {}, l, {})));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, {}, {}, l)));
      }
      for (const std::ptrdiff_t increment : {2, -1, -3}) {
        const layout l{.offset = 1, .increment = increment};
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, l, l, l)));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, l, {}, {})));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, {}, l, {})));
        ASSERT_NO_FATAL_FAILURE((compare<T, T, T>(n, {}, {}, l)));
        ASSERT_NO_FATAL_FAILURE(compare_in_place<T>(n, l));
      }
    }
  });
}

// Each type beside each of the others.
TEST_P(TransformFunction, MixedTypes) {
  const auto each = [&]<class X, class Y, class Z>(std::tuple<X, Y, Z>) {
    ASSERT_NO_FATAL_FAILURE((compare<X, Y, Z>(1037, {}, {}, {})));
    ASSERT_NO_FATAL_FAILURE((compare<X, Y, Z>(133, {.offset = 1, .increment = 2}, {.offset = 3},
                                              {.offset = 2, .increment = -3})));
    ASSERT_NO_FATAL_FAILURE((compare<X, Y, Z>(500, {}, {}, {}, kind::special)));
  };
  [&]<class... T>(tally::type_list<T...>) {
    (each(std::tuple<T, float, double>()), ...);
    (each(std::tuple<float, T, bool>()), ...);
    (each(std::tuple<double, std::int8_t, T>()), ...);
  }(tally::element_types{});
}

TEST_P(TransformFunction, WritesOneNan) {
  std::vector<double> x(100, 1), z(100);
  x[7] = -std::numeric_limits<double>::quiet_NaN();
  x[8] = std::numeric_limits<double>::signaling_NaN();
  tally::transform(where(), x, z, [](double v) { return v; });
  EXPECT_EQ(z[6], 1);
  for (const std::size_t i : {7, 8}) {
    EXPECT_EQ(data::bits(z[i]), (std::array<std::uint64_t, 1>{0x7ff8000000000000u}));
  }
  std::vector<std::complex<float>> c(100);
  tally::transform(where(), x, c, [](double v) { return std::complex<float>(2, -float(v)); });
  EXPECT_EQ(c[7].real(), 2);
  EXPECT_EQ(data::bits(c[7].imag()), (std::array<std::uint64_t, 1>{0x7fc00000u}));
  std::vector<tally::float16> half(100);
  std::vector<tally::bfloat16> brain(100);
  tally::transform(where(), x, half, [](double v) { return -float(v); });
  tally::transform(where(), x, brain, [](double v) { return -float(v); });
  EXPECT_EQ(half[7].bits, 0x7e00);
  EXPECT_EQ(half[6].bits, 0xbc00);
  EXPECT_EQ(brain[8].bits, 0x7fc0);
}

TEST_P(TransformFunction, TakesVectorsAndFunctionsOfAnyKind) {
  std::vector<double> x = {1, 2, 3}, y = {4, 5, 6};
  std::array<float, 3> z = {};
  tally::transform(where(), std::span(x), y, z, std::multiplies<>());
  EXPECT_EQ(z, (std::array<float, 3>{4, 10, 18}));
  double (*const root)(double) = std::sqrt;
  tally::transform(where(), x, z, root);
  EXPECT_EQ(z[1], static_cast<float>(std::sqrt(2)));
  const double shift = 10;
  tally::transform(where(), x, x, [shift](double v) { return v + shift; });
  EXPECT_EQ(x, (std::vector<double>{11, 12, 13}));
}

TEST_P(TransformFunction, CallsOnceAnElement) {
  const std::size_t n = 300 * chunk + 11;
  const std::vector<std::int32_t> x(n, 1);
  std::vector<std::int32_t> z(n);
  std::atomic<std::size_t> calls = 0;
  tally::transform(where(), x, z, [&calls](std::int32_t v) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return v + 1;
  });
  EXPECT_EQ(calls, n);
  EXPECT_EQ(z, std::vector<std::int32_t>(n, 2));
}

#if defined(__x86_64__)
TEST_P(TransformFunction, SetsTheCallersEnvironmentAside) {
  const std::vector<double> x(5000, 3e-310);
  std::vector<double> want(x.size()), z(x.size());
  const auto third = [](double v) { return v / 3; };
  tally::transform(where(), x, want, third);
  ASSERT_GT(want[0], 0);
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | 0x6000);  // flush to zero, towards zero
  tally::transform(where(), x, z, third);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(z, want);
  EXPECT_EQ(after & ~0x3fu, (before | 0x8040 | 0x6000) & ~0x3fu);
}
#endif

TEST_P(TransformFunction, ReturnsWhatTheFunctionThrows) {
  std::vector<std::int32_t> x(300 * chunk, 1), z(x.size());
  x[77 * chunk + 5] = 0;
  const auto f = [](std::int32_t v) {
    if (v == 0) throw std::domain_error("zero");
    return v;
  };
  EXPECT_THROW(tally::transform(where(), x, z, f), std::domain_error);
  EXPECT_THROW(tally::transform(where(), x, tally::strided(z.data(), z.size(), -1), f),
               std::domain_error);
}

TEST_P(TransformFunction, NamesBadInput) {
  using data::expect_error;
  using tally::errc;
  std::vector<double> x(16), y(16), z(16, 7);
  const auto first = [](std::vector<double>& v, std::size_t n) { return std::span(v).first(n); };
  const auto one = [](double) { return 1; };
  const auto two = [](double, double) { return 1; };
  expect_error(errc::size_mismatch, "tally::transform: x has 5 elements, y has 6",
               [&] { tally::transform(where(), first(x, 5), first(y, 6), first(z, 5), two); });
  expect_error(errc::size_mismatch, "tally::transform: x has 5 elements, z has 6",
               [&] { tally::transform(where(), first(x, 5), first(z, 6), one); });
  expect_error(errc::size_mismatch, "tally::transform: x has 0 elements, z has 6",
               [&] { tally::transform(where(), first(x, 0), first(z, 6), one); });
  expect_error(errc::zero_increment, "tally::transform: z has increment 0", [&] {
    tally::transform(where(), first(x, 5), tally::strided(z.data(), 5, 0), one);
  });
  expect_error(errc::null_pointer, "tally::transform: y is null and should point at 5 elements",
               [&] {
                 const std::span<const double> nowhere(static_cast<const double*>(nullptr), 5);
                 tally::transform(where(), first(x, 5), nowhere, first(z, 5), two);
               });
  expect_error(errc::overlap,
               "tally::transform: z overlaps x: it begins 8 bytes after x, which takes 40; it may "
               "be x itself",
               [&] { tally::transform(where(), first(z, 5), std::span(z).subspan(1, 5), one); });
  expect_error(errc::overlap,
               "tally::transform: z overlaps y: it begins 0 bytes after y, which takes 40; it may "
               "be y itself",
               [&] {
                 tally::transform(where(), first(x, 5), first(z, 5),
                                  tally::strided(z.data(), 5, -1), two);
               });
  EXPECT_EQ(z, std::vector<double>(16, 7));
}

// Columns of one matrix share no element.
TEST_P(TransformFunction, InterleavedVectors) {
  std::vector<double> matrix(3000);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = 0.5 * static_cast<double>(i);
  std::vector<double> want = matrix;
  for (std::size_t i = 0; i < 1000; ++i) want[3 * i + 2] = matrix[3 * i] * matrix[3 * i + 1];
  const auto column = [&](std::size_t c) { return tally::strided(matrix.data() + c, 1000, 3); };
  tally::transform(where(), column(0), column(1), column(2), std::multiplies<>());
  EXPECT_EQ(matrix, want);
}

TALLY_ON_EVERY_EXECUTOR(TransformFunction);

TEST(TransformFunctionAutomatic, RunsInAnyPlaceOfTheHost) {
  std::vector<double> x(300 * chunk, 3), z(x.size());
  tally::transform(x, z, [](double v) { return 2 * v; });
  EXPECT_EQ(z, std::vector<double>(x.size(), 6));
  tally::transform(x, z, z, std::minus<>());
  EXPECT_EQ(z, std::vector<double>(x.size(), -3));
}

#if TALLY_HAS_CUDA
TEST(TransformFunctionCuda, SaysThatFunctionsOfTheHostDontRunThere) {
  try {
    const auto where = tally::cuda();
    double* x = nullptr;
    ASSERT_EQ(cudaMalloc(&x, 80), cudaSuccess);
    try {
      tally::transform(where, std::span(x, 10), std::span(x, 10), std::negate<>());
      ADD_FAILURE();
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::invalid_argument);
      EXPECT_NE(std::string(e.what()).find("nvcc"), std::string::npos) << e.what();
    }
    cudaFree(x);
  } catch (const tally::error& e) {
    if (e.code() != tally::errc::no_device) throw;
    GTEST_SKIP() << e.what();
  }
}
#endif

}  // namespace
