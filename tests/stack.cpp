// Calls use at most 48 KiB of stack, for threads of 64 KiB, as OpenMP's, other runtimes' and
// fibres' may be.
#include "tests/data.hpp"
#include "tests/operations.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// Stack for successive threads, painted before: unwritten bytes keep the colour.
class painted_stack {
 public:
  painted_stack() {
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    words_ = {static_cast<std::uint64_t*>(memory), size / sizeof(std::uint64_t)};
  }
  ~painted_stack() { munmap(words_.data(), size); }
  painted_stack(const painted_stack&) = delete;
  painted_stack& operator=(const painted_stack&) = delete;

  /// The depth to which a thread that makes this call writes.
  std::size_t used_by(const std::function<void()>& call) {
    std::ranges::fill(words_, paint);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, words_.data(), size);
    pthread_t thread;
    const int status = pthread_create(
        &thread, &attributes,
        [](void* f) -> void* {
          (*static_cast<const std::function<void()>*>(f))();
          return nullptr;
        },
        const_cast<std::function<void()>*>(&call));
    pthread_attr_destroy(&attributes);
    if (status != 0) throw std::runtime_error("no thread could be started");
    pthread_join(thread, nullptr);
    const auto deepest = std::ranges::find_if(words_, [](std::uint64_t w) { return w != paint; });
    return static_cast<std::size_t>(words_.end() - deepest) * sizeof(std::uint64_t);
  }

 private:
  static constexpr std::size_t size = std::size_t{1} << 20;
  static constexpr std::uint64_t paint = 0xa5a5a5a5a5a5a5a5;
  std::span<std::uint64_t> words_;
};

/// The stack that calls take.
class Stack : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers make frames larger";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    GTEST_SKIP() << "sanitizers make frames larger";
#endif
#endif
    if (data::on_device(where())) GTEST_SKIP() << "the driver's stack is not ours";
    stack_.used_by([] {});  // the first one also resolves functions, on its stack
    of_thread_ = stack_.used_by([] {});
  }
  void expect_at_most_48_kib(const std::string& name, const std::function<void()>& call) {
    const std::size_t used = stack_.used_by(call) - of_thread_;
    EXPECT_LE(used, 48u << 10) << name;
    if (used > max_) max_ = used, max_of_ = name;
  }
  void TearDown() override {
    RecordProperty("bytes", std::to_string(max_));
    RecordProperty("operation", max_of_);
  }

 private:
  painted_stack stack_;
  std::size_t of_thread_ = 0, max_ = 0;
  std::string max_of_;
};

TEST_ON_EVERY_BACKEND(Stack, EveryOperationTakesAtMost48KiB) {
  using operations::structure;
  using operations::values;
  struct example {
    std::size_t n;
    values v;
    structure s;
  };
  // The exact grade and weights treat mixed magnitudes by other methods; samples of many bins are
  // sorted.
  std::vector<example> examples = {{10000, values::plain, structure::mixed},
                                   {10000, values::tiny, structure::mixed},
                                   {10000, values::wide, structure::many_bins}};
  // Threads share this many elements, and blocks of scans.
  if (where().name() == "openmp") examples.push_back({70001, values::plain, structure::mixed});
  for (const auto& [n, v, s] : examples) {
    for (const operations::operation& each : operations::list(n, v, operations::truth::one, s)) {
      operations::prepared call(each, where());
      expect_at_most_48_kib(each.name + ", " + operations::name(v) + ", " + std::to_string(n),
                            [&] { call.run(); });
    }
  }
}

// As many samples as bins, of which a table per thread would be large: sorted, then in tables.
TEST_ON_EVERY_BACKEND(Stack, SortedWeightsTakeAtMost48KiB) {
  constexpr std::size_t n = 70001, bins = 50000;
  std::vector<std::int64_t> keys(2 * n);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<std::int64_t>(i * 2654435761u % bins);
  }
  std::vector<double> weights(2 * n), sums(bins);
  // Two limbs per sum, four, all; and strays.
  for (const int exponents : {1, 120, 900}) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = std::ldexp(1.25, static_cast<int>(i % static_cast<std::size_t>(exponents)));
    }
    weights[n] = 0x1p-700;
    const std::string name = std::to_string(exponents) + " exponents";
    expect_at_most_48_kib("bincount, " + name, [&] {
      tally::bincount(where(), std::span(keys).first(n), std::span(weights).first(n), sums);
    });
    expect_at_most_48_kib("bincount, strided, " + name, [&] {
      tally::bincount(where(), tally::strided(keys.data(), n, 2),
                      tally::strided(weights.data(), n, -2), sums);
    });
    expect_at_most_48_kib("scatter_add, " + name, [&] {
      tally::scatter_add(where(), std::span(weights).first(n), std::span(keys).first(n), sums);
    });
  }
}

// Sums of several vectors by recursion, a level for each doubling.
TEST_ON_EVERY_BACKEND(Stack, LongColumnsTakeAtMost48KiB) {
  constexpr std::size_t n = (std::size_t{1} << 20) + 1, k = 2;
  using complex = std::complex<double>;
  const std::vector<complex> x(k * n, complex(0.5, 0.25)), y(n, complex(2, 1));
  const auto columns = [&]<class T>(const T* v) {
    return tally::rows(v, k, n, 1, std::ptrdiff_t{k});
  };
  std::vector<complex> sums(k);
  std::vector<double> real_sums(k);
  const auto* const real_x = reinterpret_cast<const double*>(x.data());
  const auto real_y = std::span(reinterpret_cast<const double*>(y.data()), n);
  expect_at_most_48_kib("sums", [&] { tally::sums(where(), columns(real_x), real_sums.data()); });
  expect_at_most_48_kib("sums, complex",
                        [&] { tally::sums(where(), columns(x.data()), sums.data()); });
  expect_at_most_48_kib(
      "multi_dot", [&] { tally::multi_dot(where(), columns(real_x), real_y, real_sums.data()); });
  expect_at_most_48_kib("multi_dot, complex",
                        [&] { tally::multi_dot(where(), columns(x.data()), y, sums.data()); });
  expect_at_most_48_kib("gemv, complex",
                        [&] { tally::gemv(where(), 1.0, columns(x.data()), y, 0.0, sums); });
}

}  // namespace
