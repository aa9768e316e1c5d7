// Functions of a matrix's rows on a device: a thread per row, or eight where values are scaled.
#include "backends/cuda/cuda.hpp"

#include "backends/common/sparse/row_functions.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>
#include <cstdint>

namespace tally::backends::cuda {
namespace {

constexpr unsigned threads = 256;

template <class A, unsigned lanes>
__global__ void __launch_bounds__(threads) write_rows(const __grid_constant__ row_job<A> job) {
  const std::int64_t step = std::int64_t{gridDim.x} * (threads / lanes);
  std::int64_t row = std::int64_t{blockIdx.x} * (threads / lanes) + threadIdx.x / lanes;
  for (; row < job.rows; row += step) {
    job.write(static_cast<std::size_t>(row), threadIdx.x % lanes, lanes);
  }
}

template <class A>
void run(const executor& where, const row_function_arguments& a) {
  constexpr unsigned lanes_of_scale = 8;
  const bool scales = a.what == row_function::scale;
  row_job<A> job(a);
  const std::int64_t rows_per_block = threads / (scales ? lanes_of_scale : 1);
  const auto blocks = std::min<std::int64_t>((job.rows + rows_per_block - 1) / rows_per_block,
                                             std::int64_t{1} << 20);
  auto* const kernel = scales ? &write_rows<A, lanes_of_scale> : &write_rows<A, 1>;
  launch(reinterpret_cast<const void*>(kernel), {static_cast<unsigned>(blocks), threads}, &job,
         where.device(), where.stream());
}

}  // namespace

void apply_to_rows(const executor& where, const row_function_arguments& a, bool in_double) {
  const current_device current(where.device());
  in_double ? run<double>(where, a) : run<float>(where, a);
}

void refuse_capture(const executor& where, const char* operation) {
  const current_device current(where.device());
  (void)is_captured(where.stream(), true, operation);
}

}  // namespace tally::backends::cuda
