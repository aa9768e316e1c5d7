// sum, asum and nrm2: the bits of the transcription, for every element type, size, alignment and
// stride; nrm2 covers the whole range.
#include "tests/data.hpp"
#include "tests/environments.hpp"
#include "tests/golden.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <span>

namespace {

using data::bytes_of;
using data::kind;
using data::layout;
using tally::reduction;
using tally::order::chunk;
using tally::order::lanes;

struct type_case {
  reduction what;
  tally::type x;
  tally::type result;

  std::vector<std::byte> x_bytes(std::size_t n, std::uint64_t seed, kind k) const {
    return data::random_bytes(x, n, seed, k);
  }
  std::vector<std::byte> expected(const std::vector<std::byte>& bytes) const {
    return transcription::reduction(what, {bytes, x}, result);
  }
  std::string label() const {
    constexpr const char* names[] = {"sum", "asum", "nrm2"};
    return std::string(names[static_cast<int>(what)]) + " of " + std::string(tally::name(x)) +
           " in " + std::string(tally::name(result));
  }
};

template <reduction what, class X>
void add_cases(std::vector<type_case>& all) {
  const tally::type rule = tally::type_of<tally::detail::reduction_rule_t<what, X>>;
  const tally::type widest = tally::type_of<tally::detail::reduction_widest_t<what, X>>;
  all.push_back({what, tally::type_of<X>, rule});
  if (widest != rule) all.push_back({what, tally::type_of<X>, widest});
}

const std::vector<type_case>& all_cases() {
  static const auto cases = [] {
    std::vector<type_case> all;
    data::for_each_type([&]<class X>(std::type_identity<X>) {
      add_cases<reduction::sum, X>(all);
      add_cases<reduction::asum, X>(all);
      add_cases<reduction::nrm2, X>(all);
    });
    return all;
  }();
  return cases;
}

class Reduce : public data::OnEveryExecutor {
 protected:
  /// Compares both forms on one data set in one layout.
  void compare(const type_case& c, const std::vector<std::byte>& x,
               const std::vector<std::byte>& want, layout l) {
    const std::size_t step = static_cast<std::size_t>(std::abs(l.increment));
    const std::size_t needed = step * x.size() + 4096;
    if (!memory_x_ || memory_x_->size() < needed) {
      memory_x_ = std::make_unique<data::buffer>(where(), needed);
    }
    if (!memory_r_) memory_r_ = std::make_unique<data::buffer>(where(), 64);
    const tally::operand ox = data::place(*memory_x_, x, c.x, l);

    std::vector<std::byte> got(want.size(), std::byte{0xcc});
    alignas(16) std::array<std::byte, 16> result;
    result.fill(std::byte{0xcc});
    tally::reduce(where(), {ox, c.what, {result.data(), c.result}});
    std::memcpy(got.data(), result.data(), got.size());
    ASSERT_EQ(got, want) << c.label() << ", n = " << ox.size << ", offset " << l.offset
                         << ", increment " << l.increment;
    if (got.size() < result.size()) {
      ASSERT_EQ(result[got.size()], std::byte{0xcc}) << "written past the result: " << c.label();
    }

    std::vector<std::byte> poison(64, std::byte{0xcc});
    memory_r_->write(poison.data(), poison.size());
    tally::reduce(where(), {ox, c.what, {memory_r_->get(), c.result}, {.wait = false}});
    memory_r_->read(poison.data(), poison.size());  // on the default stream, so after the sum
    std::memcpy(got.data(), poison.data(), got.size());
    ASSERT_EQ(got, want) << "written form: " << c.label() << ", n = " << ox.size;
    ASSERT_EQ(poison[got.size()], std::byte{0xcc}) << "written past the result: " << c.label();
  }

  /// Compares norms in both layouts of a GPU's kernels.
  template <class R, class X>
  void compare_norm(const std::vector<X>& x) {
    const type_case c = {reduction::nrm2, tally::type_of<X>, tally::type_of<R>};
    const auto bytes = bytes_of(x);
    const auto want = c.expected(bytes);
    ASSERT_NO_FATAL_FAILURE(compare(c, bytes, want, {}));
    ASSERT_NO_FATAL_FAILURE(compare(c, bytes, want, {.offset = 1, .increment = 2}));
  }

 private:
  std::unique_ptr<data::buffer> memory_x_, memory_r_;
};

TEST_ON_EVERY_EXECUTOR(Reduce, EveryTypeAndSize) {
  for (const type_case& c : all_cases()) {
    for (const std::size_t n : data::short_sizes()) {
      const auto x = c.x_bytes(n, 2 * n + 1, kind::plain);
      ASSERT_NO_FATAL_FAILURE(compare(c, x, c.expected(x), {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, WideRangesAndSpecialValues) {
  for (const type_case& c : all_cases()) {
    for (const kind k : {kind::wide, kind::special}) {
      for (const std::size_t n : {std::size_t{1}, std::size_t{5}, lanes + 9, 2 * chunk + 77}) {
        const auto x = c.x_bytes(n, 5 * n, k);
        ASSERT_NO_FATAL_FAILURE(compare(c, x, c.expected(x), {}));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, EveryAlignment) {
  for (const type_case& c : all_cases()) {
    for (const std::size_t n : {2 * lanes + 11, chunk, chunk + 75, 130 * chunk + 5}) {
      if (n > 2 * chunk && where().name() == "serial") continue;
      const auto x = c.x_bytes(n, 11, kind::plain);
      const auto want = c.expected(x);
      for (const std::size_t offset : {1, 2, 3, 4, 5, 7, 8, 15, 16, 31}) {
        if (n > 2 * chunk && offset > 5) continue;
        ASSERT_NO_FATAL_FAILURE(compare(c, x, want, {.offset = offset}));
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, ComplexElementsAlignedLikeTheirParts) {
  for (const type_case& c : all_cases()) {
    if (c.x != tally::type::complex64 && c.x != tally::type::complex128) continue;
    const std::size_t size = tally::size_of(c.x);
    for (const std::size_t n : {std::size_t{1}, 2 * lanes + 11, chunk + 75, 130 * chunk}) {
      const auto x = c.x_bytes(n, 43, kind::plain);
      const auto want = c.expected(x);
      data::buffer memory(where(), x.size() + 4 * size), result(where(), 16);
      for (std::size_t offset = size / 2; offset < 4 * size; offset += size) {
        memory.write(x.data(), x.size(), offset);
        const tally::operand v = {memory.get() + offset, n, 1, c.x};
        tally::reduce(where(), {v, c.what, {result.get(), c.result}, {.wait = false}});
        std::vector<std::byte> got(want.size());
        result.read(got.data(), got.size());
        ASSERT_EQ(got, want) << c.label() << ", n = " << n << ", " << offset << " bytes";
      }
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, EveryStride) {
  for (const type_case& c : all_cases()) {
    const std::size_t n = 2 * chunk + 75;
    const auto x = c.x_bytes(n, 17, kind::plain);
    const auto want = c.expected(x);
    for (const std::ptrdiff_t increment : {2, 3, -1, -2, -3}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, x, want, {.offset = 1, .increment = increment}));
    }
    const std::size_t blocks = 80 * chunk + 33;  // more than one block of a GPU
    const auto long_x = c.x_bytes(blocks, 37, kind::plain);
    ASSERT_NO_FATAL_FAILURE(compare(c, long_x, c.expected(long_x), {.offset = 1, .increment = -2}));
  }
}

TEST_ON_EVERY_BACKEND(Reduce, Long) {
  // Borders of every backend's partitions.
  const std::size_t sizes[] = {16 * chunk,   32 * chunk + 1, 64 * chunk - 1,  128 * chunk,
                               1024 * chunk, 1000003,        2100 * chunk + 5};
  for (const type_case& c : all_cases()) {
    // From here up GPU blocks take several tiles.
    if (c.x == tally::type::float64 && where().name() == "cuda") {
      const std::size_t n = 17000 * chunk + 5;
      const auto x = c.x_bytes(n, n, kind::plain);
      ASSERT_NO_FATAL_FAILURE(compare(c, x, c.expected(x), {}));
    }
    const bool often_used = c.x == tally::type::float64 || c.x == tally::type::float32 ||
                            (c.x == tally::type::complex64 && c.what == reduction::sum);
    for (const std::size_t n : sizes) {
      if (n > 200 * chunk && !often_used) continue;
      const auto x = c.x_bytes(n, n, kind::plain);
      ASSERT_NO_FATAL_FAILURE(compare(c, x, c.expected(x), {}));
    }
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, FromMemory) {
  constexpr std::size_t bytes = std::size_t{8} << 20;  // read in several streams
  for (const type_case& c : all_cases()) {
    const bool is_double = c.x == tally::type::float64 || c.x == tally::type::complex128;
    if (!is_double && c.x != tally::type::complex64) continue;
    const std::size_t n = bytes / tally::size_of(c.x) + 77 * chunk + 5;
    const auto x = c.x_bytes(n, 47, kind::plain);
    const auto want = c.expected(x);
    for (const std::size_t offset : {0, 1, 3, 6}) {
      ASSERT_NO_FATAL_FAILURE(compare(c, x, want, {.offset = offset}));
    }
  }
}

// --- The range of nrm2 ---------------------------------------------------------------------------

template <class R>
std::vector<R> scaled(std::size_t n, int exponent, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<R> x(n);
  for (R& e : x) e = std::ldexp(std::uniform_real_distribution<R>(-1, 1)(random), exponent);
  return x;
}

/// Both sides of every border: subnormal squares and elements, overflow, the kernels' thresholds.
template <class R>
std::vector<int> exponents() {
  if (std::is_same_v<R, double>) {
    return {-1074, -1073, -1060, -1022, -700, -540, -512, -490, -486, -483,
            -480,  -478,  -300,  0,     300,  355,  358,  362,  363,  366,
            500,   505,   508,   511,   512,  600,  900,  1010, 1020, 1024};
  }
  return {-149, -148, -140, -126, -90, -75, -64, -42, -39, -36, -34, 0,   19,
          21,   23,   25,   27,   50,  57,  60,  62,  63,  64,  100, 120, 128};
}

template <class R>
std::vector<std::size_t> norm_sizes() {
  return {1, 2, 5, lanes, 1000, chunk + 1, 20 * chunk + 9};
}

/// The norm in `long double`, which has the range.
template <class R>
long double reference_norm(const std::vector<R>& x) {
  long double s = 0;
  for (const R e : x) s += static_cast<long double>(e) * static_cast<long double>(e);
  return std::sqrt(s);
}

TEST_ON_EVERY_EXECUTOR(Reduce, NormsOfAllMagnitudes) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    for (const int exponent : exponents<R>()) {
      for (const std::size_t n : norm_sizes<R>()) {
        const auto x = scaled<R>(n, exponent, n + 7);
        ASSERT_NO_FATAL_FAILURE((compare_norm<R>(x))) << "exponent " << exponent;
        std::vector<std::complex<R>> z(n / 2 + 1);
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = {x[i], x[n - 1 - i]};
        ASSERT_NO_FATAL_FAILURE((compare_norm<R>(z))) << "exponent " << exponent;
      }
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

TEST_ON_EVERY_EXECUTOR(Reduce, NormsOfMixedMagnitudes) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    const auto all = exponents<R>();
    std::mt19937_64 random(5);
    for (int round = 0; round < 60; ++round) {
      // A few magnitudes, scattered or in blocks, with zeros between.
      const std::size_t n = std::size_t{1} << (random() % 16);
      std::vector<R> x(n, R(0));
      for (int part = 0; part < 3; ++part) {
        const auto some = scaled<R>(n, all[random() % all.size()], random());
        const std::size_t first = random() % n, last = first + random() % (n - first) + 1;
        const std::size_t step = 1 + random() % 3;
        for (std::size_t i = first; i < last; i += step) x[i] = some[i];
      }
      ASSERT_NO_FATAL_FAILURE((compare_norm<R>(x))) << "round " << round;
      std::vector<std::complex<R>> z(n);
      for (std::size_t i = 0; i < n; ++i) z[i] = {x[i], x[(i * 7 + n / 2) % n]};
      ASSERT_NO_FATAL_FAILURE((compare_norm<R>(z))) << "round " << round;
    }
    // bfloat16 has float's range; longer than the kernels' buffers.
    std::vector<tally::bfloat16> narrow(3000);
    for (const float magnitude : {0x1p-130f, 0x1p-60f, 1.0f, 0x1p70f, 0x1p127f}) {
      for (auto& e : narrow) {
        e = tally::bfloat16(magnitude * static_cast<float>(random() % 256) / 256);
      }
      ASSERT_NO_FATAL_FAILURE((compare_norm<float>(narrow)));
      ASSERT_NO_FATAL_FAILURE((compare_norm<double>(narrow)));
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

TEST_ON_EVERY_EXECUTOR(Reduce, NormsOfSpecialValues) {
  const auto check = [&]<class R>(std::type_identity<R>) {
    constexpr R infinity = std::numeric_limits<R>::infinity();
    constexpr R nan = std::numeric_limits<R>::quiet_NaN();
    constexpr R tiny = std::numeric_limits<R>::denorm_min();
    constexpr R huge = std::numeric_limits<R>::max();
    const auto norm_is = [&](const std::vector<R>& some, R want) {
      for (const std::size_t n : {some.size(), std::size_t{100}, 3 * chunk + 5, 70 * chunk}) {
        std::vector<R> x(n, R(0));
        for (std::size_t i = 0; i < some.size(); ++i) x[n / some.size() * i] = some[i];
        EXPECT_EQ(data::bits(transcription::reduction<R>(reduction::nrm2, x)), data::bits(want));
        ASSERT_NO_FATAL_FAILURE((compare_norm<R>(x)));
      }
    };
    norm_is({0, 0}, 0);
    norm_is({-R(0), -R(0)}, 0);
    norm_is({tiny}, tiny);
    norm_is({-tiny, 0}, tiny);
    norm_is({3 * tiny, -4 * tiny}, 5 * tiny);
    norm_is({huge}, huge);
    norm_is({-huge, tiny}, huge);
    norm_is({huge / 2, -huge / 2}, std::sqrt(R(2)) * (huge / 2));
    norm_is({huge, huge}, infinity);
    norm_is({infinity}, infinity);
    norm_is({-infinity, 1}, infinity);
    norm_is({infinity, tiny, huge}, infinity);
    norm_is({nan}, nan);
    norm_is({-nan, infinity}, nan);
    norm_is({nan, huge, huge}, nan);
    norm_is({nan, tiny}, nan);
    using Z = std::complex<R>;
    for (const std::vector<Z>& z :
         {std::vector<Z>{{3 * tiny, 4 * tiny}}, std::vector<Z>{{huge, tiny}},
          std::vector<Z>{{tiny, huge}, {huge, huge}}, std::vector<Z>{{infinity, nan}},
          std::vector<Z>{{1, infinity}, {tiny, -infinity}},
          // each part's sum is finite, theirs is not
          std::vector<Z>{{std::sqrt(huge) * R(0.9), std::sqrt(huge) * R(0.9)}}}) {
      ASSERT_NO_FATAL_FAILURE((compare_norm<R>(z)));
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

// --- Fixed bits, and what must not change them ---------------------------------------------------

TEST(Reductions, TranscriptionGivesTheGoldenBits) {
  for (const auto& row : golden::reduction_rows) {
    const auto x = golden::doubles(row.n, 1), far = golden::doubles(row.n, 3, -520, 8);
    const auto f = golden::floats(row.n, 5);
    const std::uint64_t wide[] = {
        std::bit_cast<std::uint64_t>(transcription::reduction<double>(reduction::sum, x)),
        std::bit_cast<std::uint64_t>(transcription::reduction<double>(reduction::asum, x)),
        std::bit_cast<std::uint64_t>(transcription::reduction<double>(reduction::nrm2, x)),
        std::bit_cast<std::uint64_t>(transcription::reduction<double>(reduction::nrm2, far))};
    const std::uint32_t narrow[] = {
        std::bit_cast<std::uint32_t>(transcription::reduction<float>(reduction::sum, f)),
        std::bit_cast<std::uint32_t>(transcription::reduction<float>(reduction::asum, f)),
        std::bit_cast<std::uint32_t>(transcription::reduction<float>(reduction::nrm2, f))};
    const std::uint64_t golden_wide[] = {row.sum, row.asum, row.nrm2, row.far};
    const std::uint32_t golden_narrow[] = {row.sum32, row.asum32, row.nrm2_32};
    std::string line = std::to_string(row.n);
    char word[24];
    for (const auto bits : wide) {
      std::snprintf(word, sizeof word, ", 0x%016llx", static_cast<unsigned long long>(bits));
      line += word;
    }
    for (const auto bits : narrow) {
      std::snprintf(word, sizeof word, ", 0x%08x", bits);
      line += word;
    }
    EXPECT_TRUE(std::ranges::equal(wide, golden_wide)) << "{" << line << "},";
    EXPECT_TRUE(std::ranges::equal(narrow, golden_narrow)) << "{" << line << "},";
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, GoldenBits) {
  for (const auto& row : golden::reduction_rows) {
    const auto check = [&](reduction what, const auto& x, auto want) {
      using T = typename std::decay_t<decltype(x)>::value_type;
      const type_case c = {what, tally::type_of<T>, tally::type_of<T>};
      ASSERT_NO_FATAL_FAILURE(compare(c, bytes_of(x), bytes_of(std::vector{want}), {}));
    };
    const auto x = golden::doubles(row.n, 1);
    check(reduction::sum, x, row.sum);
    check(reduction::asum, x, row.asum);
    check(reduction::nrm2, x, row.nrm2);
    check(reduction::nrm2, golden::doubles(row.n, 3, -520, 8), row.far);
    const auto f = golden::floats(row.n, 5);
    check(reduction::sum, f, row.sum32);
    check(reduction::asum, f, row.asum32);
    check(reduction::nrm2, f, row.nrm2_32);
  }
}

TEST_ON_EVERY_EXECUTOR(Reduce, TheCallersEnvironmentDoesNotMatterAndStays) {
  if (data::on_device(where())) GTEST_SKIP() << "the host's environment is not the device's";
  const auto x = golden::doubles(100003, 1), far = golden::doubles(100003, 3, -520, 8);
  const std::vector<float> low(100, 0x1p-140f);  // subnormal with a subnormal norm
  const auto all = [&] {
    return std::array{std::bit_cast<std::uint64_t>(tally::sum(where(), x)),
                      std::bit_cast<std::uint64_t>(tally::asum(where(), x)),
                      std::bit_cast<std::uint64_t>(tally::nrm2(where(), x)),
                      std::bit_cast<std::uint64_t>(tally::nrm2(where(), far)),
                      std::uint64_t{std::bit_cast<std::uint32_t>(tally::nrm2(where(), low))}};
  };
  data::expect_no_influence(all);
}

#if TALLY_HAS_CUDA
TEST(ReduceOnCuda, ACapturedNormLooksAtEachReplaysData) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const tally::executor device = tally::cuda();
  constexpr std::size_t n = 300007;
  data::buffer memory(device, n * sizeof(double)), result(device, sizeof(double));
  const auto x = tally::strided(reinterpret_cast<const double*>(memory.get()), n, 1);
  cudaStream_t stream;
  data::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  data::check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  tally::nrm2(tally::cuda({.stream = stream}), x, reinterpret_cast<double*>(result.get()));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  data::check_cuda(cudaStreamEndCapture(stream, &graph));
  data::check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  for (const int exponent : {0, -600, 700, -1070, 0, 1020}) {
    const auto values = scaled<double>(n, exponent, 5);
    memory.write(values.data(), n * sizeof(double));
    data::check_cuda(cudaDeviceSynchronize());
    data::check_cuda(cudaGraphLaunch(executable, stream));
    data::check_cuda(cudaStreamSynchronize(stream));
    double got = 0;
    result.read(&got, sizeof got);
    EXPECT_EQ(data::bits(got),
              data::bits(transcription::reduction<double>(reduction::nrm2, values)))
        << exponent;
  }
  data::check_cuda(cudaGraphExecDestroy(executable));
  data::check_cuda(cudaGraphDestroy(graph));
  data::check_cuda(cudaStreamDestroy(stream));
}
#endif

TEST(ReduceAutomatic, RunsWhereTheVectorIs) {
  const std::vector<double> x(100, 1.0);
  EXPECT_EQ(tally::choose(tally::as_operand(x)).name(), "simd");
  const std::vector<double> much(std::size_t{1} << 22, 1.0);
  EXPECT_EQ(tally::choose(tally::as_operand(much)),
            tally::choose(tally::as_operand(much), tally::as_operand(much)));
  EXPECT_EQ(tally::sum(much), static_cast<double>(much.size()));
}

TEST(Norm, IsRightAtAllMagnitudes) {
  if (std::numeric_limits<long double>::max_exponent <
      4 * std::numeric_limits<double>::max_exponent)
    GTEST_SKIP() << "long double has no more range than double";
  const auto check = [&]<class R>(std::type_identity<R>) {
    constexpr auto eps = static_cast<long double>(std::numeric_limits<R>::epsilon()) / 2;
    for (const int exponent : exponents<R>()) {
      for (const std::size_t n : norm_sizes<R>()) {
        const auto x = scaled<R>(n, exponent, n + 7);
        const long double want = reference_norm(x);
        if (want > static_cast<long double>(std::numeric_limits<R>::max())) continue;
        const long double got = tally::nrm2(x);
        // Half the sum's bound, the root, half a subnormal unit.
        const long double bound = ((16 + std::log2(static_cast<long double>(n)) + 1) / 2 + 2) * eps;
        EXPECT_LE(std::abs(got - want),
                  bound * want +
                      static_cast<long double>(std::numeric_limits<R>::denorm_min()) * 0.5000001L)
            << "n = " << n << ", exponent " << exponent;
      }
    }
  };
  check(std::type_identity<double>{});
  check(std::type_identity<float>{});
}

TEST(Norm, OfOneElementIsItsMagnitude) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto word = random() & 0x7fffffffffffffffu;
    double x;
    std::memcpy(&x, &word, sizeof x);
    if (x - x == 0) {
      EXPECT_EQ(tally::nrm2(std::vector<double>{-x}), x);
    }
    const auto half = static_cast<std::uint32_t>(random()) & 0x7fffffffu;
    float y;
    std::memcpy(&y, &half, sizeof y);
    if (y - y == 0) {
      EXPECT_EQ(tally::nrm2(std::vector<float>{-y}), y);
    }
  }
}

// --- The typed interface, on host memory ---------------------------------------------------------

TEST(ReduceInterface, TakesVectorsSpansAndArrays) {
  const std::vector<double> v = {3, -4, 0};
  const std::array<float, 2> a = {-6, 8};
  const int raw[] = {1, -1, 2};
  EXPECT_EQ(tally::sum(v), -1.0);
  EXPECT_EQ(tally::sum(tally::serial(), std::span(v)), -1.0);
  EXPECT_EQ(tally::asum(v), 7.0);
  EXPECT_EQ(tally::asum(tally::simd(), raw), 4);
  EXPECT_EQ(tally::nrm2(v), 5.0);
  EXPECT_EQ(tally::nrm2(tally::simd(), a), 10.0f);
  EXPECT_EQ(tally::nrm2(tally::strided(v.data(), 2, -2)), 3.0);
}

TEST(ReduceInterface, ReturnsTheRulesType) {
  using c64 = std::complex<float>;
  using c128 = std::complex<double>;
  static_assert(std::is_same_v<decltype(tally::sum(std::vector<double>())), double>);
  static_assert(std::is_same_v<decltype(tally::sum(std::vector<float>())), float>);
  static_assert(std::is_same_v<decltype(tally::sum(std::vector<tally::float16>())), float>);
  static_assert(std::is_same_v<decltype(tally::sum(std::vector<int>())), std::int64_t>);
  static_assert(std::is_same_v<decltype(tally::sum(std::vector<c64>())), c64>);
  static_assert(std::is_same_v<decltype(tally::sum<c128>(std::vector<c64>())), c128>);
  static_assert(std::is_same_v<decltype(tally::sum<double>(std::vector<int>())), double>);
  static_assert(std::is_same_v<decltype(tally::asum(std::vector<int>())), std::int64_t>);
  static_assert(std::is_same_v<decltype(tally::asum(std::vector<c64>())), float>);
  static_assert(std::is_same_v<decltype(tally::asum<double>(std::vector<c64>())), double>);
  static_assert(std::is_same_v<decltype(tally::nrm2(std::vector<int>())), double>);
  static_assert(std::is_same_v<decltype(tally::nrm2(std::vector<tally::bfloat16>())), float>);
  static_assert(std::is_same_v<decltype(tally::nrm2(std::vector<c64>())), float>);
  static_assert(std::is_same_v<decltype(tally::nrm2(std::vector<c128>())), double>);
  static_assert(!tally::detail::has_reduction<reduction::nrm2, std::int64_t, std::vector<int>>);
  static_assert(!tally::detail::has_reduction<reduction::sum, float, std::vector<int>>);
  static_assert(!tally::detail::has_reduction<reduction::asum, c64, std::vector<c64>>);
  const std::vector<float> x = {0x1p24f, 1, 1};
  EXPECT_EQ(tally::sum(tally::serial(), x), 0x1p24f);  // each 1 is half a unit, a tie to even
  EXPECT_EQ(tally::sum<double>(tally::serial(), x), 0x1p24 + 2);
}

TEST(ReduceInterface, WritesToAPointer) {
  const std::vector<std::complex<float>> x = {{3, -4}, {0, 12}};
  std::complex<float> s;
  tally::sum(tally::serial(), x, &s);
  EXPECT_EQ(s, std::complex<float>(3, 8));
  std::complex<double> wide;
  tally::sum(tally::simd(), x, &wide);
  EXPECT_EQ(wide, std::complex<double>(3, 8));
  float r;
  tally::asum(tally::simd(), x, &r);
  EXPECT_EQ(r, 19.0f);
  tally::nrm2(tally::simd(), x, &r);
  EXPECT_EQ(r, 13.0f);
  double d;
  tally::nrm2(tally::serial(), x, &d);
  EXPECT_EQ(d, 13.0);
}

TEST(ReduceInterface, IntegersWrapModulo2To64) {
  constexpr auto highest = std::numeric_limits<std::int64_t>::max();
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  for (const auto& where : {tally::serial(), tally::simd()}) {
    EXPECT_EQ(tally::sum(where, std::vector<std::int64_t>{highest, 1}), lowest);
    EXPECT_EQ(tally::asum(where, std::vector<std::int64_t>{lowest}), lowest);
    EXPECT_EQ(tally::asum(where, std::vector<std::int64_t>{lowest, -1}), lowest + 1);
    EXPECT_EQ(tally::asum(where, std::vector<std::int32_t>(40, std::int32_t{1} << 31)),
              40 * (std::int64_t{1} << 31));
    EXPECT_EQ(tally::asum(where, std::vector<std::int8_t>(100, -128)), 12800);
    EXPECT_EQ(tally::sum(where, std::vector<std::int8_t>(100, -128)), -12800);
    EXPECT_EQ(tally::sum(where, std::vector<std::int64_t>{highest, 1}, tally::exact), lowest);
  }
}

TEST(ReduceInterface, NothingGivesPositiveZero) {
  const std::vector<double> none, minus = {-0.0, -0.0};
  for (const auto& where : tally::executors()) {
    if (data::on_device(where)) continue;  // host memory; see Reduce.EveryTypeAndSize
    for (const auto& x : {none, minus}) {
      EXPECT_EQ(data::bits(tally::sum(where, x)), (std::array<std::uint64_t, 1>{0}));
      EXPECT_EQ(data::bits(tally::asum(where, x)), (std::array<std::uint64_t, 1>{0}));
      EXPECT_EQ(data::bits(tally::nrm2(where, x)), (std::array<std::uint64_t, 1>{0}));
    }
  }
}

TEST(ReduceInterface, TheNormsSumIsTheDotProduct) {
  const auto x = scaled<double>(10007, 0, 1);
  EXPECT_EQ(tally::nrm2(x), std::sqrt(tally::dot(x, x)));
  std::vector<std::complex<double>> z(5000);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = {x[2 * i], x[2 * i + 1]};
  EXPECT_EQ(tally::nrm2(z), std::sqrt(tally::dot(z, z, tally::conjugate::x).real()));
}

}  // namespace
