// fork(): a child lacks OpenMP's threads, and would wait for them for ever. This program starts no
// thread itself; each test is a child with a time limit.
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <system_error>
#include <thread>

#if defined(__SANITIZE_THREAD__)
#define TALLY_THREAD_SANITIZER 1  // the sanitizer's own threads are missing too
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TALLY_THREAD_SANITIZER 1
#endif
#endif

namespace {

/// Runs `f` in a child, for a minute at most.
/// @return whether `f` returned true.
bool in_child(const std::function<bool()>& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool is_right = false;
    try {
      is_right = f();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::fflush(nullptr);
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::fprintf(stderr, "signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool expect(bool condition, const std::string& what) {
  if (!condition) std::fprintf(stderr, "not so: %s\n", what.c_str());
  return condition;
}

template <class F>
bool is_refused(const F& f) {
  try {
    f();
    return false;
  } catch (const tally::error& e) {
    return e.code() == tally::errc::no_device &&
           std::string(e.what()).find("fork") != std::string::npos;
  }
}

constexpr std::size_t n = std::size_t{1} << 19;
const std::vector<double> x(n, 0.5);

#if TALLY_HAS_OPENMP

/// `before` is an executor of the parent, which had threads.
bool does_without_openmp(const tally::executor& before) {
  bool right = expect(tally::dot(x, x) == n / 4, "automatic() computes");
  right &= expect(tally::choose(tally::as_operand(x)).name() == "simd", "automatic() is simd");
  right &= expect(is_refused([] { tally::openmp(); }), "openmp() is refused");
  for (const tally::executor& here : tally::executors()) {
    right &= expect(here.name() != "openmp", "openmp is not among the executors");
    if (data::on_device(here)) continue;
    right &= expect(tally::dot(here, x, x) == n / 4, std::string(here.name()) + " computes");
  }
  right &= expect(before.description().starts_with("openmp"), "an executor can be described");
  for (const operations::operation& each : operations::list(1000)) {
    operations::prepared mine(each, before), automatic(each, tally::serial()),
        reference(each, tally::serial());
    const auto untouched = mine.results();
    right &= expect(is_refused([&] { mine.run(); }), each.name + " is refused");
    right &= expect(mine.results() == untouched, each.name + " writes nothing");
    operations::arguments operands = automatic.operands();
    each.call(tally::automatic(), operands);
    reference.run();
    std::vector<std::byte> results = automatic.results();  // except what this call returned
    std::copy(operands.returned.begin(), operands.returned.end(), results.begin());
    right &= expect(results == reference.results(), each.name + " runs on automatic()");
  }
  return right;
}

int threads_of_a_region() {
  int threads = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp atomic
    ++threads;
  }
  return threads;
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
#if defined(TALLY_THREAD_SANITIZER)
    GTEST_SKIP() << "the sanitizer has a thread of its own";
#endif
#if defined(TALLY_IS_EMULATED)
    GTEST_SKIP() << "the emulator has a thread of its own";
#endif
    std::error_code unreadable;
    const std::filesystem::directory_iterator threads("/proc/self/task", unreadable);
    if (unreadable) GTEST_SKIP() << "threads can't be counted";
    ASSERT_EQ(std::distance(threads, {}), 1) << "something started a thread when it was loaded";
  }
};

TEST_F(Fork, OfAProcessThatUsedOpenmp) {
  EXPECT_TRUE(in_child([] {
    const tally::executor where = tally::openmp({.threads = 3});
    bool right = expect(tally::dot(where, x, x) == n / 4, "openmp computes before");
    const auto child = [&] { return does_without_openmp(where); };
    right &= in_child(child);
    right &= in_child([&] { return in_child(child); });
    right &= expect(tally::dot(where, x, x) == n / 4, "openmp computes after");
    return right;
  }));
}

TEST_F(Fork, OfAProcessThatHasParallelRegionsOfItsOwn) {
  EXPECT_TRUE(in_child([] {
    const tally::executor before = tally::openmp({.threads = 2});
    bool right = expect(threads_of_a_region() > 1, "OpenMP starts threads");
    right &= in_child([&] { return does_without_openmp(before); });
    return right;
  }));
}

TEST_F(Fork, OfAProcessOfOneThreadMayUseOpenmp) {
  EXPECT_TRUE(in_child([] {
    const tally::executor one = tally::openmp({.threads = 1});
    bool right = expect(tally::dot(one, x, x) == n / 4, "one thread computes before");
    right &= in_child([&] {
      bool first = expect(tally::dot(one, x, x) == n / 4, "one thread computes");
      first &= expect(tally::dot(tally::openmp({.threads = 3}), x, x) == n / 4, "three compute");
      first &= in_child([] { return is_refused([] { tally::openmp(); }); });
      return first;
    });
    std::thread([] {}).join();  // an ended thread is not missed
    right &= in_child([] {
      return expect(tally::dot(tally::openmp({.threads = 2}), x, x) == n / 4, "two compute");
    });
    return right;
  }));
}

#else

TEST(Fork, IsOfNoConcernWithoutOpenmp) {
  EXPECT_TRUE(in_child([] { return tally::dot(x, x) == n / 4; }));
}

#endif

}  // namespace
