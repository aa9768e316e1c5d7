// A caller's functions on Kokkos's default execution space: the bits of serial.
#include <Kokkos_Core.hpp>

#include <tally/tally.hpp>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

using space = Kokkos::DefaultExecutionSpace;
template <class T>
using vector = Kokkos::View<T*, space::memory_space>;

bool is_right = true;
void expect(bool holds, const char* what, std::size_t n) {
  if (holds) return;
  std::printf("%s of %zu elements gives something else.\n", what, n);
  is_right = false;
}

template <class T>
std::vector<T> host_numbers(std::size_t n, std::uint32_t seed) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    seed = seed * 1664525u + 1013904223u;
    all[i] = static_cast<T>(static_cast<double>(seed >> 8) / 65536.0 - 100.0);
  }
  return all;
}

template <class T>
vector<T> on_device(const std::vector<T>& from) {
  const vector<T> made("numbers", from.size());
  const auto here = Kokkos::create_mirror_view(made);
  for (std::size_t i = 0; i < from.size(); ++i) here(i) = from[i];
  Kokkos::deep_copy(made, here);
  return made;
}

template <class T>
bool are_equal(const vector<T>& got, const std::vector<T>& want) {
  const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), got);
  return std::memcmp(here.data(), want.data(), want.size() * sizeof(T)) == 0;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Functions without a product and a sum in one, which a compiler would contract.

struct shifted {
  double by;
  KOKKOS_FUNCTION double operator()(double x) const { return x < 0 ? by - x : x; }
};

struct extreme {
  double value;
  std::int64_t index;
};
struct later_extreme {
  KOKKOS_FUNCTION extreme operator()(const extreme& a, const extreme& b) const {
    return b.value > a.value ? b : a;
  }
};
struct indexed {
  KOKKOS_FUNCTION extreme operator()(double value, std::int64_t index) const {
    return {value, index};
  }
};
struct difference {
  KOKKOS_FUNCTION float operator()(float a, double b, std::int32_t c) const {
    return c > 0 ? a - static_cast<float>(b) : static_cast<float>(c);
  }
};

void check_maps(const tally::executor& where, std::size_t n) {
  const auto serial = tally::serial();
  const auto x = host_numbers<double>(n, 1), y = host_numbers<double>(n, 2);
  const auto a = host_numbers<float>(n, 3);
  const auto c = host_numbers<std::int32_t>(n, 4);
  const auto dx = on_device(x), dy = on_device(y);
  const auto da = on_device(a);
  const auto dc = on_device(c);
  std::vector<double> z(n);
  const vector<double> dz("z", n);

  tally::transform(serial, x, z, shifted{0.5});
  tally::transform(where, dx, dz, shifted{0.5});
  expect(are_equal(dz, z), "transform by a function object", n);

  const double factor = 1.25;
  const auto scaled = KOKKOS_LAMBDA(double u, double v) { return u < v ? factor * u : v; };
  tally::transform(serial, x, y, z, scaled);
  tally::transform(where, dx, dy, dz, scaled);
  expect(are_equal(dz, z), "transform by a lambda", n);

  std::vector<float> f(n);
  const vector<float> df("f", n);
  tally::transform(serial, a, x, c, f, difference());
  tally::transform(where, da, dx, dc, df, difference());
  expect(are_equal(df, f), "transform of three types", n);

  tally::transform(serial, x, y, z, std::multiplies<>());
  tally::transform(space(), dx, dy, dz, std::multiplies<>());
  Kokkos::fence();
  expect(are_equal(dz, z), "transform by std::multiplies", n);

  // Every other element, and in place.
  if (n < 2) return;
  const std::size_t half = n / 2;
  std::vector<double> in_place = x;
  const vector<double> on("in place", n);
  Kokkos::deep_copy(on, dx);
  tally::transform(serial, tally::strided(in_place.data(), half, 2),
                   tally::strided(in_place.data(), half, 2), shifted{-3});
  tally::transform(where, tally::strided(on.data(), half, 2), tally::strided(on.data(), half, 2),
                   shifted{-3});
  Kokkos::fence();
  expect(are_equal(on, in_place), "transform in place", n);
}

void check_sums(const tally::executor& where, std::size_t n) {
  const auto serial = tally::serial();
  const auto x = host_numbers<double>(n, 5), y = host_numbers<double>(n, 6);
  const auto dx = on_device(x), dy = on_device(y);

  const double xy = tally::transform_reduce(where, dx, dy, 0.0, std::plus<>(), std::multiplies<>());
  expect(same_bits(xy, tally::dot(serial, x, y)), "transform_reduce by std::plus", n);
  const auto product = KOKKOS_LAMBDA(double u, double v) { return u * v; };
  const auto sum = KOKKOS_LAMBDA(double u, double v) { return u + v; };
  expect(same_bits(tally::transform_reduce(where, dx, dy, 0.0, sum, product), xy),
         "transform_reduce by lambdas", n);

  const Kokkos::View<double, space::memory_space> result("result");
  tally::transform_reduce(where, dx, 1.5, sum, shifted{2}, result);
  Kokkos::fence();
  double got = 0;
  Kokkos::deep_copy(got, result);
  expect(same_bits(got, tally::transform_reduce(serial, x, 1.5, sum, shifted{2})),
         "transform_reduce into a View", n);

  std::vector<std::int64_t> places(n);
  for (std::size_t i = 0; i < n; ++i) places[i] = static_cast<std::int64_t>(i);
  const extreme none = {-std::numeric_limits<double>::infinity(), -1};
  const extreme here = tally::transform_reduce(serial, x, places, none, later_extreme(), indexed());
  const extreme there =
      tally::transform_reduce(where, dx, on_device(places), none, later_extreme(), indexed());
  expect(same_bits(here.value, there.value) && here.index == there.index,
         "transform_reduce of structures", n);
}

void check_nans(const tally::executor& where) {
  const std::vector<double> x = {std::numeric_limits<double>::infinity(), -1};
  const auto dx = on_device(x);
  const vector<double> dz("z", x.size());
  const auto indefinite = KOKKOS_LAMBDA(double u) { return u - u; };
  tally::transform(where, dx, dz, indefinite);
  Kokkos::fence();
  expect(are_equal(dz, {std::numeric_limits<double>::quiet_NaN(), 0}), "transform to NaNs", 2);
}

void check_errors(const tally::executor& where) {
  const vector<double> x("x", 10), y("y", 9);
  try {
    tally::transform(where, x, y, shifted{1});
    expect(false, "transform of two sizes", 10);
  } catch (const tally::error& e) {
    expect(e.code() == tally::errc::size_mismatch, "transform of two sizes", 10);
  }
  if (where.reaches_host_memory()) return;
  const std::vector<double> here(10);
  try {
    tally::transform(where, here, x, shifted{1});
    expect(false, "transform of a host's vector", 10);
  } catch (const tally::error& e) {
    expect(e.code() == tally::errc::wrong_memory, "transform of a host's vector", 10);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const auto where = tally::kokkos();
  for (const std::size_t n : {0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 4099, 100003, 1500001}) {
    check_maps(where, n);
    check_sums(where, n);
  }
  check_nans(where);
  check_errors(where);
  if (is_right) std::printf("Functions give the bits of serial on %s.\n", space::name());
  return is_right ? 0 : 1;
}
