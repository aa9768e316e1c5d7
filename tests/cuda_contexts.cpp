// No CUDA context is created unasked, one ended by cudaDeviceReset is forgotten, and no more device
// memory is taken than needed. Runs alone, since it resets the device and measures free memory; in
// one process the order of tests matters.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/matrices.hpp"
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace {

/// Allocations of this thread that succeed; negative: all.
thread_local int allocations_left = -1;

}  // namespace

void* operator new(std::size_t bytes) {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
// Inlined, GCC takes it for the end of another allocation.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace {

using data::check_cuda;

/// Asks the driver: the runtime would create a context.
bool has_context(int device) {
  const auto ask = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(
      dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int active = 0;
  EXPECT_EQ(ask(device, &flags, &active), CUDA_SUCCESS);
  return active != 0;
}

int devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::vector<std::vector<std::byte>> results(const operations::list& list,
                                            const tally::executor& where) {
  std::vector<std::vector<std::byte>> all;
  for (const operations::operation& each : list) {
    if (!operations::runs(each, where)) continue;
    operations::prepared ready(each, where);
    ready.reset();
    ready.run();
    check_cuda(cudaDeviceSynchronize());
    all.push_back(ready.results());
  }
  return all;
}

// Returning to device 0, a thread's default, must not create a context there.
TEST(CudaContexts, TheCallersDeviceGetsNoneFromWorkOnAnother) {
  if (devices() < 2) GTEST_SKIP() << devices() << " CUDA devices; this needs two";
  if (has_context(0)) GTEST_SKIP() << "an earlier test has used device 0";
  const tally::executor where = tally::cuda({.device = 1});
  std::optional<operations::prepared_list> all;
  std::thread([&] {  // in memory of device 1
    check_cuda(cudaSetDevice(1));
    all.emplace(20'000, where);
  })
      .join();
  ASSERT_FALSE(has_context(0));
  for (std::size_t i = 0; i < all->size(); ++i) {
    (*all)[i].run();
    ASSERT_FALSE(has_context(0)) << all->name(i);
  }
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  std::vector<std::vector<std::byte>> got;
  std::thread([&] {
    check_cuda(cudaSetDevice(1));
    check_cuda(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < all->size(); ++i) got.push_back((*all)[i].results());
    all.reset();
  }).join();
  EXPECT_FALSE(has_context(0));
  // Device 0 gives the same, also to an alternating thread.
  EXPECT_EQ(got, results(operations::list(20'000), tally::cuda({.device = 0})));
  EXPECT_TRUE(has_context(0));
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  return free;
}

std::size_t taken_since(std::size_t before) { return before - std::min(before, free_bytes()); }

// A captured call's graph owns its scratch memory.
TEST(CudaContexts, ACapturedCallOwnsWhatItNeeds) {
  if (devices() == 0) GTEST_SKIP() << "no CUDA device";
  constexpr std::size_t calls = 256, a_slab = 2 << 20;
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const operations::prepared_list all(100'000, tally::cuda({.stream = stream}));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].run();  // one-time allocations
  check_cuda(cudaDeviceSynchronize());
  const auto capture = [&](std::size_t i) {
    cudaGraph_t graph = nullptr;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    try {
      for (std::size_t k = 0; k < calls; ++k) all[i].run();
    } catch (const tally::error& e) {  // it would wait
      EXPECT_EQ(e.code(), tally::errc::invalid_argument) << all.name(i) << ": " << e.what();
    }
    check_cuda(cudaStreamEndCapture(stream, &graph));
    return graph;
  };
  std::vector<cudaGraph_t> graphs;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t before = free_bytes();
    graphs.push_back(capture(i));  // Kept, so that the next graph gets no memory back.
    const std::size_t owned = taken_since(before);
    RecordProperty(all.name(i), std::to_string(owned / calls));
    // Several sums are of five vectors, in the exact grade in successive calls; spmm is of four
    // columns, which may be successive calls. Of columns each part of a thread block's leaves a
    // partial sum.
    const std::string& name = all.name(i);
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    const bool many = has("_dot_") || name.starts_with("sums") || name.starts_with("gemv") ||
                      name.starts_with("spmm");
    const std::size_t one = has("exact") ? 36 << 10 : has("columns") ? 6 << 10 : 4 << 10;
    EXPECT_LE(owned, a_slab + calls * one * (many ? 5 : 1)) << name;
  }
  // All memory comes back.
  for (cudaGraph_t graph : graphs) check_cuda(cudaGraphDestroy(graph));
  check_cuda(cudaDeviceSynchronize());
  const std::size_t before = free_bytes();
  for (std::size_t i = 0; i < all.size(); ++i) check_cuda(cudaGraphDestroy(capture(i)));
  EXPECT_LE(taken_since(before), a_slab);
  check_cuda(cudaStreamDestroy(stream));
}

// Without a plan, products of large matrices queue long rows in memory of their graph; graphs of
// many sizes come and go.
TEST(CudaContexts, CapturedProductsOfManySizesTakeNoMoreMemory) {
  if (devices() == 0) GTEST_SKIP() << "no CUDA device";
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  constexpr std::size_t sizes = 96, rows_apart = 2000, min_rows = 170'000, columns = 1000;
  constexpr std::size_t rows = min_rows + (sizes - 1) * rows_apart;
  std::vector<std::int32_t> offsets(rows + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    offsets[i + 1] = offsets[i] + (i % 50'000 == 7 ? 5000 : i % 9000 == 3 ? 300 : 10);
  }
  const auto terms = static_cast<std::size_t>(offsets[rows]);
  std::vector<std::int32_t> column_indices(terms);
  for (std::size_t k = 0; k < terms; ++k)
    column_indices[k] = static_cast<std::int32_t>(k * k % columns);
  const data::placed row_offsets(where, offsets), indices(where, column_indices);
  const data::placed values(where, golden::doubles(terms, 1)),
      x(where, golden::doubles(columns, 2));
  const data::placed y(where, std::vector<double>(rows));
  const auto multiply = [&](std::size_t some) {
    const auto n = static_cast<std::size_t>(offsets[some]);
    const tally::csr_view a{some, columns, row_offsets.span().first(some + 1),
                            indices.span().first(n), values.span().first(n)};
    tally::spmv(where, a, x.span(), y.span().first(some));
  };
  const auto result = [&](std::size_t some) {
    check_cuda(cudaStreamSynchronize(stream));
    std::vector<double> read = y.read();
    read.resize(some);
    return read;
  };
  std::size_t before = 0;
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::size_t some = min_rows + i * rows_apart;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    multiply(some);
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiate(&executable, graph, 0));
    check_cuda(cudaGraphDestroy(graph));
    if (i % 32 == 0) {
      multiply(some);
      const std::vector<double> want = result(some);
      for (int replay = 0; replay < 2; ++replay) {
        check_cuda(cudaMemset(y.span().data(), 0xff, some * sizeof(double)));
        check_cuda(cudaDeviceSynchronize());
        check_cuda(cudaGraphLaunch(executable, stream));
        EXPECT_EQ(result(some), want) << some;
      }
    }
    check_cuda(cudaGraphExecDestroy(executable));
    check_cuda(cudaDeviceSynchronize());
    if (i == 0) before = free_bytes();
  }
  // A quarter of a MiB for one, 28 MiB for all 96.
  EXPECT_LE(taken_since(before), 8 << 20);
  check_cuda(cudaStreamDestroy(stream));
}

// Host memory runs out after the call got device memory: in a new thread later steps allocate.
TEST(CudaContexts, CallsThatFailLeakNothing) {
  if (devices() == 0) GTEST_SKIP() << "no CUDA device";
  allocations_left = 1000;
  data::allocate_in_library();
  const bool is_unused = std::exchange(allocations_left, -1) == 1000;
  if (is_unused) GTEST_SKIP() << "the library has a libstdc++ of its own";
  const tally::executor where = tally::cuda();
  const std::vector<std::int32_t> sevens(1000, 7);
  data::buffer keys(where, 4 * sevens.size()), counts(where, 400);
  keys.write(sevens.data(), keys.size());
  const std::span<const std::int32_t> some(reinterpret_cast<std::int32_t*>(keys.get()), 1000);
  const std::span<std::int32_t> bins(reinterpret_cast<std::int32_t*>(counts.get()), 100);
  int failed = 0;
  for (int k = 0; k < 8; ++k) {
    const std::size_t before = free_bytes();
    for (int i = 0; i < 10'000; ++i) {
      std::thread([&] {
        allocations_left = k;
        try {
          tally::bincount(where, some, bins);
        } catch (const std::bad_alloc&) {
          ++failed;
        }
        allocations_left = -1;
      }).join();
    }
    EXPECT_LT(taken_since(before), std::size_t{3} << 20) << k;
  }
  EXPECT_GE(failed, 10'000);
  // No scratch memory stays dirty.
  tally::bincount(where, some, bins);
  std::vector<std::int32_t> got(100), want(100);
  want[7] = 1000;
  counts.read(got.data(), counts.size());
  EXPECT_EQ(got, want);
}

// All device and pinned memory ends with its context.
TEST(CudaContexts, WorkGoesOnAfterAReset) {
  if (devices() == 0) GTEST_SKIP() << "no CUDA device";
  const tally::executor where = tally::cuda();
  const operations::list list(20'000);
  const auto many_returned = [&] {
    const auto values = golden::doubles(100'000, 1);
    data::buffer x(where, values.size() * sizeof(double));
    x.write(values.data(), values.size() * sizeof(double));
    const auto* const first = reinterpret_cast<const double*>(x.get());
    return tally::multi_dot(where, tally::rows(first, 100, 1000),
                            std::span<const double>(first, 1000));
  };
  const matrices::pattern p = matrices::rows_of({3, 0, 20000, 17, 128, 129, 5000, 1}, 3000, 1);
  const auto values = golden::doubles(p.nonzeros(), 2), v = golden::doubles(p.columns, 3);
  struct matrix {
    matrix(const tally::executor& where, const matrices::pattern& p,
           const std::vector<double>& values, const std::vector<double>& v)
        : offsets(where, p.row_offsets.size() * 4),
          columns(where, p.nonzeros() * 4),
          numbers(where, p.nonzeros() * 8),
          x(where, v.size() * 8),
          y(where, p.rows * 8),
          view{p.rows, p.columns,
               std::span(reinterpret_cast<std::int32_t*>(offsets.get()), p.row_offsets.size()),
               std::span(reinterpret_cast<std::int32_t*>(columns.get()), p.nonzeros()),
               std::span(reinterpret_cast<double*>(numbers.get()), p.nonzeros())} {
      offsets.write(p.row_offsets.data(), offsets.size());
      columns.write(p.column_indices.data(), columns.size());
      numbers.write(values.data(), numbers.size());
      x.write(v.data(), x.size());
    }
    std::span<const double> from() const {
      return {reinterpret_cast<const double*>(x.get()), view.columns};
    }
    std::span<double> to() const { return {reinterpret_cast<double*>(y.get()), view.rows}; }
    data::buffer offsets, columns, numbers, x, y;
    tally::csr_view<double, std::int32_t, std::int32_t> view;
  };
  std::optional<tally::spmv_plan> plan;
  {
    const matrix a(where, p, values, v);
    plan.emplace(where, a.view);
    tally::spmv(where, *plan, a.view, a.from(), a.to());
    check_cuda(cudaDeviceSynchronize());
  }
  const auto want = results(list, where);
  const auto want_returned = many_returned();

  std::promise<void> ran, was_reset;
  std::thread other([&] {
    EXPECT_EQ(results(list, where), want);
    EXPECT_EQ(many_returned(), want_returned);
    ran.set_value();
    was_reset.get_future().wait();
    EXPECT_EQ(results(list, where), want);
    EXPECT_EQ(many_returned(), want_returned);
  });
  ran.get_future().wait();
  check_cuda(cudaDeviceReset());
  EXPECT_EQ(results(list, where), want);
  EXPECT_EQ(many_returned(), want_returned);
  was_reset.set_value();
  other.join();

  // The caller's memory may have the plan's old address: the plan must not free it.
  const matrix a(where, p, values, v);
  try {
    tally::spmv(where, *plan, a.view, a.from(), a.to());
    ADD_FAILURE() << "a plan of a context that has ended";
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), tally::errc::invalid_argument) << e.what();
  }
  std::vector<std::unique_ptr<data::buffer>> mine;
  for (int i = 0; i < 100; ++i) {
    mine.push_back(std::make_unique<data::buffer>(where, 512 << (i % 8)));
    const std::vector<std::byte> bytes(mine.back()->size(), std::byte(i));
    mine.back()->write(bytes.data(), bytes.size());
  }
  plan.reset();
  check_cuda(cudaDeviceSynchronize());
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> bytes(mine[i]->size());
    mine[i]->read(bytes.data(), bytes.size());
    EXPECT_EQ(bytes, std::vector<std::byte>(bytes.size(), std::byte(i)));
  }
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CudaContexts, ResetsInTurn) {
  if (devices() == 0) GTEST_SKIP() << "no CUDA device";
  const tally::executor where = tally::cuda();
  const operations::list list(9'000);
  const auto want = results(list, where);
  for (int turn = 0; turn < 4; ++turn) {
    check_cuda(cudaDeviceReset());
    EXPECT_EQ(results(list, where), want) << turn;
  }
}

}  // namespace
