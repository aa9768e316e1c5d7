// Host data through a workspace: for any sizes, types and kinds of memory, results are those of
// resident vectors, and nothing is allocated on the way.
#include "tests/data.hpp"
#include "tests/operations.hpp"

#include <gtest/gtest.h>

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using options = tally::workspace_options;

constexpr std::size_t min_bytes = options::min_stage_bytes;

class Workspace : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (!IsSkipped() && !data::has_workspaces(where())) {
      GTEST_SKIP() << "a workspace is one of cuda's";
    }
  }
  tally::workspace small(int threads = 2) const {
    return tally::workspace(where(), {min_bytes, threads});
  }
};

TEST_ON_EVERY_BACKEND(Workspace, EveryOperationHasTheBitsOfSerialOrIsRefused) {
  const tally::workspace through = small(3);
  const tally::executor on = through.executor();
  std::size_t run = 0, refused = 0;
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{100}, std::size_t{3000}, std::size_t{70'001}}) {
    for (const operations::operation& each : operations::list(n)) {
      if (!operations::runs(each, on)) continue;
      operations::prepared reference(each, tally::serial()), mine(each, on);
      try {
        mine.run();
        ++run;
        reference.run();
      } catch (const tally::error& e) {
        ++refused;
        EXPECT_EQ(e.code(), tally::errc::invalid_argument) << each.name << ": " << e.what();
        EXPECT_NE(std::string_view(e.what()).find("a workspace does not stage it"),
                  std::string_view::npos)
            << each.name << ": " << e.what();
      }
      EXPECT_EQ(mine.results(), reference.results()) << each.name << " of " << n << " elements";
    }
  }
  EXPECT_GT(run, 100u);
  EXPECT_EQ(refused > 0, data::on_device(where()));
}

enum class memory { pageable, pinned, registered, device };

template <class T>
class vector_in {
 public:
  vector_in(const tally::executor& where, memory kind, const std::vector<T>& values)
      : where_(where), kind_(kind), values_(values) {
    const std::size_t bytes = values.size() * sizeof(T);
    data_ = values_.data();
    if (kind == memory::registered) tally::pin(where, data_, bytes);
    if (kind != memory::pinned && kind != memory::device) return;
    own_ = tally::buffer(
        where, bytes,
        kind == memory::pinned ? tally::reach::kernels_and_host : tally::reach::kernels);
    data_ = static_cast<T*>(own_.get());
    tally::copy_bytes(where, values.data(), data_, bytes);
  }
  ~vector_in() {
    if (kind_ == memory::registered) tally::unpin(where_, data_);
  }
  vector_in(const vector_in&) = delete;
  vector_in& operator=(const vector_in&) = delete;

  std::span<T> span() const { return {data_, values_.size()}; }
  std::vector<T> read() const {
    std::vector<T> now(values_.size());
    tally::copy_bytes(where_, data_, now.data(), now.size() * sizeof(T));
    return now;
  }

 private:
  tally::executor where_;
  memory kind_;
  std::vector<T> values_;
  tally::buffer own_;
  T* data_;
};

constexpr memory kinds[] = {memory::pageable, memory::pinned, memory::registered, memory::device};

/// Sizes around the borders of parts of that many elements.
std::vector<std::size_t> sizes_of(std::size_t part) {
  std::vector<std::size_t> sizes = {1, 1023, 1025};
  for (const std::size_t parts : {1, 2, 3, 4, 5, 8, 9}) {
    for (const std::size_t n : {parts * part - 1, parts * part, parts * part + 1})
      sizes.push_back(n);
  }
  sizes.push_back(37 * part + 5000);
  return sizes;
}

template <class T>
std::vector<T> random_vector(std::size_t n, std::uint64_t seed) {
  return data::elements_of<T>(data::random_bytes<T>(n, seed, data::kind::plain));
}

template <class X, class Y>
void expect_sums(const tally::executor& where, const tally::executor& through, std::size_t n,
                 memory kind_x, memory kind_y) {
  const std::vector<X> x = random_vector<X>(n, n);
  const std::vector<Y> y = random_vector<Y>(n, n + 1);
  const vector_in<X> in_x(where, kind_x, x);
  const vector_in<Y> in_y(where, kind_y, y);
  const tally::executor serial = tally::serial();
  const auto expect = [&](const auto& mine, const auto& want, const char* what) {
    EXPECT_EQ(data::bits(mine), data::bits(want))
        << what << " of " << n << ", memory " << static_cast<int>(kind_x) << " and "
        << static_cast<int>(kind_y);
  };
  for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
    expect(tally::dot(through, in_x.span(), in_y.span(), g), tally::dot(serial, x, y, g), "dot");
    expect(tally::sum(through, in_x.span(), g), tally::sum(serial, x, g), "sum");
    expect(tally::asum(through, in_x.span(), g), tally::asum(serial, x, g), "asum");
    expect(tally::nrm2(through, in_x.span(), g), tally::nrm2(serial, x, g), "nrm2");
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, SumsAroundTheBordersOfParts) {
  const tally::workspace small_one = small(), growing(where(), {4 * min_bytes, 2});
  const tally::executor through = small_one.executor();
  for (const std::size_t n : sizes_of(min_bytes / 16)) {
    for (const memory kind : kinds) {
      expect_sums<double, double>(where(), through, n, kind, kind);
      expect_sums<double, double>(where(), growing.executor(), n, kind, kind);
    }
    expect_sums<double, double>(where(), through, n, memory::pageable, memory::device);
    expect_sums<double, float>(where(), through, n, memory::pinned, memory::pageable);
    expect_sums<std::complex<float>, float>(where(), through, n, memory::pageable, memory::pinned);
    expect_sums<std::int32_t, std::int8_t>(where(), through, n, memory::pageable,
                                           memory::registered);
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, StagesOfAnyNumberOfBytes) {
  for (const std::size_t bytes : {std::size_t{100'004}, std::size_t{1'000'001}}) {
    const tally::workspace odd(where(), {bytes, 2});
    for (const std::size_t n : {std::size_t{1000}, std::size_t{300'001}}) {
      expect_sums<double, double>(where(), odd.executor(), n, memory::pageable, memory::pageable);
      expect_sums<double, float>(where(), odd.executor(), n, memory::pinned, memory::pageable);
      expect_sums<std::complex<double>, std::complex<double>>(where(), odd.executor(), n,
                                                              memory::pageable, memory::registered);
      const std::vector<double> x = random_vector<double>(n, 16);
      EXPECT_EQ(tally::minmax(odd.executor(), x), tally::minmax(tally::serial(), x));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, VectorsThatArePinnedInPart) {
  const tally::workspace small_one = small();
  constexpr std::size_t page = 4096;
  for (const std::size_t n : {std::size_t{4096}, std::size_t{200'000}}) {
    const std::vector<double> values = random_vector<double>(n, 17);
    std::vector<double> memory(n + page / sizeof(double));
    void* begin = memory.data();
    std::size_t room = memory.size() * sizeof(double);
    auto* const x = static_cast<double*>(std::align(page, n * sizeof(double), begin, room));
    std::ranges::copy(values, x);
    const std::size_t half = n * sizeof(double) / 2 / page * page;
    for (const std::size_t first : {std::size_t{0}, half}) {
      tally::pin(where(), x + first / sizeof(double), half);
      for (const std::ptrdiff_t increment : {1, -1, 2}) {
        const std::size_t length = increment == 2 ? n / 2 : n;
        EXPECT_EQ(
            data::bits(tally::sum(small_one.executor(), tally::strided(x, length, increment))),
            data::bits(tally::sum(tally::serial(), tally::strided(x, length, increment))))
            << n << ", pinned from byte " << first << " on, increment " << increment;
      }
      std::vector<double> want(x, x + n);
      tally::scal(small_one.executor(), 0.5, std::span(x, n));
      tally::scal(tally::serial(), 0.5, want);
      EXPECT_EQ(std::vector<double>(x, x + n), want);
      tally::unpin(where(), x + first / sizeof(double));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, NormsThatLeaveTheRange) {
  const tally::workspace small_one = small();
  const std::size_t n = 100'000;
  for (const double scale : {1.0, 0x1p-540, 0x1p540}) {
    std::vector<double> x = random_vector<double>(n, 5);
    for (std::size_t i = 0; i < n; ++i) x[i] *= i < n / 2 ? scale : scale * 0x1p-40;
    EXPECT_EQ(data::bits(tally::nrm2(small_one.executor(), x)),
              data::bits(tally::nrm2(tally::serial(), x)));
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, VectorsWithIncrements) {
  const tally::workspace small_one = small();
  const std::vector<float> memory = random_vector<float>(300'000, 6);
  for (const std::ptrdiff_t increment : {2, -1, -3}) {
    const auto x = tally::strided(memory.data(), 100'000, increment);
    EXPECT_EQ(data::bits(tally::sum(small_one.executor(), x)),
              data::bits(tally::sum(tally::serial(), x)));
    std::vector<float> mine = memory, want = memory;
    const auto y = random_vector<double>(100'000, 7);
    tally::axpy(small_one.executor(), 3, y, tally::strided(mine.data(), 100'000, increment));
    tally::axpy(tally::serial(), 3, y, tally::strided(want.data(), 100'000, increment));
    EXPECT_EQ(mine, want);
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, PinnedVectorsWithIncrements) {
  const tally::workspace small_one = small();
  for (const std::size_t n : {std::size_t{100}, std::size_t{70'000}}) {
    for (const std::ptrdiff_t increment : {2, -3}) {
      const std::vector<double> x = random_vector<double>(3 * n, 18);
      std::vector<double> want = random_vector<double>(3 * n, 19);
      const vector_in<double> in_x(where(), memory::pinned, x),
          in_y(where(), memory::registered, want);
      tally::axpy(small_one.executor(), 2, tally::strided(in_x.span().data(), n, increment),
                  tally::strided(in_y.span().data(), n, increment));
      tally::axpy(tally::serial(), 2, tally::strided(x.data(), n, increment),
                  tally::strided(want.data(), n, increment));
      EXPECT_EQ(in_y.read(), want) << n << ", increment " << increment;
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, ResultsInPinnedMemory) {
  const tally::workspace small_one = small();
  const tally::buffer result(where(), sizeof(double), tally::reach::kernels_and_host),
      place(where(), sizeof(tally::extremum<double>), tally::reach::kernels_and_host);
  auto* const to = static_cast<double*>(result.get());
  auto* const largest = static_cast<tally::extremum<double>*>(place.get());
  for (const std::size_t n : {std::size_t{100}, std::size_t{100'000}}) {
    const auto x = random_vector<double>(n, 20), y = random_vector<double>(n, 21);
    for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
      tally::dot(small_one.executor(), x, y, to, g);
      EXPECT_EQ(*to, tally::dot(tally::serial(), x, y, g)) << n;
      tally::nrm2(small_one.executor(), x, to, g);
      EXPECT_EQ(*to, tally::nrm2(tally::serial(), x, g)) << n;
    }
    tally::max(small_one.executor(), x, largest);
    EXPECT_EQ(*largest, tally::max(tally::serial(), x)) << n;
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, RoundsWordsWhereverTheyAre) {
  const tally::workspace small_one = small();
  const tally::executor through = small_one.executor();
  const auto x = random_vector<double>(1000, 22);
  std::vector<std::int64_t> words(tally::exact_words(tally::type::float64));
  tally::sum(tally::serial(), x, tally::add_to<double>(words.data()));
  const double want = tally::sum(tally::serial(), x, tally::exact);
  for (const memory from : kinds) {
    const vector_in<std::int64_t> in(where(), from, words);
    const std::int64_t* const sum = in.span().data();
    EXPECT_EQ(tally::round_words<double>(through, sum), want) << static_cast<int>(from);
    for (const memory to : kinds) {
      const vector_in<double> result(where(), to, {0});
      tally::round_words<double>(through, sum, result.span().data());
      EXPECT_EQ(result.read()[0], want)
          << "from memory " << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, WhatIsWrittenComesBack) {
  const tally::workspace small_one = small();
  const tally::executor through = small_one.executor();
  for (const std::size_t n : sizes_of(min_bytes / 32)) {
    for (const memory kind : kinds) {
      const std::vector<double> x = random_vector<double>(n, n), y = random_vector<double>(n, 8);
      std::vector<double> want = y;
      const vector_in<double> in_x(where(), kind, x), in_y(where(), kind, y);
      tally::axpbypcz(through, 2, in_x.span(), 3, in_x.span(), 4, in_y.span());
      tally::axpbypcz(tally::serial(), 2, x, 3, x, 4, want);
      ASSERT_EQ(in_y.read(), want) << n << ", memory " << static_cast<int>(kind);
      tally::scal(through, 0.5, in_y.span());
      tally::scal(tally::serial(), 0.5, want);
      ASSERT_EQ(in_y.read(), want) << n;
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, ExtremaAreTheFirstOfEquals) {
  const tally::workspace small_one = small();
  const tally::executor through = small_one.executor();
  std::vector<float> x(200'000, 1.0f);
  const auto expect = [&] {
    EXPECT_EQ(tally::minmax(through, x), tally::minmax(tally::serial(), x));
    EXPECT_EQ(data::bits(tally::min(through, x)), data::bits(tally::min(tally::serial(), x)));
    EXPECT_EQ(data::bits(tally::max(through, x)), data::bits(tally::max(tally::serial(), x)));
    EXPECT_EQ(tally::iamax(through, x), tally::iamax(tally::serial(), x));
  };
  expect();
  x[150'000] = x[60'000] = -2.0f;
  x[199'999] = x[9000] = 2.0f;
  expect();
  x[100'000] = -0.0f;
  expect();
  x[170'000] = x[80'000] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(tally::iamax(through, x), 80'000);
  EXPECT_EQ(data::bits(tally::min(through, x)), data::bits(tally::min(tally::serial(), x)));
}

TEST_ON_EVERY_EXECUTOR(Workspace, ManyPairs) {
  const tally::workspace small_one = small();
  const tally::executor through = small_one.executor();
  for (const std::size_t n : {std::size_t{10}, std::size_t{5000}, std::size_t{60'000}}) {
    const std::size_t k = 37;
    const auto x = random_vector<float>(k * n, 9);
    const auto y = random_vector<double>(n, 10);
    const auto z = random_vector<std::complex<float>>(n, 11);
    for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
      EXPECT_EQ(tally::multi_dot(through, tally::rows(x.data(), k, n), y, g),
                tally::multi_dot(tally::serial(), tally::rows(x.data(), k, n), y, g))
          << n;
      EXPECT_EQ(tally::multi_dot(through, tally::rows(x.data(), k, n), z, g),
                tally::multi_dot(tally::serial(), tally::rows(x.data(), k, n), z, g))
          << n;
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, BelongsToOneCallAtATime) {
  const tally::workspace shared = small(), other = small();
  const auto x = random_vector<double>(50'000, 12), y = random_vector<double>(50'000, 13);
  const double want = tally::dot(tally::serial(), x, y);
  std::vector<std::thread> threads;
  std::array<double, 3> sums{};
  for (std::size_t t = 0; t < sums.size(); ++t) {
    threads.emplace_back([&, t] {
      const tally::executor on = (t == 2 ? other : shared).executor();
      for (int k = 0; k < 20; ++k) sums[t] += tally::dot(on, x, y) == want ? 1 : 0;
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sums, (std::array<double, 3>{20, 20, 20}));
}

TEST_ON_EVERY_EXECUTOR(Workspace, IsSharedByCallsThatWriteBackAndThoseThatKeepMemory) {
  const tally::workspace shared = small();
  const tally::executor through = shared.executor();
  constexpr int calls = 10;
  const std::size_t n = 50'000;
  const auto x = random_vector<double>(n, 23);
  std::vector<double> z(n, 1), scaled = z;
  for (int k = 0; k < calls; ++k) tally::axpy(tally::serial(), 0.5, x, scaled);
  std::vector<std::int32_t> keys(n), want(50);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>(i * i % want.size());
  tally::bincount(tally::serial(), keys, want);
  const double sum = tally::sum(tally::serial(), x, tally::exact);
  std::array<int, 2> right{};
  std::thread writes([&] {
    for (int k = 0; k < calls; ++k) tally::axpy(through, 0.5, x, z);
  });
  std::thread sums([&] {
    for (int k = 0; k < calls; ++k) right[0] += tally::sum(through, x, tally::exact) == sum;
  });
  std::vector<std::int32_t> counts(want.size());
  for (int k = 0; k < calls; ++k) {
    tally::bincount(through, keys, counts);
    right[1] += counts == want;
  }
  writes.join();
  sums.join();
  EXPECT_EQ(z, scaled);
  EXPECT_EQ(right, (std::array{calls, calls}));
}

TEST_ON_EVERY_EXECUTOR(Workspace, TakesAnUpdateWithASumAsOneCall) {
  if (!data::on_device(where())) GTEST_SKIP() << "a host's executor has no turns";
  const tally::workspace shared = small();
  constexpr std::size_t n = 2000, calls = 200;
  const std::vector<double> ones(n, 1.0);
  std::vector<double> y(n);
  std::array<std::vector<double>, 2> sums;
  std::vector<std::thread> threads;
  for (auto& mine : sums) {
    threads.emplace_back([&] {
      for (std::size_t k = 0; k < calls; ++k) {
        mine.push_back(tally::axpy_dot(shared.executor(), 1.0, ones, y, ones));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  std::set<double> all(sums[0].begin(), sums[0].end());
  all.insert(sums[1].begin(), sums[1].end());
  EXPECT_EQ(all.size(), 2 * calls);
  EXPECT_EQ(*all.rbegin(), static_cast<double>(2 * calls * n));
}

TEST_ON_EVERY_EXECUTOR(Workspace, TakesTheFirstCallOfAThread) {
  const tally::workspace shared = small();
  for (const std::size_t n : {std::size_t{1000}, std::size_t{100'000}}) {
    const auto x = random_vector<double>(n, 24);
    const double want = tally::sum(shared.executor(), x);
    double plain = 0, exact = 0;
    std::thread([&] { plain = tally::sum(shared.executor(), x); }).join();
    std::thread([&] { exact = tally::sum(shared.executor(), x, tally::exact); }).join();
    EXPECT_EQ(plain, want);
    EXPECT_EQ(exact, tally::sum(tally::serial(), x, tally::exact));
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, HasAThreadForEachProcessorThatItMayUse) {
  if (!data::on_device(where())) GTEST_SKIP() << "a host's executor is its own";
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  std::size_t first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const tally::workspace made(where());
  EXPECT_TRUE(made.executor().description().ends_with(", 1 thread)"))
      << made.executor().description();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

/// Number of this process's threads that block some signals; nothing if the system doesn't say.
std::optional<std::size_t> threads_without_signals() {
  std::optional<std::size_t> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      constexpr std::string_view name = "SigBlk:";
      if (!line.starts_with(name)) continue;
      const std::uint64_t blocked = std::stoull(line.substr(name.size()), nullptr, 16);
      const auto takes = [&](int signal) { return (blocked >> (signal - 1) & 1) == 0; };
      const bool is_one = !takes(SIGTERM) && !takes(SIGALRM) && !takes(SIGPROF);
      found = found.value_or(0) + (is_one ? 1 : 0);
    }
  }
  return found;
}

TEST_ON_EVERY_EXECUTOR(Workspace, LeavesSignalsToOtherThreads) {
  if (!data::on_device(where())) GTEST_SKIP() << "a host's executor has no threads here";
  const tally::workspace first = small(1);  // starts the driver's own threads
  const std::optional<std::size_t> before = threads_without_signals();
  if (!before) GTEST_SKIP() << "the system does not say which signals are blocked";
  const tally::workspace made = small(4);
  EXPECT_GE(*threads_without_signals(), *before + 3);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGTERM), 0);
}

TEST_ON_EVERY_EXECUTOR(Workspace, CanBeMoved) {
  tally::workspace first = small();
  const tally::executor on = first.executor();
  tally::workspace second = std::move(first);
  EXPECT_EQ(second.executor(), on);
  const auto x = random_vector<double>(30'000, 14);
  EXPECT_EQ(tally::sum(on, x), tally::sum(tally::serial(), x));
  second = small();
  EXPECT_EQ(tally::sum(second.executor(), x), tally::sum(tally::serial(), x));
}

TEST_ON_EVERY_EXECUTOR(Workspace, SaysWhatItIs) {
  const tally::workspace through = small(2);
  if (!data::on_device(where())) {
    EXPECT_EQ(through.executor(), where());
    return;
  }
  EXPECT_EQ(through.executor().name(), "workspace");
  EXPECT_EQ(through.executor().device(), where().device());
  EXPECT_EQ(through.executor().stream(), where().stream());
  EXPECT_EQ(through.executor().description(),
            "workspace (" + where().description() + ", 3 stages of 32768 bytes, 2 threads)");
}

TEST_ON_EVERY_EXECUTOR(Workspace, RefusesOptionsOutOfRange) {
  const auto expect = [&](const options& o, const std::string& text) {
    data::expect_error(tally::errc::invalid_argument, "tally::workspace: " + text,
                       [&] { const tally::workspace made(where(), o); });
  };
  expect({.stage_bytes = 1}, "stage_bytes is 1; it can be 32768 to 1073741824, or 0");
  expect({.stage_bytes = (std::size_t{1} << 30) + 1},
         "stage_bytes is 1073741825; it can be 32768 to 1073741824, or 0");
  expect({.threads = -1}, "threads is -1; it can be 1 to 256, or 0");
  expect({.threads = 257}, "threads is 257; it can be 1 to 256, or 0");
}

TEST(WorkspaceOfAutomatic, IsRefused) {
  data::expect_error(tally::errc::invalid_argument,
                     "tally::workspace: the executor is automatic, which has no memory of its own",
                     [] { const tally::workspace made(tally::automatic()); });
}

TEST_ON_EVERY_EXECUTOR(Workspace, PinsMemory) {
  std::vector<double> x(1000, 1.0);
  tally::pin(where(), x.data(), 8000);
  if (data::on_device(where())) {
    EXPECT_EQ(tally::sum(where(), x), 1000);  // kernels reach it
    data::expect_error(tally::errc::invalid_argument,
                       "tally::pin: some of the memory is pinned already",
                       [&] { tally::pin(where(), x.data(), 8000); });
  }
  tally::unpin(where(), x.data());
  if (data::on_device(where())) {
    data::expect_error(tally::errc::invalid_argument,
                       "tally::unpin: no memory was pinned at this address",
                       [&] { tally::unpin(where(), x.data()); });
  }
  data::expect_error(tally::errc::null_pointer, "tally::pin: memory is null",
                     [&] { tally::pin(where(), nullptr, 8); });
  data::expect_error(tally::errc::invalid_argument, "tally::pin: there are 0 bytes to pin",
                     [&] { tally::pin(where(), x.data(), 0); });
  data::expect_error(tally::errc::null_pointer, "tally::unpin: memory is null",
                     [&] { tally::unpin(where(), nullptr); });
}

#if TALLY_HAS_CUDA

TEST_ON_EVERY_EXECUTOR(Workspace, AllocatesNothingInTheSteadyState) {
  if (where().name() != "cuda") GTEST_SKIP() << "not on a device";
  const tally::workspace through = small();
  operations::prepared_list all(70'001, through.executor());
  const auto run_all = [&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      try {
        all[i].run();
      } catch (const tally::error&) {  // Throws.
      }
    }
  };
  run_all();
  // Other processes may change a device's free memory: what the library takes in every pass would
  // be missing after each.
  std::size_t before = 0, after = 1, all_bytes = 0;
  for (int attempt = 0; attempt < 10 && before != after; ++attempt) {
    data::check_cuda(cudaMemGetInfo(&before, &all_bytes));
    for (int k = 0; k < 3; ++k) run_all();
    data::check_cuda(cudaMemGetInfo(&after, &all_bytes));
  }
  EXPECT_EQ(before, after);
}

/// Written by queued work, after a delay.
class late_numbers {
 public:
  late_numbers(void* to, std::vector<std::byte> bytes) : to_(to), bytes_(std::move(bytes)) {}
  void queue(const tally::executor& where) {
    const auto write = [](void* self) {
      const auto& mine = *static_cast<late_numbers*>(self);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::ranges::copy(mine.bytes_, static_cast<std::byte*>(mine.to_));
    };
    data::check_cuda(cudaLaunchHostFunc(where.stream(), write, this));
  }

 private:
  void* to_;
  std::vector<std::byte> bytes_;
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Zeroed, pinned or managed.
class shared_memory {
 public:
  shared_memory(std::size_t bytes, bool is_managed) : is_managed_(is_managed) {
    data::check_cuda(is_managed ? cudaMallocManaged(&memory_, bytes)
                                : cudaMallocHost(&memory_, bytes));
    std::fill_n(static_cast<std::byte*>(memory_), bytes, std::byte{});
  }
  ~shared_memory() { data::check_cuda(is_managed_ ? cudaFree(memory_) : cudaFreeHost(memory_)); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;

  template <class T>
  T* get() const {
    return static_cast<T*>(memory_);
  }

 private:
  bool is_managed_;
  void* memory_ = nullptr;
};

TEST_ON_EVERY_EXECUTOR(Workspace, WaitsForWorkThatWritesItsVectors) {
  if (where().name() != "cuda") GTEST_SKIP() << "not on a device";
  const tally::workspace through = small();
  for (const std::size_t n : {std::size_t{1000}, std::size_t{100'000}}) {
    const std::vector<double> values = random_vector<double>(2 * n, 25);
    for (const bool is_managed : {false, true}) {
      for (const std::ptrdiff_t increment : {1, 2, -2}) {
        const shared_memory x(2 * n * sizeof(double), is_managed);
        late_numbers late(x.get<void>(), bytes_of(values));
        late.queue(where());
        const auto sum =
            tally::sum(through.executor(), tally::strided(x.get<double>(), n, increment));
        data::check_cuda(cudaStreamSynchronize(where().stream()));
        EXPECT_EQ(
            data::bits(sum),
            data::bits(tally::sum(tally::serial(), tally::strided(values.data(), n, increment))))
            << n << ", increment " << increment << (is_managed ? ", managed" : ", pinned");
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, WaitsForWorkThatWritesWordsOrResults) {
  if (where().name() != "cuda") GTEST_SKIP() << "not on a device";
  const tally::workspace through = small();
  const auto x = random_vector<double>(1000, 26);
  std::vector<std::int64_t> words(tally::exact_words(tally::type::float64));
  tally::sum(tally::serial(), x, tally::add_to<double>(words.data()));
  const double want = tally::sum(tally::serial(), x, tally::exact);
  for (const bool is_managed : {false, true}) {
    const shared_memory there(words.size() * sizeof words[0], is_managed),
        result(sizeof(double), is_managed);
    late_numbers late(there.get<void>(), bytes_of(words));
    late.queue(where());
    const double rounded =
        tally::round_words<double>(through.executor(), there.get<std::int64_t>());
    data::check_cuda(cudaStreamSynchronize(where().stream()));
    EXPECT_EQ(rounded, want);
    late_numbers later(result.get<void>(), bytes_of(std::vector<double>{-1}));
    later.queue(where());
    tally::round_words<double>(through.executor(), words.data(), result.get<double>());
    data::check_cuda(cudaStreamSynchronize(where().stream()));
    EXPECT_EQ(*result.get<double>(), want);
  }
}

TEST_ON_EVERY_EXECUTOR(Workspace, RefusesAStreamThatIsCaptured) {
  if (where().name() != "cuda") GTEST_SKIP() << "not on a device";
  cudaStream_t stream = nullptr;
  data::check_cuda(cudaStreamCreate(&stream));
  const tally::workspace through(tally::cuda({.stream = stream}), {min_bytes, 1});
  const std::vector<double> x(100, 1.0);
  data::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  data::expect_error(tally::errc::invalid_argument,
                     "tally::workspace: the stream is being captured, and a call through a "
                     "workspace waits for it",
                     [&] { (void)tally::sum(through.executor(), x); });
  cudaGraph_t graph = nullptr;
  data::check_cuda(cudaStreamEndCapture(stream, &graph));
  data::check_cuda(cudaGraphDestroy(graph));
  EXPECT_EQ(tally::sum(through.executor(), x), 100);
  data::check_cuda(cudaStreamDestroy(stream));
}

TEST_ON_EVERY_EXECUTOR(Workspace, WritesResultsOnTheDevice) {
  if (where().name() != "cuda") GTEST_SKIP() << "not on a device";
  const tally::workspace through = small();
  for (const std::size_t n : {std::size_t{100}, std::size_t{100'000}}) {
    const auto x = random_vector<double>(n, 15);
    const tally::buffer result(where(), sizeof(double));
    auto* const to = static_cast<double*>(result.get());
    for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
      tally::sum(through.executor(), x, to, g);
      double sum = 0;
      tally::copy_bytes(where(), to, &sum, sizeof sum);
      EXPECT_EQ(sum, tally::sum(tally::serial(), x, g));
    }
  }
}

#endif

}  // namespace
