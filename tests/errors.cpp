// Invalid input: a clear error, nothing written.
#include "tests/data.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace {

using data::expect_error;
using tally::errc;

class Errors : public data::OnEveryExecutor {
 protected:
  void SetUp() override {
    data::OnEveryExecutor::SetUp();
    if (IsSkipped()) return;
    memory_ = std::make_unique<data::buffer>(where(), 1024);
    const std::vector<std::byte> ones(1024, std::byte{1});
    memory_->write(ones.data(), ones.size());
  }
  void TearDown() override { EXPECT_EQ(result_, 42.0) << "something was written"; }
  const double* x() const { return reinterpret_cast<const double*>(memory_->get()); }
  void dot(const tally::operand& a, const tally::operand& b) {
    tally::dot(where(), {a, b, tally::conjugate::none, {&result_, tally::type::float64}});
  }
  tally::operand vector(std::size_t n, std::ptrdiff_t increment = 1) const {
    return {x(), n, increment, tally::type::float64};
  }

  std::unique_ptr<data::buffer> memory_;
  double result_ = 42;
};

TEST_ON_EVERY_EXECUTOR(Errors, Lengths) {
  expect_error(errc::size_mismatch, "tally::dot: x has 5 elements, y has 6",
               [&] { dot(vector(5), vector(6)); });
}

TEST_ON_EVERY_EXECUTOR(Errors, NegativeLengths) {
  const auto n = static_cast<std::size_t>(-1);
  expect_error(errc::invalid_argument,
               "tally::dot: x has 18446744073709551615 elements; there can be 281474976710656",
               [&] { dot(vector(n), vector(n)); });
}

TEST_ON_EVERY_EXECUTOR(Errors, NullPointers) {
  expect_error(errc::null_pointer, "tally::dot: y is null and should point at 5 elements",
               [&] { dot(vector(5), {nullptr, 5, 1, tally::type::float64}); });
  expect_error(errc::null_pointer, "tally::dot: result is null and should point at 1 element", [&] {
    tally::dot(where(), {vector(5),
                         vector(5),
                         tally::conjugate::none,
                         {nullptr, tally::type::float64},
                         {.wait = false}});
  });
}

TEST_ON_EVERY_EXECUTOR(Errors, ZeroIncrement) {
  expect_error(errc::zero_increment, "tally::dot: y has increment 0",
               [&] { dot(vector(5), vector(5, 0)); });
  expect_error(errc::zero_increment, "tally::dot: x has increment 0", [&] {
    tally::dot(where(),
               {vector(5, 0), vector(5), tally::conjugate::x, {&result_, tally::type::float64}});
  });
}

TEST_ON_EVERY_EXECUTOR(Errors, Misaligned) {
  const tally::operand odd = {memory_->get() + 4, 5, 1, tally::type::float64};
  expect_error(errc::misaligned,
               "tally::dot: x is not a multiple of 8 bytes, the alignment of float64",
               [&] { dot(odd, vector(5)); });
}

TEST_ON_EVERY_EXECUTOR(Errors, ResultTypes) {
  expect_error(
      errc::unsupported_type, "tally::dot: the result is float32; float64 gives float64", [&] {
        tally::dot(
            where(),
            {vector(5), vector(5), tally::conjugate::none, {&result_, tally::type::float32}});
      });
}

TEST_ON_EVERY_EXECUTOR(Errors, OfReductions) {
  using tally::reduction;
  using tally::type;
  const auto reduce = [&](reduction what, const tally::operand& v, type result = type::float64) {
    tally::reduce(where(), {v, what, {&result_, result}});
  };
  expect_error(errc::invalid_argument,
               "tally::sum: x has 18446744073709551615 elements; there can be 281474976710656",
               [&] { reduce(reduction::sum, vector(static_cast<std::size_t>(-1))); });
  expect_error(errc::null_pointer, "tally::asum: x is null and should point at 5 elements",
               [&] { reduce(reduction::asum, {nullptr, 5, 1, type::float64}); });
  expect_error(errc::null_pointer, "tally::sum: result is null and should point at 1 element", [&] {
    tally::reduce(where(), {vector(5), reduction::sum, {nullptr, type::float64}, {.wait = false}});
  });
  expect_error(errc::zero_increment, "tally::nrm2: x has increment 0",
               [&] { reduce(reduction::nrm2, vector(5, 0)); });
  expect_error(errc::misaligned,
               "tally::nrm2: x is not a multiple of 8 bytes, the alignment of float64",
               [&] { reduce(reduction::nrm2, {memory_->get() + 4, 5, 1, type::float64}); });
  expect_error(errc::misaligned,
               "tally::sum: result is not a multiple of 8 bytes, the alignment of float64", [&] {
                 auto* const odd = reinterpret_cast<std::byte*>(&result_) + 4;
                 tally::reduce(where(), {vector(5), reduction::sum, {odd, type::float64}});
               });
  expect_error(errc::unsupported_type, "tally::sum: the result is float32; float64 gives float64",
               [&] { reduce(reduction::sum, vector(5), type::float32); });
  const tally::operand bytes = {memory_->get(), 5, 1, type::int8};
  expect_error(errc::unsupported_type, "tally::nrm2: the result is int64; int8 gives float64",
               [&] { reduce(reduction::nrm2, bytes, type::int64); });
  const tally::operand pairs = {memory_->get(), 5, 1, type::complex64};
  expect_error(errc::unsupported_type,
               "tally::asum: the result is complex64; complex64 gives float32 or float64",
               [&] { reduce(reduction::asum, pairs, type::complex64); });
  expect_error(errc::unsupported_type, "tally::sum: x has element type 77; there are 11",
               [&] { reduce(reduction::sum, {memory_->get(), 5, 1, static_cast<type>(77)}); });
  expect_error(errc::unsupported_type, "tally::sum: result has element type 77; there are 11",
               [&] { reduce(reduction::sum, vector(5), static_cast<type>(77)); });
  expect_error(errc::invalid_argument, "tally::reduce: what is 9; there are 5 reductions",
               [&] { reduce(static_cast<reduction>(9), vector(5)); });
}

TEST_ON_EVERY_EXECUTOR(Errors, OfExtrema) {
  using tally::extreme;
  using tally::type;
  std::array<double, 4> result = {42, 42, 42, 42};
  const auto find = [&](extreme what, const tally::operand& v) {
    tally::find_extremum(where(), {v, what, result.data()});
  };
  for (const auto& [what, name] : {std::pair(extreme::min, "min"), std::pair(extreme::max, "max"),
                                   std::pair(extreme::minmax, "minmax")}) {
    const std::string function = std::string("tally::") + name;
    expect_error(errc::no_elements, function + ": x has 0 elements and should have at least 1",
                 [&, w = what] { find(w, vector(0)); });
    expect_error(errc::unsupported_type,
                 function + ": x is complex64; complex numbers have no order",
                 [&, w = what] { find(w, {memory_->get(), 5, 1, type::complex64}); });
  }
  expect_error(errc::invalid_argument,
               "tally::iamax: x has 18446744073709551615 elements; there can be 281474976710656",
               [&] { find(extreme::iamax, vector(static_cast<std::size_t>(-1))); });
  expect_error(errc::null_pointer, "tally::max: x is null and should point at 5 elements",
               [&] { find(extreme::max, {nullptr, 5, 1, type::float64}); });
  expect_error(
      errc::null_pointer, "tally::iamax: result is null and should point at 1 element", [&] {
        tally::find_extremum(where(), {vector(0), extreme::iamax, nullptr, {.wait = false}});
      });
  expect_error(errc::zero_increment, "tally::minmax: x has increment 0",
               [&] { find(extreme::minmax, vector(5, 0)); });
  expect_error(errc::misaligned,
               "tally::min: x is not a multiple of 8 bytes, the alignment of float64",
               [&] { find(extreme::min, {memory_->get() + 4, 5, 1, type::float64}); });
  expect_error(errc::misaligned,
               "tally::min: result is not a multiple of 8 bytes, the alignment of int64", [&] {
                 auto* const odd = reinterpret_cast<std::byte*>(result.data()) + 4;
                 tally::find_extremum(where(), {vector(5), extreme::min, odd});
               });
  expect_error(errc::unsupported_type, "tally::min: x has element type 77; there are 11",
               [&] { find(extreme::min, {memory_->get(), 5, 1, static_cast<type>(77)}); });
  expect_error(errc::invalid_argument, "tally::find_extremum: what is 9; there are 4 extremes",
               [&] { find(static_cast<extreme>(9), vector(5)); });
  EXPECT_EQ(result, (std::array<double, 4>{42, 42, 42, 42}));
}

TEST_ON_EVERY_EXECUTOR(Errors, MemoryOfTheOtherSide) {
  if (where().name() == "workspace") GTEST_SKIP() << "it reaches both sides";
  const auto all = tally::executors();
  const auto device_executor = std::ranges::find_if(all, data::on_device);
  if (device_executor == all.end()) GTEST_SKIP() << "no device";
  const std::vector<double> host(8, 1.0);
  const tally::operand on_host = tally::as_operand(host);
  const tally::buffer there(*device_executor, 64);
  auto* const device = static_cast<double*>(there.get());
  const std::string device_memory =
      TALLY_HAS_CUDA ? "the memory of CUDA device 0" : "the memory of device 0";
  const tally::operand on_device = {device, 8, 1, tally::type::float64};
  const bool far = data::on_device(where());
  expect_error(errc::wrong_memory,
               std::string("tally::dot: y is in ") + (far ? "host memory" : device_memory) +
                   ", which " + where().description() + " can't reach",
               [&] { dot(vector(8), far ? on_host : on_device); });
  expect_error(errc::wrong_memory,
               std::string("tally::nrm2: x is in ") + (far ? "host memory" : device_memory) +
                   ", which " + where().description() + " can't reach",
               [&] {
                 tally::reduce(where(), {far ? on_host : on_device,
                                         tally::reduction::nrm2,
                                         {&result_, tally::type::float64}});
               });
  std::array<double, 2> found = {42, 42};
  expect_error(errc::wrong_memory,
               std::string("tally::min: x is in ") + (far ? "host memory" : device_memory) +
                   ", which " + where().description() + " can't reach",
               [&] {
                 tally::find_extremum(
                     where(), {far ? on_host : on_device, tally::extreme::min, found.data()});
               });
  expect_error(errc::wrong_memory,
               std::string("tally::dot: result is in ") + (far ? "host memory" : device_memory) +
                   ", which " + where().description() + " can't reach",
               [&] {
                 tally::dot(where(), {vector(8),
                                      vector(8),
                                      tally::conjugate::none,
                                      {far ? &result_ : device, tally::type::float64},
                                      {.wait = false}});
               });
  expect_error(
      errc::wrong_memory,
      "tally::dot: result is in " + device_memory +
          "; the form that returns a value needs host memory",
      [&] {
        tally::dot(where(),
                   {vector(8), vector(8), tally::conjugate::none, {device, tally::type::float64}});
      });
}

TEST(Backends, AMissingOneSaysWhichAreThere) {
#if !TALLY_HAS_CUDA
  try {
    tally::cuda();
    FAIL();
  } catch (const tally::error& e) {
    EXPECT_EQ(e.code(), errc::missing_backend);
    EXPECT_TRUE(std::string(e.what()).starts_with(
        "tally::cuda: this build has no cuda backend; it has serial, simd"))
        << e.what();
  }
#else
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
    try {
      tally::cuda({.device = devices});
      FAIL();
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), errc::no_device) << e.what();
    }
  } else {
    try {
      tally::cuda();
      FAIL();
    } catch (const tally::error& e) {
      EXPECT_EQ(e.code(), errc::no_device) << e.what();
      EXPECT_TRUE(std::string(e.what()).starts_with("tally::cuda: ")) << e.what();
    }
  }
#endif
#if !TALLY_HAS_OPENMP
  EXPECT_THROW(tally::openmp(), tally::error);
#else
  expect_error(errc::invalid_argument,
               "tally::openmp: threads is -3; it must be positive, or 0 for OpenMP's default",
               [] { tally::openmp({.threads = -3}); });
#endif
#if !TALLY_HAS_KOKKOS
  EXPECT_THROW(tally::kokkos(), tally::error);
#endif
}

}  // namespace
