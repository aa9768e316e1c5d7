// transform on a GPU, with a caller's functions under nvcc's own flags: the bits of serial, for
// every alignment, stride and mixture of types, and nothing else written.
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

const std::vector<std::size_t> sizes = {0,   1,   2,   3,   4,    5,    7,    8,     9,      15,
                                        16,  17,  31,  32,  33,   63,   64,   65,    127,    129,
                                        255, 257, 511, 513, 1023, 1025, 4099, 50021, 1000003};

/// Bytes in device memory, with a copy on the host.
class bytes_on_device {
 public:
  bytes_on_device(std::size_t n, unsigned seed) : host(n) {
    std::mt19937_64 random(seed);
    // Small, so numbers in any type, never NaN; also true values other than 1.
    for (unsigned char& byte : host) byte = random() % 4;
    EXPECT_EQ(cudaMalloc(&data, n), cudaSuccess);
    write();
  }
  ~bytes_on_device() { cudaFree(data); }
  bytes_on_device(const bytes_on_device&) = delete;
  bytes_on_device& operator=(const bytes_on_device&) = delete;

  void write() {
    EXPECT_EQ(cudaMemcpy(data, host.data(), host.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> now(host.size());
    EXPECT_EQ(cudaMemcpy(now.data(), data, now.size(), cudaMemcpyDeviceToHost), cudaSuccess);
    return now;
  }

  std::vector<unsigned char> host;
  unsigned char* data = nullptr;
};

struct layout {
  std::size_t offset = 0;
  std::ptrdiff_t increment = 1;
};

template <class T>
auto view(unsigned char* bytes, std::size_t n, layout l) {
  return tally::strided(reinterpret_cast<T*>(bytes) + l.offset, n, l.increment);
}

/// Two elements of a vector rarely agree.
template <class Z>
struct hash {
  template <class T>
  __host__ __device__ static std::uint32_t of(const T& v) {
    unsigned char bytes[sizeof(T)];
    memcpy(bytes, &v, sizeof(T));
    std::uint32_t h = 17;
    for (unsigned char byte : bytes) h = h * 0x9e3779b1u + byte + 1;
    return h;
  }
  __host__ __device__ static Z from(std::uint32_t h) {
    Z z;
    if constexpr (std::is_same_v<Z, bool>) {
      z = h >> 30 & 1;
    } else {
      unsigned char bytes[sizeof(Z)];
      for (unsigned i = 0; i < sizeof(Z); ++i) bytes[i] = (h >> 8 * (i % 4) & 0xff) % 120;
      memcpy(&z, bytes, sizeof(Z));
    }
    return z;
  }
  template <class X>
  __host__ __device__ Z operator()(const X& x) const {
    return from(of(x));
  }
  template <class X, class Y>
  __host__ __device__ Z operator()(const X& x, const Y& y) const {
    return from(of(x) * 31 + of(y));
  }
  template <class X, class Y, class W>
  __host__ __device__ Z operator()(const X& x, const Y& y, const W& w) const {
    return from((of(x) * 31 + of(y)) * 31 + of(w));
  }
};

class TransformDevice : public testing::Test {
 protected:
  void SetUp() override {
    try {
      (void)tally::cuda();
    } catch (const tally::error& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

/// One to three inputs, w of y's type. `into`: 0 a separate vector, or the number of an input.
template <class X, class Y, class Z>
void expect_bits_of_serial(std::size_t n, layout lx, layout ly, layout lz, int into = 0) {
  const auto room = [n](std::size_t size, layout l) {
    return (l.offset + n * static_cast<std::size_t>(std::abs(l.increment)) + 3) * size;
  };
  for (const int inputs : {1, 2, 3}) {
    if (into > inputs) continue;
    bytes_on_device x(room(sizeof(X), lx), 1), y(room(sizeof(Y), ly), 2), w(room(sizeof(Y), ly), 4),
        own(room(sizeof(Z), lz), 3);
    bytes_on_device& z = into == 1 ? x : into == 2 ? y : into == 3 ? w : own;
    const auto run = [&](const tally::executor& where, unsigned char* at_x, unsigned char* at_y,
                         unsigned char* at_w, unsigned char* at_z) {
      const auto vx = view<const X>(at_x, n, lx);
      const auto vy = view<const Y>(at_y, n, ly);
      const auto vz = view<Z>(at_z, n, lz);
      const auto vw = view<const Y>(at_w, n, ly);
      if (inputs == 1) tally::transform(where, vx, vz, hash<Z>());
      if (inputs == 2) tally::transform(where, vx, vy, vz, hash<Z>());
      if (inputs == 3) tally::transform(where, vx, vy, vw, vz, hash<Z>());
    };
    run(tally::cuda(), x.data, y.data, w.data, z.data);
    const auto got = z.read();
    run(tally::serial(), x.host.data(), y.host.data(), w.host.data(), z.host.data());
    ASSERT_TRUE(got == z.host) << tally::name(tally::type_of<X>) << ", "
                               << tally::name(tally::type_of<Y>) << " to "
                               << tally::name(tally::type_of<Z>) << ", n = " << n << ", offsets "
                               << lx.offset << ' ' << ly.offset << ' ' << lz.offset
                               << ", increments " << lx.increment << ' ' << ly.increment << ' '
                               << lz.increment << ", inputs " << inputs << ", into " << into;
  }
}

template <class T>
void expect_one_type() {
  for (const std::size_t n : sizes) {
    ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, {}, {}, {})));
    for (const int into : {1, 2, 3}) {
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, {}, {}, {}, into)));
    }
  }
  for (const std::size_t n : {std::size_t{6}, std::size_t{70}, std::size_t{1031}}) {
    for (const std::size_t offset : {1, 2, 3, 4, 5, 7, 8, 15}) {
      const layout l{offset};
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, l, l)));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, l, l, 1)));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, {}, {})));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, {}, l, {})));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, {}, {}, l)));
    }
    for (const std::ptrdiff_t increment : {2, -1, -3}) {
      const layout l{1, increment};
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, l, l)));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, l, l, 2)));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, l, {}, {})));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<T, T, T>(n, {}, {}, l)));
    }
  }
}

TEST_F(TransformDevice, Bool) { expect_one_type<bool>(); }
TEST_F(TransformDevice, Int8) { expect_one_type<std::int8_t>(); }
TEST_F(TransformDevice, Int32) { expect_one_type<std::int32_t>(); }
TEST_F(TransformDevice, BFloat16) { expect_one_type<tally::bfloat16>(); }
TEST_F(TransformDevice, Float32) { expect_one_type<float>(); }
TEST_F(TransformDevice, Float64) { expect_one_type<double>(); }

template <class X, class Y, class Z>
void expect_mixed() {
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{5}, std::size_t{70}, std::size_t{50021}}) {
    ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<X, Y, Z>(n, {}, {}, {})));
    for (const std::size_t offset : {1, 2, 3, 5}) {
      const layout l{offset};
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<X, Y, Z>(n, l, l, l)));
      ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<X, Y, Z>(n, {}, l, {})));
    }
    ASSERT_NO_FATAL_FAILURE((expect_bits_of_serial<X, Y, Z>(n, {1, 2}, {3}, {2, -3})));
  }
}

TEST_F(TransformDevice, MixedTypes) {
  expect_mixed<float, bool, float>();
  expect_mixed<bool, float, double>();
  expect_mixed<double, std::int64_t, std::uint8_t>();
  expect_mixed<tally::float16, float, tally::bfloat16>();
  expect_mixed<std::int8_t, std::int8_t, std::int64_t>();
}

/// A product with i, by parts, since std::complex has no device functions.
struct turned {
  template <class C>
  __host__ __device__ C operator()(const C& c) const {
    C result = c;
    auto* const parts = reinterpret_cast<typename C::value_type*>(&result);
    const auto re = parts[0];
    parts[0] = -parts[1];
    parts[1] = re;
    return result;
  }
};
template <class R>
void expect_complex() {
  for (const std::size_t n : sizes) {
    bytes_on_device x(n * 2 * sizeof(R) + 1, 4), z(n * 2 * sizeof(R) + 1, 5);
    using C = std::complex<R>;
    tally::transform(tally::cuda(), view<const C>(x.data, n, {}), view<C>(z.data, n, {}), turned());
    const auto got = z.read();
    tally::transform(tally::serial(), view<const C>(x.host.data(), n, {}),
                     view<C>(z.host.data(), n, {}), turned());
    ASSERT_TRUE(got == z.host) << n;
  }
}
TEST_F(TransformDevice, Complex) {
  expect_complex<float>();
  expect_complex<double>();
}

template <class T>
std::vector<T> random_vector(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(n);
  for (T& v : values) v = std::uniform_real_distribution<T>(-1, 1)(random);
  return values;
}

template <class T>
class on_device {
 public:
  explicit on_device(const std::vector<T>& from) : size(from.size()) {
    EXPECT_EQ(cudaMalloc(&data, (size + 1) * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data, from.data(), size * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~on_device() { cudaFree(data); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;
  std::span<T> all() const { return {data, size}; }
  std::vector<T> read() const {
    std::vector<T> values(size);
    EXPECT_EQ(cudaMemcpy(values.data(), data, size * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }
  T* data = nullptr;
  std::size_t size;
};

struct negative_nan {
  __host__ __device__ float operator()(float v) const {
    const std::uint32_t bits = 0xffc12345u;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    return v < 0 ? nan : v;
  }
};
TEST_F(TransformDevice, WritesOneNan) {
  const auto x = random_vector<float>(1003, 1);
  const on_device<float> dx(x), dz(x);
  tally::transform(tally::cuda(), dx.all(), dz.all(), negative_nan());
  const auto z = dz.read();
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint32_t bits, want;
    memcpy(&bits, &z[i], 4);
    memcpy(&want, &x[i], 4);
    ASSERT_EQ(bits, x[i] < 0 ? 0x7fc00000u : want) << i;
  }
}

/// Adds a product to nothing: neither contracted nor flushed by std::multiplies.
TEST_F(TransformDevice, TakesFunctionsOfTheStandardLibrary) {
  const auto x = random_vector<double>(5001, 2), y = random_vector<double>(5001, 3);
  const on_device<double> dx(x), dy(y), dz(x);
  std::vector<double> z(x.size());
  tally::transform(tally::cuda(), dx.all(), dy.all(), dz.all(), std::multiplies<>());
  tally::transform(tally::serial(), x, y, z, std::multiplies<>());
  EXPECT_EQ(dz.read(), z);
  tally::transform(tally::cuda(), dx.all(), dy.all(), dz.all(), std::plus<>());
  tally::transform(tally::serial(), x, y, z, std::plus<>());
  EXPECT_EQ(dz.read(), z);
}

// (nvcc permits such a lambda in no private member function, such as a test's body.)
void expect_lambdas_to_run() {
  const auto x = random_vector<double>(10000, 4);
  const on_device<double> dx(x), dz(x);
  std::vector<double> z(x.size());
  tally::transform(dx.all(), dz.all(), [] __device__(double v) { return 2 * v; });
  for (std::size_t i = 0; i < x.size(); ++i) z[i] = 2 * x[i];
  EXPECT_EQ(dz.read(), z);
  const double factor = 3;
  const auto times = [factor] __host__ __device__(double v) { return factor * v; };
  tally::transform(dx.all(), dz.all(), times);
  tally::transform(x, z, times);
  EXPECT_EQ(dz.read(), z);
  // points to device memory
  const double* const table = dx.data;
  tally::transform(dx.all(), dz.all(), [table] __device__(double v) { return v - table[0]; });
  EXPECT_EQ(dz.read()[0], 0);
  try {
    tally::transform(tally::serial(), x, z, [] __device__(double v) { return v; });
    ADD_FAILURE();
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), tally::errc::invalid_argument) << e.what();
  }
}
TEST_F(TransformDevice, TakesLambdas) { expect_lambdas_to_run(); }

struct next {
  __host__ __device__ double operator()(double v) const { return v * 0.5 + 1; }
};
struct mean {
  __host__ __device__ double operator()(double a, double b) const { return (a + b) * 0.5; }
};

// Between built-in functions, whose blocks may start during the launch before.
TEST_F(TransformDevice, RunsInAGraphAndBesideOtherCalls) {
  const auto x = random_vector<double>(700001, 5);
  const on_device<double> dx(x), dz(x);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const auto queue = [&](const tally::executor& where, auto from, auto to) {
    tally::copy(where, from, to);
    tally::transform(where, to, to, next());
    tally::scal(where, 0.25, to);
    tally::transform(where, from, to, to, mean());
    tally::relu(where, to, to);
  };
  const auto where = tally::cuda({.stream = stream});
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  queue(where, dx.all(), dz.all());
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  std::vector<double> want(x.size());
  queue(tally::serial(), std::span(x), std::span(want));
  for (int replay = 0; replay < 4; ++replay) {
    ASSERT_EQ(cudaMemsetAsync(dz.data, 1, dz.size * sizeof(double), stream), cudaSuccess);
    if (replay % 2) {
      queue(where, dx.all(), dz.all());
    } else {
      ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    }
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(dz.read(), want);
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

// Byte offsets and indices past 32 bits, in 4 GiB.
struct plus_one {
  __host__ __device__ std::uint8_t operator()(std::uint8_t v) const {
    return static_cast<std::uint8_t>(v + 1);
  }
};
TEST_F(TransformDevice, BeyondTwoToThe31Elements) {
  const std::size_t n = (std::size_t{1} << 31) + 777;
  std::uint8_t *x = nullptr, *z = nullptr;
  if (cudaMalloc(&x, n) != cudaSuccess || cudaMalloc(&z, n) != cudaSuccess) {
    cudaFree(x);
    (void)cudaGetLastError();
    GTEST_SKIP() << "not 4 GiB of device memory";
  }
  for (const std::ptrdiff_t increment : {1, -1}) {
    ASSERT_EQ(cudaMemset(x, 0, n), cudaSuccess);
    ASSERT_EQ(cudaMemset(x + n - 1000, 5, 1000), cudaSuccess);
    ASSERT_EQ(cudaMemset(z, 99, n), cudaSuccess);
    tally::transform(tally::cuda(), tally::strided(x, n, 1), tally::strided(z, n, increment),
                     plus_one());
    const auto other = increment > 0 ? n - 1000 : 0;
    const auto first = tally::sum(tally::cuda(), std::span(z, n));
    EXPECT_EQ(first, static_cast<std::int64_t>(n + 5000));
    EXPECT_EQ(tally::sum(tally::cuda(), std::span(z + other, 1000)), 6000);
  }
  cudaFree(x);
  cudaFree(z);
}

// Earlier errors stay the caller's; only the launch's status counts.
TEST_F(TransformDevice, LeavesAnEarlierErrorToTheCaller) {
  const on_device<double> dx(std::vector<double>(1000, 3)), dz(std::vector<double>(1000));
  (void)cudaGetLastError();
  ASSERT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
  EXPECT_NO_THROW(tally::transform(tally::cuda(), dx.all(), dz.all(), next()));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(dz.read(), std::vector<double>(1000, 2.5));
}

TEST_F(TransformDevice, NamesBadInput) {
  const on_device<double> dx(std::vector<double>(16, 1));
  std::vector<double> x(5);
  const auto message = [](auto&& call) {
    try {
      call();
    } catch (const tally::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] {
              tally::transform(tally::cuda(), dx.all().first(5), dx.all().subspan(6, 6), next());
            }),
            "tally::transform: x has 5 elements, z has 6");
  EXPECT_EQ(message([&] {
              tally::transform(tally::cuda(), dx.all().first(5), dx.all().subspan(1, 5), next());
            }),
            "tally::transform: z overlaps x: it begins 8 bytes after x, which takes 40; it may be "
            "x itself");
  EXPECT_NE(message([&] { tally::transform(tally::cuda(), dx.all().first(5), x, next()); }), "");
  EXPECT_NE(message([&] { tally::transform(tally::serial(), dx.all().first(5), x, next()); }), "");
}

// On the host, compiled by nvcc.
double square(double v) { return v * v; }

TEST(TransformHost, RunsInASourceOfNvcc) {
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> z(3);
  tally::transform(tally::serial(), x, z, square);
  EXPECT_EQ(z, (std::vector<double>{1, 4, 9}));
  tally::transform(tally::simd(), x, z, z, mean());
  EXPECT_EQ(z, (std::vector<double>{1, 3, 6}));
}

}  // namespace
