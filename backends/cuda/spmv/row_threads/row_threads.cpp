// Short rows in a few threads each.
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"
#include "backends/cuda/spmv/shape.hpp"

#include <bit>

namespace tally::backends::cuda {
namespace {

class rows_in_threads : public method {
 public:
  explicit rows_in_threads(unsigned threads) : threads_(threads) {}

  std::string describe(const std::string&) const override {
    return "each row in " + std::to_string(threads_) + " threads, since rows are short";
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

}  // namespace

std::unique_ptr<const method> find_row_threads(search& s) {
  const unsigned threads = s.threads_per_row();
  if (threads == 0) return nullptr;
  s.memory().give_back(s.job.pieces);
  return std::make_unique<rows_in_threads>(threads);
}

}  // namespace tally::backends::cuda
