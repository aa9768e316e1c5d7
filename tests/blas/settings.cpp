// The settings of libtally_blas, which are read once, so each test is a child; failures; fork();
// threads. This program calls no routine itself.
#include "tests/blas/names.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace blas_test {
namespace {

using ddot = double(const int*, const double*, const int*, const double*, const int*);
using dgemv = void(const char*, const int*, const int*, const double*, const double*, const int*,
                   const double*, const int*, const double*, double*, const int*);
using cblas_dgemv = void(int, int, int, int, double, const double*, int, const double*, int, double,
                         double*, int);

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  const int n = static_cast<int>(x.size()), one = 1;
  return function<ddot>("ddot_")(&n, x.data(), &one, y.data(), &one);
}

constexpr std::size_t long_size = std::size_t{1} << 20;
std::vector<double> roots(std::size_t n) {
  std::vector<double> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(std::sqrt(static_cast<double>(i)));
  return x;
}

struct outcome {
  int status;  ///< of exit, or minus the signal
  std::string errors;
};

/// Runs `f` in a child with these variables, for a minute at most, and ends it by exit(f()).
outcome in_child(const std::map<std::string, std::string>& variables,
                 const std::function<int()>& f) {
  int ends[2];
  if (pipe(ends) != 0) return {-1, "no pipe"};
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]), close(ends[1]);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    std::exit(f());
  }
  close(ends[1]);
  outcome result{-1, ""};
  char text[4096];
  for (ssize_t n; (n = read(ends[0], text, sizeof text)) > 0;) {
    result.errors.append(text, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

int sum_of_two() { return static_cast<int>(dot({3, 4}, {1, 1})); }

void expect_line(const outcome& found, const std::string& part) {
  EXPECT_EQ(found.status, -SIGABRT) << found.errors;
  EXPECT_TRUE(found.errors.starts_with("tally_blas: ")) << found.errors;
  EXPECT_NE(found.errors.find(part), std::string::npos) << found.errors;
  EXPECT_EQ(found.errors.find('\n'), found.errors.size() - 1) << found.errors;
}

TEST(BlasSettings, SilentUnlessAsked) {
  using variables = std::map<std::string, std::string>;
  for (const variables& each : {variables{},
                                {{"TALLY_BLAS_EXECUTOR", ""}},
                                {{"TALLY_BLAS_EXECUTOR", "automatic"}},
                                {{"TALLY_BLAS_EXECUTOR", "serial"}},
                                {{"TALLY_BLAS_EXECUTOR", "simd"}},
                                {{"TALLY_BLAS_GRADE", ""}},
                                {{"TALLY_BLAS_GRADE", "default"}},
                                {{"TALLY_BLAS_GRADE", "exact"}},
                                {{"TALLY_BLAS_VERBOSE", ""}},
                                {{"TALLY_BLAS_VERBOSE", "0"}}}) {
    const outcome found = in_child(each, sum_of_two);
    EXPECT_EQ(found.status, 7);
    EXPECT_EQ(found.errors, "");
  }
}

TEST(BlasSettings, WrongValuesEndTheProgram) {
  for (const auto& [name, value] : {std::pair("TALLY_BLAS_EXECUTOR", "fast"),
                                    {"TALLY_BLAS_EXECUTOR", "openmp:0"},
                                    {"TALLY_BLAS_EXECUTOR", "openmp:-2"},
                                    {"TALLY_BLAS_EXECUTOR", "openmp:"},
                                    {"TALLY_BLAS_EXECUTOR", "openmp:2x"},
                                    {"TALLY_BLAS_EXECUTOR", "openmp:99999"},
                                    {"TALLY_BLAS_EXECUTOR", "cuda"},
                                    {"TALLY_BLAS_EXECUTOR", "SIMD"},
                                    {"TALLY_BLAS_GRADE", "Exact"},
                                    {"TALLY_BLAS_GRADE", "1"},
                                    {"TALLY_BLAS_VERBOSE", "2"},
                                    {"TALLY_BLAS_VERBOSE", "yes"}}) {
    expect_line(in_child({{name, value}}, sum_of_two), std::string(name) + "=" + value + ": ");
  }
}

TEST(BlasSettings, AreReadByCallsAlone) {
  for (const auto& [name, value] :
       {std::pair("TALLY_BLAS_EXECUTOR", "fast"), {"TALLY_BLAS_VERBOSE", "1"}}) {
    const outcome found = in_child({{name, value}}, [] {
      function<ddot>("ddot_");
      return 0;
    });
    EXPECT_EQ(found.status, 0) << name;
    EXPECT_EQ(found.errors, "") << name;
  }
}

TEST(BlasSettings, ExactGrade) {
  const auto cancels = [] {
    std::vector<double> x(100, 1), y(100, 0);
    x[0] = 0x1p60, y[0] = 1;
    x[50] = 3, y[50] = 1;
    x[99] = -0x1p60, y[99] = 1;
    return static_cast<int>(dot(x, y));
  };
  EXPECT_EQ(in_child({}, cancels).status, 0);
  EXPECT_EQ(in_child({{"TALLY_BLAS_GRADE", "exact"}}, cancels).status, 3);
}

TEST(BlasSettings, CountsCallsByLibraryAndSize) {
  const outcome found = in_child({{"TALLY_BLAS_VERBOSE", "1"}}, [] {
    dot({1, 2, 3}, {1, 1, 1});
    dot(roots(1000), roots(1000));
    const int m = 4, n = 5, one = 1;
    const double a[20] = {}, x[5] = {}, factor = 1;
    double y[4] = {};
    function<dgemv>("dgemv_")("N", &m, &n, &factor, a, &m, x, &one, &factor, y, &one);
    return 0;
  });
  EXPECT_EQ(found.status, 0);
  EXPECT_NE(found.errors.find(": dot 2 (1003 elements), gemv 1 (20 elements)\n"), std::string::npos)
      << found.errors;
  EXPECT_NE(found.errors.find("calls of up to 10: 1, 100: 1, 10^3: 1, 10^4: 0, 10^5: 0, 10^6: 0, "
                              "more: 0 elements\n"),
            std::string::npos)
      << found.errors;
}

TEST(BlasFailures, NullPointersEndTheProgram) {
  expect_line(
      in_child({},
               [] {
                 const int n = 3, one = 1;
                 const double x[3] = {};
                 return static_cast<int>(function<ddot>("ddot_")(&n, x, &one, nullptr, &one));
               }),
      "dot: tally::dot: y is null");
}

TEST(BlasFailures, InvalidArgumentsOfGemvEndTheProgram) {
  const auto call = [](char operation, int m, int n, int lda, int incx, int incy) {
    return in_child({}, [=] {
      const double factor = 1;
      double y[4] = {};
      function<dgemv>("dgemv_")(&operation, &m, &n, &factor, y, &lda, y, &incx, &factor, y, &incy);
      return 0;
    });
  };
  expect_line(call('X', 1, 1, 1, 1, 1), "DGEMV: argument 1 ");
  expect_line(call('N', -1, 1, 1, 1, 1), "DGEMV: argument 2 ");
  expect_line(call('N', 1, -1, 1, 1, 1), "DGEMV: argument 3 ");
  expect_line(call('N', 2, 1, 1, 1, 1), "DGEMV: argument 6 ");
  expect_line(call('T', 0, 1, 0, 1, 1), "DGEMV: argument 6 ");
  expect_line(call('N', 1, 1, 1, 0, 1), "DGEMV: argument 8 ");
  expect_line(call('N', 1, 1, 1, 1, 0), "DGEMV: argument 11 ");

  const auto call_c = [](int order, int operation, int m, int n, int lda, int incx, int incy) {
    return in_child({}, [=] {
      double y[4] = {};
      function<cblas_dgemv>("cblas_dgemv")(order, operation, m, n, 1, y, lda, y, incx, 1, y, incy);
      return 0;
    });
  };
  expect_line(call_c(100, 111, 1, 1, 1, 1, 1), "cblas_dgemv: argument 1 ");
  expect_line(call_c(101, 115, 1, 1, 1, 1, 1), "cblas_dgemv: argument 2 ");
  for (const int order : {101, 102}) {
    expect_line(call_c(order, 111, -1, 1, 1, 1, 1), "cblas_dgemv: argument 3 ");
    expect_line(call_c(order, 111, 1, -1, 1, 1, 1), "cblas_dgemv: argument 4 ");
    expect_line(call_c(order, 111, 1, 1, 1, 0, 1), "cblas_dgemv: argument 9 ");
    expect_line(call_c(order, 111, 1, 1, 1, 1, 0), "cblas_dgemv: argument 12 ");
  }
  expect_line(call_c(101, 111, 1, 2, 1, 1, 1), "cblas_dgemv: argument 7 ");
  expect_line(call_c(102, 111, 2, 1, 1, 1, 1), "cblas_dgemv: argument 7 ");
}

TEST(BlasFailures, AreReportedByNetlibsErrorRoutine) {
  const outcome found = in_child({}, [] {
    if (dlopen(TALLY_NETLIB_ERRORS, RTLD_NOW | RTLD_GLOBAL) == nullptr) return 1;
    double y[4] = {};
    for (const int order : {101, 102}) {
      for (const auto& [m, n, lda] : {std::array{-1, 1, 1}, {1, -1, 1}, {1, 1, 0}}) {
        function<cblas_dgemv>("cblas_dgemv")(order, 111, m, n, 1, y, lda, y, 1, 1, y, 1);
      }
    }
    return 0;
  });
  const std::string each = "cblas_dgemv 3;cblas_dgemv 4;cblas_dgemv 7;";
  EXPECT_EQ(found.status, 0);
  EXPECT_EQ(found.errors, each + each);
}

/// Exits with 0 if a child of a process with OpenMP's threads computes, and computes the same.
int fork_after_long_dot() {
  const std::vector<double> x = roots(long_size);
  const double before = dot(x, x);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    const bool is_right = dot(x, x) == before && dot({3, 4}, {1, 1}) == 7;
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

TEST(BlasProcesses, ForkAfterALongCall) {
  for (const char* const executor : {"", "serial", "simd", "openmp:3"}) {
    const outcome found = in_child({{"TALLY_BLAS_EXECUTOR", executor}}, fork_after_long_dot);
    EXPECT_EQ(found.status, 0) << executor;
    EXPECT_EQ(found.errors, "") << executor;
  }
}

TEST(BlasProcesses, ThreadsCallAtOnce) {
  for (const char* const executor : {"", "simd", "openmp:2"}) {
    const outcome found =
        in_child({{"TALLY_BLAS_EXECUTOR", executor}, {"TALLY_BLAS_VERBOSE", "1"}}, [] {
          // The first calls, which read the settings, race.
          const std::vector<double> few = roots(1000), many = roots(100000);
          std::vector<double> results(8);
          std::vector<std::thread> threads;
          for (double& result : results) {
            threads.emplace_back([&] {
              for (int i = 0; i < 20; ++i) result += dot(few, few);
              result += dot(many, many);
            });
          }
          for (std::thread& each : threads) each.join();
          for (const double result : results) {
            if (result != results[0]) return 1;
          }
          return 0;
        });
    EXPECT_EQ(found.status, 0) << executor;
    EXPECT_NE(found.errors.find(": dot 168 (960000 elements)\n"), std::string::npos)
        << found.errors;
  }
}

}  // namespace
}  // namespace blas_test
