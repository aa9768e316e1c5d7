// Kokkos::Views as operands: rank 1, contiguous or strided, for vectors; rank 2 for rows; rank 0
// for results. Instances of execution spaces as executors.
#include <tally/tally.hpp>

#include <Kokkos_Core.hpp>

#include <complex>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using space = Kokkos::DefaultExecutionSpace;
using vector = Kokkos::View<double*, space::memory_space>;

template <class... Traits>
using view = Kokkos::View<double*, Kokkos::HostSpace, Traits...>;
static_assert(tally::vector_operand<view<>>);
static_assert(!tally::vector_operand<view<Kokkos::MemoryTraits<Kokkos::Atomic>>>);
static_assert(!tally::result_place<
              Kokkos::View<double, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Atomic>>>);

template <class Space>
concept names_an_executor =
    requires(Space&& instance) { tally::kokkos(static_cast<Space&&>(instance)); };
static_assert(names_an_executor<const space&> && names_an_executor<space&>);
static_assert(!names_an_executor<space>);  // gone at the first call
static_assert(std::is_convertible_v<space, tally::executor>);
static_assert(!std::is_convertible_v<vector, tally::executor>);
static_assert(!std::is_convertible_v<Kokkos::HostSpace, tally::executor>);

vector numbers(const std::string& name, std::size_t n, double step) {
  const vector made(name, n);
  const auto here = Kokkos::create_mirror_view(made);
  for (std::size_t i = 0; i < n; ++i) here(i) = 1.0 / (1.0 + step * static_cast<double>(i % 1000));
  Kokkos::deep_copy(made, here);
  return made;
}

/// Calls with an instance first, against calls of the kokkos executor.
bool are_executors() {
  const space instance;
  const auto where = tally::kokkos();
  const vector x = numbers("x", 100000, 0.25), y = numbers("y", 100000, 1.5);
  const vector z("z", x.extent(0)), own("own", x.extent(0));
  bool right = true;
  const auto expect = [&](bool is_right, const char* what) {
    if (!is_right) std::printf("%s of an instance gives something else.\n", what);
    right = right && is_right;
  };
  const double xy = tally::dot(where, x, y);
  const auto named = tally::kokkos(instance);
  expect(named.name() == "kokkos" && named == tally::kokkos(instance), "The name");
  for (const tally::executor& on : {named, tally::executor(instance)}) {
    expect(tally::dot(on, x, y) == xy, "dot");
    expect(tally::dot(on, x, y, tally::exact) == tally::dot(where, x, y, tally::exact), "exact");
  }
  // Every form: overload sets that take types, operands or all arguments.
  expect(tally::dot(instance, x, y) == xy, "dot");
  expect(tally::dot(space(), x, y) == xy, "dot of a temporary");
  expect(tally::nrm2(instance, x) == tally::nrm2(where, x), "nrm2");
  expect(tally::iamax(instance, y) == tally::iamax(where, y), "iamax");
  const Kokkos::View<double, space::memory_space> sum("sum");
  tally::sum(instance, x, sum);
  tally::fill(instance, 1.0, z);
  tally::axpy(instance, 0.5, x, z);
  tally::maximum(instance, x, z, z);
  tally::fill(where, 1.0, own);
  tally::axpy(where, 0.5, x, own);
  tally::maximum(where, x, own, own);
  instance.fence();
  double number = 0;
  Kokkos::deep_copy(number, sum);
  expect(number == tally::sum(where, x), "sum");
  expect(tally::dot(where, z, z) == tally::dot(where, own, own), "maximum");
  const Kokkos::View<int*, space::memory_space> keys("keys", 1000);
  const Kokkos::View<std::int64_t*, space::memory_space> counts("counts", 2);
  tally::bincount(instance, keys, counts);
  instance.fence();
  const auto counted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  expect(counted(0) == 1000 && counted(1) == 0, "bincount");
  // A host's instances, whatever the default.
  const std::vector<double> host(1000, 0.5);
  expect(tally::sum(Kokkos::DefaultHostExecutionSpace(), host) == 500, "sum on a host");
#if defined(KOKKOS_ENABLE_SERIAL)
  expect(tally::executor(Kokkos::Serial()).name() == "simd", "Serial's name");
  expect(tally::sum(Kokkos::Serial(), host) == 500, "sum of Serial");
  if constexpr (!std::is_same_v<space, Kokkos::Serial>) {
    try {
      const Kokkos::Serial other;
      (void)tally::kokkos(other);
      expect(false, "kokkos()");
    } catch (const tally::error& e) {
      expect(e.code() == tally::errc::invalid_argument, "kokkos()");
    }
  }
#endif
  // Kokkos::Threads serves one thread.
  std::thread([&] {
    const bool serves_one = std::string_view("Threads") == space::name();
    try {
      expect(tally::dot(where, x, y) == xy && !serves_one, "dot of a thread");
    } catch (const tally::error& e) {
      expect(serves_one && e.code() == tally::errc::no_device, "dot of a thread");
    }
  }).join();
  if (!where.reaches_host_memory()) {
    try {
      (void)tally::sum(tally::serial(), x);
      expect(false, "A View of a device on a host");
    } catch (const tally::error& e) {
      expect(e.code() == tally::errc::wrong_memory, "A View of a device on a host");
    }
  }
#if defined(KOKKOS_ENABLE_CUDA)
  // Streams of their own, whose calls may run at once: each has scratch memory.
  cudaStream_t streams[2];
  for (cudaStream_t& s : streams) cudaStreamCreate(&s);
  {
    const space one(streams[0]), other(streams[1]);
    const auto first = tally::kokkos(one), second = tally::kokkos(other);
    const Kokkos::View<double[2], space::memory_space> sums("sums");
    for (int i = 0; i < 100; ++i) {
      tally::dot(first, x, y, sums.data());
      tally::dot(second, y, y, sums.data() + 1);
    }
    one.fence();
    other.fence();
    const auto there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    expect(there(0) == xy && there(1) == tally::dot(where, y, y), "Two streams");
  }
  // Instances that are gone when their work begins: Kokkos may give the second the first's id.
  {
    const Kokkos::View<double[2], space::memory_space> sums("sums");
    for (int i = 0; i < 100; ++i) {
      tally::dot(space(streams[0]), x, y, sums.data());
      tally::dot(space(streams[1]), y, y, sums.data() + 1);
    }
    Kokkos::fence();
    const auto there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
    expect(there(0) == xy && there(1) == tally::dot(where, y, y), "Temporaries of two streams");
  }
  for (cudaStream_t& s : streams) cudaStreamDestroy(s);
  // More instances than there is memory for.
  for (int i = 0; i < 200; ++i) {
    cudaStream_t stream{};
    cudaStreamCreate(&stream);
    {
      const space one(stream);
      expect(tally::dot(tally::kokkos(one), x, y) == xy, "One of many instances");
    }
    cudaStreamDestroy(stream);
  }
  int devices = 0;
  cudaGetDeviceCount(&devices);
  if (devices > 1) {
    const int own = instance.cuda_device();
    cudaSetDevice(own == 0 ? 1 : 0);
    cudaStream_t stream{};
    cudaStreamCreate(&stream);
    {
      const space other(stream);
      try {
        (void)tally::dot(tally::kokkos(other), x, y);
        expect(false, "An instance of another device");
      } catch (const tally::error& e) {
        expect(e.code() == tally::errc::invalid_argument, "An instance of another device");
      }
    }
    cudaStreamDestroy(stream);
    cudaSetDevice(own);
  }
#endif
  return right;
}

}  // namespace

int main() {
  std::vector<double> x(300), y(900);
  std::vector<Kokkos::complex<float>> z(300);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1.0 / static_cast<double>(i + 3);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = 1.0 / static_cast<double>(2 * i + 1);
    z[i] = Kokkos::complex<float>(static_cast<float>(x[i]), static_cast<float>(y[i]));
  }

  // Unmanaged: nothing here needs an initialised Kokkos.
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const Kokkos::View<const double*, Kokkos::HostSpace, unmanaged> vx(x.data(), x.size());
  const Kokkos::View<double*, Kokkos::LayoutStride, Kokkos::HostSpace, unmanaged> vy(
      y.data(), Kokkos::LayoutStride(x.size(), 3));
  const Kokkos::View<const Kokkos::complex<float>*, Kokkos::HostSpace, unmanaged> vz(z.data(),
                                                                                     z.size());

  const auto where = tally::serial();
  const auto* const parts = reinterpret_cast<const std::complex<float>*>(z.data());
  const bool right =
      tally::dot(where, vx, vy) == tally::dot(where, x, tally::strided(y.data(), x.size(), 3)) &&
      tally::dot(where, vz, vx, tally::conjugate::x) ==
          tally::dot(where, std::span<const std::complex<float>>(parts, z.size()), x,
                     tally::conjugate::x);
  // A matrix of 3 rows in both layouts.
  const Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace, unmanaged> rows(
      y.data(), 3, 300);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace, unmanaged> columns(y.data(),
                                                                                         3, 300);
  bool are_rows = true;
  const auto by_rows = tally::multi_dot(where, rows, vx),
             by_columns = tally::multi_dot(columns, vx);
  const auto pairs = tally::batched_dot(where, rows, columns);
  for (std::size_t j = 0; j < 3; ++j) {
    const std::span<const double> row(y.data() + 300 * j, 300);
    const auto column = tally::strided(y.data() + j, 300, 3);
    are_rows = are_rows && by_rows[j] == tally::dot(where, row, x) &&
               by_columns[j] == tally::dot(where, column, x) &&
               pairs[j] == tally::dot(where, row, column);
  }
  // Results.
  double number = 0;
  std::complex<float> conjugated;
  std::vector<double> numbers(3);
  const Kokkos::View<double, Kokkos::HostSpace, unmanaged> result(&number);
  const Kokkos::View<Kokkos::complex<float>, Kokkos::HostSpace, unmanaged> complex_result(
      reinterpret_cast<Kokkos::complex<float>*>(&conjugated));
  const Kokkos::View<double*, Kokkos::HostSpace, unmanaged> results(numbers.data(), 3);
  tally::dot(where, vx, vy, result);
  tally::dot(where, vz, vz, complex_result, tally::conjugate::x);
  tally::multi_dot(where, rows, vx, results);
  const bool are_results = number == tally::dot(where, vx, vy) &&
                           conjugated == tally::dot(where, vz, vz, tally::conjugate::x) &&
                           numbers == by_rows;
  std::vector<unsigned> keys = {0, 2, 1, 2};
  std::vector<std::size_t> counts(3);
  tally::bincount(where, Kokkos::View<unsigned*, Kokkos::HostSpace, unmanaged>(keys.data(), 4),
                  Kokkos::View<std::size_t*, Kokkos::HostSpace, unmanaged>(counts.data(), 3));
  const bool are_counts = counts == std::vector<std::size_t>{1, 1, 2};
  if (!are_rows || !are_results || !are_counts) {
    std::puts("Views of rank 2 or 0, or of counts, give something else.");
    return 1;
  }
  std::puts(right ? "Views give the bits of what they view." : "A View gives other bits.");
  try {
    (void)tally::kokkos();  // throws where its device is missing
  } catch (const tally::error& e) {
    std::puts(e.what());
    return right && e.code() == tally::errc::no_device ? 0 : 1;
  }
  return right && are_executors() ? 0 : 1;
}
