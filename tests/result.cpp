// Destinations of results: pointers, spans, vectors, views.
#include "tests/data.hpp"
#include "tests/views.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using tally::errc;

static_assert(tally::result_place_of<double*, double>);
static_assert(tally::result_place_of<double* const&, double>);
static_assert(tally::result_place_of<long long*, std::int64_t>);
static_assert(tally::result_place_of<double (&)[4], double>);
static_assert(tally::result_place_of<std::vector<float>&, float>);
static_assert(tally::result_place_of<std::span<double, 1>, double>);
static_assert(tally::result_place_of<const std::span<double>&, double>);
static_assert(tally::result_place_of<views::view<double, 0>, double>);
static_assert(tally::result_place_of<const views::view<double, 1>&, double>);
static_assert(!tally::result_place<const double*>);
static_assert(!tally::result_place<const std::vector<double>&>);
static_assert(!tally::result_place<std::span<const double>>);
static_assert(!tally::result_place<views::view<const double, 0>>);
static_assert(!tally::result_place<views::view<double, 2>>);
static_assert(!tally::result_place<void*>);
static_assert(!tally::result_place<double>);
static_assert(!tally::result_place<tally::grade>);

std::vector<double> random(std::size_t n, std::uint64_t seed) {
  return data::elements_of<double>(data::random_bytes<double>(n, seed, data::kind::plain));
}

class Result : public data::OnEveryExecutor {
 protected:
  /// `write` writes `count` results to any destination as to a pointer, and no more.
  template <class R, class F>
  void everywhere(const std::string& function, const F& write, std::size_t count = 1) {
    const auto written = [&](const auto& place_of) {
      const data::placed<R> memory(where(), std::vector<R>(count + 2));
      auto place = place_of(memory.span().data() + 1);
      write(place);
      return data::bytes_of(memory.read());
    };
    const auto expected = written([](R* p) { return p; });
    EXPECT_NE(expected, data::bytes_of(std::vector<R>(count + 2))) << function;
    EXPECT_EQ(written([&](R* p) { return std::span<R>(p, count); }), expected) << function;
    EXPECT_EQ(written([&](R* p) { return views::vector(p, count); }), expected) << function;
    if (count == 1) {
      EXPECT_EQ(written([](R* p) { return std::span<R, 1>(p, 1); }), expected) << function;
      EXPECT_EQ(written([](R* p) { return views::scalar(p); }), expected) << function;
      EXPECT_EQ(written([](R* p) { return views::vector(p, 1, 7); }), expected) << function;
    }
    std::vector<R> other(count + 1);
    const auto expect = [&](const auto& place, const std::string& text) {
      data::expect_error(errc::size_mismatch, function + ": result has " + text,
                         [&] { write(place); });
    };
    const std::string needed = " and should have " + std::to_string(count);
    expect(std::span<R>(other), std::to_string(count + 1) + " elements" + needed);
    expect(std::span<R>(), "0 elements" + needed);
    if (count > 1) {
      expect(views::vector(other.data(), 1), "1 element" + needed);
      expect(views::vector(other.data(), count, 2), "increment 2 and should have 1");
    }
    EXPECT_EQ(data::bytes_of(other), data::bytes_of(std::vector<R>(count + 1))) << function;
  }
};

TEST_ON_EVERY_EXECUTOR(Result, OfSumsAndSearches) {
  const data::placed<double> x(where(), random(3000, 1)), y(where(), random(3000, 2));
  const auto u = x.span(), v = y.span();
  everywhere<double>("tally::dot", [&](auto& r) { tally::dot(where(), u, v, r); });
  everywhere<double>("tally::dot", [&](auto& r) {
    tally::dot(where(), u, v, r, {tally::conjugate::x, tally::exact});
  });
  everywhere<double>("tally::sum", [&](auto& r) { tally::sum(where(), u, r); });
  everywhere<double>("tally::asum", [&](auto& r) { tally::asum(where(), u, r); });
  everywhere<double>("tally::nrm2", [&](auto& r) { tally::nrm2(where(), u, r); });
  using extremum = tally::extremum<double>;
  everywhere<extremum>("tally::min", [&](auto& r) { tally::min(where(), u, r); });
  everywhere<extremum>("tally::max", [&](auto& r) { tally::max(where(), u, r); });
  everywhere<tally::extrema<double>>("tally::minmax",
                                     [&](auto& r) { tally::minmax(where(), u, r); });
  everywhere<std::int64_t>("tally::iamax", [&](auto& r) { tally::iamax(where(), u, r); });
  everywhere<long long>("tally::iamax", [&](auto& r) { tally::iamax(where(), u, r); });
}

TEST_ON_EVERY_EXECUTOR(Result, OfUpdates) {
  const data::placed<double> x(where(), random(3000, 1)), y(where(), random(3000, 2)),
      w(where(), random(3000, 3));
  const auto u = x.span(), v = y.span(), z = w.span();
  everywhere<double>("tally::axpy_dot", [&](auto& r) {
    tally::copy(where(), v, z);
    tally::axpy_dot(where(), 0.5, u, z, v, r);
  });
  everywhere<double>("tally::axpy_dot", [&](auto& r) {
    tally::copy(where(), v, z);
    tally::axpy_dot(where(), 0.5, u, z, z, r, tally::conjugate::x);
  });
  everywhere<double>("tally::waxpby_nrm2",
                     [&](auto& r) { tally::waxpby_nrm2(where(), 0.5, u, 2.0, v, z, r); });
}

TEST_ON_EVERY_EXECUTOR(Result, OfSeveralDotProducts) {
  const data::placed<double> x(where(), random(3000, 1)), y(where(), random(1000, 2));
  const auto block = tally::rows(x.span().data(), 3, 1000);
  const auto v = y.span();
  const std::vector list(3, tally::pair_of(v, v));
  everywhere<double>(
      "tally::multi_dot", [&](auto& r) { tally::multi_dot(where(), block, v, r); }, 3);
  everywhere<double>(
      "tally::multi_dot",
      [&](auto& r) { tally::multi_dot(where(), block, v, r, tally::conjugate::x); }, 3);
  everywhere<double>("tally::multi_dot", [&](auto& r) { tally::multi_dot(where(), list, r); }, 3);
  everywhere<double>(
      "tally::multi_dot", [&](auto& r) { tally::multi_dot(where(), list, r, tally::conjugate::x); },
      3);
  everywhere<double>(
      "tally::batched_dot", [&](auto& r) { tally::batched_dot(where(), block, block, r); }, 3);
  everywhere<double>(
      "tally::batched_dot",
      [&](auto& r) { tally::batched_dot(where(), block, block, r, tally::conjugate::x); }, 3);
  everywhere<double>("tally::multi_dot", [&](auto& r) {
    tally::multi_dot(where(), tally::rows(v.data(), 1, 1000), v, r);
  });
}

TEST(Result, OfFunctionsOfTheCallers) {
  const std::vector<double> x = {1, 2, 3};
  const auto square = [](double e) { return e * e; };
  const auto multiply = [](double a, double b) { return a * b; };
  double r = 0;
  const std::span<double, 1> span(&r, 1);
  tally::transform_reduce(tally::serial(), x, 0.0, std::plus<>(), square, span);
  EXPECT_EQ(r, 14);
  tally::transform_reduce(tally::simd(), x, x, 1.0, std::plus<>(), multiply, views::scalar(&r));
  EXPECT_EQ(r, 14 + 64);  // each lane starts at 1
  data::expect_error(
      errc::size_mismatch, "tally::transform_reduce: result has 3 elements and should have 1", [&] {
        std::vector<double> three(3);
        tally::transform_reduce(tally::serial(), x, 0.0, std::plus<>(), square, three);
      });
}

}  // namespace
