// sums, multi_dot and gemv of many, few, long and short vectors in every layout, where backends cut
// the work differently: each result has the bits of one vector's sum.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace {

using tally::order::chunk;

/// Vectors of n elements in blocks of k.
struct block_shape {
  std::size_t k, n;
  std::ptrdiff_t leading_dimension, increment;
  std::size_t blocks = 1;
  std::ptrdiff_t block_stride = 0;
  std::size_t offset = 0;
};

block_shape columns(std::size_t k, std::size_t n, std::size_t gap = 0, std::size_t blocks = 1) {
  const std::size_t increment = k + gap;
  return {k,      n,
          1,      static_cast<std::ptrdiff_t>(increment),
          blocks, static_cast<std::ptrdiff_t>(increment * n + gap)};
}

block_shape rows(std::size_t k, std::size_t n, std::size_t gap = 0, std::size_t blocks = 1) {
  const std::size_t distance = n + gap;
  return {k, n,      static_cast<std::ptrdiff_t>(distance),
          1, blocks, static_cast<std::ptrdiff_t>(distance * k + gap)};
}

class VectorLayouts : public data::OnEveryExecutor {
 protected:
  template <class T>
  void compare(const block_shape& s) {
    const std::size_t count = s.k * s.blocks;
    const std::size_t size = s.offset + static_cast<std::size_t>(s.block_stride) * (s.blocks - 1) +
                             static_cast<std::size_t>(s.leading_dimension) * s.k +
                             static_cast<std::size_t>(s.increment) * s.n + 1;
    const auto some = [](std::size_t n, std::uint64_t seed) {
      std::vector<T> values(n);
      const auto bytes = data::random_bytes<T>(n, seed, data::kind::plain);
      std::memcpy(values.data(), bytes.data(), n * sizeof(T));
      return values;
    };
    const std::vector<T> a = some(size, s.n), x = some(s.n, s.k), y = some(count, 7);
    const auto block = [&](const T* p) {
      return tally::rows(p + s.offset, s.k, s.n, s.leading_dimension, s.increment, s.blocks,
                         s.block_stride);
    };
    std::vector<T> sums(count), dots(count), products(y);
    for (std::size_t j = 0; j < count; ++j) {
      const T* const p = a.data() + s.offset +
                         static_cast<std::ptrdiff_t>(j / s.k) * s.block_stride +
                         static_cast<std::ptrdiff_t>(j % s.k) * s.leading_dimension;
      const auto v = tally::strided(p, s.n, s.increment);
      sums[j] = tally::sum(tally::serial(), v);
      dots[j] = tally::dot(tally::serial(), v, x);
    }
    const T alpha(1.5), beta(-0.25);
    tally::axpby(tally::serial(), alpha, dots, beta, products);

    const data::placed<T> far_a(where(), a), far_x(where(), x), far_y(where(), y);
    const data::placed<T> far_sums(where(), std::vector<T>(count)), far_dots(where(), sums);
    const auto run = [&](const tally::executor& on) {
      tally::sums(on, block(far_a.span().data()), far_sums.span().data());
      tally::multi_dot(on, block(far_a.span().data()), far_x.span(), far_dots.span().data());
      if (s.blocks > 1) return;
      tally::gemv(on, alpha, block(far_a.span().data()), far_x.span(), beta, far_y.span());
    };
    const std::string label =
        std::to_string(s.k) + " vectors of " + std::to_string(s.n) + " in each of " +
        std::to_string(s.blocks) + " blocks, " + std::to_string(s.leading_dimension) + " and " +
        std::to_string(s.increment) + " apart, offset " + std::to_string(s.offset);
    const auto expect = [&](const data::placed<T>& got, const std::vector<T>& want,
                            const char* what) {
      const auto values = got.read();
      EXPECT_EQ(std::memcmp(values.data(), want.data(), count * sizeof(T)), 0)
          << what << ": " << label;
    };
    run(where());
    expect(far_sums, sums, "sums");
    expect(far_dots, dots, "multi_dot");
    if (s.blocks == 1) expect(far_y, products, "gemv");
#if TALLY_HAS_CUDA
    if (where().name() == "cuda") replay(run, far_sums, far_dots);
    expect(far_sums, sums, "sums in a graph");
    expect(far_dots, dots, "multi_dot in a graph");
#endif
  }

  void compare(const block_shape& s) {
    compare<float>(s);
    if (s.k * s.n * s.blocks > std::size_t{1} << 20) return;
    compare<double>(s);
    compare<std::complex<double>>(s);
  }

#if TALLY_HAS_CUDA
 private:
  /// Runs a graph twice, over results that are cleared.
  template <class F, class T>
  static void replay(const F& run, const data::placed<T>& sums, const data::placed<T>& dots) {
    using data::check_cuda;
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    run(tally::cuda({.stream = stream}));
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiate(&executable, graph, 0));
    for (int turn = 0; turn < 2; ++turn) {
      for (const auto* all : {&sums, &dots}) {
        check_cuda(cudaMemsetAsync(all->memory.get(), 0xff, all->size * sizeof(T), stream));
      }
      check_cuda(cudaGraphLaunch(executable, stream));
      check_cuda(cudaStreamSynchronize(stream));
    }
    check_cuda(cudaGraphExecDestroy(executable));
    check_cuda(cudaGraphDestroy(graph));
    check_cuda(cudaStreamDestroy(stream));
  }
#endif
};

TEST_ON_EVERY_BACKEND(VectorLayouts, SideBySide) {
  compare(columns(64, 20 * chunk + 5));  // several device blocks a column
  compare(columns(4, 150 * chunk + 1));
  compare(columns(1000, 5 * chunk, 24));
  compare(columns(4100, 2 * chunk + 1));
  compare(columns(37, 3000, 3));
  compare(columns(3, 9 * chunk + 77));
  compare(columns(5000, 33));
  compare(columns(40, 2100, 0, 9));
  compare(columns(65, 64, 7, 300));
}

TEST_ON_EVERY_BACKEND(VectorLayouts, OneAfterAnother) {
  for (const std::size_t n : {1, 31, 33, 64, 100, 300, 513, 1000, 1500, 9000}) {
    compare(rows(270, n, n % 4 == 0 ? 0 : 4 - n % 4));
  }
  compare(rows(270, 63, 0));  // of any alignment
  compare(rows(31, 1025, 0));
  compare(rows(3, 100 * chunk + 12));  // several device blocks a row
  compare(rows(70, 17 * chunk));
  compare(rows(9, 40 * chunk, 4, 3));
  compare(rows(17, 200, 8, 5));
  compare(rows(12, 1200, 8, 5));
  // Several rows at once, and in turn.
  compare<double>(rows(2051, 1101, 3));
  compare<float>(rows(1401, 5001, 3));
  compare<double>(rows(41, 100 * chunk + 12));
  compare<float>(rows(41, 100 * chunk + 12));
}

TEST_ON_EVERY_BACKEND(VectorLayouts, Any) {
  compare({50, 700, 3, 160});
  compare({50, 700, 2500, 3});
  compare({7, 3000, 1, 1});  // overlapping
  compare({6, 500, 0, 2});   // coinciding
  compare({33, 80, 1, 36, 1, 0, 1});
  compare({6, 80, 2, 13, 4, 2000, 3});
}

}  // namespace
