// More than 2^31 elements: every index and byte count has 64 bits. And every float.
#include "tests/data.hpp"
#include "tests/elementwise_transcription.hpp"
#include "tests/transcription.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#if TALLY_HAS_CUDA
#include <cuda.h>
#include <dlfcn.h>
#endif

namespace {

class Huge : public data::OnEveryExecutor {};

// 6 GiB of operands in float, whose sums round, so that the order shows.
TEST_ON_EVERY_EXECUTOR(Huge, BeyondTwoToThe31Elements) {
  const std::size_t n = (std::size_t{1} << 31) + 3 * tally::order::chunk + 777;
  const auto x_of = [](std::size_t i) { return (i * 2654435761u >> 20) % 3 != 0; };
  const auto y_of = [](std::size_t i) {
    tally::float16 y;
    y.bits = static_cast<std::uint16_t>(0x2c00u + (i * 40503u >> 7) % 0x1000u + (i & 1) * 0x8000u);
    return y;
  };
  data::buffer memory_x(where(), n), memory_y(where(), 2 * n);
  const std::size_t piece = std::size_t{1} << 24;
  std::vector<std::uint8_t> some_x(piece);
  std::vector<tally::float16> some_y(piece);
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t count = std::min(piece, n - first);
    for (std::size_t i = 0; i < count; ++i) {
      some_x[i] = x_of(first + i);
      some_y[i] = y_of(first + i);
    }
    memory_x.write(some_x.data(), count, first);
    memory_y.write(some_y.data(), 2 * count, 2 * first);
  }
  const auto* const x = reinterpret_cast<const bool*>(memory_x.get());
  const auto* const y = reinterpret_cast<const tally::float16*>(memory_y.get());
  const float want = transcription::sum<float>(
      n, [&](std::size_t i) { return (x_of(i) ? 1.0f : 0.0f) * static_cast<float>(y_of(i)); });
  const float got = tally::dot(where(), tally::strided(x, n, 1), tally::strided(y, n, 1));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(want));

  // Byte offsets beyond 2^32 through a stride.
  const std::size_t half = n / 2;
  const float want_half = transcription::sum<float>(half, [&](std::size_t i) {
    return (x_of(i) ? 1.0f : 0.0f) * static_cast<float>(y_of(2 * (half - 1 - i)));
  });
  const float got_half =
      tally::dot(where(), tally::strided(x, half, 1), tally::strided(y, half, -2));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(got_half), std::bit_cast<std::uint32_t>(want_half));
}

TEST_ON_EVERY_EXECUTOR(Huge, ExtremaBeyondTwoToThe31Elements) {
  constexpr std::size_t n = (std::size_t{1} << 31) + 3 * tally::order::chunk + 777;
  data::buffer memory(where(), n);
  const std::size_t piece = std::size_t{1} << 24;
  std::vector<std::int8_t> some(piece);
  for (std::size_t i = 0; i < piece; ++i) {
    some[i] = static_cast<std::int8_t>(static_cast<int>((i * 2654435761u >> 20) % 200) - 100);
  }
  for (std::size_t first = 0; first < n; first += piece) {
    memory.write(some.data(), std::min(piece, n - first), first);
  }
  const std::int8_t lowest = -128, largest = 127;
  for (const std::size_t i : {n - 6, n - 1}) memory.write(&lowest, 1, i);
  for (const std::size_t i : {n - 9, n - 3}) memory.write(&largest, 1, i);
  const auto* const x = reinterpret_cast<const std::int8_t*>(memory.get());
  const auto index = static_cast<std::int64_t>(n);
  EXPECT_EQ(tally::minmax(where(), tally::strided(x, n, 1)),
            (tally::extrema<std::int8_t>{{-128, index - 6}, {127, index - 9}}));
  EXPECT_EQ(tally::iamax(where(), tally::strided(x, n, 1)), index - 6);
  // Every other element from the end: n - 1, n - 3, ...
  static_assert(n % 2 == 1);
  const auto back = tally::strided(x, (n + 1) / 2, -2);
  EXPECT_EQ(tally::minmax(where(), back), (tally::extrema<std::int8_t>{{-128, 0}, {127, 1}}));
  for (const std::size_t i : {n - 1, n - 3, n - 9}) memory.write(&some[0], 1, i);
  memory.write(&largest, 1, 0);  // its last element
  EXPECT_EQ(tally::max(where(), back), (tally::extremum<std::int8_t>{127, index / 2}));
}

TEST_ON_EVERY_EXECUTOR(Huge, MapsBeyondTwoToThe31Elements) {
  const std::size_t n = (std::size_t{1} << 31) + 777;
  data::buffer from(where(), n), to(where(), n);
  const std::size_t piece = std::size_t{1} << 24;
  const auto x_of = [](std::size_t i) { return static_cast<std::int8_t>(i * 2654435761u >> 13); };
  std::vector<std::int8_t> some(piece);
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t count = std::min(piece, n - first);
    for (std::size_t i = 0; i < count; ++i) some[i] = x_of(first + i);
    from.write(some.data(), count, first);
  }
  auto* const x = reinterpret_cast<std::int8_t*>(from.get());
  auto* const z = reinterpret_cast<std::int8_t*>(to.get());
  for (const std::ptrdiff_t increment : {1, -1}) {
    tally::relu(where(), tally::strided(x, n, 1), tally::strided(z, n, increment));
    for (std::size_t first = 0; first < n; first += piece) {
      const std::size_t count = std::min(piece, n - first);
      to.read(some.data(), count, first);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = increment > 0 ? first + i : n - 1 - (first + i);
        ASSERT_EQ(some[i], std::max<std::int8_t>(x_of(at), 0)) << at << ", " << increment;
      }
    }
  }
}

// More keys of one bin than 32 bits count, contiguous and strided.
TEST_ON_EVERY_EXECUTOR(Huge, CountsBeyondTwoToThe32) {
  const std::size_t n = (std::size_t{1} << 32) + (std::size_t{1} << 25) + 777, bins = 256;
  const std::size_t piece = std::size_t{1} << 24;
  const auto key_of = [](std::size_t i) -> std::uint8_t { return i % 1021 == 0 ? i >> 12 : 7; };
  std::vector<std::uint8_t> some(piece);
  data::buffer keys(where(), n), counts(where(), 8 * bins);
  std::vector<std::int64_t> want(bins), want_of_half(bins), got(bins);
  for (std::size_t first = 0; first < n; first += piece) {
    const std::size_t count = std::min(piece, n - first);
    for (std::size_t i = 0; i < count; ++i) {
      some[i] = key_of(first + i);
      ++want[some[i]];
      want_of_half[some[i]] += (first + i) % 2 == 0;
    }
    keys.write(some.data(), count, first);
  }
  for (const std::ptrdiff_t increment : {1, 2}) {
    tally::histogram_arguments a;
    a.x = {keys.get(), increment == 1 ? n : (n + 1) / 2, increment, tally::type::uint8};
    a.counts = {counts.get(), bins, 1, tally::type::int64};
    tally::histogram(where(), a);
    counts.read(got.data(), 8 * bins);
    EXPECT_EQ(got, increment == 1 ? want : want_of_half) << increment;
  }
  EXPECT_GT(want[7], std::int64_t{1} << 32);
}

// --- Several sums, prefixes, segments, indices ----------------------------------------------------
//
// Elements are -1, 0 and 1: every sum, in any order, is an integer that its type holds, so expected
// values are counted.

constexpr std::size_t past_31_bits = (std::size_t{1} << 31) + 1;
constexpr std::size_t piece_size = std::size_t{1} << 24;

int third(std::size_t i) { return static_cast<int>((i * 0x9e3779b97f4a7c15u >> 40) % 3) - 1; }

/// Fills memory with n elements of T.
template <class T, class ValueOf>
void fill(data::buffer& memory, std::size_t n, const ValueOf& value_of) {
  std::vector<T> some(std::min(n, piece_size));
  for (std::size_t first = 0; first < n; first += piece_size) {
    const std::size_t count = std::min(piece_size, n - first);
    for (std::size_t i = 0; i < count; ++i) some[i] = value_of(first + i);
    memory.write(some.data(), count * sizeof(T), first * sizeof(T));
  }
}

/// Calls f(index, element) for n elements of T.
template <class T, class F>
void for_each(data::buffer& memory, std::size_t n, const F& f) {
  std::vector<T> some(std::min(n, piece_size));
  for (std::size_t first = 0; first < n; first += piece_size) {
    const std::size_t count = std::min(piece_size, n - first);
    memory.read(some.data(), count * sizeof(T), first * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) f(first + i, some[i]);
  }
}

template <class T>
std::vector<T> read(data::buffer& memory, std::size_t n) {
  std::vector<T> all(n);
  memory.read(all.data(), n * sizeof(T));
  return all;
}

// One vector; every other element; three columns, side by side, as rows of the transpose.
TEST_ON_FAST_BACKENDS(Huge, SumsBeyondTwoToThe31Elements) {
  constexpr std::size_t n = past_31_bits, columns = 3, height = n / columns;
  data::buffer memory(where(), n), results(where(), 8 * columns);
  std::int64_t all = 0, even = 0, of_column[columns] = {}, squares = 0;
  fill<std::int8_t>(memory, n, [&](std::size_t i) {
    const int x = third(i);
    all += x;
    squares += x * x;
    if (i % 2 == 0) even += x;
    if (i < height * columns) of_column[i % columns] += x;
    return static_cast<std::int8_t>(x);
  });
  const auto* const x = reinterpret_cast<const std::int8_t*>(memory.get());
  auto* const to = reinterpret_cast<double*>(results.get());
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    const auto sums_of = [&](std::size_t k, const auto& rows) {
      tally::sums(where(), rows, std::span(to, k), g);
      return read<double>(results, k);
    };
    EXPECT_EQ(sums_of(1, tally::rows(x, 1, n)), std::vector{static_cast<double>(all)});
    EXPECT_EQ(sums_of(2, tally::rows(x, 2, (n + 1) / 2, 0, 2)),
              std::vector(2, static_cast<double>(even)));
    EXPECT_EQ(sums_of(columns, tally::rows(x, columns, height, 1, columns)),
              std::vector<double>(of_column, of_column + columns));
    const tally::strided_view<const std::int8_t> back = tally::strided(x, n, -1);
    tally::multi_dot(where(), tally::rows(x + n - 1, 2, n, 0, -1), back, std::span(to, 2), g);
    EXPECT_EQ(read<double>(results, 2), std::vector(2, static_cast<double>(squares)));
  }
}

// More elements of A than 31 bits count, in both layouts.
TEST_ON_FAST_BACKENDS(Huge, GemvBeyondTwoToThe31Elements) {
  constexpr std::size_t m = (std::size_t{1} << 16) + 3, n = (std::size_t{1} << 15) + 1;
  static_assert(m * n > past_31_bits);
  data::buffer matrix(where(), m * n), x(where(), 4 * m), y(where(), 4 * m);
  // a_ij = u_i * v_j
  const auto u = [](std::size_t i) { return third(i); };
  const auto v = [](std::size_t j) { return third(j + 3); };
  std::vector<std::int8_t> row(n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) row[j] = static_cast<std::int8_t>(u(i) * v(j));
    matrix.write(row.data(), n, i * n);
  }
  const auto x_of = [](std::size_t i) { return third(i + 7); };
  fill<float>(x, m, [&](std::size_t i) { return static_cast<float>(x_of(i)); });
  int of_u = 0, of_v = 0;
  for (std::size_t i = 0; i < m; ++i) of_u += u(i) * x_of(i);
  for (std::size_t j = 0; j < n; ++j) of_v += v(j) * x_of(j);
  std::vector<float> of_rows(m), of_columns(n);
  for (std::size_t i = 0; i < m; ++i) of_rows[i] = static_cast<float>(u(i) * of_v);
  for (std::size_t j = 0; j < n; ++j) of_columns[j] = static_cast<float>(v(j) * of_u);
  const auto a = tally::rows(reinterpret_cast<const std::int8_t*>(matrix.get()), m, n);
  const auto* const from = reinterpret_cast<const float*>(x.get());
  auto* const to = reinterpret_cast<float*>(y.get());
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    tally::gemv(where(), a, std::span(from, n), std::span(to, m), g);
    EXPECT_TRUE(read<float>(y, m) == of_rows);
    if (g.is_exact()) continue;  // columns are read one by one, which takes minutes
    tally::gemv(where(), tally::transpose(a), std::span(from, m), std::span(to, n), g);
    EXPECT_TRUE(read<float>(y, n) == of_columns);
  }
}

TEST_ON_FAST_BACKENDS(Huge, UpdatesBeyondTwoToThe31Elements) {
  constexpr std::size_t n = past_31_bits;
  data::buffer from(where(), n), to(where(), 2 * n), factors(where(), 8);
  fill<std::int8_t>(from, n, [](std::size_t i) { return static_cast<std::int8_t>(third(i)); });
  const auto y_of = [](std::size_t i) {
    tally::float16 y;
    y.bits = third(i + 1) == 0 ? 0x0000 : 0x4200;  // 0 or 3
    return y;
  };
  fill<tally::float16>(to, n, y_of);
  const float two_and_five[] = {2, 5};
  factors.write(two_and_five, sizeof two_and_five);
  // Two vectors, the same one: 7 x + y.
  tally::multi_axpy(where(), std::span(reinterpret_cast<const float*>(factors.get()), 2),
                    tally::rows(reinterpret_cast<const std::int8_t*>(from.get()), 2, n, 0), 1,
                    std::span(reinterpret_cast<tally::float16*>(to.get()), n));
  std::size_t wrong = 0;
  for_each<tally::float16>(to, n, [&](std::size_t i, tally::float16 y) {
    wrong +=
        static_cast<float>(y) != static_cast<float>(7 * third(i)) + static_cast<float>(y_of(i));
  });
  EXPECT_EQ(wrong, 0u);
}

TEST_ON_FAST_BACKENDS(Huge, ScansBeyondTwoToThe31Elements) {
  constexpr std::size_t n = past_31_bits;
  data::buffer memory(where(), 4 * n);
  const std::span all(reinterpret_cast<float*>(memory.get()), n);
  for (const bool exclusive : {false, true}) {
    fill<float>(memory, n, [](std::size_t i) { return static_cast<float>(third(i)); });
    if (exclusive) {
      tally::exclusive_scan(where(), all, all);
    } else {
      tally::inclusive_scan(where(), all, all);
    }
    std::int64_t sum = 0;
    std::size_t wrong = 0;
    for_each<float>(memory, n, [&](std::size_t i, float y) {
      const std::int64_t before = sum;
      sum += third(i);
      wrong += y != static_cast<float>(exclusive ? before : sum);
    });
    EXPECT_EQ(wrong, 0u) << exclusive;
  }
}

// Segments that begin and end beyond 2^31, long, short and empty.
TEST_ON_FAST_BACKENDS(Huge, SegmentsBeyondTwoToThe31Elements) {
  constexpr std::size_t n = past_31_bits + 5000;
  const std::vector<std::int64_t> ends = {0,
                                          3,
                                          std::int64_t{1} << 20,
                                          (std::int64_t{1} << 31) - 7,
                                          (std::int64_t{1} << 31) - 7,
                                          (std::int64_t{1} << 31) + 40,
                                          (std::int64_t{1} << 31) + 43,
                                          static_cast<std::int64_t>(n)};
  const std::size_t segments = ends.size() - 1;
  data::buffer memory(where(), 2 * n), offsets(where(), 8 * ends.size()),
      results(where(), 8 * segments);
  std::vector<double> want(segments);
  std::size_t segment = 0;
  fill<tally::float16>(memory, n, [&](std::size_t i) {
    while (static_cast<std::int64_t>(i) >= ends[segment + 1]) ++segment;
    const int value = third(i);
    want[segment] += value;
    tally::float16 x;
    x.bits = value == 0 ? 0x0000 : value > 0 ? 0x3c00 : 0xbc00;
    return x;
  });
  offsets.write(ends.data(), 8 * ends.size());
  for (const tally::grade g : {tally::grade(), tally::grade(tally::exact)}) {
    tally::segmented_sum(
        where(), std::span(reinterpret_cast<const std::int64_t*>(offsets.get()), ends.size()),
        std::span(reinterpret_cast<const tally::float16*>(memory.get()), n),
        std::span(reinterpret_cast<double*>(results.get()), segments), g);
    EXPECT_EQ(read<double>(results, segments), want);
  }
}

// The most elements, with few samples; the most samples, of few elements.
TEST_ON_FAST_BACKENDS(Huge, ScattersIntoTwoToThe31Elements) {
  constexpr std::size_t many = (std::size_t{1} << 31) - 1, few = 1000;
  const auto add = [&](std::size_t elements, std::size_t samples, const auto& index_of) {
    data::buffer z(where(), 4 * elements), x(where(), 4 * samples), indices(where(), 4 * samples);
    fill<float>(z, elements, [](std::size_t i) { return static_cast<float>(third(i)); });
    fill<float>(x, samples, [](std::size_t i) { return static_cast<float>(third(i + 5)); });
    fill<std::int32_t>(indices, samples, index_of);
    std::vector<std::pair<std::size_t, int>> sums;
    std::vector<int> dense(elements < piece_size ? elements : 0);
    for (std::size_t i = 0; i < samples; ++i) {
      const auto at = static_cast<std::size_t>(index_of(i));
      if (dense.empty()) {
        sums.emplace_back(at, third(i + 5));
      } else {
        dense[at] += third(i + 5);
      }
    }
    std::sort(sums.begin(), sums.end());
    tally::scatter_add(where(), std::span(reinterpret_cast<const float*>(x.get()), samples),
                       std::span(reinterpret_cast<const std::int32_t*>(indices.get()), samples),
                       std::span(reinterpret_cast<float*>(z.get()), elements));
    std::size_t wrong = 0, next = 0;
    for_each<float>(z, elements, [&](std::size_t i, float got) {
      int want = third(i) + (dense.empty() ? 0 : dense[i]);
      for (; next < sums.size() && sums[next].first == i; ++next) want += sums[next].second;
      wrong += got != static_cast<float>(want);
    });
    EXPECT_EQ(wrong, 0u) << elements << " elements, " << samples << " samples";
  };
  add(many, few, [](std::size_t i) {
    return static_cast<std::int32_t>(i % 3 == 0 ? many - 1 - i : i * 2654435761u % many);
  });
  add(few, (std::size_t{1} << 30) - 2, [](std::size_t i) {
    return static_cast<std::int32_t>((i * 0x9e3779b97f4a7c15u >> 33) % few);
  });
}

#if TALLY_HAS_CUDA

/// Device memory of many zero bytes: 256 MiB mapped repeatedly.
class repeated_zeros {
 public:
  explicit repeated_zeros(std::size_t bytes) : size_((bytes + piece - 1) / piece * piece) {
    CUmemAllocationProp what{};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    CUmemAccessDesc access{};
    access.location = what.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    data::check_cuda(cudaFree(nullptr));  // Creates a context.
    if (call<decltype(cuMemAddressReserve)>("cuMemAddressReserve", &address_, size_, 0, 0, 0))
      return;
    if (call<decltype(cuMemCreate)>("cuMemCreate", &memory_, piece, &what, 0)) return;
    for (; mapped_ < size_; mapped_ += piece) {
      if (call<decltype(cuMemMap)>("cuMemMap", address_ + mapped_, piece, 0, memory_, 0)) return;
    }
    if (call<decltype(cuMemSetAccess)>("cuMemSetAccess", address_, size_, &access, 1)) return;
    data::check_cuda(cudaMemset(get(), 0, piece));
    data::check_cuda(cudaDeviceSynchronize());
    usable_ = true;
  }
  ~repeated_zeros() {
    if (mapped_ > 0) (void)call<decltype(cuMemUnmap)>("cuMemUnmap", address_, mapped_);
    if (memory_ != 0) (void)call<decltype(cuMemRelease)>("cuMemRelease", memory_);
    if (address_ != 0) (void)call<decltype(cuMemAddressFree)>("cuMemAddressFree", address_, size_);
  }
  repeated_zeros(const repeated_zeros&) = delete;
  repeated_zeros& operator=(const repeated_zeros&) = delete;

  bool usable() const { return usable_; }
  void* get() const { return reinterpret_cast<void*>(address_); }

 private:
  static constexpr std::size_t piece = std::size_t{256} << 20;

  /// Calls the driver, which is not linked in.
  template <class F, class... A>
  CUresult call(const char* name, A... arguments) {
    void* const function = dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name);
    if (function == nullptr) return CUDA_ERROR_NOT_FOUND;
    return reinterpret_cast<F*>(function)(arguments...);
  }

  std::size_t size_, mapped_ = 0;
  CUdeviceptr address_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  bool usable_ = false;
};

// More samples of a bin than a block's 32-bit counters hold: in every block of an H200, and with
// bins cut into ten ranges. Bytes have other counters, added in 32 bits.
TEST(HugeCuda, CountsMoreThanABlockCountsIn32Bits) {
  if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  const tally::executor where = tally::cuda();
  struct {
    tally::type element;
    std::size_t n, bins;
  } const cases[] = {{tally::type::bfloat16, (std::size_t{13} << 32) + 1234567, 560'000},
                     {tally::type::int32, (std::size_t{132} << 32) + 1234567, 100},
                     {tally::type::uint8, (std::size_t{132} << 32) + 1234567, 100}};
  for (const auto& c : cases) {
    const repeated_zeros samples(c.n * tally::size_of(c.element));
    if (!samples.usable()) GTEST_SKIP() << "no virtual memory management, or too little";
    data::buffer counts(where, 8 * c.bins);
    tally::histogram_arguments a;
    a.x = {samples.get(), c.n, 1, c.element};
    a.counts = {counts.get(), c.bins, 1, tally::type::int64};
    if (c.element == tally::type::bfloat16) {
      a.what = tally::binning::even;
      a.lower = tally::scalar(0.0);
      a.upper = tally::scalar(1.0);
    }
    tally::histogram(where, a);
    std::vector<std::int64_t> got(c.bins), want(c.bins);
    counts.read(got.data(), 8 * c.bins);
    want[0] = static_cast<std::int64_t>(c.n);
    EXPECT_TRUE(got == want) << tally::name(c.element) << ": " << got[0] << " of " << want[0];
  }
}

#endif

// The transcription's bits, within one ulp.
TEST_ON_EVERY_EXECUTOR(Huge, ExponentialsOfEveryFloat) {
  constexpr std::size_t piece = std::size_t{1} << 26;
  std::vector<float> x(piece), z(piece);
  data::buffer from(where(), piece * sizeof(float)), to(where(), piece * sizeof(float));
  double worst[2] = {};
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += piece) {
    for (std::size_t i = 0; i < piece; ++i) {
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i));
    }
    from.write(x.data(), piece * sizeof(float));
    for (const auto what : {tally::elementwise::exp, tally::elementwise::sigmoid}) {
      const auto kind = tally::type::float32;
      tally::transform(
          where(), {what, {}, {}, {from.get(), piece, 1, kind}, {}, {to.get(), piece, 1, kind}});
      to.read(z.data(), piece * sizeof(float));
      const bool exponential = what == tally::elementwise::exp;
      double& worst_here = worst[exponential ? 0 : 1];
      worst_here =
          std::max(worst_here, transcription::worst_error(what, x.data(), z.data(), piece));
      for (std::size_t i = first % 7; i < piece; i += 7) {
        const float want = exponential ? transcription::exp(x[i]) : transcription::sigmoid(x[i]);
        ASSERT_EQ(data::bits(z[i]), data::bits(want)) << x[i];
      }
    }
  }
  EXPECT_LE(worst[0], 0.81);
  EXPECT_LE(worst[1], 0.81);
  std::printf("%s: at most %.4f units for exp, %.4f for sigmoid\n", where().description().c_str(),
              worst[0], worst[1]);
}

}  // namespace
