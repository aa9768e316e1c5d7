// Kernels of several products of one matrix.
#include "backends/common/types/typed_vector.hpp"
#include "backends/cuda/spmm/chunks.cuh"
#include "backends/cuda/spmm/parts.cuh"
#include "backends/cuda/spmm/pieces.cuh"
#include "backends/cuda/spmm/tiles.cuh"

namespace tally::backends::cuda {
namespace {

template <class W>
__global__ void __launch_bounds__(copy_rows* copy_lines)
    copy_columns(const __grid_constant__ copy_columns_job job) {
  __shared__ W tile[spmm_columns][copy_rows + 1];
  const std::int64_t first = std::int64_t{blockIdx.x} * copy_rows;
  const int thread = static_cast<int>(threadIdx.x % copy_rows);
  const int rows = static_cast<int>(::min(std::int64_t{copy_rows}, job.rows - first));
  for (int c = static_cast<int>(threadIdx.x / copy_rows); c < job.width;
       c += static_cast<int>(copy_lines)) {
    if (thread < rows) {
      tile[c][thread] = typed::number_at<W>(
          job.x.data, (first + thread) * job.x.increment + c * job.step, job.x.number);
    }
  }
  __syncthreads();
  W* const to = static_cast<W*>(job.to) + first * job.width;
  for (int i = static_cast<int>(threadIdx.x); i < rows * job.width;
       i += static_cast<int>(copy_rows * copy_lines)) {
    to[i] = tile[i % job.width][i / job.width];
  }
}

template <class W, class V, class I, int count>
constexpr spmm_row_kernels row_kernels_of() {
  spmm_row_kernels all;
  all.tiles = &sum_tiles<W, V, I, count>;
  all.parts[0] = &sum_rows_in_parts<W, V, I, count, 1>;
  all.parts[1] = &sum_rows_in_parts<W, V, I, count, 2>;
  all.parts[2] = &sum_rows_in_parts<W, V, I, count, 4>;
  all.parts[3] = &sum_rows_in_parts<W, V, I, count, 8>;
  all.pieces = &sum_pieces<W, V, I, count, spmm_threads>;
  all.wide_pieces = &sum_pieces<W, V, I, count, 2 * spmm_threads>;
  return all;
}

template <class W, class V>
constexpr spmm_choice choice_of() {
  spmm_choice all;
  all.rows[0][0] = row_kernels_of<W, V, std::int32_t, 1>();
  all.rows[0][1] = row_kernels_of<W, V, std::int64_t, 1>();
  all.rows[1][0] = row_kernels_of<W, V, std::int32_t, 2>();
  all.rows[1][1] = row_kernels_of<W, V, std::int64_t, 2>();
  all.chunks = &sum_chunks<W, V>;
  all.copy = &copy_columns<W>;
  return all;
}

}  // namespace

spmm_choice spmm_kernels(type accumulator, type values) {
  if (accumulator == type::float64 && values == type::float64) return choice_of<double, double>();
  if (accumulator == type::float64 && values == type::float32) return choice_of<double, float>();
  if (accumulator == type::float32 && values == type::float32) return choice_of<float, float>();
  return {};
}

}  // namespace tally::backends::cuda
