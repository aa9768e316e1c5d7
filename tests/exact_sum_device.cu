// exact_sum in device code: the host's limbs and results.
#include <tally/numerics/exact_sum.hpp>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

template <class T>
struct results {
  std::int64_t merged[tally::exact_sum<T>::words];
  double rounded, root, of_words;
  float rounded_float, root_float;
  bool equal;
};

/// Each thread sums a part; atomics add normal forms limb by limb.
template <class T>
__global__ void sum_shares(const T* x, const T* y, int n, std::int64_t* total) {
  tally::exact_sum<T> sum, other;
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    sum.add_product(x[i], y[i]);
    other.add(x[i]);
    other.add_scaled(-i, i % 100 - 50);
  }
  sum.merge(other);
  std::int64_t words[tally::exact_sum<T>::words];
  sum.to_words(words);
  for (int i = 0; i < tally::exact_sum<T>::words; ++i) {
    atomicAdd(reinterpret_cast<unsigned long long*>(total) + i,
              static_cast<unsigned long long>(words[i]));
  }
}

template <class T>
__global__ void finish(const std::int64_t* total, results<T>* r) {
  using sum_type = tally::exact_sum<T>;
  const auto sum = sum_type::from_words(total);
  sum.to_words(r->merged);
  r->rounded = sum.template round<double>();
  r->rounded_float = sum.template round<float>();
  r->root = sum.template round_root<double>();
  r->root_float = sum.template round_root<float>();
  r->of_words = sum_type::template round_words<double>(total);
  r->equal = sum == sum_type::from_words(r->merged);
}

template <class R>
bool same_bits(R a, R b) {
  return std::memcmp(&a, &b, sizeof(R)) == 0;
}

template <class T>
void compare(const std::vector<T>& x, const std::vector<T>& y) {
  using sum_type = tally::exact_sum<T>;
  const int n = static_cast<int>(x.size());
  T *dx, *dy;
  std::int64_t* total;
  results<T>*device, host;
  ASSERT_EQ(cudaMalloc(&dx, n * sizeof(T)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&dy, n * sizeof(T)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&total, sizeof(std::int64_t) * sum_type::words), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device, sizeof host), cudaSuccess);
  cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyDefault);
  cudaMemcpy(dy, y.data(), n * sizeof(T), cudaMemcpyDefault);
  cudaMemset(total, 0, sizeof(std::int64_t) * sum_type::words);
  sum_shares<T><<<4, 64>>>(dx, dy, n, total);
  finish<T><<<1, 1>>>(total, device);
  ASSERT_EQ(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDefault), cudaSuccess)
      << cudaGetErrorString(cudaGetLastError());
  for (void* p : {static_cast<void*>(dx), static_cast<void*>(dy), static_cast<void*>(total),
                  static_cast<void*>(device)}) {
    cudaFree(p);
  }

  sum_type want;
  for (int i = 0; i < n; ++i) {
    want.add_product(x[i], y[i]);
    want.add(x[i]);
    want.add_scaled(-i, i % 100 - 50);
  }
  const auto words = want.to_words();
  EXPECT_EQ(std::memcmp(words.data(), host.merged, sizeof host.merged), 0);
  EXPECT_TRUE(same_bits(host.rounded, want.template round<double>()));
  EXPECT_TRUE(same_bits(host.of_words, want.template round<double>()));
  EXPECT_TRUE(same_bits(host.rounded_float, want.template round<float>()));
  EXPECT_TRUE(same_bits(host.root, want.template round_root<double>()));
  EXPECT_TRUE(same_bits(host.root_float, want.template round_root<float>()));
  EXPECT_EQ(host.equal, want == want);  // false for NaN
}

template <class T>
class ExactSumOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no device";
  }
};
using floats = testing::Types<double, float>;
TYPED_TEST_SUITE(ExactSumOnDevice, floats);

TYPED_TEST(ExactSumOnDevice, AsOnTheHost) {
  using T = TypeParam;
  using limits = std::numeric_limits<T>;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<T> unit(-1, 1);
  for (const int n : {1, 2, 100, 10000}) {
    for (const int spread : {0, 1, 20, limits::max_exponent / 4, limits::max_exponent - 1}) {
      std::vector<T> x(n), y(n);
      for (int i = 0; i < n; ++i) {
        const auto exponent = [&] {
          return static_cast<int>(random() % (2 * spread + 1)) - spread;
        };
        x[i] = std::ldexp(unit(random), exponent());
        y[i] = std::ldexp(unit(random), exponent());
      }
      compare(x, y);
      for (T& v : y) v = std::abs(v);
      compare(y, y);
    }
  }
  for (const T special : {limits::infinity(), -limits::infinity(), limits::quiet_NaN(), T(0),
                          limits::denorm_min(), limits::max()}) {
    compare<T>({1, special, 3}, {5, 6, -7});
    compare<T>({1, special, 3}, {5, special, -7});
  }
}

}  // namespace
