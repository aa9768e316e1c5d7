// Threads, streams and graphs at once: the bits never change.
#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/matrices.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <thread>

namespace {

constexpr std::size_t sizes[] = {3, 1000, 20011, 300007};
constexpr std::size_t cases = 2 * std::size(sizes);

struct inputs {
  explicit inputs(const tally::executor& where) {
    for (const std::size_t n : sizes) {
      const auto x = golden::doubles(n, n), y = golden::doubles(n, n + 1);
      auto& bx = memory.emplace_back(std::make_unique<data::buffer>(where, n * sizeof(double)));
      bx->write(x.data(), n * sizeof(double));
      auto& by = memory.emplace_back(std::make_unique<data::buffer>(where, n * sizeof(double)));
      by->write(y.data(), n * sizeof(double));
      want.push_back(std::bit_cast<std::uint64_t>(tally::dot(tally::serial(), x, y)));
      exact.push_back(
          std::bit_cast<std::uint64_t>(tally::dot(tally::serial(), x, y, tally::exact)));
    }
    want.insert(want.end(), exact.begin(), exact.end());
  }
  static bool is_exact(std::size_t i) { return i >= std::size(sizes); }
  double dot(const tally::executor& where, std::size_t i) const {
    return is_exact(i) ? tally::dot(where, x(i), y(i), tally::exact)
                       : tally::dot(where, x(i), y(i));
  }
  void dot(const tally::executor& where, std::size_t i, double* result) const {
    is_exact(i) ? tally::dot(where, x(i), y(i), result, tally::exact)
                : tally::dot(where, x(i), y(i), result);
  }
  tally::strided_view<const double> x(std::size_t i) const {
    return {reinterpret_cast<const double*>(memory[i * 2 % cases]->get()),
            sizes[i % std::size(sizes)], 1};
  }
  tally::strided_view<const double> y(std::size_t i) const {
    return {reinterpret_cast<const double*>(memory[i * 2 % cases + 1]->get()),
            sizes[i % std::size(sizes)], 1};
  }
  std::vector<std::unique_ptr<data::buffer>> memory;
  std::vector<std::uint64_t> want, exact;
};

class Concurrency : public data::OnEveryExecutor {};

TEST_ON_EVERY_EXECUTOR(Concurrency, ManyThreads) {
  const inputs in(where());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 40; ++round) {
        const std::size_t i = static_cast<std::size_t>(t + round) % cases;
        const double r = in.dot(where(), i);
        if (std::bit_cast<std::uint64_t>(r) != in.want[i]) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Threads share an executor and its stream: no call may use another's scratch data between
// launches. The matrix needs several launches and has long rows.
TEST_ON_EVERY_EXECUTOR(Concurrency, ProductsOnOneStream) {
  const matrices::pattern p = matrices::rmat(15, 2 << 20, 1);
  const inputs in(where());
  const std::vector<double> values = golden::doubles(p.nonzeros(), 7);
  const data::placed offsets(where(), p.row_offsets), indices(where(), p.column_indices);
  const data::placed placed_values(where(), values), x(where(), golden::doubles(p.columns, 8));
  const tally::csr_view a{p.rows, p.columns, offsets.span(), indices.span(), placed_values.span()};
  const tally::csr_view of_host{p.rows, p.columns, p.row_offsets, p.column_indices, values};
  std::vector<double> wanted(p.rows);
  tally::spmv(tally::serial(), of_host, golden::doubles(p.columns, 8), wanted);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      const data::placed y(where(), std::vector<double>(p.rows));
      for (int round = 0; round < 10; ++round) {
        tally::spmv(where(), a, x.span(), y.span());
        const std::vector<double> got = y.read();
        if (!std::equal(got.begin(), got.end(), wanted.begin(), [](double g, double w) {
              return std::bit_cast<std::uint64_t>(g) == std::bit_cast<std::uint64_t>(w);
            })) {
          ++wrong;
        }
        const auto i = static_cast<std::size_t>(round) % cases;
        if (std::bit_cast<std::uint64_t>(in.dot(where(), i)) != in.want[i]) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#if TALLY_HAS_CUDA

using data::device_vector;

class CudaStreams : public testing::Test {
 protected:
  void SetUp() override {
    if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
    in_ = std::make_unique<inputs>(tally::cuda());
  }
  static void check(cudaError_t status) {
    ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status);
  }
  std::unique_ptr<inputs> in_;
};

TEST_F(CudaStreams, QueuedCallsOnManyStreamsFromManyThreads) {
  constexpr int threads = 4, streams = 3, rounds = 50;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      std::vector<cudaStream_t> stream(streams);
      for (auto& s : stream) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      double* results = nullptr;
      check(cudaMalloc(&results, streams * rounds * sizeof(double)));
      for (int round = 0; round < rounds; ++round) {
        for (int s = 0; s < streams; ++s) {
          const std::size_t i = static_cast<std::size_t>(round + s) % cases;
          in_->dot(tally::cuda({.stream = stream[s]}), i, results + round * streams + s);
        }
      }
      for (auto& s : stream) check(cudaStreamSynchronize(s));
      std::vector<double> got(streams * rounds);
      check(cudaMemcpy(got.data(), results, got.size() * sizeof(double), cudaMemcpyDefault));
      for (int round = 0; round < rounds; ++round) {
        for (int s = 0; s < streams; ++s) {
          const std::size_t i = static_cast<std::size_t>(round + s) % cases;
          if (std::bit_cast<std::uint64_t>(got[round * streams + s]) != in_->want[i]) ++wrong;
        }
      }
      cudaFree(results);
      for (auto& s : stream) check(cudaStreamDestroy(s));
    });
  }
  for (auto& w : workers) w.join();
  EXPECT_EQ(wrong, 0);
}

// One handle, a stream for each thread.
TEST_F(CudaStreams, TheStreamOfEachThread) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> workers;
  for (int t = 0; t < 6; ++t) {
    workers.emplace_back([&, t] {
      const tally::executor where = tally::cuda({.stream = cudaStreamPerThread});
      double* result = nullptr;
      check(cudaMalloc(&result, sizeof(double)));
      for (int round = 0; round < 100; ++round) {
        const std::size_t i = static_cast<std::size_t>(t + round) % cases;
        double got = in_->dot(where, i);
        if (std::bit_cast<std::uint64_t>(got) != in_->want[i]) ++wrong;
        in_->dot(where, i, result);
        check(cudaMemcpyAsync(&got, result, sizeof got, cudaMemcpyDefault, cudaStreamPerThread));
        check(cudaStreamSynchronize(cudaStreamPerThread));
        if (std::bit_cast<std::uint64_t>(got) != in_->want[i]) ++wrong;
      }
      cudaFree(result);
    });
  }
  for (auto& w : workers) w.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaStreams, ManyShortLivedStreams) {
  double* result = nullptr;
  check(cudaMalloc(&result, sizeof(double)));
  for (int round = 0; round < 2500; ++round) {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    in_->dot(tally::cuda({.stream = stream}), 2, result);
    if (round % 500 == 0) {
      double got = 0;
      check(cudaStreamSynchronize(stream));
      check(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDefault));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(got), in_->want[2]);
    }
    check(cudaStreamDestroy(stream));
  }
  cudaFree(result);
}

struct device_matrix {
  explicit device_matrix(const matrices::pattern& p)
      : rows(p.rows),
        columns(p.columns),
        on_host(golden::doubles(p.nonzeros(), 1)),
        offsets(p.row_offsets),
        indices(p.column_indices),
        values(on_host) {}
  tally::csr_view<double, std::int32_t, std::int32_t> view() const {
    return {rows, columns, offsets.span(), indices.span(), values.span()};
  }
  std::size_t rows, columns;
  std::vector<double> on_host;
  device_vector<std::int32_t> offsets, indices;
  device_vector<double> values;
};

// Calls of several launches, interleaved between threads.
TEST_F(CudaStreams, SequencesOfLaunchesOnOneStreamFromManyThreads) {
  constexpr int rounds = 200;
  const tally::executor where = tally::cuda();
  const device_matrix first(matrices::rows_of({3, 0, 2000, 17, 128, 129, 5000, 1}, 3000, 1));
  const device_matrix second(matrices::rows_of(std::vector<std::size_t>(5000, 200), 3000, 2));
  std::vector<std::int32_t> keys(100'000, 7);
  keys[12'345] = 256;
  const device_vector<std::int32_t> bad_keys(keys), counts(std::vector<std::int32_t>(256));
  const auto described = [&](const device_matrix& a) {
    return tally::spmv_plan(where, a.view()).describe();
  };
  const auto sorted = [&](const device_matrix& a) {
    return tally::spmv_plan(where, tally::transpose(a.view())).describe();
  };
  const auto refused = [&] {
    try {
      tally::bincount(where, bad_keys.span(), counts.span());
    } catch (const tally::error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const std::string of_first = described(first), of_second = described(second), why = refused();
  const std::string of_transpose = sorted(first);
  EXPECT_NE(why.find("12345"), std::string::npos) << why;
  std::atomic<int> wrong = 0;
  const auto repeat = [&](const auto& is_right) {
    return std::thread([&wrong, is_right] {
      for (int round = 0; round < rounds; ++round) wrong += !is_right();
    });
  };
  std::thread workers[] = {
      repeat([&] { return described(first) == of_first; }),
      repeat([&] { return described(second) == of_second; }),
      repeat([&] { return sorted(first) == of_transpose; }),
      repeat([&] { return refused() == why; }),
      repeat([&] { return refused() == why; }),
      repeat([&] { return std::bit_cast<std::uint64_t>(in_->dot(where, 2)) == in_->want[2]; })};
  for (auto& w : workers) w.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaStreams, SparseProductsAndHistogramsCapturedInAGraph) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  const matrices::pattern p = matrices::rows_of({3, 0, 2000, 17, 128, 129, 5000, 1}, 3000, 1);
  const device_matrix a(p);
  const tally::spmv_plan plan(where, a.view());
  const auto x = golden::doubles(p.columns, 2);
  const device_vector<double> device_x(x), planned(std::vector<double>(p.rows)),
      unplanned(std::vector<double>(p.rows));
  std::vector<std::int32_t> keys(10'000);
  std::vector<std::int32_t> want_counts(100);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<std::int32_t>(i * i % 107);
    if (keys[i] < 100) ++want_counts[static_cast<std::size_t>(keys[i])];
  }
  const device_vector<std::int32_t> device_keys(keys), counts(std::vector<std::int32_t>(100));
  const device_vector<tally::outside_counts> outside(std::vector<tally::outside_counts>(1));
  std::vector<double> want(p.rows);
  const tally::csr_view on_host{p.rows, p.columns, p.row_offsets, p.column_indices, a.on_host};
  tally::spmv(tally::serial(), on_host, x, want);

  const auto transpose = tally::transpose(a.view());
  const tally::spmv_plan reads(where, transpose), keeps(where, transpose, {.fixed_values = true});
  const auto v = golden::doubles(p.rows, 3);
  const device_vector<double> device_v(v), read(std::vector<double>(p.columns)),
      kept(std::vector<double>(p.columns));
  std::vector<double> want_of_transpose(p.columns);
  tally::spmv(tally::serial(), tally::transpose(on_host), v, want_of_transpose);

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  tally::spmv(where, plan, a.view(), device_x.span(), planned.span());
  tally::spmv(where, a.view(), device_x.span(), unplanned.span());
  tally::spmv(where, reads, transpose, device_v.span(), read.span());
  tally::spmv(where, keeps, transpose, device_v.span(), kept.span());
  // A call that would wait throws, and the capture goes on.
  EXPECT_THROW(tally::spmv(where, transpose, device_v.span(), read.span()), tally::error);
  tally::bincount(where, device_keys.span(), counts.span(), {.outside = outside.span().data()});
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphDestroy(graph));
  for (int replay = 0; replay < 3; ++replay) {
    for (const auto* y : {&planned, &unplanned}) {
      check(cudaMemset(y->memory.get(), 0xff, p.rows * sizeof(double)));
    }
    for (const auto* y : {&read, &kept}) {
      check(cudaMemset(y->memory.get(), 0xff, p.columns * sizeof(double)));
    }
    check(cudaMemset(counts.memory.get(), 0xff, counts.size * sizeof(std::int32_t)));
    check(cudaDeviceSynchronize());
    check(cudaGraphLaunch(executable, stream));
    check(cudaDeviceSynchronize());
    EXPECT_EQ(planned.read(), want);
    EXPECT_EQ(unplanned.read(), want);
    EXPECT_EQ(read.read(), want_of_transpose);
    EXPECT_EQ(kept.read(), want_of_transpose);
    EXPECT_EQ(counts.read(), want_counts);
    EXPECT_EQ(outside.read()[0].above,
              std::count_if(keys.begin(), keys.end(), [](auto k) { return k >= 100; }));
  }
  check(cudaGraphExecDestroy(executable));
  check(cudaStreamDestroy(stream));
}

TEST_F(CudaStreams, CapturedInAGraphAndReplayed) {
  cudaStream_t stream, other;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  double* results = nullptr;
  check(cudaMalloc(&results, cases * sizeof(double)));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (std::size_t i = 0; i < cases; ++i) {
    in_->dot(tally::cuda({.stream = stream}), i, results + i);
  }
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphDestroy(graph));
  std::vector<double> got(cases);
  for (int replay = 0; replay < 20; ++replay) {
    check(cudaMemset(results, 0xff, got.size() * sizeof(double)));
    check(cudaDeviceSynchronize());
    check(cudaGraphLaunch(executable, replay % 2 ? stream : other));
    // Eager calls beside the replay, on the captured stream.
    const double eager = in_->dot(tally::cuda({.stream = replay % 2 ? other : stream}), 3);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(eager), in_->want[3]);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(got.data(), results, got.size() * sizeof(double), cudaMemcpyDefault));
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(got[i]), in_->want[i]) << "replay " << replay;
    }
  }
  check(cudaGraphExecDestroy(executable));
  cudaFree(results);
  check(cudaStreamDestroy(stream));
  check(cudaStreamDestroy(other));
}

TEST_F(CudaStreams, WaitingOnACapturingStreamIsAnErrorAndTheCaptureGoesOn) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double* result = nullptr;
  check(cudaMalloc(&result, sizeof(double)));
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(tally::dot(tally::cuda({.stream = stream}), in_->x(1), in_->y(1)), tally::error);
  in_->dot(tally::cuda({.stream = stream}), 1, result);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  EXPECT_NE(graph, nullptr);
  check(cudaGraphDestroy(graph));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  cudaFree(result);
  check(cudaStreamDestroy(stream));
}

// Not as one launch, nor as two with other alignments and the exact grade.
TEST_F(CudaStreams, AnUpdateWithASumThatIsRefusedQueuesNothing) {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  const std::vector<double> ones(100, 1.0);
  const data::device_vector<double> x(ones), y(ones), sums(std::vector<double>(2));
  const std::span<double> u = x.span(), v = y.span(), odd_u = u.subspan(1), odd_v = v.subspan(1);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(tally::axpy_dot(where, 2, u, v, v), tally::error);
  EXPECT_THROW(tally::axpy_dot(where, 2, u, v, v, tally::exact), tally::error);
  EXPECT_THROW(tally::axpy_dot(where, 2, odd_u, odd_v, odd_v), tally::error);
  EXPECT_THROW(tally::waxpby_nrm2(where, 2, u, 1, v, v), tally::error);
  EXPECT_THROW(tally::waxpby_nrm2(where, 2, u, 1, v, v, tally::exact), tally::error);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 1;
  check(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 0u);
  check(cudaGraphDestroy(graph));

  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  tally::axpy_dot(where, 2, u, v, v, sums.span().data());
  tally::axpy_dot(where, 2, odd_u, odd_v, odd_v, sums.span().data() + 1);
  tally::fill(where, 7, v.first(1));
  tally::swap(where, u.first(1), v.first(1));
  check(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0));
  check(cudaGraphLaunch(executable, stream));
  check(cudaStreamSynchronize(stream));
  EXPECT_EQ(sums.read(), (std::vector<double>{900, 99 * 25}));
  EXPECT_EQ(x.read().front(), 7);
  EXPECT_EQ(y.read().front(), 1);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

TEST_F(CudaStreams, ResultsInPinnedAndManagedMemory) {
  double *pinned = nullptr, *managed = nullptr;
  check(cudaMallocHost(&pinned, sizeof(double)));
  check(cudaMallocManaged(&managed, sizeof(double)));
  for (double* result : {pinned, managed}) {
    in_->dot(tally::cuda(), 2, result);
    check(cudaDeviceSynchronize());
    EXPECT_EQ(std::bit_cast<std::uint64_t>(*result), in_->want[2]);
  }
  cudaFreeHost(pinned);
  cudaFree(managed);
}

#endif

}  // namespace
