// gather and scatter for every type, increment and index type, against a plain loop over bytes;
// scatter_add against exact sums; and buffers.
#include "tests/data.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using data::layout;
using tally::type;

/// A function of another namespace, for which Tally's are no better matches.
[[maybe_unused]] int scatter(const std::byte*, const tally::operand&) { return 0; }
static_assert(
    std::is_same_v<decltype(scatter(static_cast<std::byte*>(nullptr), tally::operand())), int>);

class Gather : public data::OnEveryExecutor {};

/// Zeros memory.
void clear(data::buffer& memory) {
  const std::vector<std::byte> zeros(memory.size());
  memory.write(zeros.data(), zeros.size());
}

/// The bytes after a copy: of bool, 0 or 1.
std::vector<std::byte> copied(std::vector<std::byte> bytes, type element) {
  if (element == type::boolean) {
    for (std::byte& b : bytes) b = std::byte{b != std::byte{}};
  }
  return bytes;
}

template <class Index>
void check(const tally::executor& where, type element, std::size_t n, layout x_layout,
           layout z_layout) {
  const std::size_t size = size_of(element), length = 3 * n + 7;
  std::mt19937_64 random(n + size);
  std::vector<Index> places(length);
  std::iota(places.begin(), places.end(), Index{0});
  std::shuffle(places.begin(), places.end(), random);
  places.resize(n);
  const data::placed indices(where, places);

  const auto memory_of = [&](std::size_t elements) { return 256 + 4 * elements * size; };
  auto long_bytes = data::random_bytes(element, length, 1, data::kind::special);
  auto short_bytes = data::random_bytes(element, n, 2, data::kind::special);
  if (element == type::boolean) long_bytes[0] = short_bytes.empty() ? std::byte{7} : short_bytes[0];

  {
    data::buffer x_memory(where, memory_of(length)), z_memory(where, memory_of(n));
    clear(z_memory);
    const tally::operand x = data::place(x_memory, long_bytes, element, x_layout);
    const tally::operand z = data::place(z_memory, short_bytes, element, z_layout);
    tally::gather_elements(where, {x,
                                   tally::as_operand(indices.span()),
                                   {const_cast<void*>(z.data), n, z.increment, element}});
    std::vector<std::byte> want(n * size);
    for (std::size_t i = 0; i < n; ++i) {
      std::memcpy(&want[i * size], &long_bytes[static_cast<std::size_t>(places[i]) * size], size);
    }
    EXPECT_EQ(data::elements_at(z_memory, z), copied(want, element)) << name(element) << " " << n;
  }
  {
    data::buffer x_memory(where, memory_of(n)), z_memory(where, memory_of(length));
    clear(z_memory);
    const tally::operand x = data::place(x_memory, short_bytes, element, x_layout);
    const tally::operand z = data::place(z_memory, long_bytes, element, z_layout);
    tally::gather_elements(where, {x,
                                   tally::as_operand(indices.span()),
                                   {const_cast<void*>(z.data), length, z.increment, element},
                                   true});
    std::vector<std::byte> want = long_bytes;
    const std::vector<std::byte> moved = copied(short_bytes, element);
    for (std::size_t i = 0; i < n; ++i) {
      std::memcpy(&want[static_cast<std::size_t>(places[i]) * size], &moved[i * size], size);
    }
    EXPECT_EQ(data::elements_at(z_memory, z), want) << name(element) << " " << n;
  }
}

TEST_ON_EVERY_EXECUTOR(Gather, EveryType) {
  data::for_each_type([&]<class T>(std::type_identity<T>) {
    for (const std::size_t n : {1, 63, 5000}) {
      check<std::int32_t>(where(), tally::type_of<T>, n, {}, {});
      check<std::int64_t>(where(), tally::type_of<T>, n, {1, 2}, {3, -2});
      check<std::int32_t>(where(), tally::type_of<T>, n, {0, -1}, {1, 3});
    }
  });
}

TEST_ON_EVERY_EXECUTOR(Gather, TakesVectors) {
  const data::placed x(where(), std::vector<double>{10, 20, 30, 40});
  const data::placed z(where(), std::vector<double>{-1, -2, -3});
  const data::placed places(where(), std::vector<int>{3, 0, 3});
  tally::gather(where(), x.span(), places.span(), z.span());
  EXPECT_EQ(z.read(), (std::vector<double>{40, 10, 40}));
  const data::placed two(where(), std::vector<std::int64_t>{2, 0});
  tally::scatter(where(), x.span().first(2), two.span(), z.span());
  EXPECT_EQ(z.read(), (std::vector<double>{20, 10, 10}));
  tally::gather(where(), x.span(), places.span().first(0), z.span().first(0));
  tally::gather(where(), x.span().first(0), places.span().first(0), z.span().first(0));
}

TEST_ON_EVERY_EXECUTOR(Gather, RefusesWrongArguments) {
  using tally::errc;
  const data::placed x(where(), std::vector<double>(8));
  const data::placed z(where(), std::vector<double>{1, 2, 3});
  const data::placed places(where(), std::vector<int>{0, 1, 2});
  const auto of = [](const auto& v) { return tally::as_operand(v.span()); };
  const tally::output_operand out = {z.span().data(), 3, 1, type::float64};
  const auto gather = [&](const tally::operand& from, const tally::operand& indices,
                          const tally::output_operand& to) {
    return [=, this] { tally::gather_elements(where(), {from, indices, to}); };
  };
  data::expect_error(errc::size_mismatch, "tally::gather: indices has 2 elements, z has 3",
                     gather(of(x), of(places).slice(0, 2), out));
  data::expect_error(errc::size_mismatch, "tally::gather: there are 3 indices, x has 0 elements",
                     gather(of(x).slice(0, 0), of(places), out));
  data::expect_error(errc::unsupported_type,
                     "tally::gather: the indices are float64; they can be int32 or int64",
                     gather(of(x), of(x).slice(0, 3), out));
  tally::operand strided = of(places);
  strided.increment = 2;
  data::expect_error(errc::invalid_argument,
                     "tally::gather: the indices have increment 2; it must be 1",
                     gather(of(x), strided, out));
  data::expect_error(errc::unsupported_type, "tally::gather: x is int32, z is float64",
                     gather(of(places), of(places), out));
  data::expect_error(errc::size_mismatch, "tally::scatter: indices has 3 elements, x has 8",
                     [&] { tally::gather_elements(where(), {of(x), of(places), out, true}); });
  EXPECT_THROW(tally::gather(where(), z.span(), places.span(), z.span()), tally::error);
  EXPECT_EQ(z.read(), (std::vector<double>{1, 2, 3}));
}

// --- scatter_add ---------------------------------------------------------------------------------

class ScatterAdd : public data::OnEveryExecutor {
 protected:
  template <class T, class Index>
  void check(std::size_t n, std::size_t size, data::kind kind, std::ptrdiff_t step = 1) const {
    check<T, Index>(
        n, size, [=](auto& random) { return data::random_element<T>(random, kind); }, step);
  }

  /// Compares with exact sums, tested elsewhere; x has a stride. `number(random)`: of x and z.
  template <class T, class Index, class Number>
    requires std::is_invocable_v<Number, std::mt19937_64&>
  void check(std::size_t n, std::size_t size, const Number& number, std::ptrdiff_t step = 1) const {
    std::mt19937_64 random(n + size);
    std::vector<Index> places(n);
    std::vector<T> x(n), strided(n * static_cast<std::size_t>(std::abs(step)) + 1), before(size);
    for (T& each : before) each = number(random);
    for (std::size_t i = 0; i < size; i += 5) before[i] = -T(0);
    before[size - 1] = -std::numeric_limits<T>::quiet_NaN();
    for (std::size_t i = 0; i < n; ++i) {
      // Some without a place, some alone, many for one.
      const auto place = static_cast<std::int64_t>(random() % (size + 2)) - 1;
      places[i] =
          static_cast<Index>(random() % 4 == 0 ? static_cast<std::int64_t>(size / 2) : place);
      x[i] = random() % 16 == 0 ? T(0) : number(random);
      const std::size_t at = step > 0 ? i : n - 1 - i;
      strided[at * static_cast<std::size_t>(std::abs(step))] = x[i];
    }
    std::vector<tally::exact_sum<T>> sums(size);
    for (std::size_t i = 0; i < n; ++i) {
      const auto place = static_cast<std::size_t>(places[i]);
      if (place < size) sums[place].add(x[i]);
    }
    std::vector<T> want = before;
    for (std::size_t j = 0; j < size; ++j) {
      if (sums[j] == tally::exact_sum<T>()) continue;
      sums[j].add(before[j]);
      want[j] = sums[j].template round<T>();
    }
    const data::placed of_x(where(), strided), z(where(), before);
    const data::placed indices(where(), places);
    tally::scatter_add(where(), tally::strided(of_x.span().data(), n, step), indices.span(),
                       z.span());
    const std::vector<T> got = z.read();
    for (std::size_t j = 0; j < size; ++j) {
      ASSERT_EQ(std::memcmp(&got[j], &want[j], sizeof(T)), 0)
          << j << " of " << size << ", n = " << n << ": " << got[j] << ", not " << want[j];
    }
  }
};

TEST_ON_EVERY_EXECUTOR(ScatterAdd, CorrectlyRounded) {
  for (const auto kind : {data::kind::plain, data::kind::wide, data::kind::special}) {
    for (const std::size_t n : {1, 2, 100, 6000}) {
      for (const std::size_t size : {1, 7, 900, 40'000}) {
        check<double, std::int32_t>(n, size, kind);
        check<float, std::int32_t>(n, size, kind);
        check<double, std::int64_t>(n, size, kind, 3);
        check<float, std::int64_t>(n, size, kind, -2);
      }
    }
  }
}

// Hosts cut these into shares of threads, and then sort them by groups.
TEST_ON_EVERY_BACKEND(ScatterAdd, Long) {
  for (const std::size_t size : {100, 300'000, 3'000'000}) {
    check<double, std::int32_t>(700'001, size, data::kind::plain);
    check<float, std::int32_t>(700'001, size, data::kind::plain);
  }
  check<double, std::int64_t>(200'001, 300'000, data::kind::wide);
}

// Backends choose a sum's limbs by exponents that they see.
TEST_ON_EVERY_BACKEND(ScatterAdd, AnyExponents) {
  const auto check_all = [&]<class T>(std::type_identity<T>) {
    using limits = std::numeric_limits<T>;
    const auto check_one = [&](const auto& number) {
      for (const std::size_t size : {30, 20'000}) {
        check<T, std::int32_t>(50'000, size, number);
      }
    };
    const auto normal = [](auto& random) {
      return data::random_element<T>(random, data::kind::plain);
    };
    check_one(
        [](auto& random) { return static_cast<T>(static_cast<int>(random() % 2001) - 1000); });
    check_one([&](auto& random) { return static_cast<T>(static_cast<float>(normal(random))); });
    check_one([](auto& random) { return limits::denorm_min() * static_cast<T>(random() % 1000); });
    check_one([](auto& random) {  // sums beyond all numbers on the way
      return (random() % 2 == 0 ? 1 : -1) * limits::max();
    });
    // Few, or every second one, far from the others.
    for (const unsigned some : {2, 97, 5000}) {
      for (const T factor : {T(1e30), T(1e-30)}) {
        check_one([&](auto& random) {
          return random() % some == 0 ? factor * normal(random) : normal(random);
        });
      }
    }
  };
  check_all(std::type_identity<float>());
  check_all(std::type_identity<double>());
}

TEST_ON_EVERY_EXECUTOR(ScatterAdd, KnownBits) {
  const std::vector<double> x = golden::doubles(3000, 41, -30, 60);
  golden::generator random(43);
  std::vector<std::int32_t> places(x.size());
  for (auto& place : places) place = static_cast<std::int32_t>(random() % 4);
  const data::placed of_x(where(), x), z(where(), golden::doubles(5, 42, -30, 60));
  const data::placed indices(where(), places);
  tally::scatter_add(where(), of_x.span(), indices.span(), z.span());
  const std::vector<double> got = z.read();
  const std::uint64_t want[] = {0x41a650e920cf2f61, 0x41dd24933038bbf4, 0xc1e61e95c8fee203,
                                0xc1db58d15b4b1e7d, 0x3f7d747e1880f556};
  for (std::size_t j = 0; j < got.size(); ++j) {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(got[j]), want[j]) << j;
  }
}

TEST_ON_EVERY_EXECUTOR(ScatterAdd, RefusesWrongArguments) {
  using tally::errc;
  const data::placed x(where(), std::vector<double>{1, 2, 3}), z(where(), std::vector<double>(8));
  const data::placed places(where(), std::vector<int>{0, 1, 2});
  const auto of = [](const auto& v) { return tally::as_operand(v.span()); };
  const auto add = [&](const tally::operand& from, const tally::output_operand& to) {
    return [=, this, indices = of(places)] {
      tally::gather_elements(where(), {from, indices, to, true, true});
    };
  };
  const tally::output_operand out = {z.span().data(), 4, 1, type::float64};
  data::expect_error(errc::size_mismatch, "tally::scatter_add: indices has 3 elements, x has 2",
                     add(of(x).slice(0, 2), out));
  data::expect_error(errc::invalid_argument, "tally::scatter_add: z has increment 2; it must be 1",
                     add(of(x), {out.data, 4, 2, type::float64}));
  data::expect_error(errc::unsupported_type,
                     "tally::scatter_add: x is int32; float32 and float64 are added",
                     add(of(places), {out.data, 4, 1, type::int32}));
  data::expect_error(errc::unsupported_type, "tally::scatter_add: x is float64, z is float32",
                     add(of(x), {out.data, 4, 1, type::float32}));
  EXPECT_THROW(tally::scatter_add(where(), x.span(), places.span(), x.span()), tally::error);
  tally::scatter_add(where(), x.span(), places.span(), z.span().first(0));  // all are outside
  EXPECT_EQ(z.read(), std::vector<double>(8));
}

class Buffer : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(Buffer, HoldsWhatKernelsWork) {
  constexpr std::size_t n = 1000;
  std::vector<double> x(n), y(n);
  std::iota(x.begin(), x.end(), 1.0);
  for (const auto who : {tally::reach::kernels, tally::reach::kernels_and_host}) {
    tally::buffer from(where(), n * sizeof(double), who), to;
    EXPECT_EQ(to.get(), nullptr);
    to = tally::buffer(where(), n * sizeof(double), who);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from.get()) % 64, 0u);
    EXPECT_EQ(from.bytes(), n * sizeof(double));
    tally::copy_bytes(where(), x.data(), from.get(), from.bytes());
    const std::span<double> px(static_cast<double*>(from.get()), n);
    const std::span<double> py(static_cast<double*>(to.get()), n);
    tally::axpby(where(), 2.0, px, 0.0, py);
    tally::copy_bytes(where(), to.get(), y.data(), to.bytes());
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(y[i], 2 * x[i]);
    const tally::buffer moved = std::move(to);
    EXPECT_EQ(to.get(), nullptr);  // NOLINT: it says what a buffer is that was moved from
    EXPECT_EQ(tally::dot(where(), px, py), tally::dot(tally::serial(), x, y));
    if (who == tally::reach::kernels_and_host) {
      EXPECT_EQ(px[n - 1], 1000);
    }
  }
  tally::copy_bytes(where(), nullptr, nullptr, 0);
  EXPECT_EQ(tally::allocate(where(), 0), nullptr);
  data::expect_error(tally::errc::null_pointer, "tally::copy_bytes: from is null",
                     [&] { tally::copy_bytes(where(), nullptr, y.data(), 8); });
  data::expect_error(tally::errc::invalid_argument,
                     "tally::allocate: the executor is automatic, which has no memory of its own",
                     [&] { (void)tally::allocate(tally::automatic(), 8); });
}

}  // namespace
