// Effect of threads per row: plain kernels that differ in it alone, on rows of 4.2 nonzeros; then
// cuSPARSE and ours.
#include "bench/device.hpp"
#include "bench/ladder.hpp"
#include "bench/lane.hpp"
#include "bench/limit.hpp"
#include "bench/matrices.hpp"
#include "bench/peers/device_peers.hpp"

#include <string>

namespace bench {
namespace {

constexpr unsigned threads = 256;  // per block

/// `lanes` threads of a warp sum each row, each with every `lanes`-th term.
template <int lanes, class T>
__global__ void multiply(const std::int32_t* offsets, const std::int32_t* columns, const T* values,
                         const T* x, T* y, int rows) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = thread / lanes, lane = thread % lanes;
  T sum{};
  if (row < rows) {
    for (int j = offsets[row] + lane; j < offsets[row + 1]; j += lanes) {
      sum += values[j] * x[columns[j]];
    }
  }
  for (int half = lanes / 2; half > 0; half /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, half, lanes);
  }
  if (row < rows && lane == 0) y[row] = sum;
}

template <int lanes>
contender with_lanes(const workload& w) {
  const launch f = [=](cudaStream_t stream, void* result) {
    visit_matrix(w, [&]<class T>(const tally::csr_view<T>& a, const T* x, T*) {
      const auto blocks = static_cast<unsigned>((a.rows * lanes + threads - 1) / threads);
      multiply<lanes><<<blocks, threads, 0, stream>>>(a.row_offsets.data(), a.column_indices.data(),
                                                      a.values.data(), x, static_cast<T*>(result),
                                                      static_cast<int>(a.rows));
      check(cudaGetLastError(), "launch");
    });
  };
  return on_device(std::to_string(lanes) + (lanes == 1 ? " lane a row" : " lanes a row"), "", f, w);
}

contenders ways(const workload& w, bool) {
  contenders list = limit_of_spmv(w, device_limit);
  list += {with_lanes<1>(w), with_lanes<2>(w),  with_lanes<4>(w),
           with_lanes<8>(w), with_lanes<16>(w), with_lanes<32>(w)};
  list += peers::cusparse_on_device(w);
  return list += ours_of_spmv_on_device(w);
}

}  // namespace

constexpr lane lanes[] = {
    {.name = "ladder-spmv-cuda",
     .on_device = true,
     .what = operation::spmv,
     .sizes =
         [](const types& t, bool) {
           const bool listed = !matrices_for(t, true, false).empty();
           return listed ? std::vector{matrix_of_ladder()} : std::vector<std::size_t>{};
         },
     .ways = ways},
};
const std::span<const lane> device_spmv_ladder_lanes = lanes;

}  // namespace bench
