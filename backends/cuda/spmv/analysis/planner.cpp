// Plans of products with sparse matrices.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/analysis_launch.hpp"
#include "backends/cuda/spmv/analysis/defects.hpp"
#include "backends/cuda/spmv/analysis/plan.hpp"
#include "backends/cuda/spmv/band/band_rows.hpp"
#include "backends/cuda/spmv/hub_columns/hub_search.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/propagation_blocking/propagation_search.hpp"
#include "backends/cuda/spmv/row_tiles/column_forms.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

class planning {
 public:
  /// Queues analysis kernels; for a queued plan, waits on a stream of the library.
  planning(const executor& where, const current_device& current, const csr_operand& a,
           const planned_products& products)
      : device_(where.device()),
        stream_(where.stream()),
        a_(a),
        products_(products),
        made_(std::make_shared<cuda_plan>()),
        job_(a),
        hub_(a_, *made_) {
    (void)is_captured(stream_, true, "spmv_plan");  // before memory needs the stream's number
    made_->context = current.context();
    const type element = a.values.element;
    has_tile_kernel_ =
        !products.is_permuted &&
        row_tile_kernel(element, element, column_form::matrix, 0, false).kernel != nullptr;
    has_fixed_columns_ = products.fixed_columns && !products.is_permuted;
    examines_tiles_ = has_fixed_columns_ && has_tile_kernel_ && may_have_row_tiles(a);
    if (examines_tiles_) {
      allocate_stencils(current, stream_, a, job_, *made_);
      // A quarter above the mean fits most matrices.
      const std::size_t most = (max_shared_bytes(device_) - tiles_static_shared_bytes) / 8;
      job_.tile_terms = static_cast<std::int32_t>(
          std::min({rows_per_row_tile * (5 * a.nonzeros() / (4 * a.rows) + 2),
                    rows_per_row_tile * max_row_tile_terms, most}));
    }
    may_have_hub_columns_ = has_fixed_columns_ && hub_search::may_find(current, a);
    if (!products.is_checked) {
      job_.check = may_have_hub_columns_ ? defect_check::by_others
                   : examines_tiles_     ? defect_check::by_tiles
                                         : defect_check::at_once;
    }
    job_.span = span_of(current, a);
    // The first launch writes pieces, too, if they fit, as most do.
    job_.shares = static_cast<std::int64_t>(a.nonzeros() / (2 * row_order::short_row)) + 1;
    job_.runs = static_cast<std::int64_t>((a.rows + a.nonzeros()) / row_block_path) +
                static_cast<std::int64_t>(a.rows) / job_.span + 2 + job_.shares;
    allocate_pieces(current);
    if (products.queued) side_.emplace(current);
    std::vector<analysis_launch> launches{matrix_launch(current, a_, job_)};
    if (examines_tiles_) launches.push_back(tiles_launch(current, a_, job_));
    survey_.emplace(current, stream_, launches, job_, "spmv_plan", side_ ? &*side_ : nullptr);
    if (side_) stream_ = side_->get();
  }

  /// Waits, and makes the plan. Called once.
  std::shared_ptr<const cuda_plan> made(const current_device& current) {
    analysis_results found = all_found(current);
    if (made_->defect.what == csr_defect::kind::none) {
      choose(current, found);
      describe(a_, products_, found, *made_);
    }
    hub_.end();
    return std::move(made_);
  }

 private:
  void allocate_pieces(const current_device& current) {
    made_->piece_bytes = static_cast<std::size_t>(job_.shares + job_.runs) * sizeof(spmv_piece);
    job_.pieces =
        static_cast<spmv_piece*>(made_->memory.take(made_->piece_bytes, current, stream_));
  }

  /// Cuts again until pieces fit and carry-outs are few.
  void fit_pieces(const current_device& current, analysis_results& found) {
    for (;;) {
      const auto shares = static_cast<std::int64_t>(found.of[result_words::shares]);
      const auto runs = static_cast<std::int64_t>(found.of[result_words::runs]);
      const std::uint64_t carry_outs = found.of[result_words::carry_outs];
      const bool have_room = shares <= job_.shares && runs <= job_.runs;
      if (have_room && carry_outs <= max_handovers) return;
      if (!have_room) {
        made_->memory.give_back(job_.pieces);
        job_.shares = shares;
        job_.runs = runs;
        allocate_pieces(current);
      }
      // Doubling the length at most halves the segments.
      if (carry_outs > max_handovers) {
        job_.segment_shift +=
            static_cast<unsigned>(std::bit_width((carry_outs - 1) / max_handovers));
      }
      analysis_job again = job_;
      again.check = defect_check::none;
      again.lists = nullptr;
      const analysis_launch looks = matrix_launch(current, a_, again);
      const analysis_results rows = run_analysis(current, stream_, {looks}, again, "spmv_plan");
      take_pieces(rows, found);
    }
  }
  static void take_pieces(const analysis_results& from, analysis_results& to) {
    using namespace result_words;
    for (const unsigned word : {shares, split_rows, carry_outs, runs}) to.of[word] = from.of[word];
  }

  bool may_have_band_kernel(std::uint64_t longest) const {
    const type element = a_.values.element;
    return has_fixed_columns_ && may_have_band(a_, longest) &&
           band_rows_of(element, element, 0).kernel != nullptr;
  }

  /// Examines columns if there are no row tiles.
  void go_on(const current_device& current, analysis_results& found) {
    const std::uint64_t longest = found.of[result_words::longest];
    analysis_results columns;
    // Shorter rows may have something better.
    searched_hub_columns_ =
        longest > row_order::short_row && hub_.look(current, stream_, job_, found, columns);
    if (!searched_hub_columns_) {
      analysis_job job = job_;
      std::vector<analysis_launch> launches;
      if (job.check == defect_check::by_others) {
        job.check = defect_check::at_once;
        job.counts = false;
        launches.push_back(matrix_launch(current, a_, job));
      }
      if (longest <= row_order::short_row && may_have_band_kernel(longest) &&
          allocate_deltas(current, stream_, a_, job_, *made_)) {
        searched_band_ = true;
        job.differences = job_.differences;
        launches.push_back(band_launch(a_));
      }
      if (launches.empty()) return;
      columns = run_analysis(current, stream_, launches, job, "spmv_plan");
    }
    if (job_.check != defect_check::none) made_->defect = defect_of(stream_, a_, columns);
    using namespace result_words;
    for (const unsigned word : {taken, covered, warp_row_blocks, result_words::reach, adjacent}) {
      found.of[word] = columns.of[word];
    }
  }

  void find_band(const current_device& current, const analysis_results& found) {
    cuda_plan& to = *made_;
    const auto take = [&](const analysis_results& by) {
      plan_band(current, a_, job_, by.of[result_words::reach], by.of[result_words::adjacent], to);
    };
    if (searched_band_ || to.columns == column_form::differences) return take(found);
    if (!allocate_deltas(current, stream_, a_, job_, to)) return;
    take(run_analysis(current, stream_, {band_launch(a_)}, job_, "spmv_plan"));
  }

  void find_hub_columns(const current_device& current, analysis_results found) {
    if (!searched_hub_columns_) {
      if (found.of[result_words::longest] > row_order::short_row) return;  // memory did not suffice
      // Few such matrices have hub columns.
      analysis_results columns;
      if (!hub_.examine_sample(current, stream_, job_, found, columns)) return;
      using namespace result_words;
      for (const unsigned word : {taken, covered, warp_row_blocks})
        found.of[word] = columns.of[word];
    }
    hub_.take(found);
  }

  /// Returns the results once pieces fit, or a defect is found.
  analysis_results all_found(const current_device& current) {
    analysis_results found = survey_->arrive();
    survey_.reset();
    if (job_.check != defect_check::none) made_->defect = defect_of(stream_, a_, found);
    if (made_->defect.what != csr_defect::kind::none) return found;
    fit_pieces(current, found);
    const bool tiles_fit =
        examines_tiles_ && found.of[result_words::longest] <= max_row_tile_terms &&
        found.of[result_words::tile_terms] <= static_cast<unsigned>(job_.tile_terms);
    if (may_have_hub_columns_ && !tiles_fit) go_on(current, found);
    job_.check = defect_check::none;
    return found;
  }

  /// Chooses methods: row tiles (near rows, ring), pieces, hub columns, propagation blocking. A
  /// band replaces row tiles and near rows; a ring keeps it out. `spmv` decides by the product once
  /// more.
  void choose(const current_device& current, analysis_results& found) {
    cuda_plan& to = *made_;
    const std::uint64_t longest = to.longest = found.of[result_words::longest];
    if (!products_.is_permuted)
      to.threads_per_row = threads_per_row(a_.rows, a_.nonzeros(), longest);
    if (to.threads_per_row > 0 && has_tile_kernel_ && has_row_tiles(a_, longest)) {
      to.tile_terms = found.of[result_words::tile_terms];
      if (examines_tiles_) find_columns(current, stream_, a_, job_, found, to);
      if (to.columns == column_form::matrix && !has_row_tiles_of_columns(a_, longest)) {
        to.tile_terms = 0;
      }
    } else if (examines_tiles_) {
      to.memory.give_back(job_.lists);
    }
    if (has_fixed_columns_) {
      const bool has_ring =
          to.near_rows.is_known() && !has_near_rows(x_window_elements(to.near_rows));
      if (to.columns != column_form::patterns && !has_ring && !exceeds_16_bits(found) &&
          may_have_band_kernel(longest)) {
        find_band(current, found);
      }
      if (to.tile_terms == 0 && has_pieces_of_short_rows(a_, longest)) to.threads_per_row = 0;
    }
    const std::size_t pieces = found.of[result_words::shares] + found.of[result_words::runs];
    const bool has_pieces = to.threads_per_row == 0 && pieces <= max_blocks;
    if (has_pieces) {
      to.pieces =
          job_.pieces + (job_.shares - static_cast<std::int64_t>(found.of[result_words::shares]));
      to.blocks = static_cast<unsigned>(pieces);
      to.split_rows = found.of[result_words::split_rows];
      to.carry_outs = found.of[result_words::carry_outs];
      to.segment_shift = job_.segment_shift;
    } else {
      to.memory.give_back(job_.pieces);
      to.piece_bytes = 0;
    }
    if (has_pieces && may_have_hub_columns_ && to.band < 0) find_hub_columns(current, found);
    if (job_.differences != nullptr) to.memory.give_back(job_.differences);
    if (has_fixed_columns_ && to.hub.count == 0 && to.columns == column_form::matrix &&
        to.band < 0 && may_block_propagation(a_, longest)) {
      find_propagation_blocking(current, stream_, a_, job_, to);
    }
  }

  int device_;
  cudaStream_t stream_;
  csr_operand a_;
  planned_products products_;
  std::shared_ptr<cuda_plan> made_;
  analysis_job job_;
  bool has_tile_kernel_ = false;  ///< whether row tiles support the values' type
  bool has_fixed_columns_ = false, examines_tiles_ = false;
  bool may_have_hub_columns_ = false, searched_hub_columns_ = false, searched_band_ = false;
  hub_search hub_;
  std::optional<side_stream> side_;
  std::optional<pending_analysis> survey_;
};

/// Plan not waited for yet.
class queued_analysis : public spmv_analysis {
 public:
  queued_analysis(int device, std::uint64_t context, std::unique_ptr<planning> making)
      : device_(device), context_(context), making_(std::move(making)) {}

  const spmv_analysis& ready() const override {
    const std::lock_guard lock(mutex_);
    if (making_ != nullptr) {
      const current_device current(device_);
      if (current.context() != context_) fail_of_context();
      try {
        made_ = making_->made(current);
      } catch (...) {
        failure_ = std::current_exception();
      }
      making_.reset();
    }
    if (failure_) std::rethrow_exception(failure_);
    return *made_;
  }

 private:
  int device_;
  std::uint64_t context_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<planning> making_;
  mutable std::shared_ptr<const cuda_plan> made_;
  mutable std::exception_ptr failure_;
};

}  // namespace

std::shared_ptr<const spmv_analysis> backend::analyse(const executor& where, const csr_operand& a,
                                                      const planned_products& products) const {
  const current_device current(where.device());
  if (a.row_ends) {
    auto analysis = std::make_shared<cuda_plan>();
    analysis->context = current.context();
    analysis->description = "each row in " + std::to_string(threads_per_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    if (!products.is_checked) analysis->defect = find_defect(where, a);
    return analysis;
  }
  auto making = std::make_unique<planning>(where, current, a, products);
  if (!products.queued) return making->made(current);
  return std::make_shared<queued_analysis>(where.device(), current.context(), std::move(making));
}

}  // namespace tally::backends::cuda
