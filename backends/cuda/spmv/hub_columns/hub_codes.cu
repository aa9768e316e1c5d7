// Analysis kernels for hub columns: counts of a sample, least use, and codes. In between,
// hub_pieces.cu picks the columns.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/warp_reduction.cuh"
#include "backends/cuda/spmv/analysis/analysis_kernels.cuh"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

/// Counts the terms of columns in a sample: one of some adjacent groups, picked by a hash, so that
/// regular matrices have no columns in all groups or none.
__global__ void __launch_bounds__(256) sample_columns(const analysis_job s) {
  wait_for_launch_before();
  let_launch_after_start();
  const std::int64_t warps = all_threads() / warp;
  std::uint32_t* const uses = s.uses + blockIdx.x % s.counters * s.column_count;
  unsigned looked = 0;
  const auto go_over = [&]<class Column>(const Column* columns) {
    constexpr int in_flight = 4;
    for (std::int64_t some = first_index() / warp; some << s.sample_shift << 5 < s.nonzeros;
         some += in_flight * warps) {
      Column column[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t of = some + k * warps;
        const unsigned hash = static_cast<unsigned>(of) * 0x9e3779b1u >> 16;
        const std::int64_t group = (of << s.sample_shift) + (hash & ((1u << s.sample_shift) - 1));
        const std::int64_t i = group * warp + threadIdx.x % warp;
        column[k] = i < s.nonzeros ? columns[i] : -1;
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (column[k] < 0 || column[k] >= s.column_count) continue;
        atomicAdd(uses + column[k], 1u);
        ++looked;
      }
    }
  };
  s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                 : go_over(static_cast<const std::int32_t*>(s.columns.data));
  add_of_block(s, result_words::sampled, looked);
}

/// Finds the least use of a hub column, and the hub columns' part of the sample, in a block.
__device__ inline void find_min_hub_use(const analysis_job& s) {
  constexpr unsigned bins = result_words::max_uses + 1, own = bins / 256;
  __shared__ std::uint32_t of_warp[256 / warp];
  __shared__ unsigned min_use, columns_above_min_use;
  const auto most = static_cast<unsigned>(s.max_hub);
  const unsigned first = (255 - threadIdx.x) * own;  // lower threads have higher bins
  unsigned columns[own], sum = 0;
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    columns[i] = __ldcg(s.bins + first + i);
    sum += columns[i];
  }
  unsigned more = sum_of_lower_threads(sum, of_warp);
  if (more <= most && (more + sum > most || threadIdx.x == 255)) {
    unsigned least = own;
#pragma unroll
    for (int i = own - 1; i >= 0; --i) {
      if (least == i + 1u && more + columns[i] <= most) {
        more += columns[i];
        least = static_cast<unsigned>(i);
      }
    }
    // Not all columns with the least use fit, unless all columns do.
    min_use = first + least > 0 ? first + least - 1 : 0;
    columns_above_min_use = more;
    *counter(s, result_words::min_use) = min_use;
    *counter(s, result_words::columns_above_min_use) = columns_above_min_use;
  }
  __syncthreads();
  unsigned covered = 0;  // without the last bin, already counted
#pragma unroll
  for (unsigned i = 0; i < own; ++i) {
    const unsigned use = first + i;
    if (use < min_use || use == result_words::max_uses) continue;
    covered +=
        use * (use == min_use ? ::min(columns[i], most - columns_above_min_use) : columns[i]);
  }
  add_of_block(s, result_words::hub_samples, covered);
}

__global__ void __launch_bounds__(256) count_use_histogram(const analysis_job s) {
  __shared__ unsigned bins[result_words::max_uses + 1], classes[result_words::classes];
  for (unsigned i = threadIdx.x; i <= result_words::max_uses; i += blockDim.x) bins[i] = 0;
  if (threadIdx.x < result_words::classes) classes[threadIdx.x] = 0;
  __syncthreads();
  wait_for_launch_before();
  let_launch_after_start();
  constexpr int in_flight = 8;
  const auto apart = static_cast<int>(all_threads());
  const auto first = static_cast<int>(first_index());
  unsigned once = 0, twice = 0;
  for (std::int64_t i = first; i < s.column_count; i += in_flight * apart) {
    unsigned uses[in_flight];
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      uses[k] = sampled_terms_of(s, i + k * apart);
    }
#pragma unroll
    for (int k = 0; k < in_flight; ++k) {
      // Many matrices have most columns in bins 1 and 2: too many additions there.
      once += uses[k] == 1;
      twice += uses[k] == 2;
      if (uses[k] > 2) atomicAdd(bins + ::min(uses[k], result_words::max_uses), 1u);
      if (uses[k] >= result_words::max_uses)
        atomicAdd(counter(s, result_words::hub_samples), 0ull + uses[k]);
    }
  }
  const auto go_over_rows = [&]<class Offset>(const Offset* offsets) {
    for (std::int64_t i = first; i < s.rows; i += in_flight * apart) {
      int length[in_flight];
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        const std::int64_t row = ::min(i + k * apart, s.rows - 1);
        length[k] = static_cast<int>(offsets[row + 1] - offsets[row]);
      }
#pragma unroll
      for (int k = 0; k < in_flight; ++k) {
        if (length[k] > static_cast<int>(row_order::short_row) && i + k * apart < s.rows) {
          add_to_classes(s, length[k], classes);
        }
      }
    }
  };
  s.offsets.wide ? go_over_rows(static_cast<const std::int64_t*>(s.offsets.data))
                 : go_over_rows(static_cast<const std::int32_t*>(s.offsets.data));
  once = sum_of_warp(once);
  twice = sum_of_warp(twice);
  if (threadIdx.x % warp == 0) {
    atomicAdd(bins + 1, once);
    atomicAdd(bins + 2, twice);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i <= result_words::max_uses; i += blockDim.x) {
    if (bins[i] > 0) atomicAdd(s.bins + i, bins[i]);
  }
  if (threadIdx.x < result_words::classes && classes[threadIdx.x] > 0) {
    atomicAdd(s.classes + threadIdx.x, classes[threadIdx.x]);
  }
  if (!is_last_block(s, result_words::counted)) return;
  find_min_hub_use(s);
  if (!s.tells) return;
  __threadfence();
  __syncthreads();
  tell(s);
}

/// Writes codes, with the table in shared memory if it fits: random reads from L2 cost more
/// (tuning/spmv.md).
template <bool in_shared>
__global__ void __launch_bounds__(codes_threads, 1) write_codes(const analysis_job s) {
  extern __shared__ uint4 memory[];
  wait_for_launch_before();
  unsigned covered = 0;
  if (!are_hub_columns(s)) {
    if (s.check != defect_check::none) check_columns(s, first_index(), all_threads());
  } else {
    const auto* bits = s.table.bits;
    const auto* places = s.table.places;
    if constexpr (in_shared) {
      const auto* const from = reinterpret_cast<const uint4*>(s.table.bits);
      const auto units = static_cast<unsigned>(hub_bitmap::bytes(s.table.groups) / sizeof(uint4));
      for (unsigned i = threadIdx.x; i < units; i += codes_threads) memory[i] = __ldcg(from + i);
      bits = reinterpret_cast<const std::uint32_t*>(memory);
      places = reinterpret_cast<const std::uint16_t*>(bits + 2 * s.table.groups);
      __syncthreads();
    }
    const auto bits_of = [](std::uint32_t word) {
      return static_cast<unsigned>(__popc(static_cast<int>(word)));
    };
    const auto code_of = [&](unsigned column) {
      const std::uint32_t own = bits[column / warp], bit = 1u << column % warp;
      if ((own & bit) == 0) return column;
      ++covered;
      const unsigned before = column / warp % 2 == 0 ? 0 : bits_of(bits[column / warp - 1]);
      return 1u << 31 | (places[column / (2 * warp)] + before + bits_of(own & (bit - 1)));
    };
    const auto end = static_cast<std::uint64_t>(s.column_count);
    const auto go_over = [&]<class Column>(const Column* columns) {
      constexpr int in_flight = 8;
      const auto apart = static_cast<unsigned>(all_threads());
      const auto nonzeros = static_cast<unsigned>(s.nonzeros);
      for (auto i = static_cast<unsigned>(first_index()); i < nonzeros; i += in_flight * apart) {
        Column column[in_flight];
#pragma unroll
        for (int k = 0; k < in_flight; ++k) {
          column[k] = i + k * apart < nonzeros ? columns[i + k * apart] : 0;
        }
#pragma unroll
        for (int k = 0; k < in_flight; ++k) {
          const unsigned at = i + k * apart;
          if (at >= nonzeros) continue;
          if (static_cast<std::uint64_t>(std::int64_t{column[k]}) >= end) {
            if (s.check != defect_check::none) report(s, csr_defect::kind::column, at);
            continue;
          }
          s.codes[at] = static_cast<std::int32_t>(code_of(static_cast<unsigned>(column[k])));
        }
      }
    };
    s.columns.wide ? go_over(static_cast<const std::int64_t*>(s.columns.data))
                   : go_over(static_cast<const std::int32_t*>(s.columns.data));
  }
  add_of_block(s, result_words::covered, covered);
  end_analysis_block(s);
}

}  // namespace

analysis_kernel* sample_kernel() { return &sample_columns; }
analysis_kernel* use_histogram_kernel() { return &count_use_histogram; }
analysis_kernel* codes_kernel(bool in_shared) {
  return in_shared ? &write_codes<true> : &write_codes<false>;
}

}  // namespace tally::backends::cuda
