// The scans: each element has the bits of the transcription's sum of the elements up to it, for
// every pair of types, layout and start.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

using data::kind;
using data::layout;
using tally::type;
using tally::order::chunk;

class Scan : public data::OnEveryExecutor {};

struct scan_case {
  type x, y;
};

const std::vector<scan_case>& all_cases() {
  static const auto cases = [] {
    std::vector<scan_case> all;
    data::for_each_type([&]<class X>(std::type_identity<X>) {
      const type rule = tally::type_of<tally::sum_result_t<X>>;
      const type widest = tally::type_of<tally::dot_widest_t<X, X>>;
      all.push_back({tally::type_of<X>, rule});
      if (widest != rule) all.push_back({tally::type_of<X>, widest});
    });
    return all;
  }();
  return cases;
}

/// Sums of the first 0, 1, ... n elements, one by one.
const std::vector<std::byte>& sums(const scan_case& c, std::size_t n, kind k) {
  static std::map<std::tuple<type, type, std::size_t, kind>, std::vector<std::byte>> known;
  std::vector<std::byte>& all = known[{c.x, c.y, n, k}];
  if (!all.empty()) return all;
  const auto x = data::random_bytes(c.x, n, n, k);
  for (std::size_t i = 0; i <= n; ++i) {
    const std::vector<std::byte> first(x.begin(),
                                       x.begin() + static_cast<std::ptrdiff_t>(i * size_of(c.x)));
    const auto sum = transcription::reduction(tally::reduction::sum, {first, c.x}, c.y);
    all.insert(all.end(), sum.begin(), sum.end());
  }
  return all;
}

tally::output_operand written(const tally::operand& v) {
  return {const_cast<void*>(v.data), v.size, v.increment, v.element};
}

void check(const tally::executor& where, const scan_case& c, std::size_t n, kind k, layout x_layout,
           layout y_layout) {
  const std::size_t y_size = size_of(c.y);
  const std::vector<std::byte>& all = sums(c, n, k);
  const auto x_bytes = data::random_bytes(c.x, n, n, k);
  const std::vector<std::byte> poison(n * y_size, std::byte{0xcc});
  for (const bool exclusive : {false, true}) {
    data::buffer x_memory(where, 4096 + 4 * x_bytes.size());
    data::buffer y_memory(where, 4096 + 4 * poison.size());
    const tally::operand x = data::place(x_memory, x_bytes, c.x, x_layout);
    const tally::operand y = data::place(y_memory, poison, c.y, y_layout);
    const std::vector<std::byte> want(
        all.begin() + static_cast<std::ptrdiff_t>(exclusive ? 0 : y_size),
        all.end() - static_cast<std::ptrdiff_t>(exclusive ? y_size : 0));
    const auto same = [&](const tally::operand& result, const data::buffer& memory) {
      const auto got = data::elements_at(memory, result);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(std::memcmp(&got[i * y_size], &want[i * y_size], y_size), 0)
            << name(c.x) << " in " << name(c.y) << ", element " << i << " of " << n
            << (exclusive ? ", exclusive" : "") << ", increments " << x_layout.increment << ", "
            << y_layout.increment;
      }
    };
    tally::scan(where, {x, written(y), exclusive});
    ASSERT_NO_FATAL_FAILURE(same(y, y_memory));
    if (c.x == c.y) {
      tally::scan(where, {x, written(x), exclusive});
      ASSERT_NO_FATAL_FAILURE(same(x, x_memory));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, EveryTypeAndSize) {
  for (const scan_case& c : all_cases()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{65}, std::size_t{300},
                                chunk, chunk + 1, 2 * chunk + 77}) {
      ASSERT_NO_FATAL_FAILURE(check(where(), c, n, kind::plain, {}, {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, EveryLayout) {
  for (const scan_case& c : all_cases()) {
    const std::size_t n = 2 * chunk + 77;
    ASSERT_NO_FATAL_FAILURE(check(where(), c, n, kind::wide, {1, 1}, {3, 1}));
    ASSERT_NO_FATAL_FAILURE(check(where(), c, n, kind::special, {1, 2}, {0, -2}));
    ASSERT_NO_FATAL_FAILURE(check(where(), c, n, kind::special, {0, 1}, {0, 3}));
    ASSERT_NO_FATAL_FAILURE(check(where(), c, n, kind::wide, {5, -3}, {7, 1}));
  }
}

/// Elements of type X are summed in type Y; some of many are compared.
template <class X, class Y>
void check_long(const tally::executor& where, std::size_t n) {
  const auto x = data::elements_of<X>(data::random_bytes<X>(n, 3, kind::plain));
  const data::placed from(where, x);
  const data::placed to(where, std::vector<Y>(n));
  tally::inclusive_scan(where, from.span(), to.span());
  const std::vector<Y> got = to.read();
  tally::exclusive_scan(where, from.span(), to.span());
  const std::vector<Y> before = to.read();
  EXPECT_TRUE(data::same_bits(before[0], Y{}));
  ASSERT_EQ(std::memcmp(&before[1], got.data(), (n - 1) * sizeof(Y)), 0);
  for (std::size_t i = 0; i < n; i += 1 + i / 9) {
    const Y want = tally::sum<Y>(tally::serial(), std::span(x).first(i + 1));
    ASSERT_TRUE(data::same_bits(got[i], want)) << "element " << i << " of " << n;
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, ManyElements) {
  for (const std::size_t n : {63 * chunk + 1, 513 * chunk, 1300 * chunk + 501}) {
    check_long<double, double>(where(), n);
    check_long<float, float>(where(), n);
  }
  check_long<std::int8_t, double>(where(), 700 * chunk + 3);
  check_long<tally::bfloat16, float>(where(), 700 * chunk + 3);
  check_long<std::complex<float>, std::complex<double>>(where(), 300 * chunk + 3);
}

/// Calls with types, which on one host thread go a short way.
template <class T>
void check_call(const tally::executor& where, std::size_t n, kind k) {
  const scan_case c{tally::type_of<T>, tally::type_of<T>};
  const std::vector<T> all = data::elements_of<T>(sums(c, n, k));
  const data::placed x(where, data::elements_of<T>(data::random_bytes(c.x, n, n, k)));
  for (const bool exclusive : {false, true}) {
    const data::placed y(where, std::vector<T>(n));
    const auto scan = [&](const auto& from, const auto& to) {
      exclusive ? tally::exclusive_scan(where, from, to) : tally::inclusive_scan(where, from, to);
    };
    const auto same = [&](const std::vector<T>& got) {
      ASSERT_EQ(std::memcmp(got.data(), &all[exclusive ? 0 : 1], n * sizeof(T)), 0)
          << n << " elements" << (exclusive ? ", exclusive" : "");
    };
    scan(x.span(), y.span());
    ASSERT_NO_FATAL_FAILURE(same(y.read()));
    const data::placed z(where, x.read());
    scan(z.span(), z.span());
    ASSERT_NO_FATAL_FAILURE(same(z.read()));
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, ShortCalls) {
  for (const kind k : {kind::plain, kind::special}) {
    for (std::size_t n = 1; n < 200; n += n < 70 ? 1 : 13) {
      ASSERT_NO_FATAL_FAILURE(check_call<double>(where(), n, k));
      ASSERT_NO_FATAL_FAILURE(check_call<float>(where(), n, k));
      ASSERT_NO_FATAL_FAILURE(check_call<std::int64_t>(where(), n, k));
    }
    ASSERT_NO_FATAL_FAILURE(check_call<double>(where(), 2 * chunk + 77, k));
    ASSERT_NO_FATAL_FAILURE(check_call<float>(where(), 2 * chunk + 77, k));
    ASSERT_NO_FATAL_FAILURE(check_call<std::int64_t>(where(), 2 * chunk + 77, k));
  }
}

/// Scans the rest of a vector behind its first `chunks`.
template <class X, class Y>
void check_rest(const tally::executor& where, std::size_t chunks, std::size_t n) {
  const auto x = data::elements_of<X>(data::random_bytes<X>(chunks * chunk + n, 5, kind::plain));
  std::vector<Y> nodes;
  for (std::size_t done = 0, rest = chunks; rest > 0;) {
    const std::size_t size = std::bit_floor(rest);
    nodes.push_back(tally::sum<Y>(tally::serial(), std::span(x).subspan(done, size * chunk)));
    done += size * chunk;
    rest -= size;
  }
  std::vector<Y> whole(x.size());
  const data::placed from(where, std::vector<X>(x.end() - static_cast<std::ptrdiff_t>(n), x.end()));
  const data::placed to(where, std::vector<Y>(n));
  for (const bool exclusive : {false, true}) {
    tally::scan(tally::serial(), {tally::as_operand(x), tally::as_output(whole), exclusive});
    const auto result = to.span();
    tally::scan(where, {tally::as_operand(from.span()), tally::as_output(result), exclusive,
                        static_cast<std::int64_t>(chunks), nodes.data()});
    ASSERT_EQ(std::memcmp(to.read().data(), &whole[chunks * chunk], n * sizeof(Y)), 0)
        << chunks << " chunks, then " << n << " elements";
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, BehindChunks) {
  for (const std::size_t chunks : {1, 2, 3, 6, 31, 32, 33, 63, 1023, 1055}) {
    for (const std::size_t n : {std::size_t{5}, 2 * chunk, 70 * chunk + 3}) {
      if (chunks > 100 && n < chunk) continue;
      ASSERT_NO_FATAL_FAILURE((check_rest<double, double>(where(), chunks, n)));
      ASSERT_NO_FATAL_FAILURE((check_rest<float, float>(where(), chunks, n)));
    }
    ASSERT_NO_FATAL_FAILURE((check_rest<std::int32_t, std::int64_t>(where(), chunks, 3000)));
    ASSERT_NO_FATAL_FAILURE(
        (check_rest<std::complex<float>, std::complex<float>>(where(), chunks, 3000)));
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, IntegersWrap) {
  const std::size_t n = 300 * chunk + 77;
  const auto x =
      data::elements_of<std::int64_t>(data::random_bytes<std::int64_t>(n, 1, kind::wide));
  const data::placed v(where(), x);
  tally::inclusive_scan(where(), v.span(), v.span());
  const std::vector<std::int64_t> got = v.read();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += static_cast<std::uint64_t>(x[i]);
    ASSERT_EQ(static_cast<std::uint64_t>(got[i]), sum) << i;
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, GoldenBits) {
  for (const auto& row : golden::reduction_rows) {
    const data::placed x(where(), golden::doubles(row.n, 1));
    const data::placed f(where(), golden::floats(row.n, 5));
    if (row.n == 0) continue;
    tally::inclusive_scan(where(), x.span(), x.span());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(x.read().back()), row.sum) << row.n;
    tally::inclusive_scan(where(), f.span(), f.span());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(f.read().back()), row.sum32) << row.n;
  }
}

TEST_ON_EVERY_EXECUTOR(Scan, Nothing) {
  const data::placed x(where(), std::vector<double>{1});
  tally::inclusive_scan(where(), x.span().first(0), x.span().first(0));
  tally::exclusive_scan(where(), std::span<double>(), std::span<double>());
  EXPECT_EQ(x.read(), std::vector<double>{1});
}

TEST(Scan, OnAutomatic) {
  const std::vector<int> x = {3, -1, 4};
  std::vector<std::int64_t> y(3);
  tally::inclusive_scan(x, y);
  EXPECT_EQ(y, (std::vector<std::int64_t>{3, 2, 6}));
  tally::exclusive_scan(x, std::span(y));
  EXPECT_EQ(y, (std::vector<std::int64_t>{0, 3, 2}));
  const std::vector<double> zeros = {-0.0, -0.0};
  std::vector<double> sums(2);
  tally::inclusive_scan(zeros, sums);
  EXPECT_FALSE(std::signbit(sums[0]) || std::signbit(sums[1]));
}

TEST(Scan, Errors) {
  const tally::executor where = tally::serial();
  std::vector<double> x(5), y(6);
  std::vector<float> f(5);
  using tally::errc;
  data::expect_error(errc::size_mismatch, "tally::inclusive_scan: x has 5 elements, y has 6",
                     [&] { tally::inclusive_scan(where, x, y); });
  EXPECT_THROW(tally::inclusive_scan(tally::simd(), x, y), tally::error);
  EXPECT_THROW(tally::exclusive_scan(tally::simd(), std::span(y).first(5), std::span(y).last(5)),
               tally::error);
  data::expect_error(
      errc::unsupported_type, "tally::exclusive_scan: y is float32; float64 gives float64",
      [&] { tally::scan(where, {tally::as_operand(x), tally::as_output(f), true}); });
  data::expect_error(
      errc::overlap,
      "tally::inclusive_scan: y overlaps x: it begins 8 bytes after x, which takes "
      "40; it may be x itself",
      [&] { tally::inclusive_scan(where, std::span(y).first(5), std::span(y).last(5)); });
  // In place, of another type: a complex one would overwrite imaginary parts.
  std::vector<double> wide(2);
  auto* const floats = reinterpret_cast<float*>(wide.data());
  floats[0] = 1, floats[2] = 2;
  tally::inclusive_scan(where, tally::strided(floats, 2, 2), wide);
  EXPECT_EQ(wide, (std::vector<double>{1, 3}));
  std::vector<std::complex<double>> wider(2);
  auto* const narrow = reinterpret_cast<std::complex<float>*>(wider.data());
  EXPECT_THROW(tally::inclusive_scan(where, tally::strided(narrow, 2, 2), wider), tally::error);
  data::expect_error(errc::zero_increment, "tally::inclusive_scan: y has increment 0",
                     [&] { tally::inclusive_scan(where, x, tally::strided(y.data(), 5, 0)); });
  data::expect_error(
      errc::invalid_argument,
      "tally::inclusive_scan: there are -1 chunks before x; there can be "
      "274877906944",
      [&] {
        tally::scan(where, {tally::as_operand(x), {x.data(), 5, 1, type::float64}, false, -1});
      });
  data::expect_error(
      errc::null_pointer, "tally::inclusive_scan: nodes is null and should point at 2 elements",
      [&] {
        tally::scan(where, {tally::as_operand(x), {x.data(), 5, 1, type::float64}, false, 3});
      });
  std::span<double> none(static_cast<double*>(nullptr), 5);
  data::expect_error(errc::null_pointer,
                     "tally::exclusive_scan: y is null and should point at 5 elements",
                     [&] { tally::exclusive_scan(where, x, none); });
}

}  // namespace
