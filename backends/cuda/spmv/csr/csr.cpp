// Methods for all types and strides. With a plan: short rows in a few threads each, or pieces, one
// per block. Without: rows that lie anywhere, or values read by a permutation, and tiles of the
// merge path.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/device/sum_shape.hpp"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <bit>
#include <string>

namespace tally::backends::cuda {
namespace {

class rows_in_threads : public method {
 public:
  explicit rows_in_threads(unsigned threads) : threads_(threads) {}

  std::string describe(const std::string&) const override {
    return "row threads: each row in " + std::to_string(threads_) +
           " threads, since rows are short";
  }
  bool multiply(const spmv_call& call) const override {
    spmv_kernel* const kernel = spmv_kernels_of(call.product).rows[std::countr_zero(threads_)];
    if (kernel == nullptr) return false;
    call.launch(
        kernel,
        {.blocks = blocks_of(call.product.a.rows, row_threads / threads_), .threads = row_threads},
        call.job);
    return true;
  }

 private:
  unsigned threads_;
};

class rows_in_pieces : public method {
 public:
  explicit rows_in_pieces(const search& s)
      : pieces_{s.job.pieces +
                    (s.job.shares - static_cast<std::int64_t>(s.found[result_words::shares])),
                s.found[result_words::runs],
                s.found[result_words::shares],
                s.found[result_words::long_rows],
                s.found[result_words::split_rows],
                s.found[result_words::carry_outs]},
        bytes_(s.piece_bytes()),
        is_permuted_(s.products.is_permuted) {}

  std::string describe(const std::string&) const override {
    const auto text = [](std::uint64_t value) { return std::to_string(value); };
    return "pieces: " + text(pieces_.row_blocks + pieces_.segments) +
           (is_permuted_ ? " blocks, which read values at places: "
                         : " blocks, since some rows are long: ") +
           text(pieces_.row_blocks) + " for runs of rows of at most " + text(row_order::short_row) +
           " terms, " + text(pieces_.segments) + " for the " + text(pieces_.long_rows) +
           " longer ones" +
           (pieces_.split_rows > 0 ? ", of which " + text(pieces_.split_rows) + " in several"
                                   : "") +
           ", in " + text(bytes_) + " bytes";
  }
  bool multiply(const spmv_call& call) const override {
    spmv_job job = call.job;
    job.pieces = pieces_.first;
    scratch words;
    if (pieces_.split_rows > 0) {
      words = call.words_for(pieces_.carry_outs, words_left::empty, job);
    }
    const spmv_choice& kernels = spmv_kernels_of(call.product);
    call.launch(call.product.is_permuted() ? kernels.any_pieces : kernels.pieces,
                {.blocks = static_cast<unsigned>(pieces_.row_blocks + pieces_.segments),
                 .threads = piece_threads,
                 .shared_bytes = kernels.piece_bytes},
                job);
    words.queued(pieces_.split_rows);
    return true;
  }
  const row_pieces* pieces() const override { return &pieces_; }

 private:
  row_pieces pieces_;
  std::size_t bytes_;
  bool is_permuted_;
};

}  // namespace

std::unique_ptr<const method> find_row_threads(search& s) {
  const unsigned threads = s.threads_per_row();
  if (threads == 0) return nullptr;
  s.memory().give_back(s.job.pieces);
  return std::make_unique<rows_in_threads>(threads);
}

std::unique_ptr<const method> find_pieces(search& s) {
  s.fit_pieces();
  return std::make_unique<rows_in_pieces>(s);
}

bool multiply_any_rows(const spmv_call& call) {
  if (!call.product.a.row_ends && !call.product.is_permuted()) return false;
  call.launch(spmv_kernels_of(call.product).any_rows,
              {.blocks = blocks_of(call.product.a.rows, any_row_threads / threads_per_any_row),
               .threads = any_row_threads},
              call.job);
  return true;
}

bool multiply_merge_path(const spmv_call& call) {
  const csr_operand& a = call.product.a;
  const spmv_choice& kernels = spmv_kernels_of(call.product);
  const std::size_t tiles = ceil_div(a.rows + a.nonzeros(), merge_tile_path);
  spmv_job job = call.job;
  while ((tiles >> job.segment_shift) >= scratch_words / call.carry_out_words()) {
    ++job.segment_shift;
  }
  // With wrong offsets some carry-outs are never taken.
  const scratch words = call.words_for((tiles >> job.segment_shift) + 1, words_left::any, job);
  call.launch(call.product.sums_values() ? kernels.value_tiles : kernels.tiles,
              {.blocks = static_cast<unsigned>(tiles),
               .threads = merge_tile_threads,
               .shared_bytes = kernels.tile_bytes},
              job);
  words.queued(tiles);
  return true;
}

}  // namespace tally::backends::cuda
