// dot, dotc, sum, asum and nrm2 with tally::exact: the bits of the exact value rounded once, by
// MPFR, for every pair of element types, size, alignment, stride and kind of data.
#include "tests/data.hpp"
#include "tests/environments.hpp"
#include "tests/oracle.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace {

using data::layout;
using tally::type;

enum class kind {
  plain,       ///< in [-1, 1); small integers
  wide,        ///< exponents over the type's range, subnormals, signed zeros; full-range integers
  special,     ///< infinities and NaNs of several payloads among plain ones
  any,         ///< any finite bits: products overflow and underflow
  spread,      ///< exponents over 2^-100 to 2^100, of float 2^-40 to 2^40
  rising,      ///< exponents from the smallest to the largest, in order
  falling,     ///< and back
  outliers,    ///< plain, one in a hundred with any exponent
  tiny,        ///< products in the subnormal range
  subnormal,   ///< elements in the subnormal range
  equal,       ///< one value throughout
  cancelling,  ///< `spread` and its negatives: exactly 0
  hidden,      ///< `any` and its negatives, with some `plain`: overflow on the way only
  bands,       ///< blocks of one exponent, near 1 or far from it, and mixed blocks
  sparse,      ///< small integers over many exponents, zeros of both signs, a few near underflow
  ill,         ///< Ogita, Rump and Oishi's, condition 1e35
};
constexpr kind kinds[] = {kind::plain,  kind::wide,      kind::special, kind::any,
                          kind::spread, kind::rising,    kind::falling, kind::outliers,
                          kind::tiny,   kind::subnormal, kind::equal,   kind::cancelling,
                          kind::hidden, kind::bands,     kind::sparse,  kind::ill};

template <class T>
std::vector<T> reals(std::size_t n, std::uint64_t seed, kind k) {
  std::mt19937_64 random(seed);
  std::vector<T> x(n);
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int range = std::numeric_limits<T>::max_exponent;
    const auto ramp = [&](std::size_t i) {
      const auto along = static_cast<double>(i) / static_cast<double>(n);
      return static_cast<int>((2 * along - 1) * range);
    };
    const auto plain = oracle::uniform<T>(n, seed), any = oracle::any_finite<T>(n, seed);
    for (std::size_t i = 0; i < n; ++i) {
      switch (k) {
        case kind::any:
        case kind::hidden:
          x[i] = any[i];
          break;
        case kind::spread:
        case kind::cancelling:
          x[i] = std::ldexp(plain[i],
                            static_cast<int>(random() % 201 - 100) * (range == 128 ? 2 : 5) / 5);
          break;
        case kind::rising:
          x[i] = std::ldexp(plain[i], ramp(i));
          break;
        case kind::falling:
          x[i] = std::ldexp(plain[i], ramp(n - 1 - i));
          break;
        case kind::outliers:
          x[i] = random() % 100 == 0 ? any[i] : plain[i];
          break;
        case kind::tiny:
          x[i] = std::ldexp(plain[i], std::numeric_limits<T>::min_exponent / 2 -
                                          std::numeric_limits<T>::digits / 2);
          break;
        case kind::subnormal:
          x[i] = std::ldexp(plain[i], std::numeric_limits<T>::min_exponent - 2);
          break;
        case kind::equal:
          x[i] = plain[0];
          break;
        case kind::bands: {
          constexpr double scales[] = {0.49, 0.29, 0, -0.29, -0.49};
          const std::size_t block = i / 128 * 2654435761u % 97;
          const bool off = block % 3 == 0 && random() % 2 == 0;
          x[i] = std::ldexp(plain[i], off ? 0 : static_cast<int>(scales[block % 5] * range));
          break;
        }
        case kind::sparse: {
          // No, a few or half of a block's elements are zero. With vanishing products, factors are
          // tiny.
          const std::size_t block = i / 128;
          const auto integer = static_cast<T>(static_cast<int>(random() % 201) - 100);
          const bool zero = random() % 100 < std::array{0u, 2u, 50u}[block % 3];
          const bool vanishing = block % 5 == 4 && random() % 64 == 0;
          const int exponent =
              vanishing ? 30 - range
                        : static_cast<int>(random() % 201 - 100) * (range == 128 ? 2 : 5) / 5;
          x[i] = zero ? std::copysign(T{0}, plain[i]) : std::ldexp(integer, exponent);
          break;
        }
        default:
          x[i] = data::random_element<T>(random, k == kind::wide      ? data::kind::wide
                                                 : k == kind::special ? data::kind::special
                                                                      : data::kind::plain);
      }
    }
  } else {
    const bool wide = k != kind::plain && k != kind::special && k != kind::cancelling;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = data::random_element<T>(random, wide                 ? data::kind::wide
                                             : k == kind::special ? data::kind::special
                                                                  : data::kind::plain);
      if (k == kind::equal) x[i] = x[0];
    }
  }
  return x;
}

template <class T>
std::vector<T> joined(const std::vector<tally::real_t<T>>& re,
                      const std::vector<tally::real_t<T>>& im) {
  if constexpr (tally::is_complex_v<T>) {
    std::vector<T> x;
    for (std::size_t i = 0; i < re.size(); ++i) x.emplace_back(re[i], im[i]);
    return x;
  } else {
    return re;
  }
}

template <class T>
std::vector<T> elements(std::size_t n, std::uint64_t seed, kind k) {
  using R = tally::real_t<T>;
  return joined<T>(reals<R>(n, seed, k),
                   tally::is_complex_v<T> ? reals<R>(n, ~seed, k) : std::vector<R>());
}

template <class T>
T negative(T x) {
  if constexpr (std::is_same_v<T, tally::float16> || std::is_same_v<T, tally::bfloat16>) {
    x.bits ^= 0x8000;
    return x;
  } else {
    return static_cast<T>(-x);
  }
}

using bytes = std::vector<std::byte>;
using data::bytes_of;

/// Whether T has the negatives that `cancelling` and `hidden` need.
bool has_negatives(type t) {
  return t == type::float16 || t == type::bfloat16 || t == type::float32 || t == type::float64 ||
         t == type::complex64 || t == type::complex128;
}

/// One operand. In `cancelling` and `hidden` the second half repeats the first, negated or not,
/// both shuffled by a common seed.
template <class T>
bytes operand_of(std::size_t n, std::uint64_t seed, kind k, bool paired, bool negated,
                 std::uint64_t pair_seed) {
  auto v = elements<T>(n, seed, k);
  if (!paired) return bytes_of(v);
  const std::size_t half = k == kind::hidden ? n * 2 / 5 : n / 2;
  for (std::size_t i = 0; i < half; ++i) {
    v[half + i] = v[i];
    if constexpr (!std::is_integral_v<tally::real_t<T>>) {
      if (negated) v[half + i] = negative(v[i]);
    }
  }
  const auto plain = elements<T>(n, pair_seed + 3, kind::plain);
  for (std::size_t i = 2 * half; i < n; ++i) v[i] = k == kind::hidden ? T(plain[i]) : T(0);
  std::shuffle(v.begin(), v.end(), std::mt19937_64(pair_seed));
  return bytes_of(v);
}

bytes operand_of(type element, std::size_t n, std::uint64_t seed, kind k, bool paired, bool negated,
                 std::uint64_t pair_seed) {
  bytes all;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (tally::type_of<T> == element) all = operand_of<T>(n, seed, k, paired, negated, pair_seed);
  });
  return all;
}

template <class T>
bytes converted(type element, const std::vector<T>& re, const std::vector<T>& im) {
  bytes all;
  const auto as = [&]<class X>(std::type_identity<X>) {
    using R = tally::real_t<X>;
    all = bytes_of(
        joined<X>(std::vector<R>(re.begin(), re.end()), std::vector<R>(im.begin(), im.end())));
  };
  switch (element) {
    case type::float32:
      as(std::type_identity<float>());
      break;
    case type::float64:
      as(std::type_identity<double>());
      break;
    case type::complex64:
      as(std::type_identity<std::complex<float>>());
      break;
    default:
      as(std::type_identity<std::complex<double>>());
  }
  return all;
}

struct operands {
  bytes x, y;
};

/// Returns ill-conditioned operands; T is the part type of the narrower one.
template <class T>
operands ill_conditioned(type x, type y, std::size_t n, std::uint64_t seed) {
  const auto a = oracle::ill_conditioned<T>(n, 1e35, seed);
  const auto b = oracle::ill_conditioned<T>(n, 1e35, seed + 1);
  return {converted(x, a.x, b.x), converted(y, a.y, b.y)};
}

operands operands_of(type x, type y, std::size_t n, std::uint64_t seed, kind k) {
  const auto is_single = [](type t) { return t == type::float32 || t == type::complex64; };
  const auto is_double = [](type t) { return t == type::float64 || t == type::complex128; };
  if (k == kind::ill && (is_single(x) || is_double(x)) && (is_single(y) || is_double(y)) &&
      n >= 20) {
    return is_single(x) || is_single(y) ? ill_conditioned<float>(x, y, n, seed)
                                        : ill_conditioned<double>(x, y, n, seed);
  }
  const bool paired =
      (k == kind::cancelling || k == kind::hidden) && (has_negatives(x) || has_negatives(y));
  return {operand_of(x, n, seed, k, paired, has_negatives(x), seed),
          operand_of(y, n, seed + 77, k, paired, !has_negatives(x), seed)};
}

enum class operation { dot, dotc, sum, asum, nrm2 };
constexpr const char* operation_names[] = {"dot", "dotc", "sum", "asum", "nrm2"};

struct example {
  bytes x, y, want;
};

struct exact_case {
  operation what;
  tally::type x;
  tally::type y;  ///< x for one operand
  tally::type result;

  bytes expected(const bytes& x_bytes, const bytes& y_bytes) const {
    const oracle::elements vx{x_bytes, x}, vy{y_bytes, y};
    switch (what) {
      case operation::dot:
        return oracle::exact_dot(vx, vy, result);
      case operation::dotc:
        return oracle::exact_dot(vx, vy, result, true);
      case operation::sum:
        return oracle::exact_sum(vx, result);
      case operation::asum:
        return oracle::exact_asum(vx, result);
      default:
        return oracle::exact_nrm2(vx, result);
    }
  }
  example make(std::size_t n, std::uint64_t seed, kind k) const {
    operands v = operands_of(x, y, n, seed, k);
    bytes want = expected(v.x, v.y);
    return {std::move(v.x), std::move(v.y), std::move(want)};
  }

  bool products() const { return what == operation::dot || what == operation::dotc; }

  void run(const tally::executor& where, const tally::operand& ox, const tally::operand& oy,
           void* r, bool wait) const {
    if (products()) {
      const auto conjugated =
          what == operation::dotc ? tally::conjugate::x : tally::conjugate::none;
      return tally::dot(
          where, tally::dot_arguments{ox, oy, conjugated, {r, result}, {tally::exact, wait}});
    }
    const auto reduction = what == operation::sum    ? tally::reduction::sum
                           : what == operation::asum ? tally::reduction::asum
                                                     : tally::reduction::nrm2;
    tally::reduce(where, tally::reduce_arguments{ox, reduction, {r, result}, {tally::exact, wait}});
  }

  std::string label() const {
    std::string text = operation_names[static_cast<int>(what)];
    text += " of " + std::string(tally::name(x));
    if (products()) text += " x " + std::string(tally::name(y));
    return text + " as " + std::string(tally::name(result));
  }
};

template <operation what, class R, class X, class Y = X>
constexpr exact_case make_case() {
  return {what, tally::type_of<X>, tally::type_of<Y>, tally::type_of<R>};
}

/// Every pair and element type with its own result and the widest; integers with int64 results are
/// not rounded.
const std::vector<exact_case>& all_cases() {
  static const auto cases = [] {
    std::vector<exact_case> all;
    const auto add = [&]<operation what, class Rule, class Widest, class X, class Y>() {
      if constexpr (!std::is_integral_v<Rule>) all.push_back(make_case<what, Rule, X, Y>());
      if constexpr (!std::is_same_v<Rule, Widest>) all.push_back(make_case<what, Widest, X, Y>());
    };
    data::for_each_type([&]<class X>(std::type_identity<X>) {
      data::for_each_type([&]<class Y>(std::type_identity<Y>) {
        using Rule = tally::dot_result_t<X, Y>;
        using Widest = tally::dot_widest_t<X, Y>;
        add.template operator()<operation::dot, Rule, Widest, X, Y>();
        if (tally::is_complex_v<X>) {
          add.template operator()<operation::dotc, Rule, Widest, X, Y>();
        }
      });
      using tally::reduction;
      using tally::detail::reduction_rule_t;
      using tally::detail::reduction_widest_t;
      add.template operator()<operation::sum, reduction_rule_t<reduction::sum, X>,
                              reduction_widest_t<reduction::sum, X>, X, X>();
      add.template operator()<operation::asum, reduction_rule_t<reduction::asum, X>,
                              reduction_widest_t<reduction::asum, X>, X, X>();
      add.template operator()<operation::nrm2, reduction_rule_t<reduction::nrm2, X>,
                              reduction_widest_t<reduction::nrm2, X>, X, X>();
    });
    return all;
  }();
  return cases;
}

/// Cases with kernels of their own.
const std::vector<exact_case>& common_cases() {
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  static const std::vector<exact_case> cases = {
      make_case<operation::dot, double, double, double>(),
      make_case<operation::dot, float, float, float>(),
      make_case<operation::dot, double, float, float>(),
      make_case<operation::dot, double, float, double>(),
      make_case<operation::dot, double, double, std::int64_t>(),
      make_case<operation::dot, float, bool, float>(),
      make_case<operation::dot, float, tally::float16, tally::float16>(),
      make_case<operation::dot, float, tally::bfloat16, tally::bfloat16>(),
      make_case<operation::dot, c128, c128, c128>(),
      make_case<operation::dotc, c64, c64, c64>(),
      make_case<operation::sum, double, double>(),
      make_case<operation::sum, float, float>(),
      make_case<operation::sum, c64, c64>(),
      make_case<operation::asum, double, double>(),
      make_case<operation::asum, double, c128>(),
      make_case<operation::nrm2, double, double>(),
      make_case<operation::nrm2, float, float>(),
  };
  return cases;
}

class Exact : public data::OnEveryExecutor {
 protected:
  void compare(const exact_case& c, const example& e, layout lx, layout ly) {
    const auto room = [](const bytes& v, layout l) {
      return v.size() * static_cast<std::size_t>(std::abs(l.increment)) + 4096;
    };
    grow(memory_x_, room(e.x, lx));
    grow(memory_y_, room(e.y, ly));
    grow(memory_r_, 64);
    const tally::operand ox = data::place(*memory_x_, e.x, c.x, lx);
    const tally::operand oy = c.products() ? data::place(*memory_y_, e.y, c.y, ly) : ox;

    bytes got(e.want.size());
    alignas(16) std::array<std::byte, 16> result;
    result.fill(std::byte{0xcc});
    c.run(where(), ox, oy, result.data(), true);
    std::memcpy(got.data(), result.data(), got.size());
    ASSERT_EQ(got, e.want) << c.label() << ", n = " << ox.size << ", offsets " << lx.offset << ", "
                           << ly.offset << ", increments " << lx.increment << ", " << ly.increment;

    bytes poison(64, std::byte{0xcc});
    memory_r_->write(poison.data(), poison.size());
    c.run(where(), ox, oy, memory_r_->get(), false);
    memory_r_->read(poison.data(), poison.size());  // on the default stream, so after the sum
    std::memcpy(got.data(), poison.data(), got.size());
    ASSERT_EQ(got, e.want) << "written form: " << c.label() << ", n = " << ox.size;
    ASSERT_EQ(poison[got.size()], std::byte{0xcc}) << "written past the result: " << c.label();
  }
  void compare(const exact_case& c, const example& e) { compare(c, e, {}, {}); }

  template <operation what, class R, class X, class Y>
  void compare(const std::vector<X>& x, const std::vector<Y>& y) {
    const exact_case c = make_case<what, R, X, Y>();
    const bytes x_bytes = bytes_of(x), y_bytes = bytes_of(y);
    compare(c, {x_bytes, y_bytes, c.expected(x_bytes, y_bytes)});
  }

  void grow(std::unique_ptr<data::buffer>& memory, std::size_t bytes) {
    if (!memory || memory->size() < bytes) memory = std::make_unique<data::buffer>(where(), bytes);
  }

 private:
  std::unique_ptr<data::buffer> memory_x_, memory_y_, memory_r_;
};

TEST_ON_EVERY_BACKEND(Exact, EveryTypeAndKind) {
  for (const exact_case& c : all_cases()) {
    for (const kind k : kinds) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(k)));
      for (const std::size_t n : {1, 5, 100, 1100}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, c.make(n, 3 * n + static_cast<std::size_t>(k), k)));
      }
    }
  }
}

TEST_ON_EVERY_BACKEND(Exact, EverySize) {
  for (const exact_case& c : all_cases()) {
    for (const std::size_t n : {0, 2, 3, 7, 8, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 1023}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, c.make(n, n, kind::plain)));
    }
  }
  for (const exact_case& c : common_cases()) {
    for (std::size_t n = 0; n < 300; ++n) {
      ASSERT_NO_FATAL_FAILURE(compare(c, c.make(n, n, n % 2 ? kind::plain : kind::spread)));
    }
    for (const std::size_t n : {511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097,
                                8191, 8192, 8193, 16384, 16385}) {
      for (const kind k : {kind::plain, kind::spread}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, c.make(n, n, k)));
      }
    }
  }
}

TEST_ON_EVERY_BACKEND(Exact, Long) {
  for (const exact_case& c : common_cases()) {
    for (const kind k : kinds) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(k)));
      ASSERT_NO_FATAL_FAILURE(compare(c, c.make(20011, 5, k)));
    }
    ASSERT_NO_FATAL_FAILURE(compare(c, c.make(1 << 17, 6, kind::plain)));
  }
  // From half a million terms on GPU blocks take several chunks.
  const std::size_t n = where().name() == "cuda" ? 1000003 : 200003;
  for (const exact_case& c : {common_cases()[0], common_cases()[1]}) {  // double, float
    for (const kind k : {kind::plain, kind::spread, kind::outliers, kind::any, kind::hidden}) {
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(k)));
      ASSERT_NO_FATAL_FAILURE(compare(c, c.make(n, 7, k)));
    }
  }
}

// Parts of a partition may take different methods or repeat, but no term is lost.
TEST_ON_EVERY_BACKEND(Exact, Bands) {
  for (const exact_case& c : all_cases()) {
    for (const std::size_t n : {2300, 3000}) {
      const example e = c.make(n, n, kind::bands);
      ASSERT_NO_FATAL_FAILURE(compare(c, e));
      ASSERT_NO_FATAL_FAILURE(compare(c, e, {.increment = 2}, {.offset = 1, .increment = -1}));
    }
  }
  for (const exact_case& c : common_cases()) {
    const example e = c.make(600011, 23, kind::bands);
    ASSERT_NO_FATAL_FAILURE(compare(c, e));
    ASSERT_NO_FATAL_FAILURE(compare(c, e, {.increment = 2}, {.increment = 2}));
  }
}

TEST_ON_EVERY_EXECUTOR(Exact, EveryAlignment) {
  for (const exact_case& c : all_cases()) {
    const example e = c.make(1024 + 75, 11, kind::plain);
    for (const auto& [ox, oy] : {std::pair{1, 0}, {0, 1}, {2, 3}, {4, 8}, {5, 16}, {15, 31}}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, e, {.offset = static_cast<std::size_t>(ox)},
                                      {.offset = static_cast<std::size_t>(oy)}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Exact, EveryStride) {
  for (const exact_case& c : all_cases()) {
    for (const std::size_t n : {100, 1500}) {
      const example e = c.make(n, 17, n == 100 ? kind::spread : kind::plain);
      for (const auto& [ix, iy] :
           {std::pair{2, 1}, {1, 3}, {-1, 1}, {1, -2}, {-3, -1}, {-1, -1}, {5, 5}}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, e, {.offset = 1, .increment = ix}, {.increment = iy}));
      }
    }
  }
  for (const exact_case& c : common_cases()) {
    const example e = c.make(50003, 19, kind::plain);
    ASSERT_NO_FATAL_FAILURE(compare(c, e, {.increment = 2}, {.offset = 1, .increment = -3}));
  }
}

TEST_ON_EVERY_EXECUTOR(Exact, IllConditioned) {
  for (const double condition : {1e8, 1e16, 1e24, 1e32, 1e40}) {
    for (const std::size_t n : {20, 100, 1000, 10007}) {
      SCOPED_TRACE(condition);
      const auto d = oracle::ill_conditioned<double>(n, condition, n);
      const auto f = oracle::ill_conditioned<float>(n, condition, n);
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, double>(d.x, d.y)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, float>(f.x, f.y)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, double>(f.x, f.y)));
      const auto ds = oracle::ill_conditioned_sum<double>(n, condition, n);
      const auto fs = oracle::ill_conditioned_sum<float>(n, condition, n);
      ASSERT_NO_FATAL_FAILURE((compare<operation::sum, double>(ds, ds)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::sum, float>(fs, fs)));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Exact, AnyOrder) {
  const exact_case& c = common_cases().front();
  const example e = c.make(5000, 1, kind::outliers);
  auto x = data::elements_of<double>(e.x), y = data::elements_of<double>(e.y);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::shuffle(x.begin(), x.end(), std::mt19937_64(seed));
    std::shuffle(y.begin(), y.end(), std::mt19937_64(seed));
    ASSERT_NO_FATAL_FAILURE(compare(c, {bytes_of(x), bytes_of(y), e.want}));
  }
}

/// Half a unit of R from the next number, exactly and slightly more, among others that cancel.
template <class T, class R>
std::vector<std::vector<T>> ties(std::size_t n, std::uint64_t seed) {
  const T half = std::ldexp(T(1), -std::numeric_limits<R>::digits);
  const T ulp = std::numeric_limits<R>::epsilon();
  const T trace = std::numeric_limits<T>::denorm_min();
  std::vector<std::vector<T>> all;
  for (const std::vector<T>& few : {std::vector<T>{1, half},
                                    {1, half, trace},
                                    {1, half, -trace},
                                    {1, ulp, half},
                                    {1, ulp, half, -trace},
                                    {-1, -half, trace},
                                    {-1, -half, -trace}}) {
    auto x = oracle::wide<T>(n, seed, 30);
    x = oracle::cancelling(x, x, seed).x;
    x.insert(x.end(), few.begin(), few.end());
    std::shuffle(x.begin(), x.end(), std::mt19937_64(seed));
    all.push_back(x);
  }
  return all;
}

TEST_ON_EVERY_EXECUTOR(Exact, Ties) {
  for (const std::size_t n : {1, 30, 600}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      for (const auto& x : ties<double, double>(n, seed)) {
        const std::vector<double> one(x.size(), 1);
        ASSERT_NO_FATAL_FAILURE((compare<operation::dot, double>(x, one)));
        ASSERT_NO_FATAL_FAILURE((compare<operation::sum, double>(x, x)));
      }
      for (const auto& x : ties<float, float>(n, seed)) {
        const std::vector<float> one(x.size(), 1);
        ASSERT_NO_FATAL_FAILURE((compare<operation::dot, float>(x, one)));
        ASSERT_NO_FATAL_FAILURE((compare<operation::sum, float>(x, x)));
        // double loses the trace, and decides the tie wrongly.
        ASSERT_NO_FATAL_FAILURE((compare<operation::dot, double>(x, one)));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Exact, OverflowBoundary) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    const T largest = limits::max(),
            half = std::ldexp(T(1), limits::max_exponent - limits::digits - 1);
    const T trace = limits::denorm_min();
    for (const std::vector<T>& x : {std::vector<T>{largest, half},
                                    {largest, half, -trace},
                                    {largest, largest},
                                    {largest, largest, -largest},
                                    {-largest, -half},
                                    {-largest, -half, trace},
                                    {-largest, largest, -trace}}) {
      const std::vector<T> one(x.size(), 1), minus(x.size(), -1);
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(x, one)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(x, minus)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(x, x)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::sum, T>(x, x)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::asum, T>(x, x)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::nrm2, T>(x, x)));
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

TEST_ON_EVERY_EXECUTOR(Exact, SpecialValuesAnywhere) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    const T specials[] = {limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                          -limits::signaling_NaN()};
    for (const std::size_t n : {1, 2, 64, 100, 1000, 1500, 5000}) {
      const auto x = oracle::uniform<T>(n, n), y = oracle::uniform<T>(n, n + 1);
      for (const std::size_t i : {std::size_t{0}, n / 3, n / 2, n - 1}) {
        for (const T first : specials) {
          auto sx = x, sy = y;
          sx[i] = first;
          ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(sx, y)));
          ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(y, sx)));
          ASSERT_NO_FATAL_FAILURE((compare<operation::sum, T>(sx, sx)));
          ASSERT_NO_FATAL_FAILURE((compare<operation::asum, T>(sx, sx)));
          ASSERT_NO_FATAL_FAILURE((compare<operation::nrm2, T>(sx, sx)));
          sy[i] = 0;  // a NaN with an infinity
          ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(sx, sy)));
          sx[n - 1 - i] = limits::infinity();
          ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(sx, y)));
          ASSERT_NO_FATAL_FAILURE((compare<operation::sum, T>(sx, sx)));
          sx[n / 2] = limits::max();  // would overflow to infinity
          ASSERT_NO_FATAL_FAILURE((compare<operation::dot, T>(sx, sx)));
        }
      }
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

TEST_ON_EVERY_EXECUTOR(Exact, SpecialValuesOfEveryType) {
  for (const exact_case& c : all_cases()) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      ASSERT_NO_FATAL_FAILURE(compare(c, c.make(10 + seed, seed, kind::special)));
    }
  }
}

// Exponents at every distance from the largest, all digits set: digits are easily lost at the ends
// of expansions.
TEST_ON_EVERY_EXECUTOR(Exact, EveryDistanceOfExponents) {
  for (const int top : {-700, 0, 700}) {
    for (int distance = 20; distance <= 120; ++distance) {
      std::vector<double> x(1500), y(1500);
      tally::exact_sum<double> sum, products;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double digits = 2 - std::ldexp(1.0, -52) - std::ldexp(static_cast<double>(i), -40);
        x[i] = std::ldexp(i % 2 ? digits : -digits, i % 3 ? top : top - distance);
        y[i] = std::ldexp(digits, i % 5 ? 0 : -distance / 2);
      }
      x[7] = 0;
      sum.add(x);
      products.add_products(x, y);
      const double want_sum = sum.round<double>(), want_dot = products.round<double>();
      const data::placed dx(where(), x), dy(where(), y);
      EXPECT_EQ(tally::sum(where(), dx.span(), tally::exact), want_sum) << top << ' ' << distance;
      EXPECT_EQ(tally::dot(where(), dx.span(), dy.span(), tally::exact), want_dot)
          << top << ' ' << distance;
      std::vector<float> fx(x.size()), fy(x.size());
      tally::exact_sum<float> float_products;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float digits = 2 - 0x1p-23f;
        fx[i] = std::ldexp(i % 2 ? digits : -digits, i % 3 ? top / 20 : top / 20 - distance / 2);
        fy[i] = std::ldexp(i % 7 ? digits : 1.0f, i % 5 ? 0 : -distance / 2);
      }
      float_products.add_products(fx, fy);
      const data::placed dfx(where(), fx), dfy(where(), fy);
      EXPECT_EQ(tally::dot<double>(where(), dfx.span(), dfy.span(), tally::exact),
                float_products.round<double>())
          << top << ' ' << distance;
    }
  }
}

// Kernels choose a method for each tile: uniform tiles followed by different ones, or a single term
// differs.
TEST_ON_EVERY_EXECUTOR(Exact, BordersOfTiles) {
  const auto compare_all = [&]<class T>(const std::vector<T>& x, const std::vector<T>& y) {
    tally::exact_sum<double> sum, magnitudes, squares, products;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum.add(x[i]);
      magnitudes.add(std::abs(x[i]));
      squares.add_product(x[i], x[i]);
      products.add_product(x[i], y[i]);
    }
    const data::placed dx(where(), x), dy(where(), y);
    const auto equal = [](T a, T b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    ASSERT_PRED2(equal, tally::sum(where(), dx.span(), tally::exact), sum.round<T>());
    ASSERT_PRED2(equal, tally::asum(where(), dx.span(), tally::exact), magnitudes.round<T>());
    ASSERT_PRED2(equal, tally::nrm2(where(), dx.span(), tally::exact), squares.round_root<T>());
    ASSERT_PRED2(equal, tally::dot(where(), dx.span(), dy.span(), tally::exact),
                 products.round<T>());
  };
  const auto on_type = [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    const std::vector<T> x = oracle::uniform<T>(3 * 2048 + 1, 3);
    const std::vector<T> y = oracle::uniform<T>(3 * 2048 + 1, 4);
    for (const std::size_t tile : {256, 512, 1024, 2048}) {
      for (const std::size_t n : {tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 1}) {
        for (const std::size_t place : {std::size_t{0}, tile - 1, tile, n - 1}) {
          if (place >= n) continue;
          SCOPED_TRACE("n = " + std::to_string(n) + ", at " + std::to_string(place));
          std::vector<T> some(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
          const std::vector<T> others(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n));
          for (const T unlike :
               {T{0}, -T{0}, limits::denorm_min(), std::ldexp(T{1}, -60), std::ldexp(T{3}, 60),
                limits::max(), -limits::infinity(), limits::quiet_NaN()}) {
            some[place] = unlike;
            ASSERT_NO_FATAL_FAILURE(compare_all(some, others)) << "one is " << unlike;
          }
          some[place] = x[place];
          for (const int exponent : {-100, -40, -20, 20, 40, 100}) {
            for (std::size_t i = place; i < n; ++i) some[i] = std::ldexp(x[i], exponent);
            ASSERT_NO_FATAL_FAILURE(compare_all(some, others)) << "from there 2^" << exponent;
            some[place] = 0;  // one more is zero
            ASSERT_NO_FATAL_FAILURE(compare_all(some, others)) << "from there 2^" << exponent;
          }
        }
      }
    }
  };
  on_type(std::type_identity<double>());
  on_type(std::type_identity<float>());
}

// Products out of float's range, but not of double's.
TEST_ON_EVERY_EXECUTOR(Exact, ProductsThatFloatsDoNotHold) {
  using limits = std::numeric_limits<float>;
  constexpr std::size_t n = 3000;
  const auto plain_x = oracle::uniform<float>(n, 3), plain_y = oracle::uniform<float>(n, 4);
  for (const int exponent : {-1000, -140, -75, -63, 63, 64, 75, 127}) {  // -1000: zeros
    for (const float unlike : {0x1p-40f, -0.0f, limits::denorm_min(), limits::max(),
                               -limits::infinity(), limits::quiet_NaN()}) {
      SCOPED_TRACE(testing::Message() << "2^" << exponent << ", one is " << unlike);
      std::vector<float> x, y;
      for (std::size_t i = 0; i < n; ++i) {
        x.push_back(std::ldexp(plain_x[i], exponent));
        y.push_back(std::ldexp(plain_y[i], exponent));
      }
      x[n / 2] = unlike;
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, float>(x, y)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::dot, double>(x, y)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::sum, double>(x, x)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::asum, double>(x, x)));
      ASSERT_NO_FATAL_FAILURE((compare<operation::nrm2, double>(x, x)));
    }
  }
}

// Terms too far apart for expansions, nearly all with one exponent, sign and all digits set: bins
// grow fastest.
TEST_ON_EVERY_EXECUTOR(Exact, EqualExponentsOutOfReach) {
  constexpr std::size_t n = 70'001;
  std::vector<double> x(n, 2 - std::numeric_limits<double>::epsilon());
  std::vector<float> fx(n, 2 - std::numeric_limits<float>::epsilon());
  for (std::size_t i = 0; i < n; i += 50) {
    x[i] = std::ldexp(x[i], -200);
    fx[i] = std::ldexp(fx[i], -60);
  }
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> y(x);
    std::vector<float> fy(fx);
    for (double& e : y) e *= sign;
    for (float& e : fy) e *= static_cast<float>(sign);
    tally::exact_sum<double> sum, products, float_products;
    sum.add(y);
    products.add_products(x, y);
    for (std::size_t i = 0; i < n; ++i) {
      float_products.add_product(static_cast<double>(fx[i]), static_cast<double>(fy[i]));
    }
    const data::placed dx(where(), x), dy(where(), y);
    const data::placed dfx(where(), fx), dfy(where(), fy);
    EXPECT_EQ(tally::sum(where(), dy.span(), tally::exact), sum.round<double>());
    EXPECT_EQ(tally::dot(where(), dx.span(), dy.span(), tally::exact), products.round<double>());
    EXPECT_EQ(tally::dot<double>(where(), dfx.span(), dfy.span(), tally::exact),
              float_products.round<double>());
  }
}

// Blocks of doubles that are scaled before addition, alternating with others: at the limits of
// scaling, subnormal, and with products out of range. Then infinities and NaN, after which nothing
// else counts.
TEST_ON_EVERY_EXECUTOR(Exact, FarFromOne) {
  struct exponents {
    int x, y;
  };
  constexpr exponents all[] = {{0, 0},       {-1060, 0},   {-1060, -1060}, {-505, -505},
                               {-1020, 100}, {-450, -451}, {-440, -440},   {-900, 0},
                               {-899, -1},   {-1050, 370}, {-1050, 378},   {1000, 1000},
                               {1023, 1023}, {512, 512},   {450, 451},     {900, 1},
                               {1023, -502}, {1023, -504}, {1000, -860},   {1000, 0}};
  std::mt19937_64 random(1);
  const auto draw = [&](int exponent) {
    const auto magnitude = std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, exponent);
    return random() % 64 == 0 ? 0 : random() % 2 == 0 ? magnitude : -magnitude;
  };
  for (int round = 0; round < 24; ++round) {
    std::vector<double> x, y;
    const std::size_t stretches = 1 + random() % 4;
    for (std::size_t s = 0; s < stretches; ++s) {
      const exponents e =
          all[round < 20 && s == 0 ? static_cast<std::size_t>(round) : random() % std::size(all)];
      const std::size_t n = random() % 3 == 0 ? random() % 200 : random() % 9000;
      for (std::size_t i = 0; i < n; ++i) {
        x.push_back(draw(e.x));
        y.push_back(draw(e.y));
      }
    }
    for (int specials = 0; specials < 4 && !x.empty(); ++specials) {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      if (specials > 0) {  // +inf, then perhaps -inf, then NaN
        x[random() % x.size()] = specials == 1   ? infinity
                                 : specials == 2 ? -infinity
                                                 : -std::nan("1");
      }
      tally::exact_sum<double> dot, sum, asum, squares;
      for (std::size_t i = 0; i < x.size(); ++i) {
        dot.add_product(x[i], y[i]);
        sum.add(x[i]);
        asum.add(std::abs(x[i]));
        squares.add_product(x[i], x[i]);
      }
      const data::placed a(where(), x), b(where(), y);
      tally::exact_sum<double> got[4];
      tally::dot(where(), a.span(), b.span(), tally::add_to(got[0]));
      tally::sum(where(), a.span(), tally::add_to(got[1]));
      tally::asum(where(), a.span(), tally::add_to(got[2]));
      tally::nrm2(where(), a.span(), tally::add_to(got[3]));
      EXPECT_EQ(got[0].to_words(), dot.to_words());
      EXPECT_EQ(got[1].to_words(), sum.to_words());
      EXPECT_EQ(got[2].to_words(), asum.to_words());
      EXPECT_EQ(got[3].to_words(), squares.to_words());
      EXPECT_EQ(data::bits(tally::dot(where(), a.span(), b.span(), tally::exact)),
                data::bits(dot.round<double>()));
      EXPECT_EQ(data::bits(tally::sum(where(), a.span(), tally::exact)),
                data::bits(sum.round<double>()));
      EXPECT_EQ(data::bits(tally::asum(where(), a.span(), tally::exact)),
                data::bits(asum.round<double>()));
      EXPECT_EQ(data::bits(tally::nrm2(where(), a.span(), tally::exact)),
                data::bits(squares.round_root<double>()));
      ASSERT_FALSE(HasFailure()) << "round " << round << ", specials " << specials;
    }
  }
}

TEST_ON_FAST_BACKENDS(Exact, HundredMillionEqualTerms) {
  // Nothing cancels: register accumulators only grow.
  constexpr std::size_t n = 100'000'000;
  constexpr std::size_t piece = 1'000'000;
  std::unique_ptr<data::buffer> memory, result;
  const auto check = [&](auto value) {
    using T = decltype(value);
    grow(memory, n * sizeof(double));
    grow(result, 64);
    const std::vector<T> values(piece, value);
    for (std::size_t i = 0; i < n; i += piece) {
      memory->write(values.data(), piece * sizeof(T), i * sizeof(T));
    }
    const tally::operand x{memory->get(), n, 1, tally::type_of<T>};
    oracle::number sum, square, squares;
    sum.add_product(value, static_cast<std::int64_t>(n));
    square.add_product(value, value);
    squares.add_multiple(square, n);
    using R = tally::dot_result_t<T, T>;
    const auto compare = [&](const exact_case& c, R want) {
      R got;
      c.run(where(), x, x, &got, true);
      EXPECT_EQ(data::bits(got), data::bits(want))
          << c.label() << ' ' << static_cast<double>(value);
    };
    compare(make_case<operation::dot, R, T, T>(), squares.rounded<R>());
    compare(make_case<operation::sum, R, T>(), sum.rounded<R>());
    compare(make_case<operation::nrm2, R, T>(), squares.rounded_root<R>());
  };
  check(0x1.fffffffffffffp-1);
  check(-1.0 / 3);
  check(0x1.fffffep-1f);
  check(-1e-30f);
  check(tally::bfloat16(-0.3f));
  check(tally::float16(65504.0f));
}

TEST_ON_EVERY_EXECUTOR(Exact, CallersEnvironmentDoesNotEnterAndStays) {
  if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  for (const exact_case& c : common_cases()) {
    for (const kind k : {kind::spread, kind::ill, kind::tiny, kind::subnormal, kind::any}) {
      const example e = c.make(3000, 1, k);
      ASSERT_NO_FATAL_FAILURE(compare(c, e));
      const tally::operand x{e.x.data(), 3000, 1, c.x}, y{e.y.data(), 3000, 1, c.y};
      SCOPED_TRACE(c.label() + ", kind " + std::to_string(static_cast<int>(k)));
      data::expect_no_influence([&] {
        alignas(16) std::array<std::byte, 16> result;
        c.run(where(), x, y, result.data(), true);
        return bytes(result.begin(), result.begin() + static_cast<long>(e.want.size()));
      });
    }
  }
}

TEST(ExactInterface, EveryForm) {
  const std::vector<double> x = {1e300, 1, -1e300}, y = {1e300, 1, 1e300};
  double r = 0;
  EXPECT_EQ(tally::dot(x, y, tally::exact), 1.0);
  EXPECT_EQ(tally::dot(tally::serial(), x, y, tally::exact), 1.0);
  tally::dot(tally::simd(), x, y, &r, tally::exact);
  EXPECT_EQ(r, 1.0);
  EXPECT_EQ(tally::dot(x, y, tally::dot_options(tally::conjugate::x, tally::exact)), 1.0);
  EXPECT_EQ(tally::sum(x, tally::exact), 1.0);
  EXPECT_EQ(tally::sum(tally::serial(), x, tally::exact), 1.0);
  tally::sum(tally::simd(), x, &(r = 0), tally::exact);
  EXPECT_EQ(r, 1.0);
  EXPECT_EQ(tally::asum(x, tally::exact), 2e300);
  EXPECT_EQ(tally::asum(tally::serial(), x, tally::exact), 2e300);
  tally::asum(tally::simd(), x, &(r = 0), tally::exact);
  EXPECT_EQ(r, 2e300);
  EXPECT_EQ(tally::nrm2(x, tally::exact), std::sqrt(2.0) * 1e300);
  EXPECT_EQ(tally::nrm2(tally::serial(), x, tally::exact), std::sqrt(2.0) * 1e300);
  tally::nrm2(tally::simd(), x, &(r = 0), tally::exact);
  EXPECT_EQ(r, std::sqrt(2.0) * 1e300);
}

TEST(ExactInterface, FloatsAreRoundedOnce) {
  // Rounded to double first it would be a tie in float.
  const std::vector<float> x = {1, 0x1p-24f, 0x1p-100f};
  EXPECT_EQ(tally::sum(x, tally::exact), 1 + 0x1p-23f);
  EXPECT_EQ(tally::sum<double>(x, tally::exact), 1 + 0x1p-24);
  const std::vector<float> one = {1, 1, 1};
  EXPECT_EQ(tally::dot(x, one, tally::exact), 1 + 0x1p-23f);
  EXPECT_EQ(tally::dot<double>(x, one, tally::exact), 1 + 0x1p-24);
}

TEST(ExactInterface, IntegersStayModulo2To64) {
  const std::vector<std::int64_t> x = {std::numeric_limits<std::int64_t>::max(), 1};
  EXPECT_EQ(tally::sum(x, tally::exact), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(tally::sum<double>(x, tally::exact), 0x1p63);
}

TEST(ExactInterface, NothingGivesPositiveZero) {
  const std::vector<double> none, minus = {-0.0};
  EXPECT_EQ(data::bits(tally::dot(none, none, tally::exact)), (std::array<std::uint64_t, 1>{0}));
  EXPECT_EQ(data::bits(tally::sum(none, tally::exact)), (std::array<std::uint64_t, 1>{0}));
  EXPECT_EQ(data::bits(tally::sum(minus, tally::exact)), (std::array<std::uint64_t, 1>{0}));
  EXPECT_EQ(data::bits(tally::nrm2(minus, tally::exact)), (std::array<std::uint64_t, 1>{0}));
}

}  // namespace
