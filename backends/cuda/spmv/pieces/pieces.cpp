// Row blocks and row segments, one per block of threads.
#include "backends/common/order/row_order.hpp"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

namespace tally::backends::cuda {
namespace {

class rows_in_pieces : public method {
 public:
  explicit rows_in_pieces(const search& s)
      : pieces_(s.job.pieces +
                (s.job.shares - static_cast<std::int64_t>(s.found[result_words::shares]))),
        bytes_(s.piece_bytes()),
        is_permuted_(s.products.is_permuted),
        row_blocks_(s.found[result_words::runs]),
        segments_(s.found[result_words::shares]),
        long_rows_(s.found[result_words::long_rows]),
        split_rows_(s.found[result_words::split_rows]),
        carry_outs_(s.found[result_words::carry_outs]) {}

  std::string describe(const std::string&) const override {
    const auto text = [](std::uint64_t value) { return std::to_string(value); };
    return text(row_blocks_ + segments_) +
           (is_permuted_ ? " blocks, which read values at places: "
                         : " blocks, since some rows are long: ") +
           text(row_blocks_) + " for runs of rows of at most " + text(row_order::short_row) +
           " terms, " + text(segments_) + " for the " + text(long_rows_) + " longer ones" +
           (split_rows_ > 0 ? ", of which " + text(split_rows_) + " in several" : "") + ", in " +
           text(bytes_) + " bytes";
  }
  bool multiply(const spmv_call& call) const override {
    spmv_job job = call.job;
    job.pieces = pieces_;
    scratch words;
    if (split_rows_ > 0) words = call.words_for(carry_outs_, words_left::empty, job);
    const spmv_choice& kernels = spmv_kernels_of(call.product);
    call.launch(call.product.is_permuted() ? kernels.any_pieces : kernels.pieces,
                {.blocks = static_cast<unsigned>(row_blocks_ + segments_),
                 .threads = piece_threads,
                 .shared_bytes = kernels.piece_bytes},
                job);
    words.queued(split_rows_);
    return true;
  }

 private:
  const spmv_piece* pieces_;
  std::size_t bytes_;
  bool is_permuted_;
  std::uint64_t row_blocks_, segments_, long_rows_, split_rows_;
  std::size_t carry_outs_;
};

}  // namespace

std::unique_ptr<const method> find_pieces(search& s) {
  s.fit_pieces();
  return std::make_unique<rows_in_pieces>(s);
}

}  // namespace tally::backends::cuda
