// Plans of products with sparse matrices.
#include "backends/cuda/spmv/analysis/search.hpp"

#include "backends/common/order/row_order.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/spmv/hub_columns/hub_columns.hpp"
#include "backends/cuda/spmv/kernels.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

namespace tally::backends::cuda {
namespace {

/// Carry-outs per product, at most; the widest takes 8 words of scratch memory.
constexpr std::size_t max_handovers = 1024;

/// Returns element `i` of `v` from device memory.
std::int64_t fetched(cudaStream_t stream, const operand& v, std::size_t i) {
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  void* const to = v.element == type::int64 ? static_cast<void*>(&wide) : &narrow;
  const beside_captures mode;
  check(cudaMemcpyAsync(to, v.slice(i, 1).data, size_of(v.element), cudaMemcpyDefault, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return v.element == type::int64 ? wide : narrow;
}

/// Returns the defect found, if any; fetches the wrong index on the stream.
csr_defect defect_of(cudaStream_t stream, const csr_operand& a, const analysis_results& words) {
  using kind = csr_defect::kind;
  const std::uint64_t found = words[result_words::defect];
  if (found == 0) return {};
  if (a.row_ends) {
    const auto index_at = [&](const operand& v, std::size_t i) { return fetched(stream, v, i); };
    return defect_of_row(a, ~found & result_words::index_mask, index_at);
  }
  csr_defect defect;
  defect.what = static_cast<kind>(~found >> result_words::index_bits);
  defect.index = ~found & result_words::index_mask;
  switch (defect.what) {
    case kind::decreasing_offset:
      defect.before = fetched(stream, a.row_offsets, defect.index);
      defect.value = fetched(stream, a.row_offsets, defect.index + 1);
      break;
    case kind::column:
      defect.value = fetched(stream, a.column_indices, defect.index);
      break;
    default:
      defect.value = fetched(stream, a.row_offsets, defect.index);
  }
  return defect;
}

}  // namespace

search::search(const executor& where, const current_device& current, const csr_operand& matrix_,
               const planned_products& planned)
    : matrix(matrix_),
      products(planned),
      knows_columns(planned.fixed_columns && !planned.is_permuted),
      job(matrix_),
      current_(&current),
      stream_(where.stream()),
      made_(std::make_shared<cuda_plan>()) {
  (void)is_captured(stream_, true, "spmv_plan");  // before memory needs the stream's number
  made_->context = current.context();
  examines_tiles = knows_columns && is_special(matrix.values.element) && may_have_row_tiles(matrix);
  if (examines_tiles) {
    allocate_stencils(*this);
    // A quarter above the mean fits most matrices.
    const std::size_t room =
        (max_shared_bytes(current.device()) - tiles_static_shared_bytes) / sizeof(std::int64_t);
    job.tile_terms = static_cast<std::int32_t>(
        std::min({rows_per_row_tile * (5 * matrix.nonzeros() / (4 * matrix.rows) + 2),
                  rows_per_row_tile * max_row_tile_terms, room}));
  }
  if (!products.is_checked) {
    job.check = may_have_hub_columns(*this) ? defect_check::by_others
                : examines_tiles            ? defect_check::by_tiles
                                            : defect_check::at_once;
  }
  job.span = span_of(current, matrix);
  // The first launch writes pieces, too, if they fit, as most do.
  job.shares = static_cast<std::int64_t>(matrix.nonzeros() / (2 * row_order::short_row)) + 1;
  job.runs = static_cast<std::int64_t>((matrix.rows + matrix.nonzeros()) / row_block_path) +
             static_cast<std::int64_t>(matrix.rows) / job.span + 2 + job.shares;
  allocate_pieces();
  if (products.queued) side_.emplace(current);
  std::vector<analysis_launch> launches{matrix_launch(current, matrix, job)};
  if (examines_tiles) launches.push_back(tiles_launch(*this, job));
  pending_.emplace(current, stream_, launches, "spmv_plan", side_ ? &*side_ : nullptr);
  if (side_) stream_ = side_->get();
}

std::shared_ptr<const cuda_plan> search::plan(const current_device& current) {
  current_ = &current;
  found = pending_->arrive();
  pending_.reset();
  const bool fit_tiles = examines_tiles && longest() <= max_row_tile_terms &&
                         found[result_words::tile_terms] <= static_cast<unsigned>(job.tile_terms);
  unchecked = job.check == defect_check::by_others && !fit_tiles;
  if (job.check != defect_check::none) made_->defect = defect_of(stream_, matrix, found);
  job.check = defect_check::none;
  if (!has_defect()) decide_tiles(*this);
  if (has_defect()) return std::move(made_);
  made_->longest = longest();
  made_->methods = find_methods(*this);
  check_columns();
  std::string& text = made_->description;
  for (auto one = made_->methods.rbegin(); one != made_->methods.rend(); ++one) {
    text = (*one)->describe(text);
  }
  text += ": " + std::to_string(matrix.rows) + " rows of " +
          std::to_string(matrix.nonzeros() / matrix.rows) + " terms in the mean, " +
          std::to_string(longest()) + " at most, " + std::to_string(found[result_words::empty]) +
          " empty";
  return std::move(made_);
}

void* search::take(std::size_t bytes) {
  try {
    return memory().take(bytes, *current_, stream_);
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return nullptr;
  }
}

bool search::has_tiles() const {
  return !products.is_permuted && is_special(matrix.values.element) &&
         has_row_tiles(matrix, longest());
}

unsigned search::threads_per_row() const {
  const bool has_tile_columns = (differences && differences->data != nullptr) || has_even_tiles();
  if (products.is_permuted || (knows_columns && !has_tile_columns && job.lists == nullptr &&
                               has_pieces_of_short_rows(matrix, longest()))) {
    return 0;
  }
  return cuda::threads_per_row(matrix.rows, matrix.nonzeros(), longest());
}

bool search::exceeds_16_bits() const {
  const difference_range known = range_in(found);
  return found[result_words::above] != 0 && !(is_near(known.lowest) && is_near(known.highest));
}

void search::allocate_pieces() {
  job.pieces = static_cast<spmv_piece*>(memory().take(piece_bytes(), *current_, stream_));
}

void search::fit_pieces() {
  using namespace result_words;
  for (;;) {
    const auto segments = static_cast<std::int64_t>(found[shares]);
    const auto row_blocks = static_cast<std::int64_t>(found[runs]);
    const bool have_room = segments <= job.shares && row_blocks <= job.runs;
    if (have_room && found[carry_outs] <= max_handovers) return;
    if (!have_room) {
      memory().give_back(job.pieces);
      job.shares = segments;
      job.runs = row_blocks;
      allocate_pieces();
    }
    // Doubling the length at most halves the segments.
    if (found[carry_outs] > max_handovers) {
      job.segment_shift +=
          static_cast<unsigned>(std::bit_width((found[carry_outs] - 1) / max_handovers));
    }
    const analysis_results again = run({matrix_launch(*current_, matrix, job)});
    for (const unsigned word : {shares, split_rows, carry_outs, runs}) found.of[word] = again[word];
  }
}

analysis_results search::run(std::vector<analysis_launch> launches, bool check_columns) {
  const bool checks = std::exchange(unchecked, false);
  analysis_job check(matrix);
  if (checks && !check_columns) {
    check.check = defect_check::at_once;
    check.counts = false;
    launches.insert(launches.begin(), matrix_launch(*current_, matrix, check));
  }
  const analysis_results of = run_analysis(*current_, stream_, launches, "spmv_plan");
  if (checks) made_->defect = defect_of(stream_, matrix, of);
  return of;
}

void fail_of_context() {
  throw error(errc::invalid_argument,
              "tally::spmv: the plan ended with its context, by cudaDeviceReset; make a new one");
}

namespace {

/// Plan not waited for yet.
class queued_analysis : public spmv_analysis {
 public:
  queued_analysis(int device, std::uint64_t context, std::unique_ptr<search> making)
      : device_(device), context_(context), making_(std::move(making)) {}

  const spmv_analysis& ready() const override {
    const std::lock_guard lock(mutex_);
    if (making_ != nullptr) {
      const current_device current(device_);
      if (current.context() != context_) fail_of_context();
      try {
        made_ = making_->plan(current);
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
  mutable std::unique_ptr<search> making_;
  mutable std::shared_ptr<const cuda_plan> made_;
  mutable std::exception_ptr failure_;
};

}  // namespace

csr_defect backend::find_defect(const executor& where, const csr_operand& a) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  analysis_job job(a);
  job.check = defect_check::at_once;
  job.counts = false;
  std::vector<analysis_launch> launches;
  if (a.row_ends) {
    launches.emplace_back(defective_row_kernel(), items_shape(a.rows), job);
    launches.push_back(publish_launch(job));
  } else {
    launches.push_back(matrix_launch(current, a, job));
  }
  return defect_of(stream, a, run_analysis(current, stream, launches, "validate"));
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor& where, const csr_operand& a,
                                                      const planned_products& products) const {
  const current_device current(where.device());
  if (a.row_ends) {
    auto analysis = std::make_shared<cuda_plan>();
    analysis->context = current.context();
    analysis->description = "any rows: each row in " + std::to_string(threads_per_any_row) +
                            " threads and long ones in a warp, since rows may lie anywhere";
    if (!products.is_checked) analysis->defect = find_defect(where, a);
    return analysis;
  }
  auto making = std::make_unique<search>(where, current, a, products);
  if (!products.queued) return making->plan(current);
  return std::make_shared<queued_analysis>(where.device(), current.context(), std::move(making));
}

}  // namespace tally::backends::cuda
