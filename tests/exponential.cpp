// Accuracy of exp and sigmoid: against MPFR, and of floats against doubles.
#include "backends/common/elementwise/exponential.hpp"
#include "backends/common/elementwise/reciprocal.hpp"
#include "tests/data.hpp"
#include "tests/elementwise_transcription.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

namespace {

using tally::elementwise;

/// A format's members of std::numeric_limits.
struct format {
  int digits, min_exponent, max_exponent;
};
template <class T>
constexpr format format_of = {std::numeric_limits<T>::digits, std::numeric_limits<T>::min_exponent,
                              std::numeric_limits<T>::max_exponent};
template <>
constexpr format format_of<tally::float16> = {11, -13, 16};
template <>
constexpr format format_of<tally::bfloat16> = {8, -125, 128};

/// exp(x) or sigmoid(x) to 300 bits.
class exact_value {
 public:
  exact_value(elementwise what, double x) {
    mpfr_init2(value_, 300);
    mpfr_init2(other_, 300);
    mpfr_set_d(value_, what == elementwise::exp ? x : -x, MPFR_RNDN);
    mpfr_exp(value_, value_, MPFR_RNDN);
    if (what == elementwise::sigmoid) {
      mpfr_add_ui(value_, value_, 1, MPFR_RNDN);
      mpfr_ui_div(value_, 1, value_, MPFR_RNDN);
    }
  }
  ~exact_value() { mpfr_clears(value_, other_, nullptr); }
  exact_value(const exact_value&) = delete;
  exact_value& operator=(const exact_value&) = delete;

  double rounded(const format& f) {
    if (mpfr_inf_p(value_) || mpfr_zero_p(value_)) return mpfr_get_d(value_, MPFR_RNDN);
    const long quantum = quantum_of(f);
    mpfr_mul_2si(other_, value_, -quantum, MPFR_RNDN);
    mpfr_rint(other_, other_, MPFR_RNDN);
    const double r = std::ldexp(mpfr_get_d(other_, MPFR_RNDN), static_cast<int>(quantum));
    return r >= std::ldexp(1.0, f.max_exponent - 1) * 2 ? HUGE_VAL : r;
  }
  /// |result - value| in ulp.
  double error_of(double result, const format& f) {
    if (std::isinf(result)) return std::isinf(rounded(f)) ? 0 : HUGE_VAL;
    mpfr_sub_d(other_, value_, result, MPFR_RNDN);
    mpfr_mul_2si(other_, other_, -quantum_of(f), MPFR_RNDN);
    return std::abs(mpfr_get_d(other_, MPFR_RNDN));
  }

 private:
  long quantum_of(const format& f) const {
    return std::max<long>(mpfr_get_exp(value_), f.min_exponent) - f.digits;
  }
  mpfr_t value_, other_;
};

class Exponential : public data::OnEveryExecutor {
 protected:
  template <class T>
  std::vector<T> run(elementwise what, const std::vector<T>& x) {
    const std::size_t bytes = x.size() * sizeof(T);
    data::buffer from(where(), bytes), to(where(), bytes);
    from.write(x.data(), bytes);
    tally::transform(where(), {what,
                               {},
                               {},
                               {from.get(), x.size(), 1, tally::type_of<T>},
                               {},
                               {to.get(), x.size(), 1, tally::type_of<T>}});
    std::vector<T> z(x.size());
    to.read(z.data(), bytes);
    return z;
  }
};

template <class T>
std::vector<T> every_number() {
  std::vector<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  return all;
}

template <class T>
const std::vector<T>& correctly_rounded(elementwise what) {
  const auto make = [](elementwise f) {
    std::vector<T> all = every_number<T>();
    for (T& x : all) {
      const auto number = static_cast<float>(x);
      x = std::isnan(number) ? T(std::numeric_limits<float>::quiet_NaN())
                             : T(static_cast<float>(exact_value(f, number).rounded(format_of<T>)));
    }
    return all;
  };
  static const std::vector<T> exponential = make(elementwise::exp);
  static const std::vector<T> logistic = make(elementwise::sigmoid);
  return what == elementwise::exp ? exponential : logistic;
}

TEST_ON_EVERY_EXECUTOR(Exponential, CorrectlyRoundedInSixteenBits) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    for (const elementwise what : {elementwise::exp, elementwise::sigmoid}) {
      const std::vector<T> x = every_number<T>(), z = run(what, x);
      const std::vector<T>& want = correctly_rounded<T>(what);
      int wrong = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (z[i].bits == want[i].bits) continue;
        if (++wrong <= 5) {
          ADD_FAILURE() << (what == elementwise::exp ? "exp" : "sigmoid") << " of "
                        << tally::name(tally::type_of<T>) << " " << static_cast<float>(x[i])
                        << " is " << static_cast<float>(z[i]) << ", not "
                        << static_cast<float>(want[i]);
        }
      }
      EXPECT_EQ(wrong, 0);
    }
  };
  check(std::type_identity<tally::float16>{});
  check(std::type_identity<tally::bfloat16>{});
}

/// Every exponent and sign, infinities and NaNs; bit patterns are `step` apart.
template <class R>
std::vector<R> numbers_of_every_exponent(std::uint64_t step) {
  using word = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  std::vector<R> all;
  word bits = 0;
  do {
    all.push_back(std::bit_cast<R>(bits));
    bits += static_cast<word>(step);
  } while (bits >= static_cast<word>(step));
  return all;
}

TEST_ON_EVERY_EXECUTOR(Exponential, BitsOfTheFormula) {
  const auto check = [&]<class R>(const std::vector<R>& x) {
    const auto exps = run(elementwise::exp, x), sigmoids = run(elementwise::sigmoid, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(data::bits(exps[i]), data::bits(transcription::exp(x[i]))) << "exp " << x[i];
      ASSERT_EQ(data::bits(sigmoids[i]), data::bits(transcription::sigmoid(x[i])))
          << "sigmoid " << x[i];
    }
  };
  check(numbers_of_every_exponent<float>(20011));
  check(numbers_of_every_exponent<double>(std::uint64_t{0x7fff12345677}));
  const auto spread = [&]<class R>(R limit, std::size_t n) {
    std::vector<R> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = limit * (2 * static_cast<R>(i) / static_cast<R>(n) - 1);
    }
    check(x);
  };
  for (const float limit : {1e-3f, 1.0f, 20.0f, 110.0f}) spread(limit, 20001);
  for (const double limit : {1e-9, 1.0, 40.0, 760.0}) spread(limit, 20001);
  const auto around = [&]<class R>(std::initializer_list<R> borders) {
    std::vector<R> x;
    for (const R border : borders) {
      R below = border, above = border;
      for (int i = 0; i < 64; ++i) {
        x.insert(x.end(), {below, -below, above, -above});
        below = std::nextafter(below, R(0)), above = std::nextafter(above, R(1000));
      }
    }
    check(x);
  };
  // Results of 1, one digit from it, subnormal, 0 or infinite; arguments without effect.
  around({0.0f, 0x1p-126f, 0x1p-75f, 0x1p-50f, 0x1p-25f, 0x1p-24f, 0x1p-23f, 87.33655f, 88.72284f,
          103.27893f, 103.97208f, 104.0f, 105.70455f, 106.0f, 1e10f});
  around({0.0, 0x1p-1022, 0x1p-510, 0x1p-173, 0x1p-120, 0x1p-66, 0x1p-54, 0x1p-53, 0x1p-52,
          708.39641853226410, 709.78271289338400, 745.13321910194122, 746.0, 753.1053, 753.5,
          1e10});
}

/// Numbers up to `limit`, some NaNs and infinities. Every other thousand is moderate, so that all,
/// some or none of a warp is.
template <class T>
std::vector<T> long_vector(std::size_t n, double limit) {
  using limits = std::numeric_limits<float>;
  constexpr float others[] = {limits::quiet_NaN(),
                              -limits::quiet_NaN(),
                              limits::infinity(),
                              -limits::infinity(),
                              -0.0f,
                              1e-38f};
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double within = static_cast<double>(i * 2654435761u % 1000003) / 500001 - 1;
    const double value = i / 1000 % 2 == 0 ? limit * within : 0.1 * limit * within;
    if constexpr (sizeof(T) == 2) {
      x[i] = T(static_cast<float>(value));
    } else {
      x[i] = static_cast<T>(value);
    }
    if (i % 4999 == 17) x[i] = static_cast<T>(others[i / 4999 % std::size(others)]);
  }
  return x;
}

// GPU threads take 2 or 4 loads of 16 bytes for vectors larger than all hold at once. Offsets are
// elements past a multiple of 16 bytes.
TEST_ON_EVERY_BACKEND(Exponential, LongVectors) {
  struct example {
    std::size_t x_offset, z_offset, size;
  };
  const auto check = [&]<class T>(std::type_identity<T>, double limit) {
    static constexpr std::size_t n = (sizeof(T) == 2 ? 4'400'000 : 8'800'000) / sizeof(T) + 3;
    static const std::vector<T> x = long_vector<T>(n, limit);
    const auto serial = [](elementwise what) {
      std::vector<T> z(n);
      tally::transform(tally::serial(),
                       {what, {}, {}, tally::as_operand(x), {}, tally::as_output(z)});
      return z;
    };
    static const std::vector<T> exps = serial(elementwise::exp);
    static const std::vector<T> sigmoids = serial(elementwise::sigmoid);
    data::buffer from(where(), (n + 1) * sizeof(T)), to(where(), (n + 1) * sizeof(T));
    std::vector<T> z(n);
    constexpr example examples[] = {{1, 1, n}, {0, 0, n}, {1, 1, n / 2 + 3}, {1, 0, n / 2 + 3}};
    for (const example& e : examples) {
      const std::size_t first = e.x_offset * sizeof(T), out = e.z_offset * sizeof(T);
      from.write(x.data(), e.size * sizeof(T), first);
      for (const elementwise what : {elementwise::exp, elementwise::sigmoid}) {
        tally::transform(where(), {what,
                                   {},
                                   {},
                                   {from.get() + first, e.size, 1, tally::type_of<T>},
                                   {},
                                   {to.get() + out, e.size, 1, tally::type_of<T>}});
        to.read(z.data(), e.size * sizeof(T), out);
        const auto& want = what == elementwise::exp ? exps : sigmoids;
        if (std::memcmp(z.data(), want.data(), e.size * sizeof(T)) == 0) continue;
        for (std::size_t i = 0; i < e.size; ++i) {
          ASSERT_EQ(data::bits(z[i]), data::bits(want[i]))
              << (what == elementwise::exp ? "exp" : "sigmoid") << " of "
              << tally::name(tally::type_of<T>) << ' ' << i << " of " << e.size << ", offsets "
              << e.x_offset << ", " << e.z_offset;
        }
      }
      if (!data::on_device(where())) break;  // for GPUs alone
    }
  };
  check(std::type_identity<double>{}, 760);
  check(std::type_identity<float>{}, 110);
  check(std::type_identity<tally::float16>{}, 20);
  check(std::type_identity<tally::bfloat16>{}, 110);
}

TEST_ON_EVERY_EXECUTOR(Exponential, SpecialValues) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    constexpr R infinity = std::numeric_limits<R>::infinity();
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    constexpr R tiny = std::numeric_limits<R>::denorm_min();
    const auto are = [&](elementwise what, const std::vector<R>& x, const std::vector<R>& want) {
      const auto z = run(what, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(data::bits(z[i]), data::bits(want[i])) << x[i] << " gives " << z[i];
      }
    };
    are(elementwise::exp,
        {0, -R(0), infinity, -infinity, nan, -nan, std::numeric_limits<R>::signaling_NaN(), 1000,
         -1000, tiny, -tiny},
        {1, 1, infinity, 0, nan, nan, nan, infinity, 0, 1, 1});
    are(elementwise::sigmoid,
        {0, -R(0), infinity, -infinity, nan, -nan, 1000, -1000, tiny, -tiny,
         std::numeric_limits<R>::max(), std::numeric_limits<R>::lowest()},
        {R(0.5), R(0.5), 1, 0, nan, nan, 1, 0, R(0.5), R(0.5), 1, 0});
  };
  check(std::type_identity<float>{});
  check(std::type_identity<double>{});
}

TEST_ON_EVERY_EXECUTOR(Exponential, GoldenBits) {
  const auto check = [&]<class R>(const auto& rows, std::type_identity<R>) {
    std::vector<R> x;
    for (const auto& row : rows) x.push_back(row.x);
    const auto exps = run(elementwise::exp, x), sigmoids = run(elementwise::sigmoid, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(data::bits(exps[i])[0], rows[i].exp) << "exp " << x[i];
      EXPECT_EQ(data::bits(sigmoids[i])[0], rows[i].sigmoid) << "sigmoid " << x[i];
    }
  };
  check(golden::exponential_rows, std::type_identity<double>{});
  check(golden::exponential_rows_of_float, std::type_identity<float>{});
}

TEST(Reciprocal, IsRoundedFromAnyStartNearby) {
  for (float d = 1; d <= 2; d = std::nextafter(d, 3.0f)) {
    const float want = 1 / d;
    float start = want;
    for (int i = 0; i < 4; ++i) start = std::nextafter(start, 0.0f);
    for (int i = -4; i <= 4; ++i) {
      ASSERT_EQ(tally::backends::rounded_reciprocal(d, start), want) << d << ' ' << i;
      start = std::nextafter(start, 2.0f);
    }
  }
}

TEST(Reciprocal, TakesOneStepFromAUnit) {
  for (float d = 1; d <= 2; d = std::nextafter(d, 3.0f)) {
    const float want = 1 / d;
    const double exact = 1 / static_cast<double>(d);
    float start = want;
    for (int i = 0; i < 2; ++i) start = std::nextafter(start, 0.0f);
    for (int i = -2; i <= 2; ++i, start = std::nextafter(start, 2.0f)) {
      const double unit = start > 1 ? 0x1p-23 : 0x1p-24;
      if (std::abs(start - exact) > unit) continue;
      ASSERT_EQ(tally::backends::reciprocal_from_a_unit(d, start), want) << d << ' ' << i;
    }
  }
}

/// The promise of docs/numerics.md, in ulp.
struct error_bound {
  double normal, subnormal;
};
constexpr error_bound bound_of_doubles(elementwise what) {
  return what == elementwise::exp ? error_bound{0.82, 0.91} : error_bound{0.90, 0.95};
}

double exponential_of(elementwise what, double x) {
  return what == elementwise::exp ? transcription::exp(x) : transcription::sigmoid(x);
}

double error_at(elementwise what, double x) {
  return exact_value(what, x).error_of(exponential_of(what, x), format_of<double>);
}

void expect_within_bound(elementwise what, double x) {
  exact_value value(what, x);
  const bool subnormal = value.rounded(format_of<double>) < std::numeric_limits<double>::min();
  const error_bound bound = bound_of_doubles(what);
  EXPECT_LE(value.error_of(exponential_of(what, x), format_of<double>),
            subnormal ? bound.subnormal : bound.normal)
      << (what == elementwise::exp ? "exp " : "sigmoid ") << x;
}

TEST(ExponentialError, OfDoublesIsWithinItsBound) {
  std::mt19937_64 random(5);
  std::vector<double> x = numbers_of_every_exponent<double>(std::uint64_t{0xfff123456789f});
  for (const double limit : {1e-5, 0.5, 3.0, 40.0, 760.0}) {
    std::uniform_real_distribution<double> within(-limit, limit);
    for (int i = 0; i < 20000; ++i) x.push_back(within(random));
  }
  for (int i = 0; i < 20000; ++i) {  // where results are subnormal
    x.push_back(std::uniform_real_distribution<double>(-745.2, -708.3)(random));
  }
  for (const elementwise what : {elementwise::exp, elementwise::sigmoid}) {
    for (const double each : x) {
      if (!std::isnan(each)) expect_within_bound(what, each);
    }
  }
}

// Arguments of the largest known errors.
TEST(ExponentialError, OfTheWorstDoublesKnown) {
  constexpr std::pair<double, double> exps[] = {{-0x1.c81740b74bfd6p+6, 0.7756},
                                                {-0x1.625f1a1544c88p+9, 0.8178},
                                                {-0x1.625f1a3eb71cfp+9, 0.8233}};
  constexpr std::pair<double, double> sigmoids[] = {{-0x1.427c94c1edff9p+9, 0.8324},
                                                    {-0x1.427c977e6f169p+9, 0.8342},
                                                    {-0x1.625a175a2bdafp+9, 0.8659}};
  const auto check = [](elementwise what, const auto& all) {
    for (const auto& [x, error] : all) {
      EXPECT_NEAR(error_at(what, x), error, 0.001) << x;
      expect_within_bound(what, x);
    }
  };
  check(elementwise::exp, exps);
  check(elementwise::sigmoid, sigmoids);
}

// Hill climbing finds more than sampling.
TEST(ExponentialError, OfDoublesIsWithinItsBoundUphill) {
  std::mt19937_64 random(6);
  for (const elementwise what : {elementwise::exp, elementwise::sigmoid}) {
    for (int start = 0; start < 40; ++start) {
      const int last = what == elementwise::exp ? 1022 : -1;
      const double k = std::uniform_int_distribution<int>(-1074, last)(random);
      double x =
          (k - 0.5) * 0.69314718055994529 + std::uniform_real_distribution<double>(0, 0.04)(random);
      double worst = error_at(what, x);
      for (int step = 0; step < 400; ++step) {
        const std::uint64_t size = (1 + random() % 8) << random() % 42;
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
        const auto moved = std::bit_cast<double>(random() % 2 ? bits + size : bits - size);
        const double error = error_at(what, moved);
        if (error > worst) worst = error, x = moved;
      }
      expect_within_bound(what, x);
    }
  }
}

TEST(ExponentialError, OfFloatsIsWithinItsBound) {
  const std::vector<float> x = numbers_of_every_exponent<float>(499);
  for (const elementwise what : {elementwise::exp, elementwise::sigmoid}) {
    std::vector<float> z(x.size());
    tally::transform(tally::simd(), {what, {}, {}, tally::as_operand(x), {}, tally::as_output(z)});
    EXPECT_LE(transcription::worst_error(what, x.data(), z.data(), x.size()), 0.81);
  }
}

}  // namespace
