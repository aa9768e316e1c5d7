// transform with a caller's functions: the bits of a literal loop, for every type, size, alignment
// and stride, also in place; exceptions reach the caller.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using data::kind;
using data::layout;
using tally::order::chunk;

using bytes = std::vector<std::byte>;
using tally::operand;
using tally::type;

// --- The function, which takes and gives any types ------------------------------------------------

/// Hash of its first element.
struct digest {
  float single;
  double real;
  bool is_negative;
};

template <class X>
digest digest_of(const X& x) {
  if constexpr (tally::is_complex_v<X>) {
    return digest_of(x.real() - x.imag());
  } else {
    return {static_cast<float>(x), static_cast<double>(x), x < X(0)};
  }
}

template <class Z>
Z value_of(const digest& x) {
  if constexpr (std::is_integral_v<Z>) {
    return static_cast<Z>(x.single < 0.25f);
  } else if constexpr (tally::is_complex_v<Z>) {
    using R = tally::real_t<Z>;
    return Z(std::is_same_v<R, float> ? x.single : static_cast<R>(x.real), R(x.is_negative));
  } else {
    return static_cast<Z>(x.single * 0.75f);
  }
}

/// Whether the second element's bits make the value 0.
template <class Y>
bool clears(const Y& y) {
  return data::bits(y)[0] % 3 == 0;
}

template <class Z>
struct mix {
  template <class X>
  Z operator()(const X& x) const {
    return value_of<Z>(digest_of(x));
  }
  template <class X, class Y>
  Z operator()(const X& x, const Y& y) const {
    return clears(y) ? Z{} : (*this)(x);
  }
};

// --- The same in a literal loop, a type at a time -------------------------------------------------

class laid_out {
 public:
  laid_out(type element, std::size_t n, std::uint64_t seed, layout l, kind k = kind::plain)
      : element_(element),
        layout_(l),
        n_(n),
        memory_(data::random_bytes(element, l.offset + n * step() + 3, seed, k)) {}

  operand view() {
    const std::size_t size = tally::size_of(element_);
    return tally::blas_operand(memory_.data() + layout_.offset * size, n_, layout_.increment,
                               element_, size);
  }
  std::byte* operator[](std::size_t i) {
    const std::size_t place = layout_.offset + (layout_.increment < 0 ? n_ - 1 - i : i) * step();
    return memory_.data() + place * tally::size_of(element_);
  }
  std::size_t size() const { return n_; }
  bool operator==(const laid_out& other) const { return memory_ == other.memory_; }

 private:
  std::size_t step() const { return static_cast<std::size_t>(std::abs(layout_.increment)); }

  type element_;
  layout layout_;
  std::size_t n_;
  bytes memory_;
};

template <class T>
T element_at(const std::byte* place) {
  T element;
  std::memcpy(&element, place, sizeof(T));
  return element;
}

struct steps {
  type element;
  digest (*read)(const std::byte* x);
  bool (*clears)(const std::byte* y);
  /// Writes a value, or 0 without one.
  void (*write)(std::byte* z, const digest* value);
};

template <class T>
constexpr steps steps_of = {
    tally::type_of<T>, [](const std::byte* x) { return digest_of(element_at<T>(x)); },
    [](const std::byte* y) { return clears(element_at<T>(y)); },
    [](std::byte* z, const digest* value) {
      const T element = tally::detail::canonical(value ? value_of<T>(*value) : T{});
      std::memcpy(z, &element, sizeof(T));
    }};

/// z_i = f(x_i), or f(x_i, y_i).
void write_values(laid_out& x, const steps& of_x, laid_out* y, const steps& of_y, laid_out& z,
                  const steps& of_z) {
  for (std::size_t i = 0; i < z.size(); ++i) {
    const digest value = of_x.read(x[i]);
    of_z.write(z[i], y && of_y.clears((*y)[i]) ? nullptr : &value);
  }
}

// --- The calls under test -------------------------------------------------------------------------

/// Returns the typed view of a vector of a runtime type.
template <class T>
tally::strided_view<T> view_of(const operand& v) {
  auto* const data = static_cast<T*>(const_cast<void*>(v.data));
  const auto back = v.increment < 0 && v.size > 0
                        ? static_cast<std::ptrdiff_t>(v.size - 1) * v.increment
                        : std::ptrdiff_t{0};
  return tally::strided(data + back, v.size, v.increment);
}

struct calls {
  void (*one)(const tally::executor& where, const operand& x, const operand& z);
  void (*two)(const tally::executor& where, const operand& x, const operand& y, const operand& z);
};

template <class X, class Y, class Z>
constexpr calls calls_of = {
    [](const tally::executor& where, const operand& x, const operand& z) {
      tally::transform(where, view_of<X>(x), view_of<Z>(z), mix<Z>());
    },
    [](const tally::executor& where, const operand& x, const operand& y, const operand& z) {
      tally::transform(where, view_of<X>(x), view_of<Y>(y), view_of<Z>(z), mix<Z>());
    }};

struct combination {
  calls call;
  steps x, y, z;
};
template <class X, class Y, class Z>
constexpr combination combination_of = {calls_of<X, Y, Z>, steps_of<X>, steps_of<Y>, steps_of<Z>};

const auto alike = []<class... T>(tally::type_list<T...>) {
  return std::array{combination_of<T, T, T>...};
}(tally::element_types{});

const auto mixed = []<class... T>(tally::type_list<T...>) {
  return std::array{combination_of<T, float, double>..., combination_of<float, T, bool>...,
                    combination_of<double, std::int8_t, T>...};
}(tally::element_types{});

class TransformFunction : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    OnEveryExecutor::SetUp();
    if (!IsSkipped() && data::on_device(where())) {
      GTEST_SKIP() << "a device: see transform_device.cu, kokkos_functions.cpp";
    }
  }

  static void expect(bool equal, const std::string& form, std::size_t n,
                     std::span<const type> types, std::span<const layout> layouts) {
    if (equal) return;
    std::string text = form + ", n = " + std::to_string(n);
    for (std::size_t k = 0; k < types.size(); ++k) {
      text += ", " + std::string(tally::name(types[k])) + " with offset " +
              std::to_string(layouts[k].offset) + " and increment " +
              std::to_string(layouts[k].increment);
    }
    FAIL() << text;
  }

  void compare(const combination& c, std::size_t n, layout lx, layout ly, layout lz,
               kind k = kind::plain) {
    laid_out x(c.x.element, n, n + 1, lx, k);
    laid_out y(c.y.element, n, n + 2, ly, k);
    laid_out z(c.z.element, n, n + 3, lz);
    const type types[] = {c.x.element, c.y.element, c.z.element};
    const layout layouts[] = {lx, ly, lz};
    laid_out want = z;
    write_values(x, c.x, nullptr, c.y, want, c.z);
    c.call.one(where(), x.view(), z.view());
    ASSERT_NO_FATAL_FAILURE(expect(z == want, "one", n, types, layouts));
    write_values(x, c.x, &y, c.y, want, c.z);
    c.call.two(where(), x.view(), y.view(), z.view());
    ASSERT_NO_FATAL_FAILURE(expect(z == want, "two", n, types, layouts));
  }

  void compare_in_place(const combination& c, std::size_t n, layout l) {
    const steps& of = c.x;
    const laid_out before(of.element, n, n + 1, l);
    laid_out other(of.element, n, n + 2, l);
    // Into the only input, the first, the second and both.
    for (const int which : {0, 1, 2, 3}) {
      laid_out x = before, want = before;
      write_values(which == 2 ? other : x, of,
                   which == 0   ? nullptr
                   : which == 1 ? &other
                                : &x,
                   of, want, of);
      if (which == 0) c.call.one(where(), x.view(), x.view());
      if (which == 1) c.call.two(where(), x.view(), other.view(), x.view());
      if (which == 2) c.call.two(where(), other.view(), x.view(), x.view());
      if (which == 3) c.call.two(where(), x.view(), x.view(), x.view());
      const std::string form = "in place, " + std::to_string(which);
      const type types[] = {of.element};
      const layout layouts[] = {l};
      ASSERT_NO_FATAL_FAILURE(expect(x == want, form, n, types, layouts));
    }
  }
};

const std::vector<std::size_t> sizes =
    data::short_sizes({4, 5, 9, 257, 1000, 5 * chunk + 3, 200 * chunk + 7});

TEST_ON_EVERY_EXECUTOR(TransformFunction, EveryTypeAndSize) {
  for (const combination& c : alike) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, {}, {}));
      ASSERT_NO_FATAL_FAILURE(compare_in_place(c, n, {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(TransformFunction, EveryAlignmentAndStride) {
  for (const combination& c : alike) {
    for (const std::size_t n : {std::size_t{70}, 3 * chunk + 5}) {
      for (const std::size_t offset : {1, 2, 3, 7, 15}) {
        const layout l{.offset = offset};
        ASSERT_NO_FATAL_FAILURE(compare(c, n, l, l, l));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, l, {}, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, l, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, {}, l));
      }
      for (const std::ptrdiff_t increment : {2, -1, -3}) {
        const layout l{.offset = 1, .increment = increment};
        ASSERT_NO_FATAL_FAILURE(compare(c, n, l, l, l));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, l, {}, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, l, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, {}, l));
        ASSERT_NO_FATAL_FAILURE(compare_in_place(c, n, l));
      }
    }
  }
}

/// z_i = f(x_i, y_i, w_i) of different functions of the bits of three inputs, w of type float.
template <class T>
void expect_three(const tally::executor& where, std::size_t n, layout lx, layout ly, layout lw,
                  layout lz) {
  const auto f = [](const T& x, const T& y, float w) {
    return w < 0 ? x : clears(y) ? T{} : value_of<T>(digest_of(y));
  };
  const type t = tally::type_of<T>;
  laid_out x(t, n, 1, lx), y(t, n, 2, ly), w(type::float32, n, 3, lw), z(t, n, 4, lz);
  const auto expect = [&](laid_out& written) {
    laid_out want = written;
    for (std::size_t i = 0; i < n; ++i) {
      const T value = tally::detail::canonical(
          f(element_at<T>(x[i]), element_at<T>(y[i]), element_at<float>(w[i])));
      std::memcpy(want[i], &value, sizeof(T));
    }
    tally::transform(where, view_of<T>(x.view()), view_of<T>(y.view()), view_of<float>(w.view()),
                     view_of<T>(written.view()), f);
    ASSERT_TRUE(written == want) << tally::name(t) << ", n = " << n;
  };
  ASSERT_NO_FATAL_FAILURE(expect(z));
  ASSERT_NO_FATAL_FAILURE(expect(x));
  ASSERT_NO_FATAL_FAILURE(expect(y));
  if constexpr (std::is_same_v<T, float>) {
    ASSERT_NO_FATAL_FAILURE(expect(w));
  }
}

TEST_ON_EVERY_EXECUTOR(TransformFunction, ThreeInputs) {
  const auto expect_of = [&]<class T>(T) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(expect_three<T>(where(), n, {}, {}, {}, {}));
      ASSERT_NO_FATAL_FAILURE(expect_three<T>(where(), n, {1, 1}, {2, -1}, {3, 2}, {1, 3}));
    }
  };
  [&]<class... T>(tally::type_list<T...>) { (expect_of(T{}), ...); }(tally::element_types{});
}

TEST_ON_EVERY_EXECUTOR(TransformFunction, MixedTypes) {
  for (const combination& c : mixed) {
    ASSERT_NO_FATAL_FAILURE(compare(c, 1037, {}, {}, {}));
    ASSERT_NO_FATAL_FAILURE(compare(c, 133, {.offset = 1, .increment = 2}, {.offset = 3},
                                    {.offset = 2, .increment = -3}));
    ASSERT_NO_FATAL_FAILURE(compare(c, 500, {}, {}, {}, kind::special));
  }
}

TEST_ON_EVERY_EXECUTOR(TransformFunction, WritesOneNan) {
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

TEST_ON_EVERY_EXECUTOR(TransformFunction, TakesVectorsAndFunctionsOfAnyKind) {
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

TEST_ON_EVERY_EXECUTOR(TransformFunction, CallsOnceAnElement) {
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
TEST_ON_EVERY_EXECUTOR(TransformFunction, SetsTheCallersEnvironmentAside) {
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

TEST_ON_EVERY_EXECUTOR(TransformFunction, ReturnsWhatTheFunctionThrows) {
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

TEST_ON_EVERY_EXECUTOR(TransformFunction, NamesBadInput) {
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
  const auto three = [](double, double, double) { return 1; };
  expect_error(errc::size_mismatch, "tally::transform: x has 5 elements, w has 6", [&] {
    tally::transform(where(), first(x, 5), first(y, 5), first(y, 6), first(z, 5), three);
  });
  expect_error(errc::overlap,
               "tally::transform: z overlaps w: it begins 8 bytes after w, which takes 40; it may "
               "be w itself",
               [&] {
                 tally::transform(where(), first(x, 5), first(y, 5), first(z, 5),
                                  std::span(z).subspan(1, 5), three);
               });
  expect_error(
      errc::invalid_argument, "tally::transform: there are 4 vectors; there can be 1 to 3", [&] {
        const tally::operand v = tally::as_operand(x);
        tally::for_each_part(where(), "tally::transform", std::array{v, v, v, v},
                             tally::as_output(z),
                             {nullptr, [](void*, std::size_t, std::size_t, std::size_t) {}});
      });
  EXPECT_EQ(z, std::vector<double>(16, 7));
}

// Interleaved columns share no element.
TEST_ON_EVERY_EXECUTOR(TransformFunction, InterleavedVectors) {
  std::vector<double> matrix(3000);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = 0.5 * static_cast<double>(i);
  std::vector<double> want = matrix;
  for (std::size_t i = 0; i < 1000; ++i) want[3 * i + 2] = matrix[3 * i] * matrix[3 * i + 1];
  const auto column = [&](std::size_t c) { return tally::strided(matrix.data() + c, 1000, 3); };
  tally::transform(where(), column(0), column(1), column(2), std::multiplies<>());
  EXPECT_EQ(matrix, want);
}

TEST(TransformFunctionAutomatic, RunsInAnyPlaceOfTheHost) {
  std::vector<double> x(300 * chunk, 3), z(x.size());
  tally::transform(x, z, [](double v) { return 2 * v; });
  EXPECT_EQ(z, std::vector<double>(x.size(), 6));
  tally::transform(x, z, z, std::minus<>());
  EXPECT_EQ(z, std::vector<double>(x.size(), -3));
  tally::transform(x, z, z, z, [](double p, double q, double r) { return (p - q) * r; });
  EXPECT_EQ(z, std::vector<double>(x.size(), -18));
}

#if TALLY_HAS_CUDA
TEST(TransformFunctionCuda, SaysThatFunctionsOfTheHostDontRunThere) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const auto where = tally::cuda();
  const data::buffer x(where, 80);
  const std::span v(reinterpret_cast<double*>(x.get()), 10);
  data::expect_error(tally::errc::invalid_argument,
                     "tally::transform: functions of the host can't run on cuda; compile the call "
                     "with nvcc, with function objects and a result that can be copied as bytes",
                     [&] { tally::transform(where, v, v, std::negate<>()); });
}
#endif

}  // namespace
