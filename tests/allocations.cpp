// Failing allocations: operator new fails once, at each allocation in turn, in every operation on
// every host executor and in every type-erased function. The call throws std::bad_alloc, writes
// nothing and leaks nothing. On kokkos malloc fails too. (OpenMP's runtime ends the program if
// malloc fails.)
#include "tests/calls.hpp"
#include "tests/matrices.hpp"
#include "tests/operations.hpp"

#include <tally/tally.h>
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <sstream>

namespace {

/// Allocations before the one that fails; negative: none fails.
std::atomic<std::int64_t> left = -1;
std::atomic<std::int64_t> live = 0;
std::atomic<std::size_t> largest = 0;

std::atomic<bool> counts_malloc = false;

/// Counts an allocation; returns whether it fails.
bool fails() {
  std::int64_t before = left.load();
  while (before >= 0 && !left.compare_exchange_weak(before, before - 1)) {
  }
  return before == 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) throw std::bad_alloc();
  const std::size_t blocks = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment;
  void* const memory = std::aligned_alloc(alignment, blocks * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  for (std::size_t known = largest;
       known < bytes && !largest.compare_exchange_weak(known, bytes);) {
  }
  return memory;
}
void* allocate_or_null(std::size_t bytes) noexcept {
  try {
    return allocate(bytes, 16);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void release(void* memory) {
  if (memory == nullptr) return;
  --live;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t n) { return allocate(n, 16); }
void* operator new[](std::size_t n) { return allocate(n, 16); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate(n, std::size_t(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_null(n); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate_or_null(n); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Malloc of the program's shared libraries too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  if (!counts_malloc || !fails()) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (counts_malloc && fails()) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

namespace {

enum class outcome { success, no_memory, another };

/// Runs `call`; the k-th allocation fails.
template <class F>
outcome run_failing(std::int64_t k, const F& call, bool malloc_fails) {
  left = k;
  counts_malloc = malloc_fails;
  outcome result = outcome::success;
  try {
    call();
  } catch (const std::bad_alloc&) {
    result = outcome::no_memory;
  } catch (...) {
    result = outcome::another;
  }
  left = -1;
  counts_malloc = false;
  return result;
}

/// Calls run_failing, and expects that no allocation leaks.
template <class F>
outcome with_failing(std::int64_t k, const F& call, bool malloc_fails) {
  const std::int64_t before = live;
  const outcome result = run_failing(k, call, malloc_fails);
  EXPECT_EQ(live, before) << "allocation " << k << ": some memory is lost";
  return result;
}

/// Lets each allocation of `call` fail in turn; `check(is_success)` follows each time.
/// @return the number of allocations.
template <class F, class Check>
std::int64_t for_each_failing(const F& call, const Check& check, bool malloc_fails = false) {
  call();  // one-time allocations
  check(true);
  for (std::int64_t k = 0;; ++k) {
    const outcome o = with_failing(k, call, malloc_fails);
    EXPECT_NE(o, outcome::another) << "allocation " << k;
    check(o == outcome::success);
    if (o != outcome::no_memory || testing::Test::HasFailure()) return k;
  }
}

bool allocates_in_regions(const tally::executor& where) {
  return where.name() == "kokkos" && where.description().find("OpenMP") != std::string::npos;
}

class Allocations : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    if (data::on_device(where())) GTEST_SKIP() << "not on the host";
    left = 1000;
    data::allocate_in_library();
    if (left.exchange(-1) == 1000) GTEST_SKIP() << "the library has a libstdc++ of its own";
    if (allocates_in_regions(where())) {
      GTEST_SKIP() << "Kokkos allocates within its parallel regions, which no exception may leave";
    }
  }

  std::int64_t expect_survives(const operations::operation& what) const {
    operations::prepared each(what, where());
    each.run();
    const auto want = each.results();
    each.reset();
    const auto untouched = each.results();
    return for_each_failing([&] { each.run(); },
                            [&](bool is_success) {
                              EXPECT_EQ(each.results(), is_success ? want : untouched) << what.name;
                              each.reset();
                            },
                            is_kokkos());
  }
  bool is_kokkos() const { return where().name() == "kokkos"; }
};

// GoogleTest runs suites of such names before others, which leave memory that calls share.
class FirstAllocationsDeathTest : public Allocations {};

// Memory shared by calls grows on demand on kokkos.
TEST_ON_EVERY_EXECUTOR(FirstAllocationsDeathTest, OfMoreThanBefore) {
  std::int64_t failed = 0;
  for (std::size_t n = std::size_t{1} << 21;; n *= 2) {
    const std::vector<double> x(n, 0.5);
    const double want = 0.25 * static_cast<double>(n);
    double result = 7;
    const auto call = [&] { tally::dot(where(), x, x, &result); };
    const std::int64_t before = live;
    const outcome o = run_failing(failed, call, is_kokkos());
    EXPECT_TRUE(o == outcome::success || live <= before) << "some memory is lost";
    EXPECT_NE(o, outcome::another);
    EXPECT_EQ(result, o == outcome::success ? want : 7);
    call();
    EXPECT_EQ(result, want);
    ASSERT_FALSE(HasFailure()) << "allocation " << failed << " for " << n << " elements";
    if (o == outcome::success) break;
    ++failed;
    ASSERT_LT(failed, 8);
  }
  EXPECT_TRUE(!is_kokkos() || failed > 0);
}

TEST_ON_EVERY_BACKEND(Allocations, AnyOfThemMayFail) {
  std::int64_t failed = 0;
  for (const std::size_t n : {std::size_t{100}, std::size_t{40'000}}) {
    for (const operations::operation& each : operations::list(n)) {
      failed += expect_survives(each);
      ASSERT_FALSE(HasFailure()) << each.name << " of " << n << " elements";
    }
  }
  EXPECT_GT(failed, 0);
}

TEST_ON_EVERY_EXECUTOR(Allocations, OfEveryFunctionWithErasedTypes) {
  calls::memory m(where());
  for (const calls::row& each : calls::of_cpp()) {
    if (each.is_refused) continue;
    SCOPED_TRACE(each.function);
    for_each_failing(
        [&] {
          calls::enumerators right;
          each.call(where(), m, right);
        },
        [&](bool is_success) {
          EXPECT_TRUE(is_success || m.is_clear()) << "something was written";
          m.clear();
        },
        is_kokkos());
    ASSERT_FALSE(HasFailure());
  }
}

TEST_ON_EVERY_EXECUTOR(Allocations, OfWhatStays) {
  const auto of = [&](const auto& call) { for_each_failing(call, [](bool) {}, is_kokkos()); };
  const std::vector<std::int32_t> offsets = {0, 1, 2}, columns = {0, 1};
  const std::vector<double> values = {2, 3};
  const tally::csr_view<double> a{2, 2, offsets, columns, values};
  const auto of_plans = [&](const auto& matrix) {
    of([&] { tally::spmv_plan(where(), matrix); });
    of([&] { tally::spmv_plan(where(), matrix, {.fixed_columns = true}); });
    of([&] { tally::spmv_plan(where(), matrix, {.fixed_values = true}); });
    of([&] { tally::spmv_plan(where(), matrix, {.queued = true}).wait(); });
  };
  of_plans(a);
  of_plans(tally::transpose(a));
  of_plans(tally::conjugate_transpose(a));
  of([&] { tally::buffer(where(), 1000); });
  of([&] { tally::workspace{where()}; });
  of([&] { where().description(); });
  of([&] { tally::executor_named(where().name()); });
  of([] { tally::executors(); });
  of([] { tally::backend_names(); });
  of([] { tally::instruction_sets(); });
  of([] {
    const tally::node_interval all[] = {{0, 5, 0}, {5, 9, 3}};
    tally::join_steps(all);
  });
}

// An x that is copied whole.
TEST_ON_EVERY_EXECUTOR(Allocations, OfAnXWithAStride) {
  constexpr std::size_t columns = 100'000;
  const std::vector<std::int32_t> offsets = {0, 1}, indices = {99'999};
  const std::vector<double> values = {3}, x(2 * columns, 0.5);
  const std::vector<float> narrow(columns, 0.5f);
  const std::vector<std::complex<double>> complexes(2 * columns, 0.5);
  std::vector<double> y(1);
  std::vector<std::complex<double>> z(1);
  const tally::csr_view<double> a{1, columns, offsets, indices, values};
  const auto copies = [&](const auto& v, auto& w, tally::grade grade = {}) {
    tally::spmv(where(), a, v, w, grade);  // one-time allocations
    largest = 0;
    tally::spmv(where(), a, v, w, grade);
    EXPECT_EQ(w[0], 1.5);
    return largest >= columns * sizeof(double);
  };
  const bool copy = where().name() == "simd" || where().name() == "openmp";
  EXPECT_FALSE(copies(tally::strided(x.data(), columns), y));
  EXPECT_EQ(copies(tally::strided(x.data(), columns, 2), y), copy);
  EXPECT_EQ(copies(narrow, y), copy);
  EXPECT_FALSE(copies(tally::strided(complexes.data(), columns, 2), z));
  EXPECT_FALSE(copies(tally::strided(x.data(), columns, 2), y, tally::exact));
  EXPECT_FALSE(copies(narrow, y, tally::exact));
}

/// An operation with large operands, which the list lacks.
template <class Call>
operations::operation of(std::vector<operations::input> inputs,
                         std::vector<std::vector<std::byte>> outputs, Call call) {
  return {"", std::move(inputs), std::move(outputs), call};
}
template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Rows across thread partitions of openmp.
TEST_ON_EVERY_EXECUTOR(Allocations, OfLongRows) {
  const matrices::pattern p = matrices::rows_of({3, 60'000, 5, 0, 70'000, 1}, 5000, 1);
  const std::vector<double> values(p.nonzeros(), 0.3), x(5000, 0.7), y(6, 5.0);
  const auto what = of(
      {{bytes_of(p.row_offsets)}, {bytes_of(p.column_indices)}, {bytes_of(values)}, {bytes_of(x)}},
      {bytes_of(y)}, [](const auto& where, operations::arguments& a) {
        const tally::csr_view matrix{6, 5000, a.in<std::int32_t>(0), a.in<std::int32_t>(1),
                                     a.in<double>(2)};
        tally::spmv(where, 2.0, matrix, a.in<double>(3), 3.0, a.out<double>());
      });
  expect_survives(what);
}

// Enough bins for samples to be sorted, in several rounds.
TEST_ON_EVERY_BACKEND(Allocations, OfManyBins) {
  constexpr std::size_t bins = (std::size_t{1} << 22) + 5;
  std::vector<std::int32_t> keys(2 * bins);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<std::int32_t>(i * 1'000'003 % bins);
  }
  const auto what = of({{bytes_of(keys)}}, {bytes_of(std::vector<std::int32_t>(bins, 3))},
                       [](const auto& where, operations::arguments& a) {
                         tally::bincount(where, a.in<std::int32_t>(0), a.out<std::int32_t>());
                       });
  expect_survives(what);
}

TEST_ON_EVERY_EXECUTOR(Allocations, OfManyPairs) {
  constexpr std::size_t k = 20, n = 5000;
  const auto what =
      of({{bytes_of(std::vector<double>(k * n, 0.3))}}, {bytes_of(std::vector<double>(k))},
         [](const auto& where, operations::arguments& a) {
           const auto rows = tally::rows(a.in<double>(0).data(), k, n);
           tally::batched_dot(where, rows, rows, a.result<double>());
         });
  expect_survives(what);
}

TEST(MatrixMarketAllocations, AnyOfThemMayFail) {
  const std::string text =
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 1e3\n";
  std::istringstream stream(text);
  for_each_failing(
      [&] {
        stream.clear();
        stream.seekg(0);
        const auto a = tally::read_matrix_market<double>(stream, "name");
        EXPECT_EQ(a.values.size(), 5u);
      },
      [](bool) {});
}

TEST(CAllocations, OfEveryFunction) {
  for (const std::string_view name : tally::backend_names()) {
    tally_executor where;
    const tally_status made = tally_executor_named(&where, std::string(name).c_str());
    if (made == TALLY_NO_DEVICE) continue;
    ASSERT_EQ(made, TALLY_SUCCESS) << tally_last_error();
    if (data::on_device(tally::executor_named(name))) continue;
    if (allocates_in_regions(tally::executor_named(name))) continue;
    for (const calls::c_row& each : calls::of_c()) {
      SCOPED_TRACE(std::string(each.function) + " on " + std::string(name));
      calls::c_memory m;
      const calls::c_memory nothing;
      for_each_failing(
          [&] {
            m = nothing;
            calls::arguments right;
            const tally_status status = each.call(&where, m, right);
            if (status == TALLY_OUT_OF_MEMORY) throw std::bad_alloc();
            EXPECT_EQ(status, TALLY_SUCCESS) << tally_last_error();
          },
          [&](bool is_success) {
            EXPECT_TRUE(is_success || std::memcmp(m.out, nothing.out, sizeof m.out) == 0)
                << "something was written";
          },
          name == "kokkos");
      ASSERT_FALSE(testing::Test::HasFailure());
    }
  }
}

TEST(CAllocations, FailAsAStatus) {
  const std::vector<double> x(100'000, 0.5);
  tally_executor where;
  const double edges[] = {0, 0.4, 1};
  std::int64_t counts[2] = {7, 7};
  double result = 7;
  for (const int what : {0, 1, 2, 3}) {
    const auto call = [&] {
      switch (what) {
        case 0:
          return tally_serial(&where);
        case 1:
          return tally_simd(&where, TALLY_INSTRUCTIONS_BEST);
        case 2:
          return tally_histogram_range(&where, x.size(), TALLY_FLOAT64, x.data(), 1, TALLY_FLOAT64,
                                       edges, 2, TALLY_INT64, counts, nullptr);
        default:  // an invalid argument, whose message needs memory
          return tally_dot(&where, 2, TALLY_FLOAT64, x.data(), 0, TALLY_FLOAT64, x.data(), 1,
                           TALLY_FLOAT64, &result, nullptr);
      }
    };
    const tally_status right = call();
    counts[0] = counts[1] = 7;
    for_each_failing(
        [&] {
          const tally_status status = call();
          if (status == TALLY_OUT_OF_MEMORY) {
            EXPECT_STREQ(tally_last_error(), "tally: out of memory");
            EXPECT_TRUE(what != 2 || (counts[0] == 7 && counts[1] == 7));
            throw std::bad_alloc();
          }
          EXPECT_EQ(status, right);
          counts[0] = counts[1] = 7;
        },
        [](bool) {});
    EXPECT_EQ(result, 7);
  }
}

}  // namespace
