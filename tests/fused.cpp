// Updates with a sum: vector and sum have the bits of the separate calls on serial.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <limits>
#include <span>

namespace {

using data::kind;
using data::layout;
using data::random_bytes;
using tally::elementwise;
using tally::fused_sum;
using tally::type;
using tally::order::chunk;

/// z is y's vector for axpy.
struct fused_case {
  elementwise update;
  fused_sum what;
  tally::conjugate conjugated;
  type x, y, z, v;
  type result;

  std::string label() const {
    return std::string(what == fused_sum::nrm2                ? "nrm2"
                       : conjugated == tally::conjugate::none ? "dot"
                                                              : "dotc") +
           " of " + std::string(tally::name(x)) + ", " + std::string(tally::name(y)) + " to " +
           std::string(tally::name(z)) + " with " + std::string(tally::name(v)) + " in " +
           std::string(tally::name(result));
  }
};

/// Accumulators of a sum of z, or of z and v.
std::vector<type> results_of(fused_sum what, type z, type v) {
  std::vector<type> all;
  data::for_each_type([&]<class Z>(std::type_identity<Z>) {
    data::for_each_type([&]<class V>(std::type_identity<V>) {
      if (tally::type_of<Z> != z || tally::type_of<V> != v) return;
      if (what == fused_sum::nrm2) {
        all = {tally::type_of<tally::nrm2_result_t<Z>>, type::float64};
      } else {
        all = {tally::type_of<tally::dot_result_t<Z, V>>,
               tally::type_of<tally::dot_widest_t<Z, V>>};
      }
      if (all[0] == all[1]) all.pop_back();
    });
  });
  return all;
}

std::vector<fused_case> cases_of(type x, type y, type z, type v) {
  std::vector<fused_case> all;
  constexpr auto none = tally::conjugate::none;
  for (const auto& [update, what, conjugated] :
       {std::tuple{elementwise::axpy, fused_sum::dot, none},
        {elementwise::axpy, fused_sum::dot, tally::conjugate::x},
        {elementwise::axpy, fused_sum::dot, tally::conjugate::y},
        {elementwise::waxpby, fused_sum::nrm2, none},
        {elementwise::axpby, fused_sum::dot, none}}) {
    if (conjugated != none && !tally::is_complex(z)) continue;
    if (!tally::detail::gives(update, x, y, z)) continue;
    for (const type result : results_of(what, z, v)) {
      all.push_back({update, what, conjugated, x, y, z, v, result});
    }
  }
  return all;
}

std::vector<fused_case> equal_cases() {
  std::vector<fused_case> all;
  for (std::size_t t = 0; t < tally::type_count; ++t) {
    const auto e = static_cast<type>(t);
    const auto some = cases_of(e, e, e, e);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<fused_case> mixed_cases() {
  std::vector<fused_case> all;
  using enum type;
  for (const auto& [x, y, z, v] : {std::array{float32, float64, float64, float64},
                                   {float64, float32, float32, float32},
                                   {float32, float32, float32, float64},
                                   {float16, float16, float32, bfloat16},
                                   {float64, complex128, complex128, complex128},
                                   {complex64, complex64, complex64, float32},
                                   {complex64, complex64, complex128, complex64},
                                   {int8, int32, int64, uint8},
                                   {boolean, float32, float32, boolean}}) {
    const auto some = cases_of(x, y, z, v);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

enum class other { itself, own, x };

class Fused : public data::OnEveryExecutor {
 protected:
  /// Layouts of x, y, z, v.
  using layouts = std::array<layout, 4>;

  void compare(const fused_case& c, std::size_t n, const layouts& l, other with,
               kind k = kind::plain, bool exact = false) {
    if (with == other::itself && c.v != c.z) return;
    if (with == other::x && c.v != c.x) return;
    if (with != other::own && c.what == fused_sum::nrm2) return;
    const auto factors = factors_of(c);
    for (const auto& [alpha, beta] : factors) {
      const auto near = run(tally::serial(), c, n, l, with, k, exact, alpha, beta, true, false);
      for (const bool wait : {true, false}) {
        const auto far = run(where(), c, n, l, with, k, exact, alpha, beta, wait, true);
        ASSERT_TRUE(far.result == near.result)
            << "sum: " << c.label() << (wait ? "" : ", written") << ", n = " << n << ", with "
            << static_cast<int>(with) << ", offsets " << l[0].offset << ' ' << l[1].offset << ' '
            << l[2].offset << ' ' << l[3].offset << ", increments " << l[0].increment << ' '
            << l[2].increment << (exact ? ", exact" : "");
        ASSERT_TRUE(far.memory == near.memory)
            << "vector: " << c.label() << ", n = " << n << ", offset " << l[2].offset
            << ", increment " << l[2].increment;
      }
    }
  }

 private:
  struct outcome {
    std::vector<std::byte> memory, result;
  };

  static std::vector<std::pair<tally::scalar, tally::scalar>> factors_of(const fused_case& c) {
    const type computation = tally::detail::computation_type(c.update, c.x, c.y);
    if (computation == type::int64) return {{3, -7}};
    if (!tally::is_complex(computation)) return {{0.7, -1.3f}, {-0.25, 0}};
    return {{std::complex<double>(0.7, -0.2), std::complex<float>(-1.1f, 0.3f)}, {0.7f, 1.3}};
  }

  /// Makes the call, or the equivalent ones; returns all memory.
  outcome run(const tally::executor& on, const fused_case& c, std::size_t n, const layouts& l,
              other with, kind k, bool exact, const tally::scalar& alpha, const tally::scalar& beta,
              bool wait, bool is_fused) const {
    const std::array types = {c.x, c.y, c.z, c.v};
    std::vector<std::unique_ptr<data::buffer>> buffers;
    std::array<tally::operand, 4> vectors;
    for (std::size_t i = 0; i < 4; ++i) {
      const auto elements = random_bytes(types[i], n, 4 * n + i, k);
      const auto step = static_cast<std::size_t>(std::abs(l[i].increment));
      const std::vector<std::byte> poison(step * elements.size() + 4096, std::byte{0xcc});
      buffers.push_back(std::make_unique<data::buffer>(on, poison.size()));
      buffers.back()->write(poison.data(), poison.size());
      vectors[i] = data::place(*buffers[i], elements, types[i], l[i]);
    }
    const bool updates = c.update != elementwise::waxpby;
    const tally::operand y = updates && c.y == c.z ? vectors[2] : vectors[1];
    const tally::output_operand z{const_cast<void*>(vectors[2].data), n, vectors[2].increment, c.z};
    const tally::operand v = with == other::itself ? vectors[2]
                             : with == other::x    ? vectors[0]
                                                   : vectors[3];
    data::buffer far(on, 64);
    alignas(16) std::array<std::byte, 16> host;
    host.fill(std::byte{0});
    far.write(host.data(), 16);
    const tally::output result{wait ? host.data() : far.get(), c.result};
    const tally::call_options options{exact ? tally::grade(tally::exact) : tally::grade(), wait};
    const tally::transform_arguments update{c.update, alpha, beta, vectors[0], y, z};
    if (is_fused) {
      tally::fused(on, {update, c.what, v, c.conjugated, result, options});
    } else {
      tally::transform(on, update);
      if (c.what == fused_sum::nrm2) {
        tally::reduce(on, {z, tally::reduction::nrm2, result, options});
      } else {
        tally::dot(on, {z, v, c.conjugated, result, options});
      }
    }
    if (!wait) far.read(host.data(), 16);
    outcome all;
    all.result.assign(host.begin(), host.end());
    for (const auto& each : buffers) {
      std::vector<std::byte> image(each->size());
      each->read(image.data(), image.size());
      all.memory.insert(all.memory.end(), image.begin(), image.end());
    }
    return all;
  }
};

constexpr std::size_t sizes[] = {0,
                                 1,
                                 2,
                                 3,
                                 63,
                                 65,
                                 127,
                                 chunk - 1,
                                 chunk,
                                 chunk + 1,
                                 chunk + 62,
                                 2 * chunk,
                                 3 * chunk + 5,
                                 8 * chunk - 1};

TEST_ON_EVERY_EXECUTOR(Fused, EveryTypeAndSize) {
  for (const fused_case& c : equal_cases()) {
    for (const std::size_t n : sizes) {
      for (const other with : {other::own, other::itself}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, with));
      }
    }
    ASSERT_NO_FATAL_FAILURE(compare(c, 2 * chunk + 7, {}, other::x));
  }
}

TEST_ON_EVERY_EXECUTOR(Fused, MixedTypes) {
  for (const fused_case& c : mixed_cases()) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{70}, 3 * chunk + 5}) {
      for (const other with : {other::own, other::itself, other::x}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, with));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Fused, EveryAlignmentAndStride) {
  const layout plain, shifted{.offset = 1}, strided{.offset = 1, .increment = 2},
      backwards{.increment = -3};
  for (const fused_case& c : equal_cases()) {
    for (const auto& l :
         {std::array{shifted, shifted, shifted, shifted}, std::array{plain, plain, shifted, plain},
          std::array{shifted, plain, plain, plain}, std::array{plain, plain, plain, shifted},
          std::array{strided, plain, plain, plain}, std::array{plain, backwards, strided, plain},
          std::array{plain, plain, plain, backwards}}) {
      for (const other with : {other::own, other::itself}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, 2 * chunk + 33, l, with));
      }
    }
  }
}

// Norms out of range are summed again, from the update's result.
TEST_ON_EVERY_EXECUTOR(Fused, WideRangesAndSpecialValues) {
  for (const fused_case& c : equal_cases()) {
    for (const kind k : {kind::wide, kind::special}) {
      for (const std::size_t n : {std::size_t{3}, std::size_t{1037}, 5 * chunk + 1}) {
        ASSERT_NO_FATAL_FAILURE(compare(c, n, {}, other::own, k));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Fused, ExactSums) {
  for (const fused_case& c : equal_cases()) {
    ASSERT_NO_FATAL_FAILURE(compare(c, 2 * chunk + 33, {}, other::own, kind::wide, true));
  }
}

// Partitions and blocks take several tiles.
TEST_ON_EVERY_BACKEND(Fused, Long) {
  const std::size_t n = 4100 * chunk + 33;
  std::vector<double> x(n), y(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<double>(i * 2654435761u >> 12 & 0xfff) * 0.1;
    y[i] = static_cast<double>(i * 40503u >> 5 & 0xff) * 0.3;
  }
  const data::placed<double> a(where(), x), b(where(), y);
  const std::span<double> serial(y);
  const auto near = tally::serial();
  for (const bool itself : {true, false}) {
    const double sum =
        tally::axpy_dot(where(), 0.7, a.span(), b.span(), itself ? b.span() : a.span());
    tally::axpy(near, 0.7, x, serial);
    const double want = tally::dot(near, serial, itself ? serial : std::span<double>(x));
    EXPECT_EQ(data::bits(sum), data::bits(want));
    EXPECT_TRUE(b.read() == y);
  }
  const double norm = tally::waxpby_nrm2(where(), 0.7, a.span(), -1, b.span(), b.span());
  tally::waxpby(near, 0.7, x, -1, serial, serial);
  EXPECT_EQ(data::bits(norm), data::bits(tally::nrm2(near, serial)));
  EXPECT_TRUE(b.read() == y);
}

// Large and small norms, which the first sum of squares can't hold.
TEST_ON_EVERY_EXECUTOR(Fused, NormsThatRescale) {
  for (const double scale : {0x1p-560, 0x1p-1040, 0x1p600}) {
    const std::size_t n = 3 * chunk + 70;
    std::vector<double> x(n), y(n), w(n), want(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = scale * static_cast<double>(i % 97);
      y[i] = scale * static_cast<double>(i % 31);
    }
    const data::placed<double> far_x(where(), x), far_y(where(), y), far_w(where(), w);
    const double got = tally::waxpby_nrm2(where(), 2, far_x.span(), -1, far_y.span(), far_w.span());
    tally::waxpby(tally::serial(), 2, x, -1, y, want);
    EXPECT_EQ(data::bits(got), data::bits(tally::nrm2(tally::serial(), want)));
    EXPECT_EQ(far_w.read(), want);
  }
}

TEST_ON_EVERY_EXECUTOR(Fused, Errors) {
  using tally::errc;
  data::buffer memory(where(), 1024);
  const std::vector<std::byte> ones(1024, std::byte{1});
  memory.write(ones.data(), ones.size());
  const auto vector = [&](std::size_t byte, std::size_t n, type t = type::float64) {
    return tally::output_operand{memory.get() + byte, n, 1, t};
  };
  const auto run = [&](const tally::output_operand& x, const tally::output_operand& y,
                       const tally::output_operand& v, type result = type::float64,
                       fused_sum what = fused_sum::dot, elementwise update = elementwise::axpy,
                       tally::conjugate conjugated = tally::conjugate::none) {
    alignas(16) std::array<std::byte, 16> r;
    tally::fused(where(), {{update, 2, 1, x, y, y}, what, v, conjugated, {r.data(), result}});
  };
  data::expect_error(errc::size_mismatch, "tally::axpy_dot: x has 5 elements, y has 6",
                     [&] { run(vector(0, 5), vector(64, 6), vector(64, 6)); });
  data::expect_error(errc::size_mismatch, "tally::axpy_dot: y has 5 elements, v has 6", [&] {
    run(vector(0, 5), vector(64, 5), vector(128, 6), type::float64, fused_sum::dot,
        elementwise::axpy, tally::conjugate::x);
  });
  data::expect_error(
      errc::overlap,
      "tally::axpy_dot: y overlaps v: it begins 8 bytes before v, which takes 40; it "
      "may be v itself",
      [&] { run(vector(0, 5), vector(64, 5), vector(72, 5)); });
  data::expect_error(errc::unsupported_type,
                     "tally::axpy_dot: the result is float32; float64 gives float64",
                     [&] { run(vector(0, 5), vector(64, 5), vector(64, 5), type::float32); });
  data::expect_error(errc::unsupported_type,
                     "tally::waxpby_nrm2: the result is complex128; float64 gives float64", [&] {
                       run(vector(0, 5), vector(64, 5), {}, type::complex128, fused_sum::nrm2,
                           elementwise::waxpby);
                     });
  data::expect_error(
      errc::invalid_argument,
      "tally::axpy_dot: the update is element-wise function 8; it can be axpy, axpby or waxpby",
      [&] {
        run(vector(0, 5), vector(64, 5), vector(64, 5), type::float64, fused_sum::dot,
            elementwise::mul);
      });
  data::expect_error(errc::invalid_argument, "tally::fused: what is 9; there are 2 sums", [&] {
    run(vector(0, 5), vector(64, 5), vector(64, 5), type::float64, static_cast<fused_sum>(9));
  });
  if (!data::on_device(where())) {
    data::expect_error(errc::overlap, "tally::axpy_dot: result overlaps y", [&] {
      const auto y = vector(64, 5);
      tally::fused(where(), {{elementwise::axpy, 2, 1, vector(0, 5), y, y},
                             fused_sum::dot,
                             y,
                             tally::conjugate::none,
                             {memory.get() + 80, type::float64}});
    });
  }
  std::vector<std::byte> now(ones.size());
  memory.read(now.data(), now.size());
  EXPECT_EQ(now, ones) << "something was written";
}

}  // namespace
