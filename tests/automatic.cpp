// automatic(): chosen by the data's memory and length.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace {

TEST(Automatic, ShortHostVectorsRunOnSimd) {
  const std::vector<double> x(100, 1.0);
  EXPECT_EQ(tally::choose(tally::as_operand(x), tally::as_operand(x)).name(), "simd");
  EXPECT_EQ(tally::dot(x, x), 100.0);
}

TEST(Automatic, LongHostVectorsRunOnOpenmpWhereThereAreThreads) {
  const std::vector<double> x(std::size_t{1} << 22, 1.0);
  const auto where = tally::choose(tally::as_operand(x), tally::as_operand(x));
#if TALLY_HAS_OPENMP
  const bool threads =
      std::thread::hardware_concurrency() > 1 && std::getenv("OMP_NUM_THREADS") == nullptr;
  if (threads) {
    EXPECT_EQ(where.name(), "openmp");
  }
#else
  EXPECT_EQ(where.name(), "simd");
#endif
  EXPECT_EQ(tally::dot(x, x), static_cast<double>(x.size()));
}

#if TALLY_HAS_CUDA
TEST(Automatic, DeviceVectorsRunOnTheirDevice) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  for (int device = 0; device < devices; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    double* x = nullptr;
    ASSERT_EQ(cudaMalloc(&x, 800), cudaSuccess);
    const std::vector<double> host(100, 2.0);
    ASSERT_EQ(cudaMemcpy(x, host.data(), 800, cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    const auto v = tally::strided(static_cast<const double*>(x), 100, 1);
    const auto where = tally::choose(tally::as_operand(v), tally::as_operand(v));
    EXPECT_EQ(where.name(), "cuda");
    EXPECT_EQ(where.device(), device);
    EXPECT_EQ(tally::dot(v, v), 400.0);
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0) << "the current device was not left as it was found";
    EXPECT_THROW(tally::dot(v, host), tally::error);
    cudaFree(x);
  }
}
#endif

// Without cuda, kokkos.
TEST(Automatic, DeviceVectorsRunOnADevicesBackend) {
  for (const tally::executor& where : tally::executors()) {
    if (!data::on_device(where)) continue;
    const data::placed x(where, std::vector<double>(100, 2.0));
    const tally::operand v = tally::as_operand(x.span());
    EXPECT_EQ(tally::choose(v, v).name(), TALLY_HAS_CUDA ? "cuda" : "kokkos");
    EXPECT_EQ(tally::dot(x.span(), x.span()), 400.0);
    EXPECT_THROW(tally::dot(x.span(), std::vector<double>(100)), tally::error);
  }
}

}  // namespace
