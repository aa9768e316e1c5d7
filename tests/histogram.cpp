// bincount, histogram_even and histogram_range: the counts of a literal loop, for every type,
// number of bins, distribution, size and stride, at every edge and beside it; weights give the
// correctly rounded sum, in any order.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>

namespace {

using data::bytes_of;
using data::expect_error;
using data::layout;
using tally::binning;
using tally::errc;
using tally::outside_counts;
using tally::type;
__extension__ using int128 = __int128;

// --- The rules, literally ------------------------------------------------------------------------

/// Represents every number of every type (on x86-64 and AArch64).
using number = long double;
static_assert(std::numeric_limits<number>::digits >= 64);

constexpr std::int64_t is_below = -1, is_above = -2, is_nan = -3;

template <class X>
number number_of(X x) {
  if constexpr (sizeof(X) == 2) {
    return static_cast<float>(x);
  } else {
    return static_cast<number>(x);
  }
}

std::int64_t bin_between(const std::vector<number>& edges, number x) {
  if (std::isnan(x)) return is_nan;
  if (x < edges.front()) return is_below;
  if (x > edges.back()) return is_above;
  const auto last_bin = edges.end() - 2;
  if (x >= *last_bin) return last_bin - edges.begin();
  return std::upper_bound(edges.begin(), edges.end(), x) - edges.begin() - 1;
}

/// Returns edges computed in double.
std::vector<number> even_edges(double lower, double upper, std::size_t bins) {
  const double scale = std::isinf(upper - lower) ? 2 : 1;
  const double width = (upper / scale - lower / scale) / static_cast<double>(bins);
  std::vector<number> edges;
  for (std::size_t i = 0; i < bins; ++i) {
    const double moved = static_cast<double>(i) * width;
    edges.push_back(std::min((moved + lower / scale) * scale, upper));
  }
  edges.push_back(upper);
  return edges;
}

std::int64_t even_bin_of_integers(std::int64_t lower, std::int64_t upper, std::size_t bins,
                                  std::int64_t x) {
  if (x < lower) return is_below;
  if (x > upper) return is_above;
  if (x == upper) return static_cast<std::int64_t>(bins) - 1;
  return static_cast<std::int64_t>((static_cast<int128>(x) - lower) * static_cast<int128>(bins) /
                                   (static_cast<int128>(upper) - lower));
}

// --- Samples -------------------------------------------------------------------------------------

enum class spread { uniform, constant, alternating, sorted, zipf, outside };
constexpr std::array spreads = {spread::uniform, spread::constant, spread::alternating,
                                spread::sorted,  spread::zipf,     spread::outside};

/// Positions in [0, 1), or outside for `outside`.
std::vector<double> places(std::size_t n, spread s, std::size_t bins, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed + n);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> all(n);
  const double last = 1 - 0.5 / static_cast<double>(bins);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = uniform(random);
    all[i] = s == spread::constant      ? 0.4
             : s == spread::alternating ? (i % 2 ? last : 0.1)
             : s == spread::zipf
                 ? (std::pow(static_cast<double>(bins), u) - 1) / static_cast<double>(bins)
             : s == spread::outside ? (i % 3 ? 1.1 + u : -0.1 - u)
                                    : u;
  }
  if (s == spread::sorted) std::sort(all.begin(), all.end());
  return all;
}

template <class X>
X sample(double value) {
  if constexpr (std::is_integral_v<X>) {
    using limits = std::numeric_limits<X>;
    if (value <= static_cast<double>(limits::min())) return limits::min();
    if (value >= static_cast<double>(limits::max())) return limits::max();
    return static_cast<X>(std::floor(value));
  } else if constexpr (sizeof(X) == 2) {
    return X(static_cast<float>(value));
  } else {
    return static_cast<X>(value);
  }
}

template <class F>
void for_each_real(F&& f) {
  data::for_each_type([&]<class X>(std::type_identity<X> type) {
    if constexpr (!tally::is_complex_v<X> && !std::is_same_v<X, bool>) f(type);
  });
}
template <class F>
void for_each_integer(F&& f) {
  for_each_real([&]<class X>(std::type_identity<X> type) {
    if constexpr (std::is_integral_v<X>) f(type);
  });
}

template <class X>
X next_up(X x) {
  if constexpr (std::is_integral_v<X>) {
    return x < std::numeric_limits<X>::max() ? static_cast<X>(x + 1) : x;
  } else if constexpr (sizeof(X) == 2) {
    const auto value = static_cast<float>(x);
    if (!(value < std::numeric_limits<float>::infinity())) return x;
    X up = x;
    if (value == 0) {
      up.bits = 1;
    } else {
      up.bits = static_cast<std::uint16_t>(value > 0 ? x.bits + 1 : x.bits - 1);
    }
    return up;
  } else {
    return std::nextafter(x, std::numeric_limits<X>::infinity());
  }
}
template <class X>
X next_down(X x) {
  if constexpr (std::is_integral_v<X>) {
    return x > std::numeric_limits<X>::min() ? static_cast<X>(x - 1) : x;
  } else if constexpr (sizeof(X) == 2) {
    X minus = x;
    minus.bits ^= 0x8000u;
    minus = next_up(minus);
    minus.bits ^= 0x8000u;
    return minus;
  } else {
    return std::nextafter(x, -std::numeric_limits<X>::infinity());
  }
}

/// All edges and their neighbours.
template <class X, class Edges>
std::vector<X> around(const Edges& edges) {
  std::vector<X> all;
  for (const auto edge : edges) {
    const X x = sample<X>(static_cast<double>(edge));
    X y = x;
    if constexpr (std::is_same_v<X, std::int64_t>) {  // beyond double's integers
      if (edge > -0x1p63L && edge < 0x1p63L) y = static_cast<X>(edge);
    }
    for (const X each : {x, y}) {
      all.insert(all.end(), {each, next_up(each), next_down(each), next_up(next_up(each)),
                             next_down(next_down(each))});
    }
  }
  return all;
}

template <class X>
void add_special(std::vector<X>& x) {
  using limits = std::numeric_limits<X>;
  if constexpr (std::is_integral_v<X>) {
    x.insert(x.end(), {limits::min(), limits::max(), X(0), X(1)});
  } else if constexpr (sizeof(X) == 2) {
    for (const float f : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, -NAN}) x.push_back(X(f));
    for (const std::uint16_t bits : {1, 0x8001, 0x7bff, 0xfbff, 0x7f7f, 0xff7f}) {
      X value;
      value.bits = bits;
      x.push_back(value);
    }
  } else {
    const X inf = limits::infinity(), nan = limits::quiet_NaN();
    x.insert(x.end(),
             {X(0), -X(0), inf, -inf, nan, -nan, limits::signaling_NaN(), limits::denorm_min(),
              -limits::denorm_min(), limits::max(), limits::lowest(), limits::min()});
  }
}

// --- On every executor ---------------------------------------------------------------------------

struct answer {
  std::vector<std::int64_t> counts;
  std::vector<outside_counts> outside;

  friend bool operator==(const answer&, const answer&) = default;
};

struct options {
  std::size_t channels = 1;
  layout place = {};
  bool every_form = true;  ///< both widths of counts, with and without addition; otherwise one form
};

class Histogram : public data::OnEveryExecutor {
 protected:
  /// Compares counts in the bins of `a` with those by `bin_of`.
  template <class X, class F>
  void compare(const tally::histogram_arguments& a, const std::vector<X>& x, std::size_t bins,
               F bin_of, const options& o = {}) {
    std::vector<std::int64_t> bins_of_x;
    for (const X each : x) bins_of_x.push_back(bin_of(each));
    compare(a, bytes_of(x), tally::type_of<X>, bins_of_x, bins, o);
  }

  void compare(tally::histogram_arguments a, const std::vector<std::byte>& x, type element,
               const std::vector<std::int64_t>& bins_of_x, std::size_t bins, const options& o) {
    const std::size_t n = bins_of_x.size();
    answer want{std::vector<std::int64_t>(bins * o.channels),
                std::vector<outside_counts>(o.channels)};
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t channel = i % o.channels;
      const std::int64_t bin = bins_of_x[i];
      if (bin >= 0) ++want.counts[channel * bins + static_cast<std::size_t>(bin)];
      want.outside[channel].below += bin == is_below;
      want.outside[channel].above += bin == is_above;
      want.outside[channel].nan += bin == is_nan;
    }
    const std::size_t step = static_cast<std::size_t>(std::abs(o.place.increment));
    reserve(samples_, (n + 64) * step * tally::size_of(element) + 4096);
    a.x = data::place(*samples_, x, element, o.place);
    a.options.channels = o.channels;
    const auto label = [&] {
      std::ostringstream line;
      line << (a.what == binning::keys   ? "bincount"
               : a.what == binning::even ? "even"
                                         : "range")
           << " of " << n << " " << tally::name(element) << ", " << bins << " bins, " << o.channels
           << " channels, offset " << o.place.offset << ", increment " << o.place.increment;
      return line.str();
    };
    std::int64_t all_outside = 0;
    for (const outside_counts& c : want.outside) all_outside += c.below + c.above + c.nan;
    for (const bool add : {false, true}) {
      for (const bool wide : {false, true}) {
        if (!o.every_form && add != wide) continue;
        a.options.add = add;
        ASSERT_EQ(add ? added(count(a, wide, true)) : count(a, wide, true), want)
            << label() << (wide ? ", 64 bits" : ", 32 bits") << (add ? ", added" : "")
            << first_difference(add ? added(count(a, wide, true)) : count(a, wide, true), want);
      }
    }
    a.options.add = false;
    if (a.what == binning::keys && all_outside > 0) return;
    answer without = want;
    without.outside.assign(o.channels, {});
    ASSERT_EQ(count(a, false, false), without) << label() << ", outside is not asked for";
  }

  answer count(tally::histogram_arguments a, bool wide, bool with_outside) {
    const std::size_t bins = a.counts.size, size = wide ? 8 : 4;
    reserve(counts_, (bins + 1) * size);
    reserve(outside_, sizeof(outside_counts) * a.options.channels);
    std::vector<std::int32_t> five32(wide ? 0 : bins + 1, 5);
    std::vector<std::int64_t> five64(wide ? bins + 1 : 0, 5);
    counts_->write(wide ? static_cast<void*>(five64.data()) : five32.data(), (bins + 1) * size);
    std::vector<outside_counts> outside(a.options.channels, {5, 5, 5});
    outside_->write(outside.data(), outside.size() * sizeof(outside_counts));
    a.counts = {counts_->get(), bins, 1, wide ? type::int64 : type::int32};
    if (with_outside) a.options.outside = reinterpret_cast<outside_counts*>(outside_->get());
    tally::histogram(where(), a);
    counts_->read(wide ? static_cast<void*>(five64.data()) : five32.data(), (bins + 1) * size);
    outside_->read(outside.data(), outside.size() * sizeof(outside_counts));
    if (!with_outside) {
      EXPECT_TRUE(std::all_of(outside.begin(), outside.end(),
                              [](const outside_counts& c) { return c.below == 5; }));
      outside.assign(a.options.channels, {});
    }
    answer got{wide ? five64 : std::vector<std::int64_t>(five32.begin(), five32.end()), outside};
    EXPECT_EQ(got.counts.back(), 5) << "written past the counts";
    got.counts.pop_back();
    return got;
  }

  static answer added(answer got) {
    for (std::int64_t& c : got.counts) c -= 5;
    for (outside_counts& c : got.outside) c = {c.below - 5, c.above - 5, c.nan - 5};
    return got;
  }

  static std::string first_difference(const answer& got, const answer& want) {
    std::ostringstream line;
    for (std::size_t i = 0; i < want.counts.size(); ++i) {
      if (got.counts[i] != want.counts[i]) {
        line << "; bin " << i << " has " << got.counts[i] << " instead of " << want.counts[i];
        break;
      }
    }
    for (std::size_t i = 0; i < want.outside.size(); ++i) {
      const auto &g = got.outside[i], &w = want.outside[i];
      line << "; outside " << g.below << " " << g.above << " " << g.nan << ", " << w.below << " "
           << w.above << " " << w.nan;
    }
    return line.str();
  }

  static tally::histogram_arguments with_counts(binning what, std::size_t counts) {
    tally::histogram_arguments a;
    a.what = what;
    a.counts.size = counts;
    return a;
  }

  template <class X>
  void compare_keys(const std::vector<X>& keys, std::size_t bins, const options& o = {}) {
    const auto bin_of = [&](X key) -> std::int64_t {
      const auto k = static_cast<std::int64_t>(key);
      return k < 0 ? is_below : k >= static_cast<std::int64_t>(bins) ? is_above : k;
    };
    compare(with_counts(binning::keys, bins * o.channels), keys, bins, bin_of, o);
  }

  template <class X>
  void compare_unsigned_keys(const std::vector<X>& keys, std::size_t bins, const options& o = {}) {
    const auto bin_of = [&](X key) -> std::int64_t {
      const auto k = static_cast<std::make_unsigned_t<X>>(key);
      return k >= bins ? is_above : static_cast<std::int64_t>(k);
    };
    auto a = with_counts(binning::keys, bins * o.channels);
    a.unsigned_keys = true;
    compare(a, keys, bins, bin_of, o);
  }

  template <class X, class L>
  void compare_even(const std::vector<X>& x, L lower, L upper, std::size_t bins,
                    const options& o = {}) {
    auto a = with_counts(binning::even, bins * o.channels);
    a.lower = lower;
    a.upper = upper;
    if constexpr (std::is_integral_v<X> && std::is_integral_v<L>) {
      compare(a, x, bins, [&](X v) { return even_bin_of_integers(lower, upper, bins, v); }, o);
    } else {
      const auto edges = even_edges(static_cast<double>(lower), static_cast<double>(upper), bins);
      compare(a, x, bins, [&](X v) { return bin_between(edges, number_of(v)); }, o);
    }
  }

  template <class X, class E>
  void compare_range(const std::vector<X>& x, const std::vector<E>& edges, const options& o = {}) {
    const std::size_t bins = edges.size() - 1;
    auto a = with_counts(binning::edges, bins * o.channels);
    a.edges = tally::as_operand(edges);
    std::vector<number> exact;
    for (const E e : edges) exact.push_back(number_of(e));
    compare(a, x, bins, [&](X v) { return bin_between(exact, number_of(v)); }, o);
  }

  void reserve(std::unique_ptr<data::buffer>& memory, std::size_t bytes) {
    if (!memory || memory->size() < bytes) {
      memory.reset();
      memory = std::make_unique<data::buffer>(where(), bytes);
    }
  }

  std::unique_ptr<data::buffer> samples_, weights_, counts_, outside_;
};

const std::vector<std::size_t> sizes = {0,   1,   2,   3,   4,   5,    7,    8,    9,   15,
                                        16,  17,  31,  32,  33,  63,   64,   65,   100, 127,
                                        255, 256, 257, 511, 513, 1023, 1024, 1025, 5000};

/// Keys at these positions among `bins`.
template <class X>
std::vector<X> keys_of(const std::vector<double>& places, std::size_t bins) {
  std::vector<X> keys;
  for (const double p : places) keys.push_back(sample<X>(p * static_cast<double>(bins)));
  return keys;
}

/// Samples at these positions between two numbers.
template <class X>
std::vector<X> samples_of(const std::vector<double>& places, double lower, double upper) {
  std::vector<X> samples;
  for (const double p : places) samples.push_back(sample<X>(lower + p * (upper - lower)));
  return samples;
}

TEST_ON_EVERY_EXECUTOR(Histogram, EverySize) {
  for_each_real([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : sizes) {
      const auto p = places(n, spread::uniform, 100);
      if constexpr (std::is_integral_v<X>) {
        ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<X>(p, 100), 100, {.every_form = false}));
      }
      const auto x = samples_of<X>(p, 0, 120);
      ASSERT_NO_FATAL_FAILURE(compare_even(x, 2.5, 101.0, 17, {.every_form = false}));
      ASSERT_NO_FATAL_FAILURE(
          compare_range(x, std::vector<double>{3, 7, 7, 30.5, 100}, {.every_form = false}));
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Histogram, BinsAndDistributions) {
  constexpr std::size_t n = 3001;
  for (const std::size_t bins :
       {1, 2, 3, 16, 127, 128, 255, 256, 257, 1000, 4096, 20'000, 57'970, 70'000}) {
    std::vector<double> edges;
    for (std::size_t i = 0; i <= bins; ++i) {
      edges.push_back(-100 + 220 * std::sqrt(static_cast<double>(i) / static_cast<double>(bins)));
    }
    for (const spread s : spreads) {
      const auto p = places(n, s, bins);
      const options o = {.every_form = bins <= 256};
      for_each_real([&]<class X>(std::type_identity<X>) {
        const auto k = keys_of<X>(p, bins);
        const auto x = samples_of<X>(p, -100, 120);
        if constexpr (std::is_integral_v<X>) {
          ASSERT_NO_FATAL_FAILURE(compare_keys(k, bins, o));
          ASSERT_NO_FATAL_FAILURE(compare_even(x, -100, 120, bins, o));
        }
        ASSERT_NO_FATAL_FAILURE(compare_even(x, -100.0, 120.0, bins, o));
        ASSERT_NO_FATAL_FAILURE(compare_range(x, edges, o));
      });
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Histogram, Booleans) {
  std::vector<bool> x;
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) x.push_back(random() % 3 == 0);
  const auto memory = bytes_of(x);
  reserve(samples_, memory.size());
  samples_->write(memory.data(), memory.size());
  const auto ones = std::count(x.begin(), x.end(), true);
  auto a = with_counts(binning::keys, 2);
  a.x = {samples_->get(), 1000, 1, type::boolean};
  EXPECT_EQ(count(a, false, false).counts, (std::vector<std::int64_t>{1000 - ones, ones}));
  a.what = binning::even;
  a.lower = 0.5;
  a.upper = 1.5;
  const answer got = count(a, true, true);
  EXPECT_EQ(got.counts, (std::vector<std::int64_t>{0, ones}));
  EXPECT_EQ(got.outside[0], (outside_counts{1000 - ones, 0, 0}));
}

TEST_ON_EVERY_BACKEND(Histogram, Long) {
  // Partition borders, and tables that outgrow caches.
  constexpr std::size_t n = 300'007;
  for (const std::size_t bins : {256, 5000, 1 << 16, 1 << 18, 1 << 20}) {
    for (const spread s : {spread::uniform, spread::constant, spread::zipf}) {
      const auto p = places(n, s, bins);
      const options o = {.every_form = false};
      ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int32_t>(p, bins), bins, o));
      ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<float>(p, 0, 1), 0.0, 1.0, bins, o));
    }
  }
  // Several sorting rounds, and bins that all threads count together.
  const options once = {.every_form = false};
  constexpr std::size_t many = (std::size_t{5} << 20) + 1;
  std::vector<std::int32_t> keys(many);
  for (std::size_t i = 0; i < many; ++i) {
    keys[i] = static_cast<std::int32_t>(i * 2'654'435'761u % (many - 1));
  }
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys, many - 1, once));
  std::fill(keys.begin() + 100'000, keys.end(), 1'000'000);
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys, many - 1, once));
  const auto p = places(n, spread::uniform, 256);
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::uint8_t>(p, 256), 256));
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int8_t>(p, 256), 100));
  ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<double>(p, -1, 1), -1.0, 0.75, 300));
  ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<tally::float16>(p, -1, 1), -1.0, 0.75, 300));
  ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<std::int64_t>(p, -1e18, 1e18),
                                       std::int64_t{-1} << 59, std::int64_t{1} << 59, 300));
}

TEST_ON_EVERY_BACKEND(Histogram, LongOfManyBins) {
  // Partitions with few bins in common and with many.
  constexpr std::size_t n = (std::size_t{9} << 18) + 4099, bins = (std::size_t{1} << 20) - 77;
  const options once = {.every_form = false};
  auto p = places(n, spread::uniform, bins);
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int32_t>(p, bins), bins, once));
  ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<float>(p, 0, 1), 0.25, 1.0, bins, once));
  std::fill(p.begin() + n / 3, p.begin() + 2 * n / 3, 0.4);
  std::sort(p.begin() + 5 * n / 6, p.end());
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int32_t>(p, bins), bins, once));
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int64_t>(p, bins), bins, once));
  ASSERT_NO_FATAL_FAILURE(compare_even(samples_of<double>(p, -1, 1), -1.0, 0.75, bins, once));
  ASSERT_NO_FATAL_FAILURE(
      compare_even(samples_of<tally::float16>(p, -1, 1), -1.0, 0.75, bins, once));
}

TEST_ON_EVERY_BACKEND(Histogram, CountersThatWrap) {
  // Eight keys at random, each as often as counters of 8 bits wrap, and as many without a bin.
  constexpr std::size_t n = std::size_t{1} << 22, bins = std::size_t{1} << 19;  // for 32 threads
  std::vector<std::int32_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int32_t>(i % 8 * 65'537);
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(5));
  for (std::size_t i = 0; i < 256; ++i) keys[i * 7] = -1;
  // Runs of one key, across the wrap of its counter.
  std::fill_n(keys.begin() + n / 3, 5000, 65'537);
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys, bins, {.every_form = false}));
  auto a = with_counts(binning::keys, bins);
  a.x = {samples_->get(), n, 1, type::int32};
  EXPECT_THROW(count(a, false, false), tally::error);
}

TEST_ON_EVERY_EXECUTOR(Histogram, Identity) {
  constexpr std::size_t n = std::size_t{1} << 25;
  static const std::vector<std::int32_t> keys = [] {
    std::vector<std::int32_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  reserve(samples_, n * 4);
  reserve(counts_, n * 4);
  samples_->write(keys.data(), n * 4);
  auto a = with_counts(binning::keys, n);
  a.x = {samples_->get(), n, 1, type::int32};
  a.counts = {counts_->get(), n, 1, type::int32};
  tally::histogram(where(), a);
  std::vector<std::int32_t> counts(n);
  counts_->read(counts.data(), n * 4);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), static_cast<std::ptrdiff_t>(n));
}

TEST_ON_EVERY_EXECUTOR(Histogram, EveryEdgeAndItsNeighbours) {
  for_each_real([&]<class X>(std::type_identity<X>) {
    const auto check_even = [&](double lower, double upper, std::size_t bins) {
      auto x = around<X>(even_edges(lower, upper, bins));
      add_special(x);
      ASSERT_NO_FATAL_FAILURE(compare_even(x, lower, upper, bins, {.every_form = false}))
          << lower << " to " << upper;
    };
    constexpr double largest = std::numeric_limits<double>::max();
    constexpr double smallest = std::numeric_limits<double>::denorm_min();
    for (const std::size_t bins : {1, 2, 3, 7, 10, 49, 100, 255, 256}) {
      check_even(0, 1, bins);
      check_even(-1, 1, bins);
      check_even(0.1, 0.7, bins);
      check_even(-5, 200, bins);
      check_even(-128, 127, bins);
      check_even(-70'000, 1e5, bins);
      check_even(-largest, largest, bins);
      check_even(-largest, 1e300, bins);
      check_even(1e16, 1e16 + 4, bins);  // edges are equal
      check_even(0x1p53, 0x1p53 + 7, bins);
      check_even(0, 3 * smallest, bins);  // a width rounded up, or to 0
      check_even(-7 * smallest, 1e-310, bins);
      const double normal = std::numeric_limits<double>::min();
      const auto count = static_cast<double>(bins);
      for (const double width :
           {smallest, 5 * smallest, normal - smallest, normal, normal + smallest}) {
        check_even(0, count * width, bins);
        check_even(-count * width, count * width / 2, bins);
      }
      check_even(0x1p-970, 0x1p-970 + 5 * normal, bins);
      check_even(-0x1p63, 0x1p63, bins);
      check_even(-0x1p64, 0x1p62, bins);
      check_even(1, 1 + 0x1p-50, bins);
    }
    std::mt19937_64 random(5);
    std::vector<double> edges;
    for (int i = 0; i < 60; ++i) {
      edges.push_back(data::random_element<double>(random, data::kind::wide));
      edges.push_back(std::uniform_real_distribution<double>(-300, 300)(random));
      edges.push_back(static_cast<double>(random() % 256) - 128);
    }
    for (const double e : {0x1p63, -0x1p63, 0x1p31, -0x1p31, 65504.0, 65520.0, 3.4e38, 3.5e38, -0.0,
                           HUGE_VAL, -HUGE_VAL, largest, smallest}) {
      edges.insert(edges.end(), {e, e, std::nextafter(e, 0.0), std::nextafter(e, HUGE_VAL)});
    }
    std::sort(edges.begin(), edges.end());
    auto x = around<X>(edges);
    add_special(x);
    ASSERT_NO_FATAL_FAILURE(compare_range(x, edges));
    for (std::size_t cut = 1; cut < edges.size() - 2; cut += 7) {  // other first and last edges
      const std::vector<double> first(edges.begin(), edges.begin() + cut + 1),
          rest(edges.begin() + cut, edges.end());
      ASSERT_NO_FATAL_FAILURE(compare_range(x, first, {.every_form = false}));
      ASSERT_NO_FATAL_FAILURE(compare_range(x, rest, {.every_form = false}));
    }
    // Edges with a subnormal range, or an overflowing one.
    for (const double scale : {0x1p-1070, 0x1p-1023, 0x1p-1006, 0x1p1022}) {
      std::vector<double> scaled;
      for (int i = -9; i < 25; ++i) scaled.push_back(i / 16.0 * scale * (i > 20 ? 1.5 : 1));
      if (scale > 1) scaled.insert(scaled.begin(), -largest);
      auto z = around<X>(scaled);
      add_special(z);
      ASSERT_NO_FATAL_FAILURE(compare_range(z, scaled, {.every_form = false}));
    }
    std::vector<float> narrow(edges.begin(), edges.end());
    ASSERT_NO_FATAL_FAILURE(compare_range(around<X>(narrow), narrow, {.every_form = false}));
    using of64 = std::numeric_limits<std::int64_t>;
    const std::vector<std::int64_t> whole = {of64::min(),
                                             of64::min() + 1,
                                             -(1LL << 53) - 1,
                                             -(1LL << 31) - 1,
                                             -(1LL << 31),
                                             -40'000,
                                             -129,
                                             -128,
                                             -1,
                                             0,
                                             1,
                                             127,
                                             128,
                                             255,
                                             256,
                                             70'001,
                                             (1LL << 24) + 1,
                                             (1LL << 31) - 1,
                                             1LL << 31,
                                             (1LL << 53) + 1,
                                             (1LL << 62) + 1,
                                             of64::max()};
    std::vector<number> as_numbers(whole.begin(), whole.end());
    auto y = around<X>(as_numbers);
    add_special(y);
    ASSERT_NO_FATAL_FAILURE(compare_range(y, whole));
    for (std::size_t cut = 2; cut < whole.size(); ++cut) {
      const std::vector<std::int64_t> first(whole.begin(), whole.begin() + cut);
      ASSERT_NO_FATAL_FAILURE(compare_range(y, first, {.every_form = false}));
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Histogram, IntegersBetweenIntegers) {
  using of64 = std::numeric_limits<std::int64_t>;
  for_each_integer([&]<class X>(std::type_identity<X>) {
    const auto check = [&](std::int64_t lower, std::int64_t upper, std::size_t bins) {
      std::vector<number> edges;
      for (std::size_t i = 0; i <= bins && i <= 300; ++i) {
        const auto at = static_cast<int128>(i <= 150 ? i : bins - (i <= bins ? 300 - i : 0));
        edges.push_back(static_cast<number>(lower + (static_cast<int128>(upper) - lower) * at /
                                                        static_cast<int128>(bins)));
      }
      auto x = around<X>(edges);
      add_special(x);
      ASSERT_NO_FATAL_FAILURE(compare_even(x, lower, upper, bins, {.every_form = false}))
          << lower << " to " << upper;
    };
    for (const std::size_t bins : {1, 2, 3, 7, 49, 255, 256, 300, 100'003}) {
      check(0, 1, bins);
      check(-128, 127, bins);
      check(0, 256, bins);
      check(-5, 44, bins);
      check(3, 1'000'003, bins);
      check(-(1LL << 31), (1LL << 31) - 1, bins);
      check(of64::min(), of64::max(), bins);
      check(of64::min(), of64::min() + 5, bins);
      check(of64::max() - 1000, of64::max(), bins);
      check(-(1LL << 62) - 3, (1LL << 62) + 5, bins);
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Histogram, EveryAlignmentAndStride) {
  for_each_real([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {1, 3, 70, 2000}) {
      const auto p = places(n, spread::uniform, 90);
      const auto k = samples_of<X>(p, -4, 90);
      for (const layout l : {layout{1, 1}, layout{2, 1}, layout{3, 1}, layout{5, 1}, layout{7, 1},
                             layout{0, 2}, layout{1, 3}, layout{1, -1}, layout{0, -2}}) {
        const options o = {.place = l, .every_form = false};
        if constexpr (std::is_integral_v<X>) {
          ASSERT_NO_FATAL_FAILURE(compare_keys(k, 80, o));
        }
        ASSERT_NO_FATAL_FAILURE(compare_even(k, 0.0, 80.0, 31, o));
        ASSERT_NO_FATAL_FAILURE(compare_range(k, std::vector<float>{0, 1, 2.5, 30, 81}, o));
      }
    }
  });
  const auto p = places(100'000, spread::uniform, 300);
  const options o = {.place = {.offset = 1, .increment = -3}};
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int32_t>(p, 300), 300, o));
}

TEST_ON_EVERY_EXECUTOR(Histogram, Channels) {
  for_each_real([&]<class X>(std::type_identity<X>) {
    for (const std::size_t channels : {2, 3, 4, 5, 100}) {
      for (const std::size_t pixels : {0, 1, 7, 1500}) {
        const auto p = places(pixels * channels, spread::uniform, 90);
        const auto k = samples_of<X>(p, -4, 90);
        const options o = {.channels = channels, .every_form = false};
        if constexpr (std::is_integral_v<X>) {
          ASSERT_NO_FATAL_FAILURE(compare_keys(k, 80, o));
        }
        ASSERT_NO_FATAL_FAILURE(compare_even(k, 0.0, 80.0, 31, o));
        ASSERT_NO_FATAL_FAILURE(compare_range(k, std::vector<float>{0, 1, 2.5, 30, 81}, o));
      }
    }
  });
  const auto p = places(400'000, spread::zipf, 256);
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::uint8_t>(p, 256), 256, {.channels = 4}));
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::int32_t>(p, 70'000), 70'000, {.channels = 4}));
  ASSERT_NO_FATAL_FAILURE(compare_keys(keys_of<std::uint8_t>(p, 256), 256,
                                       {.channels = 4, .place = {.offset = 1, .increment = -2}}));
}

TEST_ON_EVERY_EXECUTOR(Histogram, RunsOfEqualKeys) {
  // Runs of one key, also without a bin, with other keys between.
  for_each_integer([&]<class X>(std::type_identity<X>) {
    std::vector<X> keys;
    for (int run = 0; keys.size() < 20'000; ++run) {
      for (int i = 0; i < run % 200; ++i) keys.push_back(X(run % 9 == 4 ? -3 : run % 120));
      for (int i = 0; i < run % 7; ++i) keys.push_back(X(i * 19));
    }
    for (const std::size_t channels : {1, 2, 3, 8}) {
      const std::vector<X> whole(keys.begin(), keys.end() - keys.size() % channels);
      for (const std::size_t bins : {100, 4096}) {
        ASSERT_NO_FATAL_FAILURE(compare_keys(whole, bins, {.channels = channels}));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Histogram, BytesThatAreNearlyTheSame) {
  // Bytes may be counted 16 at a time where all are equal. Here all are, or one byte, one word or
  // all from a position on differ.
  std::vector<std::uint8_t> all;
  for (std::size_t at = 0; all.size() < 100'000; ++at) {
    const auto key = static_cast<std::uint8_t>(37 * at);
    const auto other = static_cast<std::uint8_t>(key ^ 1 << at % 8);
    for (std::size_t i = 0; i < 16; ++i) all.push_back(key);
    for (std::size_t i = 0; i < 16; ++i) all.push_back(i == at % 16 ? other : key);
    for (std::size_t i = 0; i < 16; ++i) all.push_back(i / 4 == at % 4 ? other : key);
    for (std::size_t i = 0; i < 16; ++i) all.push_back(i < at % 16 ? key : other);
  }
  const auto on_type = [&]<class X>(std::type_identity<X>) {
    for (const std::size_t n :
         {15, 16, 17, 31, 32, 33, 48, 64, 65, 1024, 16'383, 16'384, 16'385, 70'000, 99'900}) {
      for (const std::size_t offset : {0, 1, 4, 11, 15}) {
        // Keys of 16 aligned bytes are such a group.
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(offset);
        const std::vector<X> keys(first, first + static_cast<std::ptrdiff_t>(n));
        for (const std::size_t bins : {1, 100, 128, 256, 300}) {
          ASSERT_NO_FATAL_FAILURE(
              compare_keys(keys, bins, {.place = {.offset = offset}, .every_form = false}));
        }
      }
    }
  };
  on_type(std::type_identity<std::uint8_t>());
  on_type(std::type_identity<std::int8_t>());
}

TEST_ON_EVERY_EXECUTOR(Histogram, ThePublicForms) {
  if (data::on_device(where())) GTEST_SKIP() << "vectors of the host's";
  const std::vector<std::int32_t> keys = {0, 2, 2, 1, 2};
  const std::vector<float> x = {0, 0.5f, 1, 2.5f, 3};
  const std::vector<double> w = {1, 2, 4, 8, 16};
  std::vector<std::uint32_t> counts(3, 7);
  std::array<std::int64_t, 3> wide{};
  std::vector<double> sums(3);
  using c32 = std::vector<std::uint32_t>;
  tally::bincount(where(), keys, counts);
  EXPECT_EQ(counts, (c32{1, 1, 3}));
  tally::bincount(where(), keys, counts, {.add = true});
  EXPECT_EQ(counts, (c32{2, 2, 6}));
  tally::histogram_even(where(), x, 0, 3, wide);
  EXPECT_EQ(wide, (std::array<std::int64_t, 3>{2, 1, 2}));
  outside_counts outside;
  tally::histogram_range(where(), x, std::array{0.5, 1.0, 2.0, 2.75}, std::span(counts),
                         {.outside = &outside});
  EXPECT_EQ(counts, (c32{1, 1, 1}));
  EXPECT_EQ(outside, (outside_counts{1, 1, 0}));
  tally::bincount(where(), keys, w, sums);
  EXPECT_EQ(sums, (std::vector<double>{1, 8, 22}));
  tally::histogram_even(where(), x, w, 0.0f, 3.0, sums, {.add = true});
  EXPECT_EQ(sums, (std::vector<double>{4, 12, 46}));
  tally::histogram_range(where(), tally::strided(x.data(), 5, -1), w, std::array{0, 1, 2, 3}, sums);
  EXPECT_EQ(sums, (std::vector<double>{24, 4, 3}));
  tally::bincount(keys, counts);
  EXPECT_EQ(counts, (c32{1, 1, 3}));
}

// --- Unsigned integers ---------------------------------------------------------------------------

TEST_ON_EVERY_EXECUTOR(Histogram, UnsignedKeys) {
  for (const spread s : spreads) {
    for (const std::size_t bins : {1, 256, 5000, 70'000, 300'000}) {
      const auto some = places(5000, s, bins);
      ASSERT_NO_FATAL_FAILURE(compare_unsigned_keys(keys_of<std::int32_t>(some, bins), bins));
      ASSERT_NO_FATAL_FAILURE(compare_unsigned_keys(keys_of<std::int64_t>(some, bins), bins));
    }
    ASSERT_NO_FATAL_FAILURE(
        compare_unsigned_keys(keys_of<std::int32_t>(places(5000, s, 100), 100), 100,
                              {.channels = 4, .place = {.offset = 1, .increment = -2}}));
  }
}

TEST_ON_EVERY_EXECUTOR(Histogram, UnsignedVectors) {
  const auto bincount = [&]<class K, class C>(std::type_identity<K>, std::type_identity<C>) {
    const data::placed<K> keys(where(), {0, 2, 2, 1, 2, K(-1), K(-3), K(1) << (sizeof(K) * 8 - 1)});
    const data::placed<C> counts(where(), {7, 7, 7});
    const data::placed<outside_counts> outside(where(), {{5, 5, 5}});
    tally::bincount(where(), keys.span(), counts.span(), {.outside = outside.span().data()});
    EXPECT_EQ(counts.read(), (std::vector<C>{1, 1, 3}));
    EXPECT_EQ(outside.read()[0], (outside_counts{0, 3, 0}));
    tally::bincount(where(), tally::strided(keys.span().data(), 3, 2), counts.span(),
                    {.add = true});
    EXPECT_EQ(counts.read(), (std::vector<C>{2, 1, 5}));
    const data::placed<float> weights(where(), std::vector<float>(8, 0.5f));
    const data::placed<double> sums(where(), {1, 1, 1});
    tally::bincount(where(), keys.span(), weights.span(), sums.span(),
                    {.outside = outside.span().data()});
    EXPECT_EQ(sums.read(), (std::vector<double>{0.5, 0.5, 1.5}));
    EXPECT_EQ(outside.read()[0], (outside_counts{0, 3, 0}));
    data::expect_error(errc::key_out_of_range,
                       "tally::bincount: key 5 is " + std::to_string(K(-1)) + "; there are 3 bins",
                       [&] { tally::bincount(where(), keys.span(), counts.span()); });
  };
  bincount(std::type_identity<std::uint32_t>(), std::type_identity<std::size_t>());
  bincount(std::type_identity<std::uint64_t>(), std::type_identity<std::uint32_t>());
  bincount(std::type_identity<unsigned long long>(), std::type_identity<unsigned long long>());
}

TEST_ON_EVERY_EXECUTOR(Histogram, UnsignedEdges) {
  const data::placed<double> x(where(), {-1, 0, 1, 3e9, 4e9, 4294967295.0, 5e9});
  const data::placed<std::int64_t> whole(
      where(), {-1, 0, 1, 3'000'000'000, 4'000'000'000, 4'294'967'295, 5'000'000'000});
  const data::placed<std::size_t> counts(where(), {9, 9});
  const data::placed<outside_counts> outside(where(), {{5, 5, 5}});
  const auto expect = [&](const auto& samples, const auto& edges) {
    tally::histogram_range(where(), samples.span(), edges, counts.span(),
                           {.outside = outside.span().data()});
    EXPECT_EQ(counts.read(), (std::vector<std::size_t>{2, 2}));
    EXPECT_EQ(outside.read()[0], (outside_counts{2, 1, 0}));
  };
  const std::vector<std::uint32_t> edges = {1, 4'000'000'000, 4'294'967'295};
  expect(x, edges);
  expect(whole, edges);
  expect(x, tally::strided(edges.data(), 3, 1));
  expect(whole, std::vector<std::uint64_t>(edges.begin(), edges.end()));
  const auto refuse = [&](errc code, const std::string& text, const auto& wrong) {
    data::expect_error(code, "tally::histogram_range: " + text,
                       [&] { tally::histogram_range(where(), x.span(), wrong, counts.span()); });
  };
  refuse(errc::invalid_argument, "edges must not decrease: edge 0 is 4294967295, edge 1 is 7",
         std::array{~std::uint32_t{}, std::uint32_t{7}, std::uint32_t{8}});
  refuse(errc::invalid_argument,
         "edge 2 is 9223372036854775808; unsigned edges must be less than 2^63",
         std::array{std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 63});
  refuse(errc::size_mismatch, "edges has 1 elements; 2 bins need 3", std::array{7u});
}

// --- Weights -------------------------------------------------------------------------------------

template <class R>
std::uint64_t bits_of(R value) {
  if constexpr (sizeof(R) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint64_t>(value);
  }
}

class WeightedHistogram : public Histogram {
 protected:
  /// Keys without a bin are left out.
  template <class W, class C>
  std::vector<std::uint64_t> sums(const std::vector<std::int32_t>& keys, const std::vector<W>& w,
                                  std::size_t bins, std::size_t channels = 1, layout l = {},
                                  const std::vector<C>& before = {}) {
    const std::size_t step = static_cast<std::size_t>(std::abs(l.increment));
    reserve(samples_, (keys.size() + 64) * 4 * step + 4096);
    reserve(weights_, (keys.size() + 64) * sizeof(W) * step + 4096);
    reserve(counts_, bins * channels * sizeof(C));
    reserve(outside_, channels * sizeof(outside_counts));
    tally::histogram_arguments a;
    a.x = data::place(*samples_, bytes_of(keys), type::int32, l);
    a.weights = data::place(*weights_, bytes_of(w), tally::type_of<W>, l);
    a.weighted = true;
    a.counts = {counts_->get(), bins * channels, 1, tally::type_of<C>};
    a.options = {!before.empty(), channels, reinterpret_cast<outside_counts*>(outside_->get())};
    const std::vector<outside_counts> none(channels);
    outside_->write(none.data(), channels * sizeof(outside_counts));
    std::vector<C> result(bins * channels, C(77));
    if (!before.empty()) result = before;
    counts_->write(result.data(), result.size() * sizeof(C));
    tally::histogram(where(), a);
    counts_->read(result.data(), result.size() * sizeof(C));
    std::vector<std::uint64_t> all;
    for (const C r : result) all.push_back(bits_of(r));
    return all;
  }

  /// Returns the results' bits by exact sums, tested elsewhere.
  template <class W, class C>
  static std::vector<std::uint64_t> expected(const std::vector<std::int32_t>& keys,
                                             const std::vector<W>& w, std::size_t bins,
                                             std::size_t channels = 1,
                                             const std::vector<C>& before = {}) {
    std::vector<tally::exact_sum<double>> all(bins * channels);
    for (std::size_t i = 0; i < before.size(); ++i) all[i].add(before[i]);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto k = static_cast<std::size_t>(keys[i]);
      if (k < bins) all[i % channels * bins + k].add(w[i]);
    }
    std::vector<std::uint64_t> result;
    for (const auto& sum : all) result.push_back(bits_of(sum.template round<C>()));
    return result;
  }
};

template <class W>
std::vector<W> random_weights(std::size_t n, data::kind k) {
  std::mt19937_64 random(n);
  std::vector<W> w(n);
  for (W& each : w) each = data::random_element<W>(random, k);
  return w;
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, CorrectlyRounded) {
  const auto check = [&]<class W, class C>(std::type_identity<W>, std::type_identity<C>) {
    for (const std::size_t bins : {1, 3, 256, 5000}) {
      for (const std::size_t n : {0, 1, 2, 100, 5003}) {
        for (const auto k : {data::kind::plain, data::kind::wide}) {
          const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins + 1);
          const auto w = random_weights<W>(n, k);
          ASSERT_EQ((sums<W, C>(keys, w, bins)), (expected<W, C>(keys, w, bins)))
              << bins << " bins, n = " << n;
        }
      }
    }
  };
  check(std::type_identity<float>(), std::type_identity<float>());
  check(std::type_identity<float>(), std::type_identity<double>());
  check(std::type_identity<double>(), std::type_identity<float>());
  check(std::type_identity<double>(), std::type_identity<double>());
}

TEST_ON_EVERY_BACKEND(WeightedHistogram, Long) {
  constexpr std::size_t n = 200'003;
  for (const std::size_t bins : {10, 40'000, 300'000}) {
    const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins);
    const auto w = random_weights<double>(n, data::kind::plain);
    ASSERT_EQ((sums<double, double>(keys, w, bins)), (expected<double, double>(keys, w, bins)));
    const auto f = random_weights<float>(n, data::kind::wide);
    ASSERT_EQ((sums<float, float>(keys, f, bins)), (expected<float, float>(keys, f, bins)));
  }
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, MillionOfWeights) {
  constexpr std::size_t n = 1'100'004;
  const auto check = [&]<class W>(data::kind k, std::size_t bins, std::size_t channels) {
    const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins + 1);
    const auto w = random_weights<W>(n, k);
    ASSERT_EQ((sums<W, double>(keys, w, bins, channels)),
              (expected<W, double>(keys, w, bins, channels)));
  };
  check.operator()<float>(data::kind::wide, 1, 1);
  check.operator()<float>(data::kind::special, 100, 3);
  check.operator()<float>(data::kind::plain, 4000, 1);
  check.operator()<double>(data::kind::wide, 3, 2);
  check.operator()<double>(data::kind::special, 2500, 1);
}

// GPUs add these in memory, repeated keys together.
TEST_ON_EVERY_BACKEND(WeightedHistogram, RepeatedOfManyBins) {
  constexpr std::size_t n = 1'000'003, bins = 5000;
  for (const spread s : {spread::constant, spread::alternating, spread::sorted, spread::zipf}) {
    const auto keys = keys_of<std::int32_t>(places(n, s, bins), bins);
    const auto check = [&]<class W>(data::kind k) {
      const auto w = random_weights<W>(n, k);
      ASSERT_EQ((sums<W, double>(keys, w, bins)), (expected<W, double>(keys, w, bins)));
    };
    check.operator()<float>(data::kind::special);
    check.operator()<float>(data::kind::wide);
    check.operator()<double>(data::kind::plain);
  }
}

// Runs longer than all GPU threads: a thread sees one bin's weights in succession, then another's.
// In every other run a third of the keys is random.
TEST_ON_EVERY_BACKEND(WeightedHistogram, RunsInManyBins) {
  static constexpr std::size_t n = 5'000'003, bins = 10'007, a_run = 700'000;
  struct example {
    std::vector<double> weights;
    std::vector<std::uint64_t> sums;
  };
  static const std::vector<std::int32_t> keys = [] {
    std::vector<std::int32_t> all(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t run = i / a_run;
      const bool any = run % 2 == 1 && i % 3 == 0;
      all[i] = static_cast<std::int32_t>((any ? i * 2654435761u >> 7 : 1 + run * 4001) % bins);
    }
    return all;
  }();
  static const std::vector<example> examples = [] {
    std::vector<example> all;
    for (const auto k : {data::kind::plain, data::kind::wide, data::kind::special}) {
      auto weights = random_weights<double>(n, k);
      auto sums = expected<double, double>(keys, weights, bins);
      all.push_back({std::move(weights), std::move(sums)});
    }
    return all;
  }();
  for (const example& e : examples) {
    ASSERT_EQ((sums<double, double>(keys, e.weights, bins)), e.sums);
  }
}

// Partial sums of a bin must hold millions of large weights of one sign.
TEST_ON_EVERY_BACKEND(WeightedHistogram, MillionsInOneBin) {
  constexpr std::size_t n = 3'000'001, bins = 7;
  for (const int exponent : {0, 8, 16, 24}) {
    const auto check = [&]<class W>(std::type_identity<W>) {
      std::vector<std::int32_t> keys(n, 3);
      keys[n / 2] = 5;
      std::vector<W> w(n, std::ldexp(-W(1.99999), exponent));
      w[n / 3] = W(1);
      ASSERT_EQ((sums<W, double>(keys, w, bins)), (expected<W, double>(keys, w, bins)));
    };
    check(std::type_identity<float>());
    check(std::type_identity<double>());
  }
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, AnyOrder) {
  std::mt19937_64 random(9);
  constexpr std::size_t n = 4000;
  auto keys = keys_of<std::int32_t>(places(n, spread::uniform, 20), 20);
  auto w = random_weights<double>(n, data::kind::wide);
  const auto want = sums<double, double>(keys, w, 20);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int32_t> other_keys;
  std::vector<double> other_w;
  for (const std::size_t i : order) other_keys.push_back(keys[i]), other_w.push_back(w[i]);
  EXPECT_EQ((sums<double, double>(other_keys, other_w, 20)), want);
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, KnownSums) {
  // Integers times a power of two: the sum is exact in 128 bits, and correctly rounded to double.
  std::mt19937_64 random(4);
  std::vector<std::int32_t> keys;
  std::vector<double> w;
  std::array<int128, 5> exact{};
  for (int i = 0; i < 5000; ++i) {
    const auto m = static_cast<std::int64_t>(random() >> 11) * (random() % 2 ? 1 : -1);
    const auto shift = static_cast<int>(random() % 50);
    keys.push_back(static_cast<std::int32_t>(random() % 5));
    w.push_back(std::ldexp(static_cast<double>(m), shift - 40));
    exact[static_cast<std::size_t>(keys.back())] += static_cast<int128>(m) << shift;
  }
  std::vector<std::uint64_t> want;
  for (const int128 e : exact) want.push_back(bits_of(std::ldexp(static_cast<double>(e), -40)));
  EXPECT_EQ((sums<double, double>(keys, w, 5)), want);
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, SpecialValues) {
  const auto check = [&]<class W>(std::type_identity<W>) {
    using limits = std::numeric_limits<W>;
    const W inf = limits::infinity(), nan = -limits::quiet_NaN(), huge = limits::max();
    const W smallest = limits::denorm_min();
    //                                  0    1     2    3     4     5      6      7   8
    const std::vector<std::int32_t> keys = {0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 8, 99, -1};
    const std::vector<W> w = {nan,   inf,      -inf,      inf,   -inf,     huge,
                              huge,  huge,     huge,      -huge, smallest, smallest,
                              -W(0), smallest, -smallest, nan,   inf};
    const std::vector<W> want = {limits::quiet_NaN(),
                                 limits::quiet_NaN(),
                                 inf,
                                 -inf,
                                 inf,
                                 W(0),
                                 2 * smallest,
                                 W(0),
                                 W(0),
                                 W(0)};
    for (const std::size_t bins : {10, 40}) {  // hosts chain samples much fewer than bins
      const auto got = sums<W, W>(keys, w, bins);
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_EQ(got[i], bits_of(want[i])) << i << " of " << bins;
      }
    }
  };
  check(std::type_identity<float>());
  check(std::type_identity<double>());
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, AddedToWhatIsThere) {
  const auto check = [&]<class W, class C>(std::type_identity<W>, std::type_identity<C>) {
    const auto keys = keys_of<std::int32_t>(places(1000, spread::uniform, 60), 60);
    const auto w = random_weights<W>(1000, data::kind::wide);
    auto before = random_weights<C>(50, data::kind::wide);
    before[3] = std::numeric_limits<C>::infinity();
    before[4] = -C(0);
    ASSERT_EQ((sums<W, C>(keys, w, 50, 1, {}, before)), (expected<W, C>(keys, w, 50, 1, before)));
  };
  check(std::type_identity<float>(), std::type_identity<float>());
  check(std::type_identity<float>(), std::type_identity<double>());
  check(std::type_identity<double>(), std::type_identity<float>());
  check(std::type_identity<double>(), std::type_identity<double>());
}

// Bins without samples stay as they are, or round a sum of one number.
TEST_ON_EVERY_EXECUTOR(WeightedHistogram, FewSamplesOfManyBins) {
  const auto check = [&]<class W, class C>(std::type_identity<W>, std::type_identity<C>) {
    for (const auto& [n, bins] : {std::pair<std::size_t, std::size_t>{0, 100},
                                  {1, 4095},
                                  {2, 4096},
                                  {100, 201},
                                  {256, 513},
                                  {257, 515},
                                  {1000, 4097},
                                  {1000, 66'000}}) {
      auto before = random_weights<C>(bins, data::kind::special);
      before[7] = -C(0);
      const auto keys = keys_of<std::int32_t>(places(n, spread::uniform, bins), bins + 9);
      auto w = random_weights<W>(n, data::kind::special);
      if (n > 2) w[0] = W(0), w[1] = -W(0), w[2] = std::numeric_limits<W>::denorm_min();
      ASSERT_EQ((sums<W, C>(keys, w, bins)), (expected<W, C>(keys, w, bins)));
      ASSERT_EQ((sums<W, C>(keys, w, bins, 1, {}, before)),
                (expected<W, C>(keys, w, bins, 1, before)));
    }
  };
  check(std::type_identity<float>(), std::type_identity<float>());
  check(std::type_identity<double>(), std::type_identity<float>());
  check(std::type_identity<double>(), std::type_identity<double>());
}

// Hosts change from tables of limbs to sorting below four samples a bin, or with more bins than a
// cache holds.
TEST_ON_EVERY_EXECUTOR(WeightedHistogram, BordersOfTables) {
  const auto check = [&]<class W>(std::type_identity<W>, std::size_t max_bins) {
    const auto compare = [&](std::size_t n, std::size_t bins, std::size_t channels) {
      const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins + 1);
      const auto w = random_weights<W>(n, data::kind::wide);
      ASSERT_EQ((sums<W, double>(keys, w, bins, channels)),
                (expected<W, double>(keys, w, bins, channels)))
          << n << " samples, " << bins << " bins";
    };
    for (const std::size_t n : {799, 800, 801}) {
      compare(n, 200, 1);
      compare(n / 2 * 2, 100, 2);
    }
    for (const std::size_t bins : {max_bins - 1, max_bins, max_bins + 1})
      compare(4 * bins + 3, bins, 1);
  };
  check(std::type_identity<float>(), (1 << 21) / 88);
  check(std::type_identity<double>(), (1 << 21) / 544);
}

// More samples than hosts sort at a time, half of them in one bin. Small integer weights: plain
// sums are exact.
TEST_ON_EVERY_EXECUTOR(WeightedHistogram, LongerThanIsSortedAtOnce) {
  constexpr std::size_t n = 9'000'001, bins = 20'000;
  std::mt19937 random(1);
  std::vector<std::int32_t> keys(n);
  std::vector<double> w(n), want(bins);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = random() % 2 == 0 ? 12'345 : static_cast<std::int32_t>(random() % bins);
    w[i] = static_cast<double>(random() % 2001) - 1000;
    want[static_cast<std::size_t>(keys[i])] += w[i];
  }
  std::vector<std::uint64_t> bits;
  for (const double sum : want) bits.push_back(bits_of(sum));
  ASSERT_EQ((sums<double, double>(keys, w, bins)), bits);
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, StridesAndChannels) {
  for (const std::size_t channels : {1, 3, 4}) {
    for (const layout l : {layout{1, 1}, layout{0, 2}, layout{3, -1}, layout{0, -3}}) {
      const auto keys = keys_of<std::int32_t>(places(1200, spread::uniform, 60), 60);
      const auto w = random_weights<float>(1200, data::kind::wide);
      ASSERT_EQ((sums<float, double>(keys, w, 50, channels, l)),
                (expected<float, double>(keys, w, 50, channels)));
    }
  }
}

// Limbs of partial histograms round to the bits of one call, also after others' weights.
TEST_ON_EVERY_EXECUTOR(WeightedHistogram, WordsAreThoseOfTheWhole) {
  const auto check = [&]<class W, class T>(std::type_identity<W>, std::type_identity<T>) {
    constexpr std::size_t n = 3000, bins = 300, words = tally::exact_sum<T>::words;
    for (const auto k : {data::kind::plain, data::kind::wide, data::kind::special}) {
      for (const std::size_t channels : {1, 3}) {
        const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins + 1);
        const auto w = random_weights<W>(n, k);
        const auto want = sums<W, T>(keys, w, bins, channels);
        data::placed<std::int64_t> all(where(), std::vector<std::int64_t>(bins * channels * words));
        std::vector<tally::exact_sum<T>> objects(bins * channels);
        data::placed<outside_counts> outside(where(), std::vector<outside_counts>(channels));
        for (const auto& [from, to] :
             {std::pair(0, 9), std::pair(9, 2001), std::pair(2001, 3000)}) {
          const data::placed<std::int32_t> x(where(), {keys.begin() + from, keys.begin() + to});
          const data::placed<W> weights(where(), {w.begin() + from, w.begin() + to});
          const tally::histogram_options options = {
              .add = true, .channels = channels, .outside = outside.span().data()};
          tally::bincount(where(), x.span(), weights.span(),
                          tally::add_to<T>(all.span().data(), bins * channels), options);
          std::vector<double> edges(bins + 1);
          std::iota(edges.begin(), edges.end(), -0.5);
          tally::histogram_range(where(), x.span(), weights.span(), edges, tally::add_to(objects),
                                 options);
        }
        const std::vector<std::int64_t> made = all.read();
        std::vector<std::uint64_t> got, of_objects;
        for (std::size_t i = 0; i < bins * channels; ++i) {
          got.push_back(bits_of(tally::exact_sum<T>::template round_words<T>(&made[i * words])));
          of_objects.push_back(bits_of(objects[i].template round<T>()));
          for (std::size_t j = 0; j < words; ++j) {
            ASSERT_LT(std::abs(made[i * words + j]), 3 * (std::int64_t{1} << 33));
          }
        }
        ASSERT_EQ(got, want);
        ASSERT_EQ(of_objects, want);
        std::int64_t strays = 0;
        for (const outside_counts& o : outside.read()) strays += o.below + o.above;
        EXPECT_EQ(strays, 2 * std::count(keys.begin(), keys.end(), std::int32_t{bins}));
      }
    }
  };
  check(std::type_identity<float>(), std::type_identity<float>());
  check(std::type_identity<float>(), std::type_identity<double>());
  check(std::type_identity<double>(), std::type_identity<double>());
}

TEST_ON_EVERY_EXECUTOR(WeightedHistogram, WordsOfManyBins) {
  constexpr std::size_t n = 70'001, bins = 140'000, words = tally::exact_sum<float>::words;
  const auto keys = keys_of<std::int64_t>(places(n, spread::uniform, bins), bins);
  const auto w = random_weights<float>(n, data::kind::wide);
  const data::placed<std::int64_t> x(where(), keys);
  const data::placed<float> weights(where(), w);
  const data::placed<std::int64_t> all(where(), std::vector<std::int64_t>(bins * words));
  const data::placed<float> rounded(where(), std::vector<float>(bins));
  tally::histogram_even(where(), x.span(), weights.span(), -0.5, bins - 0.5,
                        tally::add_to<float>(all.span().data(), bins));
  tally::round_words(where(), {all.span().data(),
                               type::float32,
                               bins,
                               false,
                               {rounded.span().data(), type::float32},
                               false});
  std::vector<tally::exact_sum<float>> want(bins);
  for (std::size_t i = 0; i < n; ++i) want[static_cast<std::size_t>(keys[i])].add(w[i]);
  const auto got = rounded.read();
  for (std::size_t i = 0; i < bins; ++i) {
    ASSERT_EQ(bits_of(got[i]), bits_of(want[i].round<float>())) << i;
  }
}

// --- Errors --------------------------------------------------------------------------------------

class HistogramErrors : public Histogram {
 protected:
  void SetUp() override {
    Histogram::SetUp();
    if (IsSkipped()) return;
    reserve(samples_, 4096);
    reserve(counts_, 4096);
    reserve(outside_, 4096);
    const std::vector<std::byte> ones(4096, std::byte{1});
    for (auto* m : {samples_.get(), counts_.get(), outside_.get()}) m->write(ones.data(), 4096);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    for (auto* m : {counts_.get(), outside_.get()}) {
      std::vector<std::byte> now(4096);
      m->read(now.data(), 4096);
      EXPECT_EQ(now, std::vector<std::byte>(4096, std::byte{1})) << "something was written";
    }
  }
  tally::histogram_arguments arguments(binning what = binning::keys) {
    tally::histogram_arguments a;
    a.what = what;
    a.x = {samples_->get(), 8, 1, type::int8};
    a.lower = 0.0;
    a.upper = 1.0;
    a.counts = {counts_->get(), 4, 1, type::int32};
    a.edges = tally::as_operand(edges_);
    return a;
  }
  void expect(errc code, const std::string& text, const tally::histogram_arguments& a) {
    expect_error(code, text, [&] { tally::histogram(where(), a); });
  }

  std::vector<double> edges_ = {0, 1, 2, 3, 4};
};

TEST_ON_EVERY_EXECUTOR(HistogramErrors, Arguments) {
  auto a = arguments(static_cast<binning>(7));
  expect(errc::invalid_argument, "tally::histogram: what is 7; there are 3 kinds of bins", a);
  a = arguments();
  a.x.element = type::float32;
  expect(errc::unsupported_type, "tally::bincount: keys is float32; there are integers and bool",
         a);
  a = arguments(binning::even);
  a.x.element = type::complex64;
  expect(errc::unsupported_type,
         "tally::histogram_even: samples is complex64; there are real numbers", a);
  a = arguments(binning::edges);
  a.counts.element = type::uint8;
  expect(errc::unsupported_type,
         "tally::histogram_range: counts is uint8; there are int32 and int64", a);
  a = arguments();
  a.x.data = nullptr;
  expect(errc::null_pointer, "tally::bincount: keys is null and should point at 8 elements", a);
  a = arguments();
  a.counts.data = nullptr;
  expect(errc::null_pointer, "tally::bincount: counts is null and should point at 4 elements", a);
  a = arguments();
  a.x.increment = 0;
  expect(errc::zero_increment, "tally::bincount: keys has increment 0", a);
  a = arguments();
  a.counts.increment = 2;
  expect(errc::invalid_argument, "tally::bincount: counts has increment 2 and should have 1", a);
  a = arguments();
  a.counts.data = counts_->get() + 2;
  expect(errc::misaligned,
         "tally::bincount: counts is not a multiple of 4 bytes, the alignment of int32", a);
  a = arguments();
  a.counts.size = 0;
  expect(errc::invalid_argument,
         "tally::bincount: counts has 0 elements; there can be 1 to 2147483647", a);
  a = arguments();
  a.x.size = (std::size_t{1} << 31);
  expect(errc::invalid_argument,
         "tally::bincount: keys has 2147483648 elements; counts of 32 bits hold 2147483647", a);
  a = arguments();
  a.options.channels = 0;
  expect(errc::invalid_argument, "tally::bincount: channels is 0; there can be 1 to 65536", a);
  a.options.channels = 3;
  expect(errc::size_mismatch,
         "tally::bincount: keys has 8 elements, which is no multiple of 3 channels", a);
  a.x.size = 9;
  expect(errc::size_mismatch,
         "tally::bincount: counts has 4 elements, which is no multiple of 3 channels", a);
  a = arguments();
  a.x = {counts_->get() + 12, 8, 1, type::int8};
  expect(errc::overlap, "tally::bincount: counts overlaps keys", a);
  a = arguments();
  a.options.outside = reinterpret_cast<outside_counts*>(counts_->get() + 8);
  expect(errc::overlap, "tally::bincount: outside overlaps counts", a);
  a.options.outside = reinterpret_cast<outside_counts*>(outside_->get() + 4);
  expect(errc::misaligned,
         "tally::bincount: outside is not a multiple of 8 bytes, the alignment of int64", a);
}

TEST_ON_EVERY_EXECUTOR(HistogramErrors, BoundsAndEdges) {
  auto a = arguments(binning::even);
  a.lower = 3.5;
  expect(errc::invalid_argument,
         "tally::histogram_even: lower is 3.5, upper is 1; lower must be less", a);
  a.lower = std::int64_t{4};
  a.upper = std::int32_t{4};
  expect(errc::invalid_argument,
         "tally::histogram_even: lower is 4, upper is 4; lower must be less", a);
  a.upper = std::numeric_limits<float>::infinity();
  expect(errc::invalid_argument,
         "tally::histogram_even: lower is 4, upper is inf; both must be finite", a);
  a.upper = std::numeric_limits<double>::quiet_NaN();
  expect(errc::invalid_argument,
         "tally::histogram_even: lower is 4, upper is nan; both must be finite", a);
  edges_ = {0, 1, 1, 2, 1};
  expect(errc::invalid_argument,
         "tally::histogram_range: edges must not decrease: edge 3 is 2, edge 4 is 1",
         arguments(binning::edges));
  edges_[2] = std::numeric_limits<double>::quiet_NaN();
  expect(errc::invalid_argument, "tally::histogram_range: edge 2 is NaN",
         arguments(binning::edges));
  edges_ = {0, 1, 2};
  expect(errc::size_mismatch, "tally::histogram_range: edges has 3 elements; 4 bins need 5",
         arguments(binning::edges));
}

TEST_ON_EVERY_EXECUTOR(HistogramErrors, Unsigned) {
  auto a = arguments();
  a.unsigned_keys = true;
  expect(errc::unsupported_type,
         "tally::bincount: unsigned keys is int8; there are int32 and int64", a);
  a = arguments(binning::edges);
  a.unsigned_edges = true;
  expect(errc::unsupported_type,
         "tally::histogram_range: unsigned edges is float64; there are int32 and int64", a);
}

TEST_ON_EVERY_EXECUTOR(HistogramErrors, Weights) {
  auto a = arguments();
  a.weighted = true;
  a.weights = {samples_->get() + 64, 8, 1, type::float32};
  expect(errc::unsupported_type, "tally::bincount: sums is int32; there are float32 and float64",
         a);
  a.counts.element = type::float32;
  a.weights.element = type::int32;
  expect(errc::unsupported_type, "tally::bincount: weights is int32; there are float32 and float64",
         a);
  a.weights.element = type::float32;
  a.weights.size = 7;
  expect(errc::size_mismatch, "tally::bincount: keys has 8 elements, weights has 7", a);
  a.x.size = a.weights.size = std::size_t{1} << 30;
  expect(errc::invalid_argument,
         "tally::bincount: keys has 1073741824 elements; with weights there can be 1073741822", a);

  a = arguments();
  a.words = true;
  expect(errc::invalid_argument, "tally::bincount: words are those of sums of weights", a);
  a.weighted = true;
  a.weights = {samples_->get() + 64, 8, 1, type::float64};
  a.counts.element = type::float32;
  expect(errc::unsupported_type,
         "tally::bincount: weights is float64, and the words are those of sums of float32", a);
  a.counts.element = type::float64;
  a.counts.data = counts_->get() + 4;
  expect(errc::misaligned,
         "tally::bincount: sums is not a multiple of 8 bytes, the alignment of int64", a);
  a.counts.data = counts_->get();
  a.options.outside = reinterpret_cast<outside_counts*>(counts_->get() + 136 * 8);
  expect(errc::overlap, "tally::bincount: outside overlaps sums", a);
  a.counts.data = nullptr;
  expect(errc::null_pointer, "tally::bincount: sums is null and should point at 548 elements", a);
}

TEST_ON_EVERY_EXECUTOR(HistogramErrors, KeysOutOfRange) {
  if (data::on_device(where())) GTEST_SKIP() << "counts of the other keys are written";
  for_each_integer([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {1, 70, 1024}) {
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        std::vector<X> keys(n, X(1));
        for (std::size_t i = at; i < n; i += 3) keys[i] = X(17 + i % 100);
        keys[at] = std::is_signed_v<X> ? X(-3) : X(200);
        const auto bytes = bytes_of(keys);
        reserve(weights_, 8192);
        weights_->write(bytes.data(), bytes.size());
        auto a = arguments();
        a.x = {weights_->get(), n, 1, tally::type_of<X>};
        const std::string text = "tally::bincount: key " + std::to_string(at) + " is " +
                                 std::to_string(std::is_signed_v<X> ? -3 : 200) + "; there are ";
        expect(errc::key_out_of_range, text + "4 bins", a);
        a.options.add = true;
        a.counts.element = type::int64;
        expect(errc::key_out_of_range, text + "4 bins", a);
        a.counts.size = 1;
        if (at == 0) {
          expect(errc::key_out_of_range,
                 "tally::bincount: key 0 is " + std::to_string(std::is_signed_v<X> ? -3 : 200) +
                     "; there is 1 bin",
                 a);
        }
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(HistogramErrors, KeysOutOfRangeOfManyBins) {
  if (data::on_device(where())) GTEST_SKIP() << "counts of the other keys are written";
  constexpr std::size_t bins = 3 << 20;
  std::vector<std::int32_t> keys(100'000, 5);
  keys[70'001] = bins;
  keys[90'000] = -1;
  std::vector<std::int32_t> counts(bins, 1);
  expect_error(errc::key_out_of_range,
               "tally::bincount: key 70001 is 3145728; there are 3145728 bins",
               [&] { tally::bincount(where(), keys, counts); });
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 1), bins);
}

TEST_ON_EVERY_EXECUTOR(Histogram, SeveralThreadsAtOnce) {
  constexpr std::size_t n = 100'000, bins = 300, callers = 4;
  const auto keys = keys_of<std::int32_t>(places(n, spread::zipf, bins), bins);
  std::vector<std::int32_t> want(bins);
  for (const std::int32_t k : keys) ++want[static_cast<std::size_t>(k)];
  reserve(samples_, n * 4);
  reserve(counts_, callers * bins * 4);
  samples_->write(keys.data(), n * 4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < callers; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        auto a = with_counts(binning::keys, bins);
        a.x = {samples_->get(), n, 1, type::int32};
        a.counts = {counts_->get() + t * bins * 4, bins, 1, type::int32};
        tally::histogram(where(), a);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < callers; ++t) {
    std::vector<std::int32_t> got(bins);
    counts_->read(got.data(), bins * 4, t * bins * 4);
    EXPECT_EQ(got, want);
  }
}

/// Sums that overflow a count are negative, never small.
TEST_ON_EVERY_EXECUTOR(Histogram, NoSilentWrap) {
  std::vector<std::int32_t> keys(100, 0);
  reserve(samples_, 400);
  samples_->write(keys.data(), 400);
  const std::int32_t before = std::numeric_limits<std::int32_t>::max() - 50;
  reserve(counts_, 4);
  counts_->write(&before, 4);
  tally::histogram_arguments a;
  a.x = {samples_->get(), 100, 1, type::int32};
  a.counts = {counts_->get(), 1, 1, type::int32};
  a.options.add = true;
  tally::histogram(where(), a);
  std::uint32_t after = 0;
  counts_->read(&after, 4);
  EXPECT_EQ(after, static_cast<std::uint32_t>(before) + 100u);
}

}  // namespace
