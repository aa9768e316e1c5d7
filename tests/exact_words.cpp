// Unrounded exact sums: for any parts, executors and order the limbs round to the bits of
// tally::exact.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <random>
#include <span>
#include <vector>

namespace {

using data::layout;
using tally::type;

bool is_wide(type t) { return part_of(t) == type::float64; }
type sum_type(bool complex, bool wide) {
  return complex ? (wide ? type::complex128 : type::complex64)
                 : (wide ? type::float64 : type::float32);
}

/// Limbs of one sum in an executor's memory.
struct placed_words {
  placed_words(const tally::executor& where, type of, std::size_t sums = 1)
      : element(of), words(where, std::vector<std::int64_t>(sums * tally::exact_words(of))) {}
  tally::output out() const { return {words.span().data(), element, true}; }
  type element;
  data::placed<std::int64_t> words;
};

/// The rounded sum as 16 bytes, rounded in place and to host memory, which must agree.
std::array<std::byte, 16> rounded(const tally::executor& where, const placed_words& words,
                                  type result, bool root = false) {
  data::buffer out(where, 16);
  const std::array<std::byte, 16> zeros{};
  out.write(zeros.data(), 16);
  std::array<std::byte, 16> bytes{}, waited{};
  const std::int64_t* const from = words.words.span().data();
  tally::round_words(where, {from, words.element, 1, root, {out.get(), result}, false});
  tally::round_words(where, {from, words.element, 1, root, {waited.data(), result}, true});
  out.read(bytes.data(), 16);
  EXPECT_EQ(bytes, waited);
  return bytes;
}

std::array<std::size_t, 4> cuts(std::size_t n, std::mt19937_64& random) {
  std::array<std::size_t, 4> at = {0, random() % (n + 1), random() % (n + 1), n};
  std::sort(at.begin(), at.end());
  return at;
}

const tally::call_options queued = {tally::exact, false};
const tally::call_options waiting = {tally::exact, true};

class ExactWords : public data::OnEveryExecutor {};

/// A dot product in three parts, in limbs of every kind, in both forms.
void check_dot(const tally::executor& where, const tally::operand& x, const tally::operand& y,
               tally::conjugate conjugated, const std::array<std::size_t, 4>& at) {
  const bool complex = is_complex(x.element) || is_complex(y.element);
  for (const bool wide : {true, false}) {
    if (!wide && (is_wide(x.element) || is_wide(y.element))) continue;
    const placed_words words(where, sum_type(complex, wide));
    std::vector<std::int64_t> on_host(tally::exact_words(words.element));
    for (const int part : {2, 0, 1}) {
      const std::size_t first = at[static_cast<std::size_t>(part)];
      const std::size_t n = at[static_cast<std::size_t>(part) + 1] - first;
      const auto px = x.slice(first, n), py = y.slice(first, n);
      tally::dot(where, {px, py, conjugated, words.out(), queued});
      tally::dot(where, {px, py, conjugated, {on_host.data(), words.element, true}, waiting});
    }
    for (const bool to_double : {true, false}) {
      const type result = sum_type(complex, to_double);
      std::array<std::byte, 16> want{}, waited{};
      // A float result needs the exact value's limbs; double is the widest result.
      const auto bytes = rounded(where, words, result);
      tally::round_words(tally::serial(),
                         {on_host.data(), words.element, 1, false, {waited.data(), result}});
      EXPECT_EQ(bytes, waited) << name(x.element) << name(y.element);
      if (!to_double && (is_wide(x.element) || is_wide(y.element))) continue;
      if (!to_double && !complex && x.element < type::float16 && y.element < type::float16)
        continue;
      tally::dot(where, {x, y, conjugated, {want.data(), result}, waiting});
      EXPECT_EQ(bytes, want) << name(x.element) << " " << name(y.element) << " " << x.size << " "
                             << name(words.element) << " " << name(result);
    }
  }
}

TEST_ON_EVERY_EXECUTOR(ExactWords, EveryPairOfTypes) {
  std::mt19937_64 random(1);
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    data::for_each_type([&]<class Y>(std::type_identity<Y>) {
      for (const std::size_t n : {0, 1, 100, 3000}) {
        const auto k = random() % 4 == 0 ? data::kind::special : data::kind::wide;
        const auto conjugated = static_cast<tally::conjugate>(random() % 3);
        data::buffer x_memory(where(), 64 + 4 * n * sizeof(X));
        data::buffer y_memory(where(), 64 + 4 * n * sizeof(Y));
        const layout x_layout = {random() % 2, std::array{1, 1, 2, -3}[random() % 4]};
        const layout y_layout = {random() % 2, std::array{1, 1, 2, -3}[random() % 4]};
        const auto x = data::place(x_memory, data::random_bytes<X>(n, random(), k),
                                   tally::type_of<X>, x_layout);
        const auto y = data::place(y_memory, data::random_bytes<Y>(n, random(), k),
                                   tally::type_of<Y>, y_layout);
        check_dot(where(), x, y, conjugated, cuts(n, random));
      }
    });
  });
}

TEST_ON_EVERY_EXECUTOR(ExactWords, EveryReduction) {
  std::mt19937_64 random(2);
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const auto what :
         {tally::reduction::sum, tally::reduction::asum, tally::reduction::nrm2}) {
      for (const std::size_t n : {0, 1, 1000, 20000}) {
        const auto k = random() % 4 == 0 ? data::kind::special : data::kind::wide;
        data::buffer memory(where(), 64 + 4 * n * sizeof(X));
        const layout l = {random() % 2, std::array{1, 1, 2, -3}[random() % 4]};
        const tally::operand x =
            data::place(memory, data::random_bytes<X>(n, random(), k), tally::type_of<X>, l);
        const bool complex = what == tally::reduction::sum && tally::is_complex_v<X>;
        for (const bool wide : {true, false}) {
          if (!wide && is_wide(x.element)) continue;
          const placed_words words(where(), sum_type(complex, wide));
          const auto at = cuts(n, random);
          for (std::size_t part = 3; part-- > 0;) {
            tally::reduce(where(),
                          {x.slice(at[part], at[part + 1] - at[part]), what, words.out(), queued});
          }
          const type result = sum_type(complex, true);
          std::array<std::byte, 16> want{};
          tally::reduce(where(), {x, what, {want.data(), result}, waiting});
          EXPECT_EQ(rounded(where(), words, result, what == tally::reduction::nrm2), want)
              << name(x.element) << " " << static_cast<int>(what) << " " << n;
        }
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(ExactWords, SeveralDotProducts) {
  constexpr std::size_t n = 2500, k = 5;
  using C = std::complex<double>;
  const auto x_values = data::elements_of<C>(data::random_bytes<C>(n * k, 3, data::kind::wide));
  const auto y_values =
      data::elements_of<double>(data::random_bytes<double>(n, 4, data::kind::wide));
  const data::placed x(where(), x_values);
  const data::placed y(where(), y_values);
  const C* const px = x.span().data();
  const auto want = tally::multi_dot(where(), tally::rows(px, k, n), y.span(),
                                     {tally::conjugate::x, tally::exact});

  const placed_words words(where(), type::complex128, k);
  std::vector<tally::exact_sum<double>> sums(2 * k), rows_sums(2 * k);
  for (const auto& [first, size] :
       {std::pair(std::size_t{1000}, n - 1000), std::pair(std::size_t{0}, std::size_t{1000})}) {
    const auto rows = tally::rows(px + first, k, size, static_cast<std::ptrdiff_t>(n));
    const auto part = y.span().subspan(first, size);
    tally::multi_dot(where(), rows, part, tally::add_to<double>(words.words.span().data()),
                     tally::conjugate::x);
    std::vector<decltype(tally::pair_of(x.span(), y.span()))> list;
    for (std::size_t j = 0; j < k; ++j) {
      list.push_back(tally::pair_of(x.span().subspan(j * n + first, size), part));
    }
    tally::multi_dot(where(), list, tally::add_to(sums), tally::conjugate::x);
    const auto same = tally::rows(y.span().data() + first, k, size, 0);
    tally::batched_dot(where(), rows, same, tally::add_to(rows_sums), tally::conjugate::x);
  }
  for (std::size_t j = 0; j < k; ++j) {
    const std::int64_t* const of_j =
        words.words.span().data() + j * tally::exact_words(type::complex128);
    EXPECT_EQ(data::bits((tally::round_words<double, C>(where(), of_j))), data::bits(want[j])) << j;
    EXPECT_EQ(data::bits(C(sums[2 * j].round<double>(), sums[2 * j + 1].round<double>())),
              data::bits(want[j]));
    EXPECT_EQ(sums[2 * j], rows_sums[2 * j]);
    EXPECT_EQ(sums[2 * j + 1], rows_sums[2 * j + 1]);
  }
  std::vector<C> all(k);
  tally::round_words(
      where(),
      {words.words.span().data(), type::complex128, k, false, {all.data(), type::complex128}});
  for (std::size_t j = 0; j < k; ++j) EXPECT_EQ(data::bits(all[j]), data::bits(want[j])) << j;
}

TEST_ON_EVERY_EXECUTOR(ExactWords, OfTypedFunctions) {
  const data::placed x(where(), std::vector<double>{1e100, 1, -1e100, 0.5});
  const data::placed f(where(), std::vector<float>{1, 2, 3, 4});
  const data::placed c(where(), std::vector<std::complex<float>>{{3, 4}, {0, 1}});
  tally::exact_sum<double> s;
  tally::dot(where(), x.span(), f.span(), tally::add_to(s));
  EXPECT_EQ(s.round<double>(), 2 - 2e100 + 2);
  tally::sum(where(), x.span(), tally::add_to(s));
  tally::sum(where(), x.span(), tally::add_to(s));
  EXPECT_EQ(s.round<double>(), -2e100 + 7);
  tally::exact_sum<float> t;
  tally::nrm2(where(), f.span(), tally::add_to(t));
  tally::asum(where(), f.span(), tally::add_to(t));
  EXPECT_EQ(t.round<float>(), 40);
  std::array<tally::exact_sum<float>, 2> parts;
  tally::dot(where(), c.span(), c.span(), tally::add_to(parts), tally::conjugate::x);
  EXPECT_EQ(parts[0].round<float>(), 26);
  EXPECT_EQ(parts[1].round<float>(), 0);
  tally::exact_sum<double> both[2];
  tally::sum(where(), c.span(), tally::add_to(both));
  EXPECT_EQ(both[1].round<float>(), 5);

  const placed_words words(where(), type::float64);
  std::int64_t* const w = words.words.span().data();
  tally::nrm2(where(), f.span(), tally::add_to<double>(w));
  tally::dot(where(), f.span(), f.span(), tally::add_to<double>(w));
  EXPECT_EQ(tally::round_words<double>(where(), w), 60);
  EXPECT_EQ((tally::round_root_words<double, float>(where(), w)), std::sqrt(60.f));
  const data::placed result(where(), std::vector<double>{0, 0});
  tally::round_words<double>(where(), w, result.span().data());
  tally::round_root_words<double>(where(), w, result.span().subspan(1));
  EXPECT_EQ(result.read(), (std::vector<double>{60, std::sqrt(60.)}));
}

/// Adds `number`^2 2^exponent; |number| < 2^58.
template <class T>
void add_square(tally::exact_sum<T>& sum, std::int64_t number, int exponent) {
  const std::int64_t low = number & 0x1fffffff, high = number >> 29;
  sum.add_scaled(low * low, exponent);
  sum.add_scaled(low * high, exponent + 30);
  sum.add_scaled(high * high, exponent + 58);
}

/// Sums with few nonzero limbs: midpoints between results, their squares and neighbours, of both
/// signs, carried and uncarried, from subnormal results to overflow.
template <class T>
std::vector<std::int64_t> sums_of_few_words(std::size_t count) {
  using sum_type = tally::exact_sum<T>;
  std::vector<std::int64_t> all;
  std::mt19937_64 random(sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    sum_type sum;
    constexpr int lowest = sum_type::lowest_exponent, highest = sum_type::highest_exponent - 58;
    const int exponent = lowest + static_cast<int>(random() % (highest - lowest));
    const int digits = random() % 2 == 0 ? 53 : 24;
    const auto number = static_cast<std::int64_t>(random() >> (64 - digits));
    const std::int64_t halves = 2 * number + static_cast<std::int64_t>(random() % 2);
    const bool negative = random() % 3 == 0;
    if (random() % 2 == 0) {
      add_square(sum, halves, exponent);
    } else {
      sum.add_scaled(halves, exponent);
    }
    const int below = static_cast<int>(random() % 400);
    if (random() % 2 == 0 && exponent - below >= lowest) {
      sum.add_scaled(random() % 2 == 0 ? 1 : -1, exponent - below);
    }
    auto words = sum.to_words();
    for (std::size_t w = 0; w < sum_type::limbs; ++w) {
      if (negative) words[w] = -words[w];
      if (words[w] == 0 || w + 1 == sum_type::limbs || random() % 2 == 0) continue;
      const auto carry = static_cast<std::int64_t>(random() >> 40) - (1 << 23);
      words[w] -= carry * (std::int64_t{1} << 32);
      words[w + 1] += carry;
    }
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

// Devices round sums of few limbs separately, and fetch 2^16 results at a time.
TEST_ON_EVERY_EXECUTOR(ExactWords, OfFewWords) {
  for (const type sum : {type::float64, type::float32}) {
    const std::size_t count = is_wide(sum) ? 4000 : 2 * 65536 + 3;
    const auto made =
        is_wide(sum) ? sums_of_few_words<double>(count) : sums_of_few_words<float>(count);
    const data::placed words(where(), made);
    for (const type result : {type::float64, type::float32}) {
      for (const bool root : {false, true}) {
        std::vector<std::uint64_t> got(count), want(count);
        tally::round_words(where(), {words.span().data(), sum, count, root, {got.data(), result}});
        tally::round_words(tally::serial(), {made.data(), sum, count, root, {want.data(), result}});
        EXPECT_EQ(got, want) << name(sum) << " " << name(result) << (root ? " root" : "");
      }
    }
  }
}

// The header's bound on limbs, for merging many sums.
TEST_ON_EVERY_EXECUTOR(ExactWords, AreSmall) {
  constexpr std::size_t n = 100'000;
  std::vector<float> values(n, -std::numeric_limits<float>::max());
  const data::placed x(where(), values);
  for (const auto sum : {type::float64, type::float32}) {
    const placed_words words(where(), sum);
    tally::dot(where(),
               {tally::as_operand(x.span()), tally::as_operand(x.span()), {}, words.out(), queued});
    tally::reduce(where(),
                  {tally::as_operand(x.span()), tally::reduction::sum, words.out(), queued});
    for (const std::int64_t word : words.words.read()) {
      EXPECT_LT(std::abs(word), std::int64_t{2} << 33);
    }
  }
}

TEST_ON_EVERY_EXECUTOR(ExactWords, RefuseWrongArguments) {
  using tally::errc;
  const data::placed x(where(), std::vector<double>{1, 2});
  const data::placed c(where(), std::vector<std::complex<float>>{{3, 4}, {0, 1}});
  const placed_words words(where(), type::complex128);
  std::int64_t* const w = words.words.span().data();
  const auto vx = tally::as_operand(x.span()), vc = tally::as_operand(c.span());
  const auto dot = [&](const tally::operand& a, const tally::operand& b, tally::output out) {
    return [=, this] { tally::dot(where(), {a, b, {}, out, queued}); };
  };
  data::expect_error(errc::unsupported_type,
                     "tally::dot: the exact sum is of float32; it can be of float64",
                     dot(vx, vx, {w, type::float32, true}));
  data::expect_error(
      errc::unsupported_type,
      "tally::dot: the exact sum is of float64; it can be of complex64 or complex128",
      dot(vc, vc, {w, type::float64, true}));
  data::expect_error(errc::unsupported_type,
                     "tally::dot: the exact sum is of int64; it can be of float64",
                     dot(vx, vx, {w, type::int64, true}));
  data::expect_error(errc::null_pointer,
                     "tally::dot: words is null and should point at 137 elements",
                     dot(vx, vx, {nullptr, type::float64, true}));
  data::expect_error(errc::misaligned,
                     "tally::dot: words is not a multiple of 8 bytes, the alignment of int64",
                     dot(vx, vx, {reinterpret_cast<char*>(w) + 4, type::float64, true}));
  data::expect_error(errc::size_mismatch, "tally::sum: there are 1 exact sums and should be 2",
                     [&] {
                       tally::exact_sum<float> s;
                       tally::sum(where(), c.span(), tally::add_to(s));
                     });
  data::expect_error(errc::invalid_argument,
                     "tally::axpy_dot: the result is words; updates round their sum", [&] {
                       tally::fused_arguments a;
                       a.update.what = tally::elementwise::axpy;
                       a.update.x = a.update.y = vx;
                       a.update.z = {x.span().data(), 2, 1, type::float64};
                       a.v = vx;
                       a.result = {w, type::float64, true};
                       a.options.wait = false;
                       tally::fused(where(), a);
                     });
  const auto round = [&](type sum, type result, bool root, const void* at) {
    return [=, this] {
      double r[2];
      tally::round_words(where(),
                         {static_cast<const std::int64_t*>(at), sum, 1, root, {r, result}});
    };
  };
  data::expect_error(errc::unsupported_type,
                     "tally::round_words: the exact sum is of int64; it can be of float32, "
                     "float64, complex64 or complex128",
                     round(type::int64, type::float64, false, w));
  data::expect_error(errc::unsupported_type,
                     "tally::round_words: the result is complex64; an exact sum of float64 gives "
                     "float32 or float64",
                     round(type::float64, type::complex64, false, w));
  data::expect_error(errc::unsupported_type,
                     "tally::round_root_words: the exact sum is of complex64; roots are those of "
                     "real sums",
                     round(type::complex64, type::complex64, true, w));
  data::expect_error(errc::null_pointer,
                     "tally::round_words: words is null and should point at 23 elements",
                     round(type::float32, type::float64, false, nullptr));
  for (const std::int64_t word : words.words.read()) EXPECT_EQ(word, 0);
}

}  // namespace
