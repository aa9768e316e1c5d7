// segmented_sum: the bits of a matrix's row with these values, whose columns all point at a 1, by
// the literal transcription; exact sums by `sum`; integers modulo 2^64.
#include "tests/golden.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using data::kind;
using tally::errc;
using tally::type;

class SegmentedSum : public data::OnEveryExecutor {
 protected:
  template <class Offset, class X, class R>
  void compare(const std::vector<std::size_t>& lengths, kind k) {
    std::vector<Offset> offsets = {0};
    for (const std::size_t length : lengths) {
      offsets.push_back(static_cast<Offset>(static_cast<std::size_t>(offsets.back()) + length));
    }
    const auto n = static_cast<std::size_t>(offsets.back());
    const auto values = data::elements_of<X>(data::random_bytes<X>(n, n + 1, k));
    const data::placed x(where(), values);
    const data::placed cuts(where(), offsets);
    for (const std::ptrdiff_t increment : {1, 2}) {
      const data::placed results(where(), std::vector<R>(lengths.size() * 2, R(7)));
      const auto to = tally::strided(results.span().data(), lengths.size(), increment);
      tally::segmented_sum(where(), cuts.span(), x.span(), to);
      const std::vector<R> sums = results.read();
      tally::segmented_sum(where(), cuts.span(), x.span(), to, tally::exact);
      const std::vector<R> exact = results.read();
      for (std::size_t j = 0; j < lengths.size(); ++j) {
        const auto first = static_cast<std::size_t>(offsets[j]);
        const std::vector<X> segment(
            values.begin() + static_cast<std::ptrdiff_t>(first),
            values.begin() + static_cast<std::ptrdiff_t>(first + lengths[j]));
        const std::vector<tally::real_t<R>> ones(lengths[j], 1);
        const R want = data::elements_of<R>(
            transcription::dot({data::bytes_of(segment), tally::type_of<X>},
                               {data::bytes_of(ones), tally::type_of<tally::real_t<R>>},
                               tally::type_of<R>, false, transcription::order::of_rows))[0];
        const std::size_t at = j * static_cast<std::size_t>(increment);
        ASSERT_TRUE(data::same_bits(sums[at], want))
            << name(tally::type_of<X>) << " in " << name(tally::type_of<R>) << ", segment " << j
            << " of " << lengths[j] << ", increment " << increment;
        const R right = tally::sum<R>(tally::serial(), segment, tally::exact);
        ASSERT_TRUE(data::same_bits(exact[at], right))
            << "exact " << name(tally::type_of<X>) << ", segment " << j << " of " << lengths[j];
      }
    }
  }

  template <class Offset, class X>
  void compare_integers(const std::vector<std::size_t>& lengths, kind k) {
    std::vector<Offset> offsets = {0};
    for (const std::size_t length : lengths) {
      offsets.push_back(static_cast<Offset>(static_cast<std::size_t>(offsets.back()) + length));
    }
    const auto n = static_cast<std::size_t>(offsets.back());
    const auto bytes = data::random_bytes<X>(n, n + 1, k);
    const auto values = data::elements_of<X>(bytes);
    data::buffer memory(where(), n * sizeof(X) + 1);
    memory.write(bytes.data(), n * sizeof(X));
    const std::span x(reinterpret_cast<const X*>(memory.get()), n);
    const data::placed cuts(where(), offsets);
    for (const std::ptrdiff_t increment : {1, -3}) {
      for (const tally::grade g : {tally::grade{}, tally::grade{tally::exact}}) {
        const data::placed results(where(), std::vector<std::int64_t>(lengths.size() * 3, 7));
        const auto to = tally::strided(results.span().data(), lengths.size(), increment);
        tally::segmented_sum(where(), cuts.span(), x, to, g);
        std::vector<std::int64_t> want(lengths.size() * 3, 7);
        for (std::size_t j = 0; j < lengths.size(); ++j) {
          std::uint64_t sum = 0;
          for (auto i = static_cast<std::size_t>(offsets[j]); i < std::size_t(offsets[j + 1]);
               ++i) {
            sum += static_cast<std::uint64_t>(X(values[i]));
          }
          const std::size_t at = increment < 0 ? lengths.size() - 1 - j : j;
          want[at * static_cast<std::size_t>(std::abs(increment))] = static_cast<std::int64_t>(sum);
        }
        ASSERT_EQ(results.read(), want) << name(tally::type_of<X>) << ", increment " << increment;
      }
    }
  }

  void compare_integers(const std::vector<std::size_t>& lengths, kind k = kind::plain) {
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int32_t, bool>(lengths, k)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int64_t, std::int8_t>(lengths, k)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int32_t, std::uint8_t>(lengths, k)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int64_t, std::int32_t>(lengths, k)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int32_t, std::int64_t>(lengths, k)));
  }

  template <class X>
  void compare_all(const std::vector<std::size_t>& lengths, kind k = kind::plain) {
    using R = tally::dot_result_t<X, X>;
    compare<std::int32_t, X, R>(lengths, k);
    using W = tally::dot_widest_t<X, X>;
    if constexpr (!std::is_same_v<R, W>) compare<std::int64_t, X, W>(lengths, k);
  }

  void compare_types(const std::vector<std::size_t>& lengths, kind k = kind::plain) {
    ASSERT_NO_FATAL_FAILURE(compare_all<float>(lengths, k));
    ASSERT_NO_FATAL_FAILURE(compare_all<double>(lengths, k));
    ASSERT_NO_FATAL_FAILURE(compare_all<tally::float16>(lengths, k));
    ASSERT_NO_FATAL_FAILURE(compare_all<tally::bfloat16>(lengths, k));
    ASSERT_NO_FATAL_FAILURE(compare_all<std::complex<float>>(lengths, k));
    ASSERT_NO_FATAL_FAILURE(compare_all<std::complex<double>>(lengths, k));
  }
};

TEST_ON_EVERY_EXECUTOR(SegmentedSum, EveryLength) {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n < 150; ++n) lengths.push_back(n);
  lengths.insert(lengths.end(), {0, 0, 1023, 1024, 1025, 5, 2049, 0});
  compare_types(lengths);
  compare_integers(lengths);
}

TEST_ON_EVERY_EXECUTOR(SegmentedSum, RandomLengths) {
  std::mt19937_64 random(3);
  for (const std::size_t end : {2, 5, 9, 40, 300}) {
    for (const kind k : {kind::plain, kind::wide, kind::special}) {
      std::vector<std::size_t> lengths(1 + random() % 70);
      for (std::size_t& length : lengths) length = random() % end;
      ASSERT_NO_FATAL_FAILURE(compare_types(lengths, k)) << end;
      ASSERT_NO_FATAL_FAILURE(compare_integers(lengths, k)) << end;
    }
  }
}

TEST_ON_EVERY_BACKEND(SegmentedSum, LongSegments) {
  compare_all<double>({3, 70'000, 0, 9, 1024 * 33 + 5, 1, 200'000});
  compare_all<float>({100'001});
  compare_integers({3, 70'000, 0, 9, 1024 * 33 + 5, 1, 200'000});
  compare_integers(std::vector<std::size_t>(5000));
}

/// Matrices that large have other kernels on a device.
TEST_ON_FAST_BACKENDS(SegmentedSum, ManySegments) {
  std::mt19937_64 random(4);
  for (const std::size_t end : {8, 64, 4000, 9000}) {
    std::vector<std::size_t> lengths;
    for (std::size_t all = 0; all < 1'700'000; all += lengths.back()) {
      lengths.push_back(random() % end);
    }
    ASSERT_NO_FATAL_FAILURE((compare<std::int64_t, double, double>(lengths, kind::plain)));
    ASSERT_NO_FATAL_FAILURE((compare<std::int32_t, float, float>(lengths, kind::plain)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int64_t, std::int32_t>(lengths, kind::plain)));
    ASSERT_NO_FATAL_FAILURE((compare_integers<std::int32_t, std::int8_t>(lengths, kind::plain)));
  }
}

TEST_ON_EVERY_EXECUTOR(SegmentedSum, GoldenBits) {
  for (const golden::segment_row& row : golden::segment_rows) {
    auto x = golden::doubles(12, 9);
    auto y = golden::floats(12, 9);
    for (const double each : golden::doubles(row.n, 1)) x.push_back(each);
    for (const float each : golden::floats(row.n, 5)) y.push_back(each);
    const auto n = static_cast<std::int32_t>(row.n);
    const data::placed offsets(where(), std::vector<std::int32_t>{0, 2, 5, 12, 12, 12 + n});
    const data::placed of_doubles(where(), x), sums(where(), std::vector<double>(5));
    const data::placed of_floats(where(), y), short_sums(where(), std::vector<float>(5));
    tally::segmented_sum(where(), offsets.span(), of_doubles.span(), sums.span());
    tally::segmented_sum(where(), offsets.span(), of_floats.span(), short_sums.span());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(sums.read()[4]), row.f64) << row.n;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(short_sums.read()[4]), row.f32) << row.n;
  }
}

TEST_ON_EVERY_EXECUTOR(SegmentedSum, HasNoSegments) {
  const data::placed offsets(where(), std::vector<std::int32_t>{0});
  const data::placed x(where(), std::vector<double>());
  tally::segmented_sum(where(), offsets.span(), x.span(), x.span());
  const data::placed three(where(), std::vector<std::int32_t>{0, 0, 0, 0});
  const data::placed sums(where(), std::vector<double>(3, 7));
  tally::segmented_sum(where(), three.span(), x.span(), sums.span());
  EXPECT_EQ(sums.read(), (std::vector<double>{0, 0, 0}));
}

TEST_ON_EVERY_EXECUTOR(SegmentedSum, RefusesWrongArguments) {
  const data::placed offsets(where(), std::vector<std::int32_t>{0, 2, 5, 9});
  const data::placed x(where(), std::vector<double>(20, 1));
  const auto vector = [&](std::size_t n, std::size_t first = 0, std::ptrdiff_t increment = 1,
                          type t = type::float64) {
    return tally::operand{x.span().data() + first, n, increment, t};
  };
  const auto written = [&](std::size_t n, std::size_t first, type t = type::float64) {
    return tally::output_operand{x.span().data() + first, n, 1, t};
  };
  const auto cuts = tally::as_operand(offsets.span());
  const auto expect = [&](errc code, const std::string& text,
                          const tally::segmented_sum_arguments& a) {
    data::expect_error(code, "tally::segmented_sum: " + text,
                       [&] { tally::segmented_sum(where(), a); });
  };
  expect(errc::unsupported_type, "offsets is float64; it may be int32 or int64",
         {vector(4), vector(5), written(3, 10)});
  expect(errc::unsupported_type, "results is float64; int32 gives int64",
         {cuts, vector(5, 0, 1, type::int32), written(3, 10)});
  expect(errc::unsupported_type, "results is float32; float64 gives float64",
         {cuts, vector(5), written(3, 10, type::float32)});
  expect(errc::size_mismatch, "offsets has 4 elements; 2 results need 3",
         {cuts, vector(5), written(2, 10)});
  expect(errc::invalid_argument, "x has increment 2; it must be 1",
         {cuts, vector(5, 0, 2), written(3, 10)});
  expect(errc::overlap, "results overlaps x", {cuts, vector(5), written(3, 4)});
  expect(errc::invalid_argument, "options.wait is set; there is no form that waits",
         {cuts, vector(5), written(3, 10), {.wait = true}});
  if (data::on_device(where())) return;  // its offsets are unchecked
  expect(errc::invalid_argument, "offsets[3] is 9; x has 5 elements",
         {cuts, vector(5), written(3, 10)});
  expect(errc::invalid_argument, "offsets[0] is 2; it must be 0",
         {cuts.slice(1, 3), vector(5), written(2, 10)});
}

TEST(SegmentedSumForms, OnAutomatic) {
  const std::vector<double> x = {1, 2, 4, 8, 16};
  std::vector<double> sums(3);
  tally::segmented_sum(std::vector<std::int64_t>{0, 2, 2, 5}, x, sums);
  EXPECT_EQ(sums, (std::vector<double>{3, 0, 28}));
  tally::segmented_sum(std::vector<int>{0, 1, 4, 5}, x, sums, tally::exact);
  EXPECT_EQ(sums, (std::vector<double>{1, 14, 16}));
}

}  // namespace
