// Several host threads, several streams, graphs: at once, and always the same bits.
#include "tests/data.hpp"
#include "tests/golden.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <thread>

namespace {

constexpr std::size_t sizes[] = {3, 1000, 20011, 300007};
/// Dot products of these sizes, in either grade.
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

TEST_P(Concurrency, ManyThreads) {
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

TALLY_ON_EVERY_EXECUTOR(Concurrency);

#if TALLY_HAS_CUDA

class CudaStreams : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no CUDA device";
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

// One handle, but a stream of its own for each thread.
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
    // Eager calls beside the replay, on the stream that was captured.
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
