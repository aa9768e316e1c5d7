// Threads that openmp starts.
#include "tests/operations.hpp"

#include <tally/tally.h>
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

namespace {

#if TALLY_HAS_OPENMP

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Threads started by `f`, called in a thread that has never used OpenMP.
template <class F>
std::ptrdiff_t started_by(const F& f) {
  std::ptrdiff_t started = 0;
  std::thread([&] {
    const std::ptrdiff_t before = threads_of_this_process();
    f();
    started = threads_of_this_process() - before;
  }).join();
  return started;
}

TEST(Threads, NoneAreStartedForShortOperands) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "threads can't be counted";
  const tally::executor where = tally::openmp({.threads = 64});
  for (const std::size_t n : {0, 8, 100}) {
    for (const operations::operation& each : operations::list(n)) {
      if (n == 0 && (each.name.starts_with("min") || each.name.starts_with("max"))) continue;
      operations::prepared call(each, where);
      // Less than 0 if a thread of an earlier test ends meanwhile.
      EXPECT_LE(started_by([&] { call.run(); }), 0) << each.name << " of " << n;
    }
  }
}

TEST(Threads, NoMoreAreStartedThanThereAreShares) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "threads can't be counted";
  const std::vector<double> x(5000, 0.5);
  EXPECT_LE(started_by([&] { tally::dot(tally::openmp({.threads = 64}), x, x); }), 4);
  EXPECT_LE(started_by([&] { tally::dot(tally::openmp({.threads = 2}), x, x); }), 1);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  tally::transform_reduce(tally::openmp({.threads = 64}), x, 0.0, std::plus<>(), [&](double e) {
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
    return e;
  });
  EXPECT_LE(seen.size(), 5u);
}

TEST(Threads, AbsurdNumbersAreRefused) {
  constexpr int max = tally::openmp_options::max_threads;
  EXPECT_NO_THROW(tally::openmp({.threads = max}));
  for (const int threads : {max + 1, 40'000, 100'000, std::numeric_limits<int>::max()}) {
    data::expect_error(
        tally::errc::invalid_argument,
        "tally::openmp: threads is " + std::to_string(threads) + "; there can be 4096",
        [&] { tally::openmp({.threads = threads}); });
    tally_executor where;
    EXPECT_EQ(tally_openmp(&where, threads), TALLY_INVALID_ARGUMENT);
  }
}

#endif

}  // namespace
