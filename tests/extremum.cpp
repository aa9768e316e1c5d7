// min, max, minmax and iamax: value and index of a literal loop, for every element type, size,
// alignment and stride, wherever the extreme element is.
#include "tests/data.hpp"
#include "tests/environments.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <sstream>

namespace {

using data::kind;
using data::layout;
using tally::extreme;

constexpr std::array searches = {extreme::min, extreme::max, extreme::minmax, extreme::iamax};
constexpr const char* names[] = {"min", "max", "minmax", "iamax"};

using bytes = std::vector<std::byte>;

template <class X>
X element(const bytes& x, std::size_t i) {
  X value;
  std::memcpy(&value, x.data() + i * sizeof(X), sizeof(X));
  return value;
}
template <class X>
void set(bytes& x, std::size_t i, X value) {
  std::memcpy(x.data() + i * sizeof(X), &value, sizeof(X));
}
template <class X>
bytes filled(std::size_t n, X value) {
  bytes x(n * sizeof(X));
  for (std::size_t i = 0; i < n; ++i) set(x, i, value);
  return x;
}

// --- The rules, literally ------------------------------------------------------------------------

template <class X>
constexpr bool is_float = !std::is_integral_v<X>;

template <class X>
bool is_nan(X x) {
  if constexpr (tally::is_complex_v<X>) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (is_float<X>) {
    return std::isnan(static_cast<double>(x));
  } else {
    return false;
  }
}

/// |x|; of complex elements |re| + |im| in their parts' type; of integers unsigned.
template <class X>
auto magnitude(X x) {
  if constexpr (tally::is_complex_v<X>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else if constexpr (is_float<X>) {
    return std::abs(static_cast<double>(x));
  } else {
    const auto wide = static_cast<std::int64_t>(x);
    return wide < 0 ? 0 - static_cast<std::uint64_t>(wide) : static_cast<std::uint64_t>(wide);
  }
}

template <extreme what, class X>
bool better(X a, X b) {
  if constexpr (what == extreme::iamax) {
    return magnitude(a) > magnitude(b);
  } else if constexpr (is_float<X>) {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    return what == extreme::min ? x < y : x > y;
  } else {
    return what == extreme::min ? a < b : a > b;
  }
}

template <extreme what, class X>
std::int64_t index_in(const bytes& x) {
  const std::size_t n = x.size() / sizeof(X);
  std::int64_t best = -1;
  for (std::size_t i = 0; i < n; ++i) {
    const X value = element<X>(x, i);
    if (is_nan(value)) return static_cast<std::int64_t>(i);
    if (best < 0 || better<what>(value, element<X>(x, static_cast<std::size_t>(best)))) {
      best = static_cast<std::int64_t>(i);
    }
  }
  return best;
}

template <class X>
bytes canonical_nan() {
  if constexpr (std::is_same_v<X, double>) return filled(1, std::uint64_t{0x7ff8000000000000u});
  if constexpr (std::is_same_v<X, float>) return filled(1, std::uint32_t{0x7fc00000u});
  if constexpr (std::is_same_v<X, tally::bfloat16>) return filled(1, std::uint16_t{0x7fc0u});
  return filled(1, std::uint16_t{0x7e00u});
}

/// Each value padded with zeros to eight bytes, then its index.
template <class X>
bytes expected(extreme what, const bytes& x) {
  bytes all;
  const auto add = [&](bytes value, std::int64_t index) {
    if (!value.empty()) value.resize(8);
    all.insert(all.end(), value.begin(), value.end());
    const bytes tail = filled(1, index);
    all.insert(all.end(), tail.begin(), tail.end());
  };
  if (what == extreme::iamax) {
    add({}, index_in<extreme::iamax, X>(x));
    return all;
  }
  if constexpr (!tally::is_complex_v<X>) {
    const auto found = [&](std::int64_t i) {
      const X value = element<X>(x, static_cast<std::size_t>(i));
      add(is_nan(value) ? canonical_nan<X>() : filled(1, value), i);
    };
    if (what != extreme::max) found(index_in<extreme::min, X>(x));
    if (what != extreme::min) found(index_in<extreme::max, X>(x));
  }
  return all;
}

std::size_t size_of_result(extreme what) {
  return what == extreme::iamax ? 8 : what == extreme::minmax ? 32 : 16;
}

bytes written(extreme what, const void* result) {
  const auto* const from = static_cast<const std::byte*>(result);
  return bytes(from, from + size_of_result(what));
}

std::string indices(extreme what, const bytes& result) {
  const std::size_t value = what == extreme::iamax ? 0 : 8;
  std::string line;
  for (std::size_t i = value; i < result.size(); i += value + 8) {
    line += ' ';
    line += std::to_string(element<std::int64_t>(bytes(result.begin() + i, result.end()), 0));
  }
  return line;
}

// --- On every executor ---------------------------------------------------------------------------

class Extremum : public data::OnEveryExecutor {
 protected:
  void compare(tally::type element, extreme what, const bytes& x, const bytes& want, layout l) {
    const std::size_t n = x.size() / tally::size_of(element);
    const std::size_t step = static_cast<std::size_t>(std::abs(l.increment));
    const std::size_t needed = step * x.size() + 4096;
    if (!memory_x_ || memory_x_->size() < needed) {
      memory_x_ = std::make_unique<data::buffer>(where(), needed);
    }
    if (!memory_r_) memory_r_ = std::make_unique<data::buffer>(where(), 64);
    const tally::operand ox = data::place(*memory_x_, x, element, l);
    const std::size_t size = size_of_result(what);
    const auto label = [&] {
      std::ostringstream line;
      line << names[static_cast<int>(what)] << " of " << tally::name(element) << ", n = " << n
           << ", offset " << l.offset << ", increment " << l.increment << ":";
      return line.str();
    };

    alignas(16) std::array<std::byte, 48> result;
    result.fill(std::byte{0xcc});
    tally::find_extremum(where(), {ox, what, result.data()});
    bytes got = written(what, result.data());
    ASSERT_EQ(got, want) << label() << indices(what, got) << " instead of" << indices(what, want);
    ASSERT_EQ(result[size], std::byte{0xcc}) << label() << " written past the result";

    bytes poison(64, std::byte{0xcc});
    memory_r_->write(poison.data(), poison.size());
    tally::find_extremum(where(), {ox, what, memory_r_->get(), {.wait = false}});
    memory_r_->read(poison.data(), poison.size());  // on the default stream, so after the search
    got = written(what, poison.data());
    ASSERT_EQ(got, want) << label() << " written form:" << indices(what, got) << " instead of"
                         << indices(what, want);
    ASSERT_EQ(poison[size], std::byte{0xcc}) << label() << " written past the result";
  }

  template <class X>
  void compare_all(const bytes& x, layout l = {}) {
    for (const extreme what : searches) {
      if (what != extreme::iamax && (tally::is_complex_v<X> || x.empty())) continue;
      ASSERT_NO_FATAL_FAILURE(compare(tally::type_of<X>, what, x, expected<X>(what, x), l));
    }
  }

 private:
  std::unique_ptr<data::buffer> memory_x_, memory_r_;
};

/// Sizes around vectors, blocks of vectors, warps' parts and chunks.
const std::vector<std::size_t> sizes = {
    0,    1,    2,    3,    4,    5,    7,    8,    9,    15,   16,   17,   31,  32,
    33,   63,   64,   65,   100,  127,  128,  129,  255,  256,  257,  511,  512, 513,
    1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 5000, 8193, 9001};

TEST_ON_EVERY_EXECUTOR(Extremum, EveryTypeAndSize) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : sizes) {
      for (const kind k : {kind::plain, kind::wide}) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(data::random_bytes<X>(n, 3 * n + 1, k)));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, InfinitiesAndNaNs) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {1, 2, 5, 30, 100, 300, 1000, 5000}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(data::random_bytes<X>(n, seed, kind::special)));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, EveryAlignment) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {3, 70, 1000, 9001}) {
      const auto x = data::random_bytes<X>(n, n, kind::plain);
      for (std::size_t offset = 1; offset < 33; offset += offset < 17 ? 1 : 5) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = offset}));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, ComplexElementsAlignedLikeTheirParts) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    using X = std::complex<R>;
    for (const std::size_t n : {1, 3, 70, 1000, 9001}) {
      auto x = data::random_bytes<X>(n, n, kind::plain);
      const std::int64_t want = index_in<extreme::iamax, X>(x);
      data::buffer memory(where(), x.size() + 4 * sizeof(X)), result(where(), 8);
      for (std::size_t offset = sizeof(R); offset < 4 * sizeof(X); offset += sizeof(X)) {
        memory.write(x.data(), x.size(), offset);
        tally::find_extremum(where(), {{memory.get() + offset, n, 1, tally::type_of<X>},
                                       extreme::iamax,
                                       result.get(),
                                       {.wait = false}});
        std::int64_t got = 0;
        result.read(&got, sizeof got);
        ASSERT_EQ(got, want) << n << " elements, " << offset << " bytes";
      }
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(Extremum, EveryStride) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {1, 2, 100, 1025, 9001}) {
      const auto x = data::random_bytes<X>(n, 17, kind::plain);
      for (const std::ptrdiff_t increment : {2, 3, 7, -1, -2, -3}) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = 1, .increment = increment}));
      }
    }
    const auto x = data::random_bytes<X>(100'000, 37, kind::plain);  // several blocks of a GPU
    ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = 1, .increment = -2}));
  });
}

TEST_ON_EVERY_BACKEND(Extremum, Long) {
  // Borders of partitions.
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {16'384, 65'537, 262'143, 1'000'003}) {
      const auto x = data::random_bytes<X>(n, n, kind::wide);
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = 3}));
    }
  });
  // From here up GPU blocks take several tiles.
  const std::size_t n = where().name() == "cuda" ? 17'000 * 1024 + 5 : 3'000 * 1024 + 5;
  const auto x = data::random_bytes<double>(n, n, kind::plain);
  ASSERT_NO_FATAL_FAILURE(compare_all<double>(x));
  const auto y = data::random_bytes<float>(n, n, kind::plain);
  ASSERT_NO_FATAL_FAILURE(compare_all<float>(y, {.offset = 1}));
}

/// Numbers beyond `kind::plain`.
template <class X>
std::pair<X, X> low_and_high() {
  if constexpr (tally::is_complex_v<X>) {
    return {X(-9, 0), X(4, -7)};
  } else if constexpr (std::is_same_v<X, bool>) {
    return {false, true};
  } else if constexpr (std::is_unsigned_v<X>) {
    return {0, 200};
  } else if constexpr (std::is_integral_v<X>) {
    return {-100, 100};
  } else {
    return {X(-9.0f), X(9.0f)};
  }
}

TEST_ON_EVERY_BACKEND(Extremum, WhereverItIs) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    const auto [low, high] = low_and_high<X>();
    for (const std::size_t n : {70, 9001, 100'003}) {
      auto x = data::random_bytes<X>(n, n, kind::plain);
      if constexpr (std::is_same_v<X, bool>) x = filled(n, false);
      if constexpr (std::is_same_v<X, std::uint8_t>) x = filled(n, X(9));
      std::vector<std::size_t> places = {0, 1, 2, 3, n / 3, n / 2, n - 3, n - 2, n - 1};
      for (std::size_t p = 5; p < n && n < 100'000; p = p * 3 / 2 + 1) places.push_back(p);
      for (const std::size_t p : places) {
        auto one = x;
        set(one, p, high);
        if (!std::is_same_v<X, bool>) set(one, n - 1 - p, low);
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(one));
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(one, {.offset = 5}));
        // Repeated behind: the first one counts.
        for (std::size_t again = p; again < n; again = again * 2 + 1) set(one, again, high);
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(one));
      }
      if constexpr (std::is_same_v<X, bool>) {  // the first unset element
        for (const std::size_t p : places) {
          auto one = filled(n, true);
          set(one, p, false);
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(one));
        }
      }
    }
  });
}

/// Several MiB, of which parts are searched side by side: the first of equal ones counts, whichever
/// is looked at first.
TEST_ON_EVERY_BACKEND(Extremum, EqualOnesFarApart) {
  const auto check = [&]<class X>(std::type_identity<X>) {
    const std::size_t n = (std::size_t{9} << 20) / sizeof(X) + 3, page = 4096 / sizeof(X);
    const auto plain = data::random_bytes<X>(n, n, kind::plain);
    const auto [low, high] = low_and_high<X>();
    for (const std::size_t p : {5 * page - 1, 700 * page + 1, n - 20 * page}) {
      auto x = plain;
      set(x, p, high), set(x, p + 4 * page - 5, high), set(x, p + 13 * page + 9, high);
      set(x, p + 1, low), set(x, p + 4 * page - 4, low), set(x, p + 9 * page - 3, low);
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
      if constexpr (is_float<X> && !tally::is_complex_v<X>) {
        const X nan = std::numeric_limits<X>::quiet_NaN();
        set(x, p + 8 * page - 7, nan), set(x, p + 12 * page - 9, nan);
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = 1}));
      }
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(Extremum, AllEqual) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    const auto [low, high] = low_and_high<X>();
    for (const std::size_t n : {1, 30, 1000, 9001, 70'000}) {
      for (const X value : {X(), low, high}) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(filled(n, value), {.offset = 1}));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, LeastAndGreatest) {
  const auto check = [&]<class X>(std::type_identity<X>, std::vector<X> ends) {
    for (const std::size_t n : {1, 30, 5000}) {
      for (const X value : ends) {
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(filled(n, value)));
        for (const X other : ends) {
          auto x = filled(n, value);
          set(x, n * 2 / 3, other);
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
          for (std::size_t i = n / 5; i < n; i += 7) set(x, i, other);
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
        }
      }
    }
  };
  data::for_each_type([&]<class X>(std::type_identity<X> type) {
    using limits = std::numeric_limits<X>;
    if constexpr (std::is_same_v<X, bool>) {
      check(type, std::vector<X>{});
    } else if constexpr (std::is_integral_v<X>) {  // the lowest number's magnitude is one more
      check(type, {limits::min(), limits::max(), static_cast<X>(limits::min() + 1), X(0)});
    } else if constexpr (std::is_floating_point_v<X>) {
      check(type, {-limits::infinity(), limits::infinity(), limits::lowest(), limits::max(),
                   limits::denorm_min(), -limits::denorm_min(), X(0)});
    } else if constexpr (tally::is_complex_v<X>) {
      using R = tally::real_t<X>;
      using of_parts = std::numeric_limits<R>;
      check(type, {X(of_parts::infinity(), 1), X(0, -of_parts::infinity()), X(of_parts::max(), 1),
                   X(of_parts::max(), of_parts::max()),  // whose magnitude overflows
                   X(0, of_parts::denorm_min()), X()});
    } else {
      const X infinity(limits::has_infinity ? limits::infinity()
                                            : X(std::numeric_limits<float>::infinity()));
      check(type, {infinity, X(-static_cast<float>(infinity)), X(2.0f), X(0.0f), X(-0.0f)});
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, SignedZerosAreEqual) {
  const auto check = [&]<class X>(std::type_identity<X>) {
    const X plus(0.0f), minus(-0.0f);
    for (const std::size_t n : {1, 2, 3, 20, 100, 1000, 9001}) {
      for (const std::size_t p : {std::size_t{0}, n / 3, n - 1}) {
        for (const auto& [others, one] : {std::pair(plus, minus), std::pair(minus, plus)}) {
          auto x = filled(n, others);
          set(x, p, one);
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
          // Zeros of both signs, among negative and among positive numbers.
          for (const float other : {-1.0f, 1.0f}) {
            auto y = filled(n, X(other));
            set(y, p, one);
            if (p + 1 < n) set(y, n - 1, others);
            ASSERT_NO_FATAL_FAILURE(compare_all<X>(y));
          }
        }
      }
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<tally::float16>{});
  check(std::type_identity<tally::bfloat16>{});
}

template <class X>
std::vector<X> nans() {
  if constexpr (tally::is_complex_v<X>) {
    std::vector<X> all;
    for (const auto nan : nans<tally::real_t<X>>()) {
      for (const X z : {X(nan, 1), X(1, nan), X(nan, nan),
                        X(nan, std::numeric_limits<tally::real_t<X>>::infinity())}) {
        all.push_back(z);
      }
    }
    return all;
  } else if constexpr (std::is_same_v<X, double>) {
    std::vector<X> all;
    for (const std::uint64_t bits :
         {0x7ff8000000000000u, 0xfff8000000000000u, 0x7ff0000000000001u, 0xfff8000000000123u}) {
      all.push_back(std::bit_cast<double>(bits));
    }
    return all;
  } else if constexpr (std::is_same_v<X, float>) {
    std::vector<X> all;
    for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xffc00123u}) {
      all.push_back(std::bit_cast<float>(bits));
    }
    return all;
  } else {
    std::vector<X> all(4);
    const bool half = std::is_same_v<X, tally::float16>;
    const std::uint16_t infinity = half ? 0x7c00 : 0x7f80, quiet = half ? 0x200 : 0x40;
    all[0].bits = infinity | quiet;
    all[1].bits = static_cast<std::uint16_t>(0x8000 | infinity | quiet);
    all[2].bits = static_cast<std::uint16_t>(infinity | 1);
    all[3].bits = static_cast<std::uint16_t>(0x8000 | infinity | quiet | 5);
    return all;
  }
}

TEST_ON_EVERY_EXECUTOR(Extremum, TheFirstNaN) {
  data::for_each_type([&]<class X>(std::type_identity<X>) {
    if constexpr (is_float<X>) {
      const auto all = nans<X>();
      for (const std::size_t n : {1, 2, 20, 100, 1000, 9001}) {
        std::vector<std::size_t> places = {0, n / 2, n - 1};
        for (std::size_t p = 1; p < n && n < 10'000; p = p * 2 + 1) places.push_back(p);
        for (std::size_t k = 0; k < places.size(); ++k) {
          const std::size_t p = places[k];
          auto x = data::random_bytes<X>(n, n, kind::plain);
          set(x, p, all[k % all.size()]);
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x, {.offset = 3, .increment = -2}));
          set(x, n - 1, all[(k + 1) % all.size()]);  // another behind, better elements before
          if constexpr (!tally::is_complex_v<X>) {
            if (p > 1) set(x, 0, X(-100.0f)), set(x, 1, X(100.0f));
          }
          ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
        }
        ASSERT_NO_FATAL_FAILURE(compare_all<X>(filled(n, all[1])));
      }
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Extremum, SortedEitherWay) {
  const auto check = [&]<class X>(std::type_identity<X>) {
    for (const std::size_t n : {100, 5000, 200'000}) {
      bytes up(n * sizeof(X)), down(n * sizeof(X));
      for (std::size_t i = 0; i < n; ++i) {
        const auto value = static_cast<X>(static_cast<double>(i) - static_cast<double>(n) / 2);
        set(up, i, value);
        set(down, n - 1 - i, value);
      }
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(up));
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(down));
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
  check(std::type_identity<std::int32_t>{});
  check(std::type_identity<std::int64_t>{});
}

TEST_ON_EVERY_EXECUTOR(Extremum,
                       InfinitiesThatCancel) {  // the sum of parts is NaN, though none of them is
  const auto check = [&]<class X>(std::type_identity<X>) {
    constexpr X infinity = std::numeric_limits<X>::infinity();
    for (const std::size_t n : {2, 100, 3000, 70'000}) {
      auto x = data::random_bytes<X>(n, n, kind::plain);
      for (std::size_t i = n / 3; i < n; i += 16) set(x, i, i / 16 % 2 ? infinity : -infinity);
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
      set(x, n - 1, std::numeric_limits<X>::quiet_NaN());
      ASSERT_NO_FATAL_FAILURE(compare_all<X>(x));
    }
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(Extremum, TheCallersEnvironmentDoesNotMatterAndStays) {
  if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  std::vector<double> x(5000, 0x1p-1060);  // subnormal, zeros under flushing
  x[40] = -0x1p-1061;
  x[4000] = 0x1p-1059;
  const auto all = [&] { return std::pair(tally::minmax(where(), x), tally::iamax(where(), x)); };
  EXPECT_EQ(all(), std::pair(tally::extrema<double>{{-0x1p-1061, 40}, {0x1p-1059, 4000}},
                             std::int64_t{4000}));
  data::expect_no_influence(all);
}

#if TALLY_HAS_CUDA
TEST(ExtremumOnCuda, ACapturedSearchLooksAtEachReplaysData) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const tally::executor device = tally::cuda();
  constexpr std::size_t n = 300'007;
  using results = tally::extrema<double>;
  data::buffer memory(device, n * sizeof(double)), result(device, sizeof(results));
  const auto x = tally::strided(reinterpret_cast<const double*>(memory.get()), n, 1);
  cudaStream_t stream;
  data::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  data::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const tally::executor on_stream = tally::cuda({.stream = stream});
  tally::minmax(on_stream, x, reinterpret_cast<results*>(result.get()));
  EXPECT_THROW(tally::minmax(on_stream, x), tally::error);  // would wait
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  data::check_cuda(cudaStreamEndCapture(stream, &graph));
  data::check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const bytes values = data::random_bytes<double>(n, seed, kind::plain);
    memory.write(values.data(), values.size());
    data::check_cuda(cudaDeviceSynchronize());
    data::check_cuda(cudaGraphLaunch(executable, stream));
    data::check_cuda(cudaStreamSynchronize(stream));
    bytes got(sizeof(results));
    result.read(got.data(), got.size());
    EXPECT_EQ(written(extreme::minmax, got.data()), expected<double>(extreme::minmax, values));
  }
  data::check_cuda(cudaGraphExecDestroy(executable));
  data::check_cuda(cudaGraphDestroy(graph));
  data::check_cuda(cudaStreamDestroy(stream));
}

TEST(ExtremumOnCuda, ResultsInPinnedAndManagedMemory) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const bytes values = data::random_bytes<float>(100'000, 1, kind::plain);
  data::buffer memory(tally::cuda(), values.size());
  memory.write(values.data(), values.size());
  const auto x = tally::strided(reinterpret_cast<const float*>(memory.get()), 100'000, 1);
  tally::extremum<float>*pinned = nullptr, *managed = nullptr;
  data::check_cuda(cudaMallocHost(&pinned, sizeof *pinned));
  data::check_cuda(cudaMallocManaged(&managed, sizeof *managed));
  for (auto* result : {pinned, managed}) {
    tally::max(tally::cuda(), x, result);
    data::check_cuda(cudaDeviceSynchronize());
    EXPECT_EQ(written(extreme::max, result), expected<float>(extreme::max, values));
  }
  cudaFreeHost(pinned);
  cudaFree(managed);
}
#endif

// --- The typed interface, on host memory ---------------------------------------------------------

TEST(ExtremumInterface, TakesVectorsSpansAndArrays) {
  const std::vector<double> v = {3, -4, 0, -4};
  const std::array<float, 3> a = {-6, 8, 8};
  const int raw[] = {1, -1, 2};
  EXPECT_EQ(tally::min(v), (tally::extremum<double>{-4, 1}));
  EXPECT_EQ(tally::max(tally::serial(), std::span(v)), (tally::extremum<double>{3, 0}));
  EXPECT_EQ(tally::minmax(tally::simd(), a), (tally::extrema<float>{{-6, 0}, {8, 1}}));
  EXPECT_EQ(tally::iamax(v), 1);
  EXPECT_EQ(tally::iamax(tally::simd(), raw), 2);
  EXPECT_EQ(tally::min(tally::strided(v.data(), 2, -2)).index, 0);  // 0, then 3
  EXPECT_EQ(tally::max(tally::strided(v.data(), 2, 2)), (tally::extremum<double>{3, 0}));
}

TEST(ExtremumInterface, ReturnsTheElementsType) {
  static_assert(std::is_same_v<decltype(tally::min(std::vector<float>())), tally::extremum<float>>);
  static_assert(std::is_same_v<decltype(tally::max(std::vector<tally::float16>())),
                               tally::extremum<tally::float16>>);
  static_assert(
      std::is_same_v<decltype(tally::minmax(std::array<bool, 1>())), tally::extrema<bool>>);
  static_assert(!tally::ordered_operand<std::vector<std::complex<float>>>);
  static_assert(sizeof(tally::extremum<bool>) == 16 && sizeof(tally::extrema<double>) == 32);
  const std::array<bool, 4> flags = {true, false, true, false};
  EXPECT_EQ(tally::minmax(flags), (tally::extrema<bool>{{false, 1}, {true, 0}}));
}

/// Results returned in registers included.
TEST(ExtremumInterface, EveryByteOfAResultIsDefined) {
  for (const auto& where : tally::executors()) {
    if (data::on_device(where)) continue;
    data::for_each_type([&]<class X>(std::type_identity<X>) {
      if constexpr (!tally::is_complex_v<X>) {
        std::array<X, 3> x;
        x.fill(X(1));
        alignas(16) std::array<std::byte, 32> place;
        place.fill(std::byte{0xcc});
        *new (place.data()) tally::extrema<X> = tally::minmax(where, x);
        bytes values(sizeof x);
        std::memcpy(values.data(), x.data(), sizeof x);
        EXPECT_EQ(written(extreme::minmax, place.data()), expected<X>(extreme::minmax, values))
            << where.description() << ", " << tally::name(tally::type_of<X>);
        static_assert(std::is_trivially_copyable_v<tally::extremum<X>>);
        static_assert(!std::is_integral_v<X> || sizeof(X) == 8 ||
                      std::has_unique_object_representations_v<tally::extremum<X>>);
      }
    });
  }
  auto [value, index] = tally::max(std::vector<float>{1, 3, 2});
  static_assert(std::is_same_v<decltype(value), float>);
  EXPECT_EQ(value, 3);
  EXPECT_EQ(index, 1);
}

TEST(ExtremumInterface, WritesToAPointer) {
  const std::vector<std::complex<float>> z = {{3, -4}, {0, 12}, {-6, 6}};
  for (const auto& where : {tally::serial(), tally::simd()}) {
    std::int64_t index = 0;
    tally::iamax(where, z, &index);
    EXPECT_EQ(index, 1);
    const std::vector<std::int64_t> x = {5, -7, 9};
    tally::extremum<std::int64_t> one;
    tally::min(where, x, &one);
    EXPECT_EQ(one, (tally::extremum<std::int64_t>{-7, 1}));
    tally::max(where, x, &one);
    EXPECT_EQ(one, (tally::extremum<std::int64_t>{9, 2}));
    tally::extrema<std::int64_t> both;
    tally::minmax(where, x, &both);
    EXPECT_EQ(both, (tally::extrema<std::int64_t>{{-7, 1}, {9, 2}}));
  }
}

TEST(ExtremumInterface, TheMagnitudeOfTheLeastInteger) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  for (const auto& where : {tally::serial(), tally::simd()}) {
    EXPECT_EQ(tally::iamax(where, std::vector<std::int64_t>{-(lowest + 1), lowest}), 1);
    EXPECT_EQ(tally::iamax(where, std::vector<std::int8_t>{127, -127, -128, 0}), 2);
  }
}

TEST(ExtremumInterface, NothingHasNoExtreme) {
  const std::vector<double> none;
  for (const auto& where : tally::executors()) {
    EXPECT_EQ(tally::iamax(where, none), -1);
    try {
      tally::minmax(where, none);
      ADD_FAILURE() << "no error";
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), tally::errc::no_elements);
      EXPECT_STREQ(e.what(), "tally::minmax: x has 0 elements and should have at least 1");
    }
  }
}

TEST(ExtremumAutomatic, RunsWhereTheVectorIs) {
  std::vector<double> much(std::size_t{1} << 22, 1.0);
  much[3'000'000] = 2;
  EXPECT_EQ(tally::max(much), (tally::extremum<double>{2, 3'000'000}));
  EXPECT_EQ(tally::iamax(much), 3'000'000);
}

}  // namespace
