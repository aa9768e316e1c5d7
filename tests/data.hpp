// Data for the tests: random vectors of every element type, and memory that an executor can reach.
#pragma once

#include "src/core/table.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#if TALLY_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace data {

template <class F>
void for_each_type(F&& f) {
  [&]<class... T>(tally::type_list<T...>) {
    (f(std::type_identity<T>{}), ...);
  }(tally::element_types{});
}

/// What random elements are like.
enum class kind {
  plain,    ///< in [-1, 1); small integers
  wide,     ///< exponents over the type's range, subnormals, signed zeros; full-range integers
  special,  ///< plain with infinities and NaNs of several payloads among them
};

template <class T>
T random_element(std::mt19937_64& random, kind k) {
  if constexpr (tally::is_complex_v<T>) {
    using R = tally::real_t<T>;
    const R re = random_element<R>(random, k);
    return T(re, random_element<R>(random, k));
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() & 1;
  } else if constexpr (std::is_integral_v<T>) {
    if (k == kind::wide) return static_cast<T>(random());
    return static_cast<T>(static_cast<std::int64_t>(random() % 15) - (std::is_signed_v<T> ? 7 : 0));
  } else if constexpr (std::is_same_v<T, tally::float16> || std::is_same_v<T, tally::bfloat16>) {
    if (k == kind::plain) return T(random_element<float>(random, k));
    T value;
    do {
      value.bits = static_cast<std::uint16_t>(random());  // subnormals and zeros come by themselves
    } while (k == kind::wide && !(static_cast<float>(value) - static_cast<float>(value) == 0));
    return value;
  } else {
    const T uniform = std::uniform_real_distribution<T>(-1, 1)(random);
    if (k == kind::plain) return uniform;
    if (k == kind::special && random() % 64 == 0) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      const T choices[] = {infinity, -infinity, std::numeric_limits<T>::quiet_NaN(),
                           -std::numeric_limits<T>::signaling_NaN()};
      return choices[random() % 4];
    }
    if (k == kind::special) return uniform;
    if (random() % 16 == 0) return random() & 1 ? T(0) : -T(0);
    constexpr int range = std::numeric_limits<T>::max_exponent;
    return std::ldexp(uniform, static_cast<int>(random() % (2 * range)) - range - 20);
  }
}

template <class T>
std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed, kind k) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(n * sizeof(T));
  for (std::size_t i = 0; i < n; ++i) {
    const T value = random_element<T>(random, k);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

/// The executor that a test runs on, by name: those built in are tested, those that can't run here
/// are reported as skipped.
struct target {
  std::string name;
  std::function<tally::executor()> make;

  friend void PrintTo(const target& t, std::ostream* out) { *out << t.name; }
};

/// Every backend of the build: simd in each of its instruction sets, openmp with some numbers of
/// threads.
inline std::vector<target> targets() {
  std::vector<target> all;
  for (const std::string_view backend : tally::backend_names()) {
    if (backend == "simd") {
      for (const auto set : tally::instruction_sets()) {
        std::string label = "simd_" + std::string(tally::name(set));
        std::erase(label, '-');
        all.push_back({label, [set] { return tally::simd({.instructions = set}); }});
      }
    } else if (backend == "openmp") {
      for (const int threads : {1, 2, 3, 7}) {
        all.push_back({"openmp_" + std::to_string(threads),
                       [threads] { return tally::openmp({.threads = threads}); }});
      }
    } else {
      all.push_back({std::string(backend), [backend] { return tally::executor_named(backend); }});
    }
  }
  return all;
}

/// A fixture for tests that run on every target.
class OnEveryExecutor : public testing::TestWithParam<target> {
 protected:
  void SetUp() override {
    try {
      where_.push_back(GetParam().make());
    } catch (const tally::error& e) {
      if (e.code() != tally::errc::no_device) throw;
      GTEST_SKIP() << e.what();
    }
  }
  const tally::executor& where() const { return where_.front(); }

 private:
  std::vector<tally::executor> where_;  // an executor has no default
};

inline std::string target_name(const testing::TestParamInfo<target>& info) {
  return info.param.name;
}

#define TALLY_ON_EVERY_EXECUTOR(suite) \
  INSTANTIATE_TEST_SUITE_P(Executors, suite, testing::ValuesIn(data::targets()), data::target_name)

#if TALLY_HAS_CUDA
inline void check_cuda(cudaError_t status) {
  ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}
#endif

/// Whether an executor's kernels can't reach host memory.
inline bool on_device(const tally::executor& where) {
  return !where.backend()->reaches(where, tally::backends::place{});
}

/// Memory that an executor's kernels can reach, filled from the host.
class buffer {
 public:
  buffer(const tally::executor& where, std::size_t bytes)
      : device_(on_device(where)), size_(bytes) {
#if TALLY_HAS_CUDA
    if (device_) check_cuda(cudaMalloc(&pointer_, bytes));
#endif
    if (!device_) pointer_ = ::operator new(bytes, std::align_val_t{256});
  }
  ~buffer() {
#if TALLY_HAS_CUDA
    if (device_) cudaFree(pointer_);
#endif
    if (!device_) ::operator delete(pointer_, std::align_val_t{256});
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  std::byte* get() const { return static_cast<std::byte*>(pointer_); }
  std::size_t size() const { return size_; }

  void write(const void* from, std::size_t bytes, std::size_t offset = 0) {
    if (bytes == 0) return;  // then `from` may be null, which memcpy does not allow
#if TALLY_HAS_CUDA
    if (device_) {
      check_cuda(cudaMemcpy(get() + offset, from, bytes, cudaMemcpyDefault));
      // From pageable memory it may return before the device has them, and other streams don't
      // wait.
      return check_cuda(cudaStreamSynchronize(nullptr));
    }
#endif
    std::memcpy(get() + offset, from, bytes);
  }
  void read(void* to, std::size_t bytes, std::size_t offset = 0) const {
    if (bytes == 0) return;
#if TALLY_HAS_CUDA
    if (device_) return check_cuda(cudaMemcpy(to, get() + offset, bytes, cudaMemcpyDefault));
#endif
    std::memcpy(to, get() + offset, bytes);
  }

 private:
  bool device_;
  std::size_t size_;
  void* pointer_ = nullptr;
};

/// How a vector lies in memory: so many elements past an aligned address, every increment-th.
struct layout {
  std::size_t offset = 0;
  std::ptrdiff_t increment = 1;
};

/// The bytes of n elements laid out in `memory`, with poison between them and around.
inline tally::operand place(buffer& memory, const std::vector<std::byte>& elements,
                            tally::type element, layout l) {
  const std::size_t size = tally::size_of(element);
  const std::size_t n = elements.size() / size;
  const std::size_t step = static_cast<std::size_t>(l.increment < 0 ? -l.increment : l.increment);
  std::vector<std::byte> image((l.offset + (n ? (n - 1) * step + 1 : 0) + 1) * size,
                               std::byte{0xff});
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t position = l.offset + (l.increment < 0 ? n - 1 - i : i) * step;
    std::memcpy(image.data() + position * size, elements.data() + i * size, size);
  }
  EXPECT_LE(image.size(), memory.size());
  memory.write(image.data(), image.size());
  return tally::blas_operand(memory.get() + l.offset * size, n, l.increment, element, size);
}

/// Runs `call`, which must throw `code` with exactly `text`.
template <class F>
void expect_error(tally::errc code, const std::string& text, F&& call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << text;
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), code);
    EXPECT_EQ(std::string(e.what()), text);
  }
}

/// The bits of a value, to compare and to print.
template <class T>
std::array<std::uint64_t, (sizeof(T) + 7) / 8> bits(const T& value) {
  std::array<std::uint64_t, (sizeof(T) + 7) / 8> words{};
  std::memcpy(words.data(), &value, sizeof(T));
  return words;
}

}  // namespace data
