// Search for the methods of a plan.
#pragma once

#include "backends/cuda/spmv/analysis/analysis_launch.hpp"
#include "backends/cuda/spmv/analysis/tile_columns.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tally::backends::cuda {

/// What is known of a matrix, and runs of analysis kernels that find more.
class search {
 public:
  /// Queues the first kernels; for a queued plan, waits on a stream of the library.
  search(const executor& where, const current_device& current, const csr_operand& matrix,
         const planned_products& planned);

  /// Waits, and makes the plan. Called once.
  std::shared_ptr<const cuda_plan> plan(const current_device& current);

  const current_device& current() const { return *current_; }
  cudaStream_t stream() const { return stream_; }
  kept_memory& memory() { return made_->memory; }
  /// Returns memory of the plan, or null if there is not enough.
  void* take(std::size_t bytes);
  /// Whether a kernel with this much dynamic shared memory fits, beside `own` static.
  bool has_room(std::size_t bytes, std::size_t own = static_shared_bytes) const {
    return bytes + own <= max_shared_bytes(current_->device());
  }

  bool has_defect() const { return made_->defect.what != csr_defect::kind::none; }
  std::size_t longest() const { return found[result_words::longest]; }
  /// Whether rows may be in tiles of one thread each.
  bool has_tiles() const;
  /// Whether each row has a block of its own, unless a better method is found.
  bool has_whole_rows() const {
    return found[result_words::long_rows] == matrix.rows && may_have_whole_rows(matrix, longest());
  }
  /// Whether they are, with the matrix's columns, unless a better method is found.
  bool has_even_tiles() const { return has_tiles() && has_row_tiles_of_columns(matrix, longest()); }
  /// Returns the threads per row of the general method, 0 for pieces. Called after searches for
  /// differences.
  unsigned threads_per_row() const;
  /// Whether some difference column - row is known not to fit in 16 bits.
  bool exceeds_16_bits() const;

  /// Cuts again until pieces fit and carry-outs are few.
  void fit_pieces();
  std::size_t piece_bytes() const {
    return static_cast<std::size_t>(job.shares + job.runs) * sizeof(spmv_piece);
  }

  /// Runs kernels, and waits. If columns are unchecked, checks them, too, unless the kernels do.
  analysis_results run(std::vector<analysis_launch> launches, bool check_columns = false);
  /// Runs a kernel whose last block does not publish.
  template <class Job>
  analysis_results run(void (*kernel)(Job), const launch_shape& shape, Job& parameter) {
    analysis_job published(matrix);
    return run({{kernel, shape, parameter}, publish_launch(published)});
  }
  void check_columns() {
    if (unchecked) (void)run({});
  }

  csr_operand matrix;
  planned_products products;
  bool knows_columns;           ///< columns are fixed, values in their order
  bool examines_tiles = false;  ///< rows may be in tiles: `found` has stencils and differences
  bool unchecked = false;       ///< columns may be outside the matrix
  analysis_job job;             ///< of the first kernels
  analysis_results found;       ///< their results
  std::optional<column_differences> differences;  ///< of row tiles, once sought

 private:
  void allocate_pieces();

  const current_device* current_;
  cudaStream_t stream_;
  std::shared_ptr<cuda_plan> made_;
  std::optional<side_stream> side_;
  std::optional<pending_analysis> pending_;
};

/// Fails a product whose plan outlived its context.
[[noreturn]] void fail_of_context();

}  // namespace tally::backends::cuda
