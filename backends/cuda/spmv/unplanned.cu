// The kernels of large matrices without a plan, for values and x of one type.
#include "backends/cuda/spmv/unplanned.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
unplanned_choice choice_of(unsigned threads_a_row) {
  spmv_kernel* const rows = threads_a_row == 2   ? &spmv_rows_unplanned<T, 2>
                            : threads_a_row == 4 ? &spmv_rows_unplanned<T, 4>
                                                 : &spmv_rows_unplanned<T, 8>;
  return {rows, &spmv_queued<T>};
}

}  // namespace

unplanned_choice unplanned_kernels(type values, type x, unsigned threads_a_row) {
  if (values != x) return {};
  if (values == type::float64) return choice_of<double>(threads_a_row);
  if (values == type::float32) return choice_of<float>(threads_a_row);
  return {};
}

}  // namespace tally::backends::cuda
