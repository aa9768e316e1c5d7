// multi_dot and batched_dot: each result has the bits of the single `dot`.
#include "tests/data.hpp"
#include "tests/views.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace {

using data::kind;
using data::random_bytes;
using tally::type;
using tally::order::chunk;
using tally::order::lanes;

struct types {
  type x, y, accumulator;
};

std::vector<types> types_with_accumulators(type x, type y) {
  std::vector<types> all;
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      if (tally::type_of<X> != x || tally::type_of<Y> != y) return;
      const type rule = tally::type_of<tally::dot_result_t<X, Y>>;
      const type widest = tally::type_of<tally::dot_widest_t<X, Y>>;
      all.push_back({x, y, rule});
      if (widest != rule) all.push_back({x, y, widest});
    });
  });
  return all;
}

const std::vector<types>& equal_types() {
  static const auto list = [] {
    std::vector<types> all;
    for (std::size_t i = 0; i < tally::type_count; ++i) {
      for (const types& t : types_with_accumulators(static_cast<type>(i), static_cast<type>(i)))
        all.push_back(t);
    }
    return all;
  }();
  return list;
}

/// Returns mixed types in both orders: backends implement one.
const std::vector<types>& mixed_types() {
  static const auto list = [] {
    std::vector<types> all;
    for (const auto& [x, y] : {std::pair{type::float32, type::boolean},
                               {type::boolean, type::float32},
                               {type::float64, type::float32},
                               {type::complex64, type::float64},
                               {type::int8, type::complex128},
                               {type::int64, type::bfloat16},
                               {type::uint8, type::int32},
                               {type::complex128, type::complex64}}) {
      for (const types& t : types_with_accumulators(x, y)) all.push_back(t);
    }
    return all;
  }();
  return list;
}

std::vector<types> all_types() {
  std::vector<types> all = equal_types();
  all.insert(all.end(), mixed_types().begin(), mixed_types().end());
  return all;
}

bool is_often_used(const types& t) {
  return t.x == t.y && t.x == t.accumulator && t.x != type::int64;
}

/// Memory of an executor, and its image on the host.
class mirrored {
 public:
  mirrored(const tally::executor& where, const std::vector<std::byte>& bytes)
      : host_(tally::serial(), bytes.size() + 64), far_(where, bytes.size() + 64) {
    host_.write(bytes.data(), bytes.size());
    far_.write(bytes.data(), bytes.size());
  }
  tally::operand far(const tally::operand& host) const {
    tally::operand moved = host;
    moved.data = far_.get() + (static_cast<const std::byte*>(host.data) - host_.get());
    return moved;
  }
  std::byte* host() const { return host_.get(); }

 private:
  data::buffer host_, far_;
};

/// Layout of one call's operands.
struct block {
  std::size_t rows;
  std::size_t columns;
  std::ptrdiff_t leading_dimension;
  std::size_t offset = 0;  ///< of row 0, in elements
  std::ptrdiff_t increment = 1;

  std::size_t elements() const {
    const auto size = [](std::ptrdiff_t a) { return static_cast<std::size_t>(std::abs(a)); };
    return offset + rows * size(leading_dimension) + columns * size(increment) + 1;
  }
};

class MultiDot : public data::OnEveryExecutor {
 protected:
  using function = void(const tally::executor&, const tally::multi_dot_arguments&);

  static std::vector<std::byte> expected(const tally::dot_pairs& pairs, type accumulator,
                                         tally::conjugate conjugated, tally::grade g) {
    const std::size_t size = tally::size_of(accumulator);
    std::vector<std::byte> bytes(pairs.size() * size);
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      alignas(16) std::array<std::byte, 16> one;
      const auto [x, y] = pairs[j];
      tally::dot(tally::serial(), {x, y, conjugated, {one.data(), accumulator}, {g}});
      std::memcpy(bytes.data() + j * size, one.data(), size);
    }
    return bytes;
  }

  void compare(function& f, const tally::dot_pairs& pairs, type accumulator,
               tally::conjugate conjugated, tally::grade g, const std::vector<std::byte>& want,
               const std::string& label) {
    const std::size_t size = want.size(), room = size + 64;
    // Results aligned as their type, and no more.
    const std::size_t first = tally::size_of(accumulator) == 16 ? 8 : tally::size_of(accumulator);
    std::vector<std::byte> poison(room, std::byte{0xcc});
    data::buffer on_host(tally::serial(), room), far(where(), room);
    on_host.write(poison.data(), room);
    f(where(), {pairs, conjugated, {on_host.get() + first, accumulator}, {g, true}});
    std::vector<std::byte> got(on_host.get() + first, on_host.get() + first + size);
    ASSERT_EQ(got, want) << label;
    ASSERT_EQ(on_host.get()[first + size], std::byte{0xcc})
        << "written past the results: " << label;

    far.write(poison.data(), room);
    f(where(), {pairs, conjugated, {far.get() + first, accumulator}, {g, false}});
    far.read(poison.data(), room);  // on the default stream, so after the sums
    got.assign(poison.begin() + static_cast<std::ptrdiff_t>(first),
               poison.begin() + static_cast<std::ptrdiff_t>(first + size));
    ASSERT_EQ(got, want) << "written form: " << label;
    ASSERT_EQ(poison[first + size], std::byte{0xcc}) << "written past the results: " << label;
    ASSERT_EQ(poison[first - 1], std::byte{0xcc}) << "written before the results: " << label;
  }

  /// Rows with rows, or with one vector (leading dimension 0).
  void compare(function& f, const types& t, const block& bx, const block& by,
               tally::conjugate conjugated = tally::conjugate::none, tally::grade g = {},
               kind k = kind::plain) {
    const mirrored x(where(), random_bytes(t.x, bx.elements(), bx.columns + 1, k));
    const mirrored y(where(), random_bytes(t.y, by.elements(), by.columns + 2, k));
    const auto rows = [](const mirrored& memory, const block& b, type element) {
      const std::size_t size = tally::size_of(element);
      std::byte* first = memory.host() + b.offset * size;
      if (b.leading_dimension < 0) {
        first -= (static_cast<std::ptrdiff_t>(b.rows) - 1) * b.leading_dimension *
                 static_cast<std::ptrdiff_t>(size);
      }
      return tally::operand_rows{tally::blas_operand(first, b.columns, b.increment, element, size),
                                 b.rows, b.leading_dimension};
    };
    const tally::dot_pairs on_host = {rows(x, bx, t.x), rows(y, by, t.y)};
    tally::dot_pairs far = on_host;
    far.x.first = x.far(far.x.first);
    far.y.first = y.far(far.y.first);
    const std::string label =
        std::to_string(bx.rows) + " rows of " + std::to_string(bx.columns) + " " +
        std::string(tally::name(t.x)) + " by " + std::string(tally::name(t.y)) + " in " +
        std::string(tally::name(t.accumulator)) + ", " + std::to_string(bx.leading_dimension) +
        " and " + std::to_string(by.leading_dimension) + " apart, offsets " +
        std::to_string(bx.offset) + ", " + std::to_string(by.offset) + ", increments " +
        std::to_string(bx.increment) + ", " + std::to_string(by.increment) +
        (g.is_exact() ? ", exact" : "");
    compare(f, far, t.accumulator, conjugated, g, expected(on_host, t.accumulator, conjugated, g),
            label);
  }

  void against_one(const types& t, std::size_t k, std::size_t n,
                   tally::conjugate conjugated = tally::conjugate::none, tally::grade g = {},
                   kind data = kind::plain) {
    const auto even = static_cast<std::ptrdiff_t>((n + 15) / 16 * 16);
    compare(tally::multi_dot, t, {k, n, even}, {k, n, 0}, conjugated, g, data);
  }
};

constexpr std::size_t row_counts[] = {0, 1, 2, 3, 16, 17, 33};

TEST_ON_EVERY_EXECUTOR(MultiDot, AgainstOne) {
  for (const types& t : all_types()) {
    for (const std::size_t k : row_counts) {
      for (const std::size_t n :
           {std::size_t{0}, std::size_t{1}, lanes - 1, lanes, lanes + 1, std::size_t{777}}) {
        ASSERT_NO_FATAL_FAILURE(against_one(t, k, n));
      }
    }
    for (const std::size_t k : {std::size_t{1}, std::size_t{3}, std::size_t{17}}) {
      for (const std::size_t n : {chunk - 1, chunk, chunk + 1, 2 * chunk + 65, 4 * chunk + 1}) {
        ASSERT_NO_FATAL_FAILURE(against_one(t, k, n));
      }
    }
  }
}

TEST_ON_EVERY_BACKEND(MultiDot, AgainstOneLong) {
  for (const types& t : equal_types()) {
    ASSERT_NO_FATAL_FAILURE(against_one(t, 5, 17 * chunk + 33));
    if (!is_often_used(t)) continue;
    for (const std::size_t k : {std::size_t{2}, std::size_t{16}, std::size_t{19}}) {
      ASSERT_NO_FATAL_FAILURE(against_one(t, k, 32 * chunk));
      ASSERT_NO_FATAL_FAILURE(against_one(t, k, 100003));
    }
    ASSERT_NO_FATAL_FAILURE(against_one(t, 3, 600 * chunk + 5));
  }
  const types doubles = {type::float64, type::float64, type::float64};
  ASSERT_NO_FATAL_FAILURE(against_one(doubles, 2, 2100 * chunk + 5));
  // From here up GPU blocks take several tiles, then rounds of tiles.
  if (where().name() == "cuda") {
    ASSERT_NO_FATAL_FAILURE(against_one(doubles, 17, 5000 * chunk + 5));
    ASSERT_NO_FATAL_FAILURE(against_one(doubles, 2, 40000 * chunk + 5));
    const types complexes = {type::complex128, type::complex128, type::complex128};
    ASSERT_NO_FATAL_FAILURE(against_one(complexes, 9, 5000 * chunk + 5));
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Layouts) {
  for (const types& t : all_types()) {
    const std::size_t n = 2 * chunk + 75;
    const auto ld = static_cast<std::ptrdiff_t>(n);
    for (const auto& [x, y] : {
             std::pair<block, block>{{5, n, ld, 0}, {5, n, 0, 1}},  // an odd distance
             {{5, n, ld + 1, 1}, {5, n, 0, 0}},
             {{5, n, ld + 5, 3}, {5, n, 0, 2}},
             {{5, n, 1, 0}, {5, n, 0, 0}},        // overlapping rows
             {{5, n, 0, 2}, {5, n, 0, 2}},        // one row
             {{5, n, -ld - 5, 0}, {5, n, 0, 0}},  // rows backwards
             {{5, n, ld + 5}, {5, n, 0, 0, 3}},   // a strided vector
             {{5, n, ld + 5}, {5, n, 0, 0, -2}},
             {{5, n, 1, 0, 5}, {5, n, 0, 0}},  // successive columns
             {{5, n, 3 * ld, 1, 3}, {5, n, 0, 0}},
             {{5, n, 3 * ld, 0, -3}, {5, n, 0, 0, 2}},
         }) {
      ASSERT_NO_FATAL_FAILURE(compare(tally::multi_dot, t, x, y));
    }
    ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {67, 20, 1, 0, 67}, {67, 20, 20}));
    ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {5, n, ld}, {5, n, 1, 0, 5}));
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, WideRangesAndSpecialValues) {
  for (const types& t : all_types()) {
    for (const kind k : {kind::wide, kind::special}) {
      ASSERT_NO_FATAL_FAILURE(against_one(t, 4, 2 * chunk + 77, tally::conjugate::none, {}, k));
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {40, 32, 32}, {40, 32, 32},
                                      tally::conjugate::none, {}, k));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Conjugated) {
  for (const types& t : all_types()) {
    for (const auto conjugated : {tally::conjugate::x, tally::conjugate::y}) {
      ASSERT_NO_FATAL_FAILURE(against_one(t, 3, 3 * chunk + 5, conjugated));
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {9, 20, 20}, {9, 20, 24}, conjugated));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Exact) {
  for (const types& t : all_types()) {
    ASSERT_NO_FATAL_FAILURE(against_one(t, 3, chunk + 5, tally::conjugate::x, tally::exact));
    ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {20, 31, 31}, {20, 31, 33},
                                    tally::conjugate::none, tally::exact, kind::wide));
  }
  const types doubles = {type::float64, type::float64, type::float64};
  for (const std::size_t k : row_counts) {
    ASSERT_NO_FATAL_FAILURE(against_one(doubles, k, 100, tally::conjugate::none, tally::exact));
  }
  ASSERT_NO_FATAL_FAILURE(against_one(doubles, 3, 70000, tally::conjugate::none, tally::exact));
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Batched) {
  for (const types& t : all_types()) {
    for (const std::size_t n : {0,  1,  2,   3,   4,   7,   8,   15,   16,   31,   32,   33,  63,
                                64, 65, 100, 128, 255, 511, 512, 1000, 1023, 1024, 1025, 3000}) {
      if (n > 130 && !is_often_used(t) && n != 1025) continue;
      const auto ld = static_cast<std::ptrdiff_t>(n);
      for (const std::size_t b : {0, 1, 2, 5, 67}) {
        ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {b, n, ld}, {b, n, ld}));
      }
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {67, n, ld + 1}, {67, n, ld + 3}));
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {67, n, ld, 1}, {67, n, ld, 2}));
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {67, n, ld + 16}, {67, n, 0}));
      ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {67, n, -ld - 16, 0}, {67, n, 16}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, ManyRows) {
  for (const types& t : equal_types()) {
    if (!is_often_used(t)) continue;
    ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {3001, 32, 32}, {3001, 32, 32}));
    ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, t, {1000, 96, 96}, {1000, 96, 0}));
    ASSERT_NO_FATAL_FAILURE(compare(tally::multi_dot, t, {300, 2500, 2512}, {300, 2500, 0}));
  }
  const types mixed = {type::float32, type::boolean, type::float32};
  ASSERT_NO_FATAL_FAILURE(compare(tally::batched_dot, mixed, {70001, 5, 5}, {70001, 5, 5}));
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Lists) {
  for (const types& t : all_types()) {
    const std::size_t room = 50 * chunk;
    const mirrored x(where(), random_bytes(t.x, room, 5, kind::plain));
    const mirrored y(where(), random_bytes(t.y, room, 6, kind::plain));
    const auto vector = [](const mirrored& memory, type element, std::size_t first, std::size_t n,
                           std::ptrdiff_t increment = 1) {
      const std::size_t size = tally::size_of(element);
      return tally::blas_operand(memory.host() + first * size, n, increment, element, size);
    };
    const auto vx = [&](auto... v) { return vector(x, t.x, v...); };
    const auto vy = [&](auto... v) { return vector(y, t.y, v...); };
    const std::size_t n = 5 * chunk + 3;
    std::vector<std::vector<tally::operand_pair>> lists = {
        {{vx(0, n), vy(0, n)}},
        {{vx(0, n), vy(0, n)}, {vx(16 * chunk, n), vy(0, n)}, {vx(32 * chunk, n), vy(0, n)}},
        {{vx(0, n), vy(0, n)}, {vx(0, n), vy(16 * chunk, n)}, {vx(0, n), vy(32 * chunk, n)}},
        {{vx(0, n), vy(0, n)},
         {vx(1, 7), vy(3, 7)},
         {vx(0, 0), vy(0, 0)},
         {vx(8, 20 * chunk), vy(16, 20 * chunk)},
         {vx(0, 1000, 3), vy(5, 1000, -2)}},
        {{{nullptr, 0, 1, t.x}, {nullptr, 0, 1, t.y}}, {vx(0, 70), vy(0, 70)}},
    };
    for (const std::size_t pairs : {16, 17, 40}) {
      auto& list = lists.emplace_back();
      for (std::size_t j = 0; j < pairs; ++j) {
        const std::size_t size = 100 * j;
        list.push_back({vx(16 * j, size), vy(j, size)});
      }
    }
    for (const auto& list : lists) {
      std::vector<tally::operand_pair> far = list;
      for (auto& pair : far) {
        if (pair.x.data != nullptr) pair = {x.far(pair.x), y.far(pair.y)};
      }
      for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
        const auto want = expected({{}, {}, list}, t.accumulator, tally::conjugate::x, g);
        ASSERT_NO_FATAL_FAILURE(
            compare(tally::multi_dot, {{}, {}, far}, t.accumulator, tally::conjugate::x, g, want,
                    "a list of " + std::to_string(list.size()) + " pairs of " +
                        std::string(tally::name(t.x)) + " and " + std::string(tally::name(t.y)) +
                        (g.is_exact() ? ", exact" : "")));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(MultiDot, Views) {
  constexpr std::size_t k = 5, n = 2500;
  const auto numbers = [&](std::size_t size, std::uint64_t seed) {
    return data::placed<double>(
        where(), data::elements_of<double>(random_bytes(type::float64, size, seed, kind::plain)));
  };
  const auto x = numbers(k * n, 1), y = numbers(n, 2);
  double* const first = x.span().data();
  const auto v = y.span();
  const auto right = views::right(first, k, n);
  const views::view<const double, 2> left = {first, {k, n}, {1, k}};
  std::vector<double> by_right, by_left, of_both;
  for (std::size_t j = 0; j < k; ++j) {
    const auto row = std::span(first + j * n, n);
    const auto column = tally::strided(first + j, n, k);
    by_right.push_back(tally::dot(where(), row, v));
    by_left.push_back(tally::dot(where(), column, v));
    of_both.push_back(tally::dot(where(), row, column));
  }
  EXPECT_EQ(tally::multi_dot(where(), right, v), by_right);
  EXPECT_EQ(tally::multi_dot(where(), left, v, tally::conjugate::x), by_left);
  EXPECT_EQ(tally::batched_dot(where(), right, left), of_both);
  EXPECT_EQ(tally::batched_dot(where(), right, tally::rows(first, k, n, 1, k), tally::conjugate::x),
            of_both);
  const data::placed<double> results(where(), std::vector<double>(k));
  tally::multi_dot(where(), left, v, views::vector(results.span().data(), k));
  EXPECT_EQ(results.read(), by_left);
  EXPECT_EQ(tally::multi_dot(right, v), by_right);  // in the data's memory
}

TEST_ON_EVERY_EXECUTOR(MultiDot, FromManyThreads) {
  const types t = {type::float64, type::float64, type::float64};
  const std::size_t k = 20, n = 30 * chunk + 5;
  const mirrored v(where(), random_bytes(t.x, k * n, 7, kind::plain));
  const tally::operand row = {v.host(), n, 1, t.x};
  const tally::dot_pairs pairs = {{row, k, static_cast<std::ptrdiff_t>(n)}, {row, k, 0}};
  const auto want = expected(pairs, t.accumulator, tally::conjugate::none, {});
  tally::dot_pairs far = pairs;
  far.x.first = far.y.first = v.far(row);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::vector<double> results(k);
      for (int round = 0; round < 10; ++round) {
        tally::multi_dot(where(), {far, tally::conjugate::none, {results.data(), t.accumulator}});
        if (std::memcmp(results.data(), want.data(), want.size()) != 0) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// --- Invalid input: a clear error, nothing written -----------------------------------------------

TEST_ON_EVERY_EXECUTOR(MultiDot, BadInput) {
  using tally::errc;
  const mirrored memory(where(), std::vector<std::byte>(4096, std::byte{1}));
  std::array<double, 8> results;
  results.fill(42);
  const auto vector = [&](std::size_t n, std::ptrdiff_t increment = 1, type element = type::float64,
                          std::size_t bytes = 0) {
    return memory.far({memory.host() + bytes, n, increment, element});
  };
  const auto expect = [&](errc code, const std::string& text, const tally::dot_pairs& pairs,
                          function& f = tally::multi_dot,
                          tally::conjugate conjugated = tally::conjugate::none,
                          type accumulator = type::float64, bool null_results = false) {
    try {
      f(where(), {pairs, conjugated, {null_results ? nullptr : results.data(), accumulator}});
      ADD_FAILURE() << "no error; expected: " << text;
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), code);
      EXPECT_EQ(std::string(e.what()), text);
    }
  };
  const auto five = vector(5), six = vector(6);
  expect(errc::size_mismatch, "tally::multi_dot: the rows of x have 5 elements, y has 6",
         {{five, 3, 5}, {six, 3, 0}});
  expect(errc::size_mismatch, "tally::batched_dot: x has 3 rows, y has 4",
         {{five, 3, 5}, {five, 4, 5}}, tally::batched_dot, tally::conjugate::x);
  expect(errc::invalid_argument,
         "tally::multi_dot: x has 18446744073709551615 rows; there can be 281474976710656",
         {{five, static_cast<std::size_t>(-1), 5}, {five, static_cast<std::size_t>(-1), 0}});
  expect(
      errc::invalid_argument,
      "tally::multi_dot: x has 18446744073709551615 elements; there can be 281474976710656",
      {{vector(static_cast<std::size_t>(-1)), 2, 5}, {vector(static_cast<std::size_t>(-1)), 2, 0}});
  expect(errc::null_pointer, "tally::batched_dot: y is null and should point at 5 elements",
         {{five, 3, 5}, {{nullptr, 5, 1, type::float64}, 3, 5}}, tally::batched_dot);
  expect(errc::zero_increment, "tally::multi_dot: y has increment 0",
         {{five, 3, 5}, {vector(5, 0), 3, 0}}, tally::multi_dot, tally::conjugate::x);
  expect(errc::misaligned,
         "tally::multi_dot: x is not a multiple of 8 bytes, the alignment of float64",
         {{vector(5, 1, type::float64, 4), 3, 5}, {five, 3, 0}});
  expect(errc::unsupported_type, "tally::multi_dot: the result is float32; float64 gives float64",
         {{five, 3, 5}, {five, 3, 0}}, tally::multi_dot, tally::conjugate::none, type::float32);
  expect(errc::null_pointer, "tally::multi_dot: result is null and should point at 3 elements",
         {{five, 3, 5}, {five, 3, 0}}, tally::multi_dot, tally::conjugate::none, type::float64,
         true);
  expect(errc::unsupported_type, "tally::multi_dot: y has element type 77; there are 11",
         {{five, 3, 5}, {vector(5, 1, static_cast<type>(77)), 3, 0}});

  using list = std::vector<tally::operand_pair>;
  expect(errc::size_mismatch, "tally::multi_dot: x of pair 1 has 5 elements, y of pair 1 has 6",
         {{}, {}, list{{five, five}, {five, six}}});
  expect(errc::unsupported_type,
         "tally::multi_dot: y of pair 2 is float32, of pair 0 it is float64",
         {{}, {}, list{{five, five}, {six, six}, {five, vector(5, 1, type::float32)}}});
  expect(errc::unsupported_type, "tally::multi_dot: x of pair 0 has element type 77; there are 11",
         {{}, {}, list{{vector(5, 1, static_cast<type>(77)), five}}});
  expect(errc::zero_increment, "tally::multi_dot: x of pair 1 has increment 0",
         {{}, {}, list{{five, five}, {vector(5, 0), five}}});
  EXPECT_EQ(results, (std::array<double, 8>{42, 42, 42, 42, 42, 42, 42, 42}));
}

// --- The typed interface, on host memory ----------------------------------------------------------

TEST(MultiDotInterface, RowsAgainstAVector) {
  const double v[] = {1, 2, 9, 3, 4, 9};
  const std::vector<float> w = {1, 10};
  const auto block = tally::rows(v, 2, 2, 3);
  static_assert(std::is_same_v<decltype(tally::multi_dot(block, w)), std::vector<double>>);
  EXPECT_EQ(tally::multi_dot(block, w), (std::vector<double>{21, 43}));
  EXPECT_EQ(tally::multi_dot(tally::serial(), block, w, tally::exact),
            (std::vector<double>{21, 43}));
  EXPECT_EQ(tally::multi_dot(tally::simd(), block, tally::strided(v, 2, -3)),
            (std::vector<double>{1 * 3 + 2 * 1, 3 * 3 + 4 * 1}));
  double r[3] = {0, 0, 7};
  tally::multi_dot(tally::simd(), tally::rows(v, 2, 3), std::array{1, 10, 100}, r);
  EXPECT_EQ(r[0], 921);
  EXPECT_EQ(r[1], 943);
  EXPECT_EQ(r[2], 7);
  EXPECT_TRUE(tally::multi_dot(tally::rows(v, 0, 2), w).empty());
}

TEST(MultiDotInterface, ResultTypes) {
  const std::vector<float> v = {0x1p24f, 1, 1, 1};
  const std::vector<float> one = {1, 1, 1, 1};
  const auto block = tally::rows(v.data(), 1, 4);
  static_assert(std::is_same_v<decltype(tally::multi_dot(block, one)), std::vector<float>>);
  EXPECT_EQ(tally::multi_dot<double>(block, one), std::vector<double>{0x1p24 + 3});
  double wide = 0;
  tally::multi_dot(tally::simd(), block, one, &wide);
  EXPECT_EQ(wide, 0x1p24 + 3);
  EXPECT_EQ(tally::batched_dot<double>(block, tally::rows(one.data(), 1, 4)),
            std::vector<double>{0x1p24 + 3});
}

TEST(MultiDotInterface, Pairs) {
  const std::vector<double> r = {1, 2}, u = {3, 4}, w = {5, 6, 7};
  const std::array list = {tally::pair_of(r, u), tally::pair_of(u, u),
                           tally::pair_of(tally::strided(w.data(), 2, 2), r), tally::pair_of(w, w)};
  EXPECT_EQ(tally::multi_dot(list), (std::vector<double>{11, 25, 19, 110}));
  EXPECT_EQ(tally::multi_dot(tally::simd(), list, tally::exact),
            (std::vector<double>{11, 25, 19, 110}));
  double results[4];
  tally::multi_dot(tally::serial(), list, results);
  EXPECT_EQ(results[2], 19);
  EXPECT_TRUE(tally::multi_dot(std::vector<tally::vector_pair<float, bool>>()).empty());
}

TEST(MultiDotInterface, Conjugated) {
  using complex = std::complex<double>;
  const std::vector<complex> x = {{1, 2}, {3, 4}}, y = {{5, 6}, {7, 8}};
  const auto bx = tally::rows(x.data(), 2, 1), by = tally::rows(y.data(), 2, 1);
  const std::vector<complex> first = {y[0]};
  EXPECT_EQ(tally::multi_dot(bx, first, tally::conjugate::x),
            (std::vector<complex>{std::conj(x[0]) * y[0], std::conj(x[1]) * y[0]}));
  EXPECT_EQ(tally::batched_dot(bx, by, tally::conjugate::x),
            (std::vector<complex>{std::conj(x[0]) * y[0], std::conj(x[1]) * y[1]}));
  EXPECT_EQ(tally::multi_dot(std::array{tally::pair_of(x, y)}, tally::conjugate::x),
            std::vector<complex>{std::conj(x[0]) * y[0] + std::conj(x[1]) * y[1]});
  complex r[2];
  tally::multi_dot(tally::simd(), bx, first, r, tally::conjugate::x);
  EXPECT_EQ(r[1], std::conj(x[1]) * y[0]);
  tally::batched_dot(tally::serial(), bx, by, r, {tally::conjugate::x, tally::exact});
  EXPECT_EQ(r[1], std::conj(x[1]) * y[1]);
  // The conjugated operand stays when types are swapped.
  const std::vector<std::complex<float>> narrow = {{1, 2}, {3, 4}};
  EXPECT_EQ(tally::multi_dot(bx, std::vector<std::complex<float>>{narrow[0]}, tally::conjugate::x),
            (std::vector<complex>{std::conj(x[0]) * x[0], std::conj(x[1]) * x[0]}));
}

#if TALLY_HAS_CUDA

TEST(MultiDotOnCuda, CapturedInAGraph) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const std::size_t k = 18, n = 40 * chunk + 3, b = 500;
  const auto values = data::random_bytes<double>(k * n, 3, kind::plain);
  data::buffer memory(tally::cuda(), values.size()), results(tally::cuda(), (2 * k + b) * 8);
  memory.write(values.data(), values.size());
  const auto* const v = reinterpret_cast<const double*>(memory.get());
  auto* const r = reinterpret_cast<double*>(results.get());

  cudaStream_t stream;
  data::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  const auto rows_of = [&](const double* p) { return tally::rows(p, k, n); };
  const auto shorts_of = [&](const double* p) { return tally::rows(p, b, 32); };
  data::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(tally::multi_dot(where, rows_of(v), std::span(v, n)), tally::error);
  EXPECT_THROW(tally::batched_dot(where, shorts_of(v), shorts_of(v)), tally::error);
  tally::multi_dot(where, rows_of(v), std::span(v, n), r);
  tally::multi_dot(where, rows_of(v), std::span(v, n), r + k, tally::exact);
  tally::batched_dot(where, shorts_of(v), shorts_of(v + 32), r + 2 * k);
  cudaGraph_t graph = nullptr;
  data::check_cuda(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  data::check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  data::check_cuda(cudaGraphDestroy(graph));

  const auto* const host = reinterpret_cast<const double*>(values.data());
  std::vector<double> want = tally::multi_dot(tally::simd(), rows_of(host), std::span(host, n));
  for (const double value :
       tally::multi_dot(tally::simd(), rows_of(host), std::span(host, n), tally::exact))
    want.push_back(value);
  for (const double value :
       tally::batched_dot(tally::simd(), shorts_of(host), shorts_of(host + 32)))
    want.push_back(value);
  for (int replay = 0; replay < 3; ++replay) {
    const std::vector<std::byte> poison(results.size(), std::byte{0xcc});
    results.write(poison.data(), poison.size());
    data::check_cuda(cudaGraphLaunch(executable, stream));
    data::check_cuda(cudaStreamSynchronize(stream));
    std::vector<double> got(want.size());
    results.read(got.data(), results.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), results.size()), 0) << "replay " << replay;
  }
  data::check_cuda(cudaGraphExecDestroy(executable));
  data::check_cuda(cudaStreamDestroy(stream));
}

#endif

}  // namespace
