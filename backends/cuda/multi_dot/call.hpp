// One call of several sums, common to its launches.
#pragma once

#include "backends/backend.hpp"
#include "backends/cuda/multi_dot/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <algorithm>
#include <cstddef>

namespace tally::backends::cuda {

/// Blocks that fill a device: nearly two per SM of an H200.
inline constexpr std::size_t many_blocks = 256;

/// Whether is_contiguous holds for all rows.
inline bool are_contiguous(const operand& first, std::ptrdiff_t distance, std::ptrdiff_t block,
                           int lanes) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(first.element));
  const std::ptrdiff_t load = std::min<std::ptrdiff_t>(16, lanes * size);
  return is_contiguous(first, lanes) && distance * size % load == 0 && block * size % load == 0;
}

struct call {
  const executor& where;
  const current_device& current;
  bool captured;
  const results& to;
  std::size_t result_bytes;
  unsigned words_per_sum;
  update_job update;

  void* at(std::size_t j) const { return to.at(j * result_bytes); }

  /// Directs a launch's results to those from number `first` on.
  template <class Job>
  void direct(Job& job, std::size_t first) const {
    job.tag = to.tag();
    job.results = at(first);
    job.update = update;
    const auto advance = [first](typed_vector& v) {
      if (v.data == nullptr) return;
      v.data = static_cast<char*>(v.data) + static_cast<std::ptrdiff_t>(first) * v.increment *
                                                static_cast<std::ptrdiff_t>(size_of(v.number));
    };
    advance(job.update.y);
    advance(job.update.addend);
  }
};

/// The pairs of rows of a call: x and y each in blocks of `rows`, merged as far as they can be.
struct row_blocks {
  std::size_t rows = 0;
  std::size_t blocks = 1;
  std::ptrdiff_t x_distance = 0;  ///< elements from row to row
  std::ptrdiff_t y_distance = 0;
  std::ptrdiff_t x_block = 0;  ///< elements from block to block
  std::ptrdiff_t y_block = 0;

  bool has_common_x() const { return x_distance == 0 && x_block == 0; }
  bool has_common_y() const { return y_distance == 0 && y_block == 0; }
};

/// Returns the kernels for the call's types, or null.
const one_type_kernels* sums_kernels_for(const multi_sum& a);
const one_type_kernels* with_one_kernels_for(const multi_sum& a, const row_blocks& layout);

/// Queues launches for vectors side by side. False, if their rows should be summed instead.
bool sum_columns(const call& c, const multi_sum& a, const row_blocks& layout);

}  // namespace tally::backends::cuda
