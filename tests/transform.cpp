// The element-wise functions: the bits of a literal loop, for every function, type, size, alignment
// and stride, also in place; exp and sigmoid keep their stated accuracy.
#include "tests/data.hpp"
#include "tests/elementwise_transcription.hpp"
#include "tests/environments.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

namespace {

using data::kind;
using data::layout;
using data::random_bytes;
using tally::elementwise;
using tally::type;

const std::vector<elementwise> functions = [] {
  std::vector<elementwise> all;
  for (int f = 0; f <= static_cast<int>(tally::last_elementwise); ++f) {
    all.push_back(static_cast<elementwise>(f));
  }
  return all;
}();

struct type_case {
  elementwise what;
  type x, y, z;

  bool binary() const { return tally::detail::is_binary(what); }
  /// Third input.
  type w() const { return what == elementwise::where ? y : x; }
  type computation() const { return tally::detail::computation_type(what, x, y, z, w()); }
  std::string label() const {
    std::string text(tally::detail::description_of(what).function);
    text += " of " + std::string(tally::name(x));
    if (binary()) text += ", " + std::string(tally::name(y));
    return text + " to " + std::string(tally::name(z));
  }
};

bool exists(const type_case& c) {
  const bool masked = c.what != elementwise::where || tally::detail::is_mask(c.x, c.computation());
  return masked && tally::detail::takes(c.what, c.computation()) &&
         tally::detail::gives(c.what, c.x, c.y, c.z, c.w());
}

/// Functions of one type throughout.
std::vector<type_case> pure_cases() {
  std::vector<type_case> all;
  for (const elementwise what : functions) {
    for (int t = 0; t < static_cast<int>(tally::type_count); ++t) {
      const auto x = static_cast<type>(t);
      if (exists({what, x, x, x})) all.push_back({what, x, x, x});
    }
  }
  return all;
}

/// Functions of every combination of types.
std::vector<type_case> mixed_cases() {
  std::vector<type_case> all;
  constexpr int count = static_cast<int>(tally::type_count);
  for (const elementwise what : functions) {
    for (int types = 0; types < count * count * count; ++types) {
      const auto x = static_cast<type>(types % count), y = static_cast<type>(types / count % count),
                 z = static_cast<type>(types / count / count);
      if (x == y && y == z) continue;
      if (!tally::detail::is_binary(what) && x != y) continue;
      if (exists({what, x, y, z})) all.push_back({what, x, y, z});
    }
  }
  return all;
}

/// A number, as far as the type represents it.
tally::scalar number_of(type t, double re, double im) {
  tally::scalar made;
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    if (t != tally::type_of<T>) return;
    if constexpr (tally::is_complex_v<T>) {
      using R = tally::real_t<T>;
      made = T(static_cast<R>(re), static_cast<R>(im));
    } else if constexpr (sizeof(T) == 2) {
      made = T(static_cast<float>(re));
    } else {
      made = static_cast<T>(re);
    }
  });
  return made;
}

using transcription::factors;

/// Returns factors of the computation's type and others, and 0 if a vector is only updated. fill
/// writes its factor.
std::vector<factors> factors_of(const type_case& c) {
  if (c.what == elementwise::fill) {
    std::vector<factors> all = {{number_of(c.x, 1e2 / 3, -2.3)}, {number_of(c.x, -0.0, 1)}};
    const double nan = -std::numeric_limits<double>::quiet_NaN();
    if (!tally::is_integer(c.x)) all.push_back({number_of(c.x, nan, 1)});
    return all;
  }
  const int count = tally::detail::factors(c.what);
  if (count == 0) return {{}};
  const type computation = c.computation();
  std::vector<factors> all;
  if (c.what == elementwise::pow) {
    all = {{2}, {3}, {0}, {1}};
    if (computation != type::int64) all.push_back({-3});
    return all;
  }
  if (tally::detail::is_comparison(c.what)) {
    const tally::scalar middle = computation == type::int64 ? tally::scalar(3) : -0.25f;
    for (const int code : {1, 3, 2, 13, 6, 4}) all.push_back({code, middle});
    return all;
  }
  if (c.what == elementwise::clamp) {
    if (computation == type::int64) return {{-7, 11}, {5, -5}};
    return {{-1.3f, 0.7}, {0.0, -0.0}, {std::numeric_limits<double>::quiet_NaN(), 1}};
  }
  if (computation == type::int64) {
    all = {{3, -7, 11}, {std::int64_t{1} << 40, 5, -1}, {3, 0, 0}};
  } else if (!tally::is_complex(computation)) {
    all = {{0.7, -1.3f, 1.1}, {3, -1.0, 2}, {0.3f, 0.0, -0.0}};
  } else {
    all = {{std::complex<double>(0.7, -0.2), std::complex<float>(-1.1f, 0.3f),
            std::complex<double>(0.4, 0.9)},
           {std::complex<float>(0.7f, 0), 1.3, 0.6f},
           {2, std::complex<double>(0, 1), std::complex<float>(-1, 2)},
           {std::complex<double>(0.7, -0.2), std::complex<double>(0, 0), 0}};
  }
  if (count == 1) all.pop_back();
  if (count == 3) all.back().beta = all.front().beta;
  return all;
}

class Transform : public data::OnEveryExecutor {
 protected:
  struct inputs {
    std::vector<std::byte> x, y, z, w;
  };
  static inputs make_inputs(const type_case& c, std::size_t n, kind k) {
    return {random_bytes(c.x, n, 3 * n + 1, k), random_bytes(c.y, n, 3 * n + 2, k),
            random_bytes(c.z, n, 3 * n + 3, k), random_bytes(c.w(), n, 3 * n + 4, k)};
  }

  void compare(const type_case& c, const inputs& in, layout lx, layout ly, layout lz) {
    const std::size_t n = in.x.size() / tally::size_of(c.x);
    for (const factors& f : factors_of(c)) {
      const tally::operand x = place(0, in.x, c.x, lx), y = place(1, in.y, c.y, ly);
      const tally::operand z = place(2, in.z, c.z, lz);
      const tally::operand w = place(3, in.w, c.w(), ly);
      const auto want =
          transcription::transform(c.what, f, {in.x, c.x}, {in.y, c.y}, {in.z, c.z}, {in.w, c.w()});
      std::vector<std::byte> expected = image_of(2);
      overwrite(expected, z, want);
      tally::transform(where(), {c.what, f.alpha, f.beta, x, y, output(z), f.gamma, w});
      const auto& image = read(2);
      ASSERT_TRUE(image == expected)
          << c.label() << ", n = " << n << ", offsets " << lx.offset << ' ' << ly.offset << ' '
          << lz.offset << ", increments " << lx.increment << ' ' << ly.increment << ' '
          << lz.increment << first_difference(image, expected, c.z);
    }
  }

  void compare_in_place(const type_case& c, const inputs& in, layout l) {
    const std::size_t n = in.x.size() / tally::size_of(c.x);
    if (c.what == elementwise::fill) return;
    for (const factors& f : factors_of(c)) {
      for (const bool into_x : {true, false}) {
        if (into_x ? tally::size_of(c.x) != tally::size_of(c.z)
                   : !c.binary() || tally::size_of(c.y) != tally::size_of(c.z))
          continue;
        const tally::operand x = place(0, in.x, c.x, l), y = place(1, in.y, c.y, l);
        tally::operand z = into_x ? x : y;
        z.element = c.z;
        const tally::operand w = place(3, in.w, c.w(), l);
        const auto want = transcription::transform(c.what, f, {in.x, c.x}, {in.y, c.y},
                                                   {into_x ? in.x : in.y, c.z}, {in.w, c.w()});
        std::vector<std::byte> expected = image_of(into_x ? 0 : 1);
        overwrite(expected, z, want);
        tally::transform(where(), {c.what, f.alpha, f.beta, x, y, output(z), f.gamma, w});
        const auto& image = read(into_x ? 0 : 1);
        ASSERT_TRUE(image == expected)
            << "in place: " << c.label() << ", n = " << n << ", offset " << l.offset
            << ", increment " << l.increment << first_difference(image, expected, c.z);
      }
    }
  }

  void compare_all_the_same(const type_case& c, const inputs& in) {
    const factors f = factors_of(c)[0];
    const tally::operand x = place(0, in.x, c.x, {});
    const auto want =
        transcription::transform(c.what, f, {in.x, c.x}, {in.x, c.x}, {in.x, c.z}, {in.x, c.x});
    std::vector<std::byte> expected = image_of(0);
    overwrite(expected, x, want);
    tally::transform(where(), {c.what, f.alpha, f.beta, x, x, output(x), f.gamma, x});
    ASSERT_TRUE(read(0) == expected) << "all the same: " << c.label();
  }

  void compare_swap(type element, std::size_t n, layout first, layout second) {
    const auto a = random_bytes(element, n, n + 1, kind::special);
    const auto b = random_bytes(element, n, n + 2, kind::special);
    const tally::operand x = place(0, a, element, first), y = place(1, b, element, second);
    std::vector<std::byte> want_x = image_of(0), want_y = image_of(1);
    overwrite(want_x, x, b);
    overwrite(want_y, y, a);
    tally::swap_elements(where(), output(x), output(y));
    ASSERT_TRUE(read(0) == want_x && read(1) == want_y)
        << "swap of " << tally::name(element) << ", n = " << n << ", offsets " << first.offset
        << ' ' << second.offset << ", increments " << first.increment << ' ' << second.increment;
  }

 private:
  static tally::output_operand output(const tally::operand& z) {
    return {const_cast<void*>(z.data), z.size, z.increment, z.element};
  }
  /// Writes memory only if it has something else: a device's copies take most of the time.
  tally::operand place(int which, const std::vector<std::byte>& elements, type element, layout l) {
    auto& [memory, held] = placed_[static_cast<std::size_t>(which)];
    const auto step = static_cast<std::size_t>(std::abs(l.increment));
    const std::size_t needed = step * elements.size() + 4096;
    std::vector<std::byte> image = data::laid_out(elements, element, l);
    EXPECT_LE(image.size(), needed);
    image.resize(needed, std::byte{0xcc});
    if (!memory || memory->size() < needed) {
      memory = std::make_unique<data::buffer>(where(), needed);
      held.clear();
    }
    if (image != held) {
      memory->write(image.data(), needed);
      held = std::move(image);
    }
    return data::operand_in(*memory, elements.size() / tally::size_of(element), element, l);
  }
  const std::vector<std::byte>& image_of(int which) const {
    return placed_[static_cast<std::size_t>(which)].held;
  }
  const std::vector<std::byte>& read(int which) {
    auto& [memory, held] = placed_[static_cast<std::size_t>(which)];
    memory->read(held.data(), held.size());
    return held;
  }
  void overwrite(std::vector<std::byte>& image, const tally::operand& z,
                 const std::vector<std::byte>& elements) const {
    const std::size_t size = tally::size_of(z.element);
    for (const auto& [memory, held] : placed_) {
      if (!memory) continue;
      const auto* const base = memory->get();
      const auto* const first = static_cast<const std::byte*>(z.data);
      if (first < base || first >= base + memory->size()) continue;
      for (std::size_t i = 0; i < z.size; ++i) {
        const auto at =
            first - base +
            static_cast<std::ptrdiff_t>(i) * z.increment * static_cast<std::ptrdiff_t>(size);
        std::memcpy(image.data() + at, elements.data() + i * size, size);
      }
    }
  }
  static std::string first_difference(const std::vector<std::byte>& got,
                                      const std::vector<std::byte>& want, type element) {
    const auto hex = [&](const std::vector<std::byte>& bytes, std::size_t first) {
      std::string text;
      for (std::size_t i = tally::size_of(element); i-- > 0;) {
        const auto value = static_cast<unsigned>(bytes[first + i]);
        text += "0123456789abcdef"[value / 16];
        text += "0123456789abcdef"[value % 16];
      }
      return text;
    };
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == want[i]) continue;
      const std::size_t first = i / tally::size_of(element) * tally::size_of(element);
      return "; the first difference is at byte " + std::to_string(i) + ": " + hex(got, first) +
             ", expected " + hex(want, first);
    }
    return "";
  }

  struct placed {
    std::unique_ptr<data::buffer> memory;
    std::vector<std::byte> held;  // its first bytes
  };
  std::array<placed, 4> placed_;
};

const std::size_t sizes[] = {0,   1,   2,   3,   4,   5,   7,   8,   9,    15,
                             16,  17,  31,  32,  33,  63,  64,  65,  96,   97,
                             127, 128, 129, 255, 257, 511, 512, 513, 1000, 4099};

TEST_ON_EVERY_EXECUTOR(Transform, EveryTypeAndSize) {
  for (const type_case& c : pure_cases()) {
    for (const std::size_t n : sizes) {
      const inputs in = make_inputs(c, n, kind::plain);
      ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, {}, {}));
      ASSERT_NO_FATAL_FAILURE(compare_in_place(c, in, {}));
      if (n % 2 == 1) {
        ASSERT_NO_FATAL_FAILURE(compare_all_the_same(c, in));
      }
    }
  }
}

TEST_ON_EVERY_BACKEND(Transform, EveryCombinationOfTypes) {
  for (const type_case& c : mixed_cases()) {
    for (const kind k : {kind::plain, kind::wide, kind::special}) {
      const inputs in = make_inputs(c, k == kind::plain ? 1037 : 133, k);
      ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, {}, {}));
      if (k == kind::plain) {
        ASSERT_NO_FATAL_FAILURE(compare_in_place(c, in, {}));
      }
    }
    const inputs in = make_inputs(c, 75, kind::plain);
    ASSERT_NO_FATAL_FAILURE(compare(c, in, {.offset = 1, .increment = 2}, {.offset = 3},
                                    {.offset = 2, .increment = -3}));
  }
}

TEST_ON_EVERY_EXECUTOR(Transform, WideRangesAndSpecialValues) {
  for (const type_case& c : pure_cases()) {
    for (const kind k : {kind::wide, kind::special}) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{37}, std::size_t{3000}}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, make_inputs(c, n, k), {}, {}, {}));
      }
    }
  }
}

/// A NaN among others, at each place of vectors that begin with a cache line, or not.
template <class T>
void expect_one_nan(const tally::executor& where) {
  constexpr std::size_t n = 300;
  alignas(64) T x_memory[n + 1], z_memory[n + 1];
  constexpr T factor(0.3), nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::size_t offset : {0, 1}) {
    const std::span x(x_memory + offset, n), z(z_memory + offset, n);
    for (std::size_t place = 0; place < n; ++place) {
      const auto prepare = [&] {
        for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i), z[i] = T(1);
      };
      const auto check = [&](const char* name, T added) {
        for (std::size_t i = 0; i < n; ++i) {
          const T wanted = i == place ? nan : factor * static_cast<T>(i) + added;
          ASSERT_EQ(data::bits(z[i]), data::bits(wanted))
              << name << " of " << 8 * sizeof(T) << " bits, element " << i << ", NaN at " << place;
        }
      };
      prepare();
      (place % 2 == 0 ? x[place] : z[place]) = -nan;
      tally::axpy(where, factor, x, z);
      ASSERT_NO_FATAL_FAILURE(check("axpy", 1));
      prepare();
      std::copy(x.begin(), x.end(), z.begin());
      z[place] = -nan;
      tally::scal(where, factor, z);
      ASSERT_NO_FATAL_FAILURE(check("scal", 0));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Transform, FindsEachNan) {
  if (data::on_device(where())) GTEST_SKIP() << "vectors lie in the host's memory";
  expect_one_nan<double>(where());
  expect_one_nan<float>(where());
}

// Misaligned alike and not; checks the last n mod 4 and surrounding elements.
TEST_ON_EVERY_EXECUTOR(Transform, EveryAlignment) {
  for (const type_case& c : pure_cases()) {
    for (const std::size_t n : {std::size_t{70}, std::size_t{1031}}) {
      const inputs in = make_inputs(c, n, kind::plain);
      for (const std::size_t offset : {1, 2, 3, 4, 5, 7, 8, 15, 31}) {
        const layout l{.offset = offset};
        ASSERT_NO_FATAL_FAILURE(compare(c, in, l, l, l));
        ASSERT_NO_FATAL_FAILURE(compare_in_place(c, in, l));
        if (n > 1000 && offset > 5) continue;
        ASSERT_NO_FATAL_FAILURE(compare(c, in, l, {}, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, l, {}));
        ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, {}, l));
        ASSERT_NO_FATAL_FAILURE(compare(c, in, {.offset = offset + 1}, l, {.offset = 3}));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Transform, EveryStride) {
  for (const type_case& c : pure_cases()) {
    const inputs in = make_inputs(c, 1037, kind::plain);
    for (const std::ptrdiff_t increment : {2, 3, -1, -2, -3}) {
      const layout l{.offset = 1, .increment = increment};
      ASSERT_NO_FATAL_FAILURE(compare(c, in, l, l, l));
      ASSERT_NO_FATAL_FAILURE(compare_in_place(c, in, l));
      ASSERT_NO_FATAL_FAILURE(compare(c, in, l, {}, {}));
      ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, l, {}));
      ASSERT_NO_FATAL_FAILURE(compare(c, in, {}, {}, l));
    }
  }
}

TEST_ON_EVERY_BACKEND(Transform, Long) {
  // Several partitions a thread, several blocks a multiprocessor.
  for (const type_case& c : pure_cases()) {
    const inputs in = make_inputs(c, 50021, kind::plain);
    ASSERT_NO_FATAL_FAILURE(compare(c, in, {.offset = 1}, {}, {.offset = 1}));
  }
}

// Long enough for CPUs to write past caches, in streams; the ends are partial vectors.
TEST_ON_EVERY_BACKEND(Transform, PastTheCaches) {
  const auto check = [&]<class T>(std::type_identity<T>, std::size_t n) {
    data::buffer memory_x(where(), n * sizeof(T)), memory_y(where(), n * sizeof(T)),
        memory_z(where(), (n + 4) * sizeof(T));
    std::vector<T> x(n), y(n), got(n + 4);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = static_cast<T>(static_cast<float>(i * 2654435761u >> 12 & 0xfff) - 2048.0f);
      y[i] = static_cast<T>(static_cast<float>(i * 40503u >> 5 & 0xff));
    }
    memory_x.write(x.data(), n * sizeof(T));
    memory_y.write(y.data(), n * sizeof(T));
    const auto vector = [n](const data::buffer& memory, std::size_t offset) {
      return tally::strided(reinterpret_cast<T*>(memory.get()) + offset, n, 1);
    };
    const auto in_x = vector(memory_x, 0), in_y = vector(memory_y, 0);
    const auto out = vector(memory_z, 3);
    const auto compare = [&](const char* name, auto want) {
      memory_z.read(got.data(), got.size() * sizeof(T));
      for (std::size_t i = 0; i < n; ++i) {
        const T value = static_cast<T>(want(i));
        if (data::same_bits(got[i + 3], value)) continue;
        ASSERT_EQ(data::bits(got[i + 3]), data::bits(value)) << name << ' ' << i;
      }
    };
    tally::copy(where(), in_x, out);
    ASSERT_NO_FATAL_FAILURE(compare("copy", [&](std::size_t i) { return x[i]; }));
    tally::add(where(), in_x, in_y, out);
    ASSERT_NO_FATAL_FAILURE(compare("add", [&](std::size_t i) { return x[i] + y[i]; }));
    tally::relu(where(), in_x, out);
    ASSERT_NO_FATAL_FAILURE(
        compare("relu", [&](std::size_t i) { return x[i] > 0 ? x[i] : T(0.0f); }));
    tally::waxpby(where(), 2, in_x, -1, in_y, out);
    ASSERT_NO_FATAL_FAILURE(
        compare("waxpby", [&](std::size_t i) { return static_cast<T>(2 * x[i] - y[i]); }));
    tally::axpbypcz(where(), 1, in_x, 1, in_y, 0, out);
    ASSERT_NO_FATAL_FAILURE(compare("axpbypcz", [&](std::size_t i) { return x[i] + y[i]; }));
    tally::fill(where(), 7, out);
    ASSERT_NO_FATAL_FAILURE(compare("fill", [&](std::size_t) { return T(7.0f); }));
    tally::axpy(where(), 2, in_x, out);
    ASSERT_NO_FATAL_FAILURE(
        compare("axpy", [&](std::size_t i) { return static_cast<T>(2 * x[i] + 7); }));
    tally::scal(where(), 2, out);
    ASSERT_NO_FATAL_FAILURE(compare(
        "scal", [&](std::size_t i) { return static_cast<T>(2 * static_cast<T>(2 * x[i] + 7)); }));
    tally::exp(where(), in_y, out);
    std::vector<T> powers(n);
    tally::exp(tally::serial(), y, powers);
    ASSERT_NO_FATAL_FAILURE(compare("exp", [&](std::size_t i) { return powers[i]; }));
    tally::swap(where(), vector(memory_x, 0), out);
    ASSERT_NO_FATAL_FAILURE(compare("swap", [&](std::size_t i) { return x[i]; }));
  };
  check(std::type_identity<double>{}, 5000003);
  check(std::type_identity<float>{}, 9000001);
  check(std::type_identity<tally::bfloat16>{}, 17000005);
}

// Equally aligned vectors, long enough for several loads a thread on a device, or one again.
TEST_ON_EVERY_BACKEND(Transform, LongAndAlike) {
  const auto check = [&]<class T>(std::type_identity<T>) {
    for (const std::size_t n :
         {std::size_t{300'007}, std::size_t{1'300'003}, std::size_t{9'000'001}}) {
      if (n > 2'000'000 && !data::on_device(where())) continue;  // hosts' loops are all there
      std::vector<T> x(n), y(n);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = static_cast<T>(static_cast<float>(i * 2654435761u >> 12 & 0xfff) / 64 - 32.0f);
        y[i] = static_cast<T>(static_cast<float>(i * 40503u >> 5 & 0xff));
      }
      const data::placed on_x(where(), x), on_y(where(), y);
      data::placed on_z(where(), y);
      const auto compare = [&](elementwise what) {
        std::vector<T> want(n);
        const auto run = [&](const tally::executor& on, auto a, auto b, auto c) {
          tally::transform(
              on, {what, 2, 3, tally::as_operand(a), tally::as_operand(b), tally::as_output(c)});
        };
        run(tally::serial(), std::span<const T>(x), std::span<const T>(y), std::span(want));
        run(where(), on_x.span(), on_y.span(), on_z.span());
        const std::vector<T> got = on_z.read();
        if (std::memcmp(got.data(), want.data(), n * sizeof(T)) == 0) return;
        std::size_t i = 0;
        while (data::bits(got[i]) == data::bits(want[i])) ++i;
        FAIL() << tally::detail::description_of(what).function << ' ' << n << ' ' << i;
      };
      for (const elementwise what : functions) {
        const bool of_two = tally::detail::is_binary(what);
        if (what == elementwise::fill || what == elementwise::scal) continue;
        if ((of_two && what != elementwise::add && what != elementwise::div) ||
            tally::detail::is_ternary(what) || !tally::detail::takes(what, tally::type_of<T>))
          continue;
        if (n > 2'000'000 && tally::detail::is_exponential(what)) continue;
        ASSERT_NO_FATAL_FAILURE(compare(what));
      }
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
  check(std::type_identity<tally::float16>{});
  check(std::type_identity<std::int32_t>{});
}

TEST_ON_EVERY_EXECUTOR(Transform, TheCallersEnvironmentDoesNotMatterAndStays) {
  if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  std::vector<double> x(1000), z(1000);
  std::vector<float> low(1000, 0x1p-140f), w(1000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.37 * static_cast<double>(i) - 180;
  const auto all = [&] {
    std::vector<std::uint64_t> words;
    const auto keep = [&](const auto& v) {
      for (const auto e : v) words.push_back(data::bits(e)[0]);
    };
    tally::exp(where(), x, z), keep(z);
    tally::sigmoid(where(), x, z), keep(z);
    std::ranges::copy(x, z.begin());
    tally::axpby(where(), 0.1, x, 0.7, z), keep(z);
    std::ranges::copy(low, w.begin());
    tally::axpy(where(), 0.3, low, w), keep(w);
    tally::relu(where(), low, w), keep(w);
    return words;
  };
  data::expect_no_influence(all);
}

TEST_ON_EVERY_EXECUTOR(Transform, SwapOfEveryTypeAlignmentAndStride) {
  for (int t = 0; t < static_cast<int>(tally::type_count); ++t) {
    const auto element = static_cast<type>(t);
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{33}, std::size_t{1037}}) {
      for (const auto& [first, second] : {std::pair<layout, layout>{},
                                          {{.offset = 1}, {.offset = 1}},
                                          {{.offset = 3}, {}},
                                          {{.increment = 2}, {.offset = 1, .increment = -3}},
                                          {{.increment = -1}, {}}}) {
        ASSERT_NO_FATAL_FAILURE(compare_swap(element, n, first, second));
      }
    }
  }
}

// Interleaved columns share no element.
TEST_ON_EVERY_EXECUTOR(Transform, InterleavedVectors) {
  constexpr std::size_t n = 1000;
  for (const std::ptrdiff_t increment : {3, -3, 6}) {
    std::vector<double> matrix(6 * n);
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = 0.5 * static_cast<double>(i);
    data::buffer memory(where(), matrix.size() * sizeof(double));
    memory.write(matrix.data(), memory.size());
    auto* const first = reinterpret_cast<double*>(memory.get());
    tally::add(where(), tally::strided(first, n, 3), tally::strided(first + 1, n, increment),
               tally::strided(first + 2, n, -3));
    std::vector<double> want = matrix, got(matrix.size());
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t y =
          1 + (increment < 0 ? n - 1 - i : i) * static_cast<std::size_t>(std::abs(increment));
      want[2 + 3 * (n - 1 - i)] = matrix[3 * i] + matrix[y];
    }
    memory.read(got.data(), memory.size());
    EXPECT_EQ(got, want);
  }
}

// --- Errors --------------------------------------------------------------------------------------

using data::expect_error;

class TransformErrors : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    memory_ = std::make_unique<data::buffer>(where(), 1024);
    memory_->write(ones_.data(), ones_.size());
  }
  void TearDown() override {
    if (IsSkipped()) return;
    std::vector<std::byte> now(ones_.size());
    memory_->read(now.data(), now.size());
    EXPECT_EQ(now, ones_) << "something was written";
  }
  tally::output_operand vector(std::size_t byte, std::size_t n, std::ptrdiff_t increment = 1,
                               type element = type::float64) const {
    return {memory_->get() + byte, n, increment, element};
  }
  void run(elementwise what, const tally::operand& x, const tally::operand& y,
           const tally::output_operand& z, tally::scalar alpha = 1.0, tally::scalar beta = 1.0,
           tally::scalar gamma = 1.0) {
    tally::transform(where(), {what, alpha, beta, x, y, z, gamma});
  }

 private:
  std::vector<std::byte> ones_ = std::vector<std::byte>(1024, std::byte{1});
  std::unique_ptr<data::buffer> memory_;
};

TEST_ON_EVERY_EXECUTOR(TransformErrors, Shapes) {
  using tally::errc;
  const tally::operand none;
  expect_error(errc::size_mismatch, "tally::add: x has 5 elements, y has 6",
               [&] { run(elementwise::add, vector(0, 5), vector(64, 6), vector(128, 5)); });
  expect_error(errc::size_mismatch, "tally::mul: x has 5 elements, z has 6",
               [&] { run(elementwise::mul, vector(0, 5), vector(64, 5), vector(128, 6)); });
  expect_error(errc::size_mismatch, "tally::copy: x has 5 elements, y has 6",
               [&] { run(elementwise::copy, vector(0, 5), none, vector(128, 6)); });
  expect_error(errc::invalid_argument,
               "tally::exp: x has 18446744073709551615 elements; there can be 281474976710656",
               [&] {
                 const auto n = static_cast<std::size_t>(-1);
                 run(elementwise::exp, vector(0, n), none, vector(0, n));
               });
  expect_error(errc::null_pointer, "tally::relu: y is null and should point at 5 elements",
               [&] { run(elementwise::relu, vector(0, 5), none, {nullptr, 5, 1, type::float64}); });
  expect_error(errc::zero_increment, "tally::axpy: y has increment 0",
               [&] { run(elementwise::axpy, vector(0, 5), vector(64, 5, 0), vector(64, 5, 0)); });
  expect_error(errc::misaligned,
               "tally::sub: z is not a multiple of 8 bytes, the alignment of float64",
               [&] { run(elementwise::sub, vector(0, 5), vector(64, 5), vector(132, 5)); });
  expect_error(
      errc::invalid_argument,
      "tally::transform: what is 77; there are " + std::to_string(functions.size()) +
          " element-wise functions",
      [&] { run(static_cast<elementwise>(77), vector(0, 5), vector(64, 5), vector(128, 5)); });
}

TEST_ON_EVERY_EXECUTOR(TransformErrors, Types) {
  using tally::errc;
  const tally::operand none;
  const auto of = [&](type t, std::size_t byte) { return vector(byte, 5, 1, t); };
  const auto refuses = [&](elementwise what, type x) {
    const std::string name(tally::detail::description_of(what).function);
    expect_error(errc::unsupported_type, name + ": x is " + std::string(tally::name(x)),
                 [&] { run(what, of(x, 0), none, vector(128, 5)); });
  };
  refuses(elementwise::exp, type::int32);
  for (const elementwise what : functions) {
    if (!tally::detail::is_binary(what) && !tally::detail::takes(what, type::complex64)) {
      refuses(what, type::complex64);
    }
  }
  expect_error(errc::unsupported_type,
               "tally::copy: y is int32, to which the result can't be converted; it is computed in "
               "float32",
               [&] { run(elementwise::copy, of(type::float32, 0), none, of(type::int32, 128)); });
  expect_error(errc::unsupported_type,
               "tally::add: z is bool, to which the result can't be converted; it is computed in "
               "int64",
               [&] {
                 run(elementwise::add, of(type::boolean, 0), of(type::boolean, 64),
                     of(type::boolean, 128));
               });
  expect_error(errc::unsupported_type,
               "tally::mul: z is float64, to which the result can't be converted; it is computed "
               "in complex128",
               [&] {
                 run(elementwise::mul, of(type::complex64, 0), of(type::float64, 64),
                     of(type::float64, 128));
               });
  expect_error(errc::unsupported_type, "tally::scal: alpha is float64; the computation is in int64",
               [&] { run(elementwise::scal, of(type::int32, 0), none, of(type::int32, 0), 0.5); });
  expect_error(errc::unsupported_type,
               "tally::axpby: beta is complex64; the computation is in float64", [&] {
                 run(elementwise::axpby, vector(0, 5), vector(64, 5), vector(64, 5), 0.5,
                     std::complex<float>(1, 0));
               });
  expect_error(errc::unsupported_type, "tally::add: y has element type 99; there are 11", [&] {
    run(elementwise::add, vector(0, 5), of(static_cast<type>(99), 64), vector(128, 5));
  });
  expect_error(errc::unsupported_type,
               "tally::axpbypcz: gamma is complex128; the computation is in float64", [&] {
                 run(elementwise::axpbypcz, vector(0, 5), vector(64, 5), vector(128, 5), 0.5, 0.5,
                     std::complex<double>(1, 0));
               });
  expect_error(
      errc::unsupported_type,
      "tally::axypbz: z is float64, to which the result can't be converted; it is computed "
      "in complex128",
      [&] {
        run(elementwise::axypbz, of(type::complex64, 0), of(type::float64, 64),
            of(type::float64, 128));
      });
  expect_error(errc::unsupported_type,
               "tally::fill: z is int32, to which the result can't be converted; it is computed in "
               "float64",
               [&] { run(elementwise::fill, none, none, of(type::int32, 0), 0.5); });
  expect_error(errc::unsupported_type,
               "tally::fill: z is bool, to which the result can't be converted; it is computed in "
               "int64",
               [&] { run(elementwise::fill, none, none, of(type::boolean, 0), 1); });
  expect_error(errc::unsupported_type, "tally::swap: x is float32, y is float64",
               [&] { tally::swap_elements(where(), of(type::float32, 0), vector(64, 5)); });
}

TEST_ON_EVERY_EXECUTOR(TransformErrors, Overlap) {
  using tally::errc;
  const tally::operand none;
  expect_error(errc::overlap,
               "tally::copy: y overlaps x: it begins 8 bytes after x, which takes 40; it may be x "
               "itself",
               [&] { run(elementwise::copy, vector(0, 5), none, vector(8, 5)); });
  expect_error(
      errc::overlap,
      "tally::copy: y overlaps x: it begins 32 bytes before x, which takes 40; it may be x "
      "itself",
      [&] { run(elementwise::copy, vector(40, 5), none, vector(8, 5)); });
  expect_error(errc::overlap,
               "tally::add: z overlaps y: it begins 0 bytes after y, which takes 40; it may be y "
               "itself",
               [&] { run(elementwise::add, vector(128, 5), vector(32, 5), vector(64, 5, -1)); });
}

TEST_ON_EVERY_EXECUTOR(TransformErrors, SwapAndFill) {
  using tally::errc;
  const auto swap = [&](const tally::output_operand& x, const tally::output_operand& y) {
    tally::swap_elements(where(), x, y);
  };
  expect_error(errc::overlap, "tally::swap: y overlaps x",
               [&] { swap(vector(0, 5), vector(0, 5)); });
  expect_error(errc::overlap, "tally::swap: y overlaps x",
               [&] { swap(vector(0, 5), vector(32, 5)); });
  expect_error(errc::size_mismatch, "tally::swap: x has 5 elements, y has 6",
               [&] { swap(vector(0, 5), vector(64, 6)); });
  expect_error(errc::null_pointer, "tally::swap: y is null and should point at 5 elements",
               [&] { swap(vector(0, 5), {nullptr, 5, 1, type::float64}); });
  expect_error(errc::zero_increment, "tally::fill: z has increment 0",
               [&] { run(elementwise::fill, {}, {}, vector(0, 5, 0)); });
  expect_error(errc::misaligned,
               "tally::fill: z is not a multiple of 8 bytes, the alignment of float64",
               [&] { run(elementwise::fill, {}, {}, vector(4, 5)); });
}

TEST_ON_EVERY_EXECUTOR(TransformErrors, OverlapOfStridedVectors) {
  using tally::errc;
  const tally::operand none;
  const auto overlaps = [&](const tally::operand& x, const tally::output_operand& z) {
    try {
      run(elementwise::copy, x, none, z);
      return false;
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), errc::overlap);
      return true;
    }
  };
  EXPECT_TRUE(overlaps(vector(0, 5, 2), vector(16, 5, 2)));
  EXPECT_TRUE(overlaps(vector(0, 5, 2), vector(64, 5, -2)));
  EXPECT_TRUE(overlaps(vector(0, 5, 2), vector(24, 5, 3)));
  EXPECT_TRUE(overlaps(vector(0, 9, 3), vector(8, 9, 2)));
  EXPECT_TRUE(overlaps(vector(0, 5, 1, type::float32), vector(0, 5)));
}

}  // namespace
