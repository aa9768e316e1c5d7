// Plans of products with sparse matrices.
#include "backends/cuda/spmv/analysis/analysis.hpp"
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/analysis/defects.hpp"
#include "backends/cuda/spmv/analysis/survey.hpp"
#include "backends/cuda/spmv/band/band_rows.hpp"
#include "backends/cuda/spmv/hub_columns/hot_search.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/propagation_blocking/expansion_search.hpp"
#include "backends/cuda/spmv/row_tiles/tile_columns.hpp"

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
        made_(std::make_shared<cut_analysis>()),
        job_(a),
        hot_(a_, *made_) {
    (void)is_captured(stream_, true, "spmv_plan");  // before memory needs the stream's number
    made_->context = current.context();
    const type element = a.values.element;
    has_tiles_ =
        !products.has_places &&
        row_tile_kernel(element, element, column_source::matrix, 0, false).kernel != nullptr;
    knows_columns_ = products.fixed_columns && !products.has_places;
    looks_at_tiles_ = knows_columns_ && has_tiles_ && may_have_row_tiles(a);
    if (looks_at_tiles_) {
      make_room_for_patterns(current, stream_, a, job_, *made_);
      // A quarter above the mean fits most matrices.
      const std::size_t most = (max_shared_bytes(device_) - own_tile_bytes) / 8;
      job_.tile_terms = static_cast<std::int32_t>(std::min(
          {row_tile * (5 * a.nonzeros() / (4 * a.rows) + 2), row_tile * max_row_tile_terms, most}));
    }
    may_be_hot_ = knows_columns_ && hot_search::may_find(current, a);
    if (!products.is_checked) {
      job_.check = may_be_hot_       ? defect_check::by_others
                   : looks_at_tiles_ ? defect_check::by_tiles
                                     : defect_check::at_once;
    }
    job_.span = span_of(current, a);
    // The first launch writes pieces, too, if they fit, as most do.
    job_.shares = static_cast<std::int64_t>(a.nonzeros() / (2 * row_order::short_row)) + 1;
    job_.runs = static_cast<std::int64_t>((a.rows + a.nonzeros()) / run_size) +
                static_cast<std::int64_t>(a.rows) / job_.span + 2 + job_.shares;
    make_room_for_pieces(current);
    if (products.queued) side_.emplace(current);
    std::vector<survey_launch> launches{survey_of_matrix(current, a_, job_)};
    if (looks_at_tiles_) launches.push_back(survey_of_tiles(current, a_, job_));
    survey_.emplace(current, stream_, launches, job_, "spmv_plan", side_ ? &*side_ : nullptr);
    if (side_) stream_ = side_->get();
  }

  /// Waits, and makes the plan. Called once.
  std::shared_ptr<const cut_analysis> made(const current_device& current) {
    survey_words found = all_found(current);
    if (made_->defect.what == csr_defect::kind::none) {
      choose(current, found);
      describe(a_, products_, found, *made_);
    }
    hot_.end();
    return std::move(made_);
  }

 private:
  void make_room_for_pieces(const current_device& current) {
    made_->piece_bytes = static_cast<std::size_t>(job_.shares + job_.runs) * sizeof(spmv_piece);
    job_.pieces =
        static_cast<spmv_piece*>(made_->memory.take(made_->piece_bytes, current, stream_));
  }

  /// Cuts again until pieces fit and carry-outs are few.
  void fit_pieces(const current_device& current, survey_words& found) {
    for (;;) {
      const auto shares = static_cast<std::int64_t>(found.of[survey::shares]);
      const auto runs = static_cast<std::int64_t>(found.of[survey::runs]);
      const std::uint64_t handovers = found.of[survey::handovers];
      const bool have_room = shares <= job_.shares && runs <= job_.runs;
      if (have_room && handovers <= max_handovers) return;
      if (!have_room) {
        made_->memory.give_back(job_.pieces);
        job_.shares = shares;
        job_.runs = runs;
        make_room_for_pieces(current);
      }
      // Doubling the length at most halves the segments.
      if (handovers > max_handovers) {
        job_.share_shift += static_cast<unsigned>(std::bit_width((handovers - 1) / max_handovers));
      }
      csr_survey again = job_;
      again.check = defect_check::none;
      again.lists = nullptr;
      const survey_launch looks = survey_of_matrix(current, a_, again);
      const survey_words rows = run_survey(current, stream_, {looks}, again, "spmv_plan");
      take_pieces(rows, found);
    }
  }
  static void take_pieces(const survey_words& from, survey_words& to) {
    using namespace survey;
    for (const unsigned word : {shares, split_rows, handovers, runs}) to.of[word] = from.of[word];
  }

  bool may_have_band_kernel(std::uint64_t longest) const {
    const type element = a_.values.element;
    return knows_columns_ && may_have_band(a_, longest) &&
           band_rows_of(element, element, 0).kernel != nullptr;
  }

  /// Examines columns if there are no row tiles.
  void go_on(const current_device& current, survey_words& found) {
    const std::uint64_t longest = found.of[survey::longest];
    survey_words columns;
    // Shorter rows may have something better.
    looked_for_hot_ =
        longest > row_order::short_row && hot_.look(current, stream_, job_, found, columns);
    if (!looked_for_hot_) {
      csr_survey job = job_;
      std::vector<survey_launch> launches;
      if (job.check == defect_check::by_others) {
        job.check = defect_check::at_once;
        job.counts = false;
        launches.push_back(survey_of_matrix(current, a_, job));
      }
      if (longest <= row_order::short_row && may_have_band_kernel(longest) &&
          make_room_for_differences(current, stream_, a_, job_, *made_)) {
        looked_for_band_ = true;
        job.differences = job_.differences;
        launches.push_back(survey_of_band(a_));
      }
      if (launches.empty()) return;
      columns = run_survey(current, stream_, launches, job, "spmv_plan");
    }
    if (job_.check != defect_check::none) made_->defect = defect_of(stream_, a_, columns);
    using namespace survey;
    for (const unsigned word : {taken, covered, warp_runs, survey::reach, adjacent}) {
      found.of[word] = columns.of[word];
    }
  }

  void find_band(const current_device& current, const survey_words& found) {
    cut_analysis& to = *made_;
    const auto take = [&](const survey_words& by) {
      take_band(current, a_, job_, by.of[survey::reach], by.of[survey::adjacent], to);
    };
    if (looked_for_band_ || to.columns == column_source::differences) return take(found);
    if (!make_room_for_differences(current, stream_, a_, job_, to)) return;
    take(run_survey(current, stream_, {survey_of_band(a_)}, job_, "spmv_plan"));
  }

  void find_hot_columns(const current_device& current, survey_words found) {
    if (!looked_for_hot_) {
      if (found.of[survey::longest] > row_order::short_row) return;  // memory did not suffice
      // Few such matrices have hub columns.
      survey_words columns;
      if (!hot_.look_at_sample(current, stream_, job_, found, columns)) return;
      using namespace survey;
      for (const unsigned word : {taken, covered, warp_runs}) found.of[word] = columns.of[word];
    }
    hot_.take(found);
  }

  /// Returns the results once pieces fit, or a defect is found.
  survey_words all_found(const current_device& current) {
    survey_words found = survey_->arrive();
    survey_.reset();
    if (job_.check != defect_check::none) made_->defect = defect_of(stream_, a_, found);
    if (made_->defect.what != csr_defect::kind::none) return found;
    fit_pieces(current, found);
    const bool has_tiles = looks_at_tiles_ && found.of[survey::longest] <= max_row_tile_terms &&
                           found.of[survey::tile_terms] <= static_cast<unsigned>(job_.tile_terms);
    if (may_be_hot_ && !has_tiles) go_on(current, found);
    job_.check = defect_check::none;
    return found;
  }

  /// Chooses methods in this order: row tiles, band, pieces, hub columns, propagation blocking.
  void choose(const current_device& current, survey_words& found) {
    cut_analysis& to = *made_;
    const std::uint64_t longest = to.longest = found.of[survey::longest];
    if (!products_.has_places)
      to.threads_per_row = threads_per_row(a_.rows, a_.nonzeros(), longest);
    if (to.threads_per_row > 0 && has_tiles_ && has_row_tiles(a_, longest)) {
      to.tile_terms = found.of[survey::tile_terms];
      if (looks_at_tiles_) find_columns(current, stream_, a_, job_, found, to);
      if (to.columns == column_source::matrix && !has_row_tiles_of_columns(a_, longest)) {
        to.tile_terms = 0;
      }
    } else if (looks_at_tiles_) {
      to.memory.give_back(job_.lists);
    }
    if (knows_columns_) {
      const bool has_ring =
          to.near_rows.is_known() && !has_near_rows(reached_by_tile(to.near_rows));
      if (to.columns != column_source::patterns && !has_ring && !is_far(found) &&
          may_have_band_kernel(longest)) {
        find_band(current, found);
      }
      if (to.tile_terms == 0 && has_pieces_of_short_rows(a_, longest)) to.threads_per_row = 0;
    }
    const std::size_t pieces = found.of[survey::shares] + found.of[survey::runs];
    const bool has_pieces = to.threads_per_row == 0 && pieces <= max_blocks;
    if (has_pieces) {
      to.pieces = job_.pieces + (job_.shares - static_cast<std::int64_t>(found.of[survey::shares]));
      to.blocks = static_cast<unsigned>(pieces);
      to.split_rows = found.of[survey::split_rows];
      to.handovers = found.of[survey::handovers];
      to.share_shift = job_.share_shift;
    } else {
      to.memory.give_back(job_.pieces);
      to.piece_bytes = 0;
    }
    if (has_pieces && may_be_hot_ && to.band < 0) find_hot_columns(current, found);
    if (job_.differences != nullptr) to.memory.give_back(job_.differences);
    if (knows_columns_ && to.hot.count == 0 && to.columns == column_source::matrix && to.band < 0 &&
        may_expand(a_, longest)) {
      find_expansion(current, stream_, a_, job_, to);
    }
  }

  int device_;
  cudaStream_t stream_;
  csr_operand a_;
  planned_products products_;
  std::shared_ptr<cut_analysis> made_;
  csr_survey job_;
  bool has_tiles_ = false;  ///< whether row tiles support the values' type
  bool knows_columns_ = false, looks_at_tiles_ = false;
  bool may_be_hot_ = false, looked_for_hot_ = false, looked_for_band_ = false;
  hot_search hot_;
  std::optional<side_stream> side_;
  std::optional<queued_survey> survey_;
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
  mutable std::shared_ptr<const cut_analysis> made_;
  mutable std::exception_ptr failure_;
};

}  // namespace

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& a,
                                             const planned_products& products) {
  const current_device current(where.device());
  if (a.row_ends) {
    auto analysis = std::make_shared<cut_analysis>();
    analysis->context = current.context();
    analysis->description = "each row in " + std::to_string(threads_of_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    if (!products.is_checked) analysis->defect = find_defect(where, a);
    return analysis;
  }
  auto making = std::make_unique<planning>(where, current, a, products);
  if (!products.queued) return making->made(current);
  return std::make_shared<queued_analysis>(where.device(), current.context(), std::move(making));
}

}  // namespace tally::backends::cuda
