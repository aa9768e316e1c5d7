// Test data: random vectors of every element type, and executors' memory.
#pragma once

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <string_view>
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

/// Sizes around the borders of lanes and chunks, and `more`.
inline std::vector<std::size_t> short_sizes(const std::vector<std::size_t>& more = {}) {
  using namespace tally::order;
  std::vector<std::size_t> sizes = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 100, 3 * lanes + 5};
  for (const std::size_t n : {lanes, 2 * lanes, chunk, 2 * chunk}) {
    sizes.insert(sizes.end(), {n - 1, n, n + 1});
  }
  sizes.insert(sizes.end(), {3 * chunk + 17, 5 * chunk, 8 * chunk - 1, 17 * chunk + 33});
  sizes.insert(sizes.end(), more.begin(), more.end());
  return sizes;
}

/// Distribution of random elements.
enum class kind {
  plain,    ///< in [-1, 1); small integers
  wide,     ///< exponents over the type's range, subnormals, signed zeros; full-range integers
  special,  ///< plain, with infinities and NaNs of several payloads
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
      value.bits = static_cast<std::uint16_t>(random());  // subnormals and zeros included
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

/// n random elements of a runtime type.
std::vector<std::byte> random_bytes(tally::type element, std::size_t n, std::uint64_t seed, kind k);

template <class T>
std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed, kind k) {
  return random_bytes(tally::type_of<T>, n, seed, k);
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& elements) {
  std::vector<std::byte> bytes(elements.size() * sizeof(T));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const T value = elements[i];
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}
template <class T>
std::vector<T> elements_of(const std::vector<std::byte>& bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    elements[i] = value;
  }
  return elements;
}

/// Executors that a test runs on, widest scope first.
enum class scope { every_executor, every_backend, fast_backends };

/// An executor by name; ones that can't run here are skipped.
struct target {
  std::string name;
  std::function<tally::executor()> make;
  scope stands_for = scope::every_executor;  ///< The narrowest scope that runs on it.
  std::vector<std::string> suites = {};      ///< its suites; empty: all

  bool runs(const std::string& suite, scope s) const {
    return s <= stands_for && (suites.empty() || std::ranges::find(suites, suite) != suites.end());
  }
};

/// Every backend of the build: simd by instruction set and with the one it chooses, openmp by
/// number of threads, a workspace with stages so small that most vectors take many. TALLY_TESTS in
/// the environment: `default`; `full`, where all run the narrowest scope; `few`, for sanitizers and
/// emulators: serial, the widest instruction set, three threads.
std::vector<target> targets();

class OnEveryExecutor : public testing::Test {
 public:
  /// Creates a test.
  using factory = OnEveryExecutor*();
  static bool add(const char* suite, const char* name, scope s, const char* file, int line,
                  factory* make);
  static void register_all();

 protected:
  void SetUp() override;
  const tally::executor& where() const { return where_.front(); }

 private:
  const target* target_ = nullptr;
  std::vector<tally::executor> where_;  // empty until set: an executor has no default
};

template <class Test>
OnEveryExecutor* make() {
  return new Test;
}

/// Defines a test on every executor: "Executors/<suite>.<name>/<target>". TEST_P would compile a
/// registration for each suite, longer than most tests.
#define TEST_ON_EVERY_EXECUTOR(suite, name) TALLY_TEST_IN_SCOPE(suite, name, every_executor)
/// Defines a test of more than half a second, or independent of instruction set and threads: on one
/// or two executors of each backend, with TALLY_TESTS=full on all.
#define TEST_ON_EVERY_BACKEND(suite, name) TALLY_TEST_IN_SCOPE(suite, name, every_backend)
/// Defines a test too slow for the slow backends.
#define TEST_ON_FAST_BACKENDS(suite, name) TALLY_TEST_IN_SCOPE(suite, name, fast_backends)

#define TALLY_TEST_IN_SCOPE(suite, name, s)                                                  \
  class suite##_##name##_Test : public suite {                                               \
    void TestBody() override;                                                                \
  };                                                                                         \
  const bool suite##_##name##_is_added = data::OnEveryExecutor::add(                         \
      #suite, #name, data::scope::s, __FILE__, __LINE__, data::make<suite##_##name##_Test>); \
  void suite##_##name##_Test::TestBody()

#if TALLY_HAS_CUDA
inline void check_cuda(cudaError_t status) {
  ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
}
inline bool has_cuda_device() {
  int devices = 0;
  const bool has = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  (void)cudaGetLastError();
  return has;
}
#endif

bool on_device(const tally::executor& where);
/// Whether workspaces can be had: of cuda's devices, and of hosts, where they are nothing.
bool has_workspaces(const tally::executor& where);
/// Whether blocks have enough shared memory for a ring of x: compute capability 7.5 has too little.
bool has_shared_memory_for_rings();
/// The identifier at, or before, a place in a source: std::regex compiles for two seconds.
std::string_view word_at(std::string_view text, std::size_t at);
/// A call in which the library allocates; one that contains a libstdc++ does not call a program's
/// operator new.
void allocate_in_library();

/// Memory of an executor, filled from the host.
class buffer {
 public:
  buffer(const tally::executor& where, std::size_t bytes);
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  std::byte* get() const { return static_cast<std::byte*>(pointer_); }
  std::size_t size() const { return size_; }

  void write(const void* from, std::size_t bytes, std::size_t offset = 0);
  void read(void* to, std::size_t bytes, std::size_t offset = 0) const;

 private:
  tally::executor where_;
  bool device_;
  std::size_t size_;
  void* pointer_ = nullptr;
};

/// Returns the elements of a vector in `memory`, contiguous.
std::vector<std::byte> elements_at(const buffer& memory, const tally::operand& v);

/// A vector in such memory.
template <class T>
struct placed {
  placed(const tally::executor& where, const std::vector<T>& values)
      : size(values.size()), memory(where, std::max<std::size_t>(1, size) * sizeof(T)) {
    if (size > 0) memory.write(values.data(), size * sizeof(T));
  }
  std::span<T> span() const { return {reinterpret_cast<T*>(memory.get()), size}; }
  std::vector<T> read() const {
    std::vector<T> values(size);
    if (size > 0) memory.read(values.data(), size * sizeof(T));
    return values;
  }
  std::size_t size;
  buffer memory;
};

#if TALLY_HAS_CUDA
template <class T>
struct device_vector : placed<T> {
  explicit device_vector(const std::vector<T>& values) : placed<T>(tally::cuda(), values) {}
};
#endif

/// Offset in elements from an aligned address, and increment.
struct layout {
  std::size_t offset = 0;
  std::ptrdiff_t increment = 1;
};

/// Elements as they lie in memory, with poison between and around.
std::vector<std::byte> laid_out(const std::vector<std::byte>& elements, tally::type element,
                                layout l);
/// The vector of n elements in `memory` that has them so.
tally::operand operand_in(const buffer& memory, std::size_t n, tally::type element, layout l);
/// The same, written to `memory`.
tally::operand place(buffer& memory, const std::vector<std::byte>& elements, tally::type element,
                     layout l);

/// Expects that `call` throws `code` with exactly `text`.
void expect_error(tally::errc code, const std::string& text, const std::function<void()>& call);

/// A value's bits, comparable and printable.
template <class T>
std::array<std::uint64_t, (sizeof(T) + 7) / 8> bits(const T& value) {
  std::array<std::uint64_t, (sizeof(T) + 7) / 8> words{};
  std::memcpy(words.data(), &value, sizeof(T));
  return words;
}

/// A cheap check before GoogleTest compares. (Word by word: at -O1 comparing arrays is a call.)
template <class T>
bool same_bits(const T& a, const T& b) {
  const auto x = bits(a), y = bits(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) return false;
  }
  return true;
}

}  // namespace data
