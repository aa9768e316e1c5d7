// transform_reduce on a GPU, with a caller's functions under nvcc's own flags: the bits of serial.
#include <tally/tally.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace {

using tally::order::chunk;

const std::vector<std::size_t> sizes = {0,
                                        1,
                                        2,
                                        63,
                                        64,
                                        65,
                                        100,
                                        chunk - 1,
                                        chunk,
                                        chunk + 1,
                                        2 * chunk + 1,
                                        3 * chunk + 17,
                                        16 * chunk + 3,
                                        300 * chunk + 5,
                                        600 * chunk,
                                        4000 * chunk + 77,
                                        40000 * chunk + 1};

struct square_of_difference {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return (a - b) * (a - b);
  }
};

struct same {
  __host__ __device__ double operator()(double v) const { return v; }
};

/// Sensitive to order; the identity is not neutral.
struct mix {
  __host__ __device__ std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return (a ^ (b + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u + (a >> 29);
  }
};
struct widen {
  __host__ __device__ std::uint64_t operator()(std::int32_t v) const {
    return static_cast<std::uint64_t>(v) * 3 + 1;
  }
};

/// Mean and variance in one pass, a result of 24 bytes.
struct moments {
  double n = 0, sum = 0, squares = 0;
};
struct add_moments {
  __host__ __device__ moments operator()(const moments& a, const moments& b) const {
    return {a.n + b.n, a.sum + b.sum, a.squares + b.squares};
  }
};
struct moments_of {
  __host__ __device__ moments operator()(double v) const { return {1, v, v * v}; }
};

template <class R>
void expect_same(const R& a, const R& b, const char* what, std::size_t n) {
  EXPECT_EQ(std::memcmp(&a, &b, sizeof(R)), 0) << what << ", n = " << n;
}

template <class T>
class on_device {
 public:
  explicit on_device(const std::vector<T>& from) {
    EXPECT_EQ(cudaMalloc(&data, (from.size() + 1) * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~on_device() { cudaFree(data); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;
  T* data = nullptr;
};

template <class T>
std::vector<T> random_vector(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(n);
  for (T& v : values) {
    if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(random());
    } else {
      v = std::uniform_real_distribution<T>(-1, 1)(random);
    }
  }
  return values;
}

struct own_plus {
  __host__ __device__ double operator()(double a, double b) const { return a + b; }
};
struct own_times {
  __host__ __device__ double operator()(double a, double b) const { return a * b; }
};

class TransformReduceDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)tally::cuda();
    } catch (const tally::error& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

template <class T>
void expect_bits_of_serial() {
  const auto cuda = tally::cuda();
  for (const std::size_t n : sizes) {
    const auto x = random_vector<T>(n + 3, 1), y = random_vector<T>(n + 3, 2);
    const on_device<T> dx(x), dy(y);
    const auto check = [&](std::ptrdiff_t x_from, std::ptrdiff_t y_from, std::ptrdiff_t step,
                           std::size_t count) {
      const auto part = [&](const T* p, std::ptrdiff_t from) {
        return tally::strided(p + from, count, step);
      };
      expect_same(tally::transform_reduce(cuda, part(dx.data, x_from), part(dy.data, y_from), T(0),
                                          std::plus<>(), std::multiplies<>()),
                  tally::dot(tally::serial(), part(x.data(), x_from), part(y.data(), y_from)),
                  "dot", count);
      expect_same(
          tally::transform_reduce(cuda, part(dx.data, x_from), part(dy.data, y_from), T(0),
                                  std::plus<>(), square_of_difference()),
          tally::transform_reduce(tally::serial(), part(x.data(), x_from), part(y.data(), y_from),
                                  T(0), std::plus<>(), square_of_difference()),
          "squares of differences", count);
    };
    check(0, 0, 1, n);
    check(1, 1, 1, n);
    check(1, 2, 1, n);
    check(2, 0, -1, n);
    check(1, 1, 3, n / 3);
  }
}

TEST_F(TransformReduceDevice, HasTheBitsOfSerialFloat64) { expect_bits_of_serial<double>(); }
TEST_F(TransformReduceDevice, HasTheBitsOfSerialFloat32) { expect_bits_of_serial<float>(); }

struct weighted_difference {
  template <class W>
  __host__ __device__ double operator()(double a, float b, W w) const {
    return w % 3 ? (a - b) * 0.75 : a - b;
  }
};

TEST_F(TransformReduceDevice, TakesThreeInputs) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<double>(n + 1, 1);
    const auto y = random_vector<float>(2 * n, 2);
    const auto w = random_vector<std::int32_t>(n, 3);
    const on_device<double> dx(x);
    const on_device<float> dy(y);
    const on_device<std::int32_t> dw(w);
    for (const std::size_t offset : {0, 1}) {
      for (const std::ptrdiff_t step : {1, -2}) {
        const auto sum = [&](const tally::executor& where, const double* at_x, const float* at_y,
                             const std::int32_t* at_w) {
          return tally::transform_reduce(where, std::span(at_x + offset, n),
                                         tally::strided(at_y, n, step), std::span(at_w, n), 0.0,
                                         std::plus<>(), weighted_difference());
        };
        expect_same(sum(tally::cuda(), dx.data, dy.data, dw.data),
                    sum(tally::serial(), x.data(), y.data(), w.data()), "three inputs", n);
      }
    }
  }
}

TEST_F(TransformReduceDevice, MixesTypesAsDotDoes) {
  const auto x = random_vector<float>(5000, 3);
  const auto y = random_vector<double>(5000, 4);
  const on_device<float> dx(x);
  const on_device<double> dy(y);
  expect_same(
      tally::transform_reduce(tally::cuda(), std::span(dx.data, 5000), std::span(dy.data, 5000),
                              0.0, std::plus<>(), std::multiplies<>()),
      tally::dot(x, y), "float32 x float64", 5000);
}

// As std::plus and std::multiplies promote.
template <class T>
void expect_promotion() {
  const auto x = random_vector<T>(3000, 13), y = random_vector<T>(3000, 14);
  const on_device<T> dx(x), dy(y);
  expect_same(
      tally::transform_reduce(tally::cuda(), std::span(dx.data, 3000), std::span(dy.data, 3000),
                              std::int64_t{0}, std::plus<>(), std::multiplies<>()),
      tally::transform_reduce(tally::serial(), x, y, std::int64_t{0}, std::plus<>(),
                              std::multiplies<>()),
      "small integers", 3000);
  expect_same(tally::transform_reduce(tally::cuda(), std::span(dx.data, 3000),
                                      std::span(dy.data, 3000), 0, std::plus<>(), std::plus<>()),
              tally::transform_reduce(tally::serial(), x, y, 0, std::plus<>(), std::plus<>()),
              "small integers", 3000);
}
TEST_F(TransformReduceDevice, PromotesSmallIntegers) {
  expect_promotion<std::int8_t>();
  expect_promotion<std::uint8_t>();
}

struct one_if {
  __host__ __device__ int operator()(bool v) const { return v ? 1 : 0; }
};

TEST_F(TransformReduceDevice, TakesAnyByteOfABoolButZeroForTrue) {
  for (const std::size_t n : sizes) {
    if (n > 300 * chunk + 5) continue;
    std::vector<unsigned char> bytes(n);
    int expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      bytes[i] = static_cast<unsigned char>(i * 2654435761u >> 24 & 0x83);
      expected += bytes[i] != 0;
    }
    const on_device<unsigned char> x(bytes);
    const auto* const flags = reinterpret_cast<const bool*>(x.data);
    EXPECT_EQ(
        tally::transform_reduce(tally::cuda(), std::span(flags, n), 0, std::plus<>(), one_if()),
        expected);
    EXPECT_EQ(tally::transform_reduce(tally::cuda(), tally::strided(flags, n, -1), 0, std::plus<>(),
                                      one_if()),
              expected);
  }
}

TEST_F(TransformReduceDevice, TakesFloat16) {
  std::vector<tally::float16> x, y;
  for (int i = 0; i < 3000; ++i) {
    x.emplace_back(static_cast<float>(i % 37) / 7);
    y.emplace_back(static_cast<float>(i % 41) / 9 - 2);
  }
  const on_device<tally::float16> dx(x), dy(y);
  expect_same(
      tally::transform_reduce(tally::cuda(), std::span(dx.data, 3000), std::span(dy.data, 3000),
                              0.0f, std::plus<>(), std::multiplies<>()),
      tally::dot(x, y), "float16", 3000);
}

/// Results of odd sizes and with padding.
struct three {
  unsigned char bytes[3];
};
struct padded {
  double largest = -2;
  char count = 0;
};
struct add_bytes {
  __host__ __device__ three operator()(three a, three b) const {
    for (int i = 0; i < 3; ++i)
      a.bytes[i] = static_cast<unsigned char>(a.bytes[i] * 7 + b.bytes[i]);
    return a;
  }
};
struct bytes_of {
  __host__ __device__ three operator()(std::int32_t v) const {
    return {{static_cast<unsigned char>(v), static_cast<unsigned char>(v >> 8),
             static_cast<unsigned char>(v >> 16)}};
  }
};
struct merge_padded {
  __host__ __device__ padded operator()(const padded& a, const padded& b) const {
    padded c;
    c.largest = a.largest > b.largest ? a.largest : b.largest;
    c.count = static_cast<char>(a.count * 3 + b.count);
    return c;
  }
};
struct pad {
  __host__ __device__ padded operator()(std::int32_t v) const {
    padded c;
    c.largest = v * 0x1p-31;
    c.count = static_cast<char>(v);
    return c;
  }
};
/// The smallest and largest results on a device.
struct one_byte {
  unsigned char byte = 1;
};
struct max_bytes {
  std::uint64_t words[16] = {};
};
static_assert(sizeof(max_bytes) == tally::device_sum::max_bytes);
struct add_one_byte {
  __host__ __device__ one_byte operator()(one_byte a, one_byte b) const {
    return {static_cast<unsigned char>(a.byte * 7 + b.byte)};
  }
};
struct first_byte {
  __host__ __device__ one_byte operator()(std::int32_t v) const {
    return {static_cast<unsigned char>(v)};
  }
};
struct add_most_bytes {
  __host__ __device__ max_bytes operator()(const max_bytes& a, const max_bytes& b) const {
    max_bytes c;
    for (int i = 0; i < 16; ++i) c.words[i] = a.words[i] * 7 + b.words[15 - i];
    return c;
  }
};
struct spread {
  __host__ __device__ max_bytes operator()(std::int32_t v) const {
    max_bytes c;
    for (int i = 0; i < 16; ++i) c.words[i] = static_cast<std::uint64_t>(v) * (2 * i + 1);
    return c;
  }
};

TEST_F(TransformReduceDevice, ReturnsOddSizes) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<std::int32_t>(n, 15);
    const on_device<std::int32_t> dx(x);
    const std::span<const std::int32_t> v(dx.data, n);
    expect_same(
        tally::transform_reduce(tally::cuda(), v, one_byte(), add_one_byte(), first_byte()),
        tally::transform_reduce(tally::serial(), x, one_byte(), add_one_byte(), first_byte()), "1",
        n);
    expect_same(
        tally::transform_reduce(tally::cuda(), v, max_bytes(), add_most_bytes(), spread()),
        tally::transform_reduce(tally::serial(), x, max_bytes(), add_most_bytes(), spread()), "128",
        n);
    const three some = {{1, 2, 3}};
    expect_same(tally::transform_reduce(tally::cuda(), v, some, add_bytes(), bytes_of()),
                tally::transform_reduce(tally::serial(), x, some, add_bytes(), bytes_of()), "3", n);
    const padded a = tally::transform_reduce(tally::cuda(), v, padded(), merge_padded(), pad());
    const padded b = tally::transform_reduce(tally::serial(), x, padded(), merge_padded(), pad());
    EXPECT_EQ(a.largest, b.largest) << n;
    EXPECT_EQ(a.count, b.count) << n;
  }
}

TEST_F(TransformReduceDevice, IsInTheOrderOfTheContract) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<std::int32_t>(n, 5);
    const on_device<std::int32_t> dx(x);
    const std::uint64_t identity = 77;
    expect_same(
        tally::transform_reduce(tally::cuda(), std::span(dx.data, n), identity, mix(), widen()),
        tally::transform_reduce(tally::serial(), x, identity, mix(), widen()), "mix", n);
  }
}

// 0, unless the second product is contracted.
TEST_F(TransformReduceDevice, DoesNotContract) {
  auto x = random_vector<double>(chunk, 11);
  const auto y = random_vector<double>(64, 12);
  std::vector<double> factors(chunk);
  for (std::size_t i = 0; i < chunk; ++i) {
    x[i] = i % 128 < 64 ? x[i] : -x[i - 64];
    factors[i] = y[i % 64];
  }
  const on_device<double> dx(x), df(factors);
  const std::span<const double> v(dx.data, chunk), f(df.data, chunk);
  const auto cuda = tally::cuda();
  EXPECT_EQ(tally::transform_reduce(cuda, v, f, 0.0, own_plus(), own_times()), 0);
  EXPECT_EQ(tally::transform_reduce(cuda, v, f, 0.0, std::plus<>(), own_times()), 0);
  EXPECT_EQ(tally::transform_reduce(cuda, v, f, 0.0, own_plus(), std::multiplies<>()), 0);
  EXPECT_EQ(tally::transform_reduce(tally::serial(), x, factors, 0.0, own_plus(), own_times()), 0);
}

TEST_F(TransformReduceDevice, ReturnsWiderResults) {
  for (const std::size_t n : sizes) {
    const auto x = random_vector<double>(n, 6);
    const on_device<double> dx(x);
    expect_same(tally::transform_reduce(tally::cuda(), std::span(dx.data, n), moments(),
                                        add_moments(), moments_of()),
                tally::transform_reduce(tally::serial(), x, moments(), add_moments(), moments_of()),
                "moments", n);
  }
}

// (nvcc permits such a lambda in no private member function, such as a test's body.)
void expect_lambdas_to_run() {
  const auto x = random_vector<double>(10000, 7);
  const on_device<double> dx(x);
  const auto twice = [] __device__(double v) { return 2 * v; };
  const double sum = tally::transform_reduce(std::span(dx.data, 10000), 0.0, std::plus<>(), twice);
  EXPECT_EQ(sum, 2 * tally::sum(x));
  const double factor = 3;
  const auto times = [factor] __host__ __device__(double v) { return factor * v; };
  expect_same(tally::transform_reduce(std::span(dx.data, 10000), 0.0, std::plus<>(), times),
              tally::transform_reduce(x, 0.0, std::plus<>(), times), "a capture", 10000);
  try {
    (void)tally::transform_reduce(tally::serial(), x, 0.0, std::plus<>(), twice);
    ADD_FAILURE();
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), tally::errc::invalid_argument) << e.what();
  }
}

TEST_F(TransformReduceDevice, TakesLambdasOfTheDevice) { expect_lambdas_to_run(); }

TEST_F(TransformReduceDevice, RunsInAGraphAndBesideOtherCalls) {
  const std::size_t n = 700 * chunk + 9;
  const auto x = random_vector<double>(n, 8);
  const on_device<double> dx(x);
  const on_device<double> results(std::vector<double>(3, -1));
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const auto where = tally::cuda({.stream = stream});
  const std::span<const double> v(dx.data, n);
  const auto queue = [&] {
    tally::transform_reduce(where, v, v, 0.0, std::plus<>(), std::multiplies<>(), results.data);
    tally::dot(where, v, v, results.data + 1);
    tally::transform_reduce(where, v, v, 0.0, std::plus<>(), square_of_difference(),
                            results.data + 2);
  };
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  queue();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const double expected = tally::dot(x, x);
  for (int replay = 0; replay < 5; ++replay) {
    if (replay % 2) {
      queue();
    } else {
      ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    }
    double got[3];
    ASSERT_EQ(cudaMemcpyAsync(got, results.data, sizeof got, cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(got[0], expected);
    EXPECT_EQ(got[1], expected);
    EXPECT_EQ(got[2], 0);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

// Earlier errors stay the caller's; only the launch's status counts.
TEST_F(TransformReduceDevice, LeavesAnEarlierErrorToTheCaller) {
  const std::size_t n = 300 * chunk;
  const auto x = random_vector<double>(n, 8);
  const on_device<double> dx(x);
  const on_device<double> result(std::vector<double>(1, -1));
  const std::span<const double> v(dx.data, n);
  const auto sum = [&](const tally::executor& where) {
    tally::transform_reduce(where, v, v, 0.0, std::plus<>(), std::multiplies<>(), result.data);
  };
  (void)cudaGetLastError();
  ASSERT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
  EXPECT_NO_THROW(sum(tally::cuda()));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  double got = 0;
  ASSERT_EQ(cudaMemcpy(&got, result.data, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(got, tally::dot(x, x));
}

TEST_F(TransformReduceDevice, RefusesWhatItCantReach) {
  const auto x = random_vector<double>(100, 9);
  EXPECT_THROW((void)tally::transform_reduce(tally::cuda(), x, 0.0, std::plus<>(), same()),
               tally::error);
}

// On the host, compiled by nvcc.
double square(double v) { return v * v; }

TEST(TransformReduceHost, TakesWhatCantTravel) {
  const std::vector<double> x = {1, 2, 3};
  EXPECT_EQ(tally::transform_reduce(tally::serial(), x, 0.0, std::plus<>(), square), 14);
}

TEST(TransformReduceHost, RunsInASourceOfNvcc) {
  const auto x = random_vector<double>(5000, 10);
  EXPECT_EQ(tally::transform_reduce(tally::simd(), x, x, 0.0, std::plus<>(), std::multiplies<>()),
            tally::dot(x, x));
}

}  // namespace
