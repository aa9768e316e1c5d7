// Kernels of large matrices without a plan.
#include "backends/cuda/spmv/rows/unplanned.cuh"

namespace tally::backends::cuda {
namespace {

template <class T>
unplanned_choice choice_of(unsigned threads_per_row) {
  spmv_kernel* const rows = threads_per_row == 2   ? &spmv_rows_unplanned<T, 2>
                            : threads_per_row == 4 ? &spmv_rows_unplanned<T, 4>
                                                   : &spmv_rows_unplanned<T, 8>;
  return {rows, &spmv_queued<T>};
}

}  // namespace

unplanned_choice unplanned_kernels(type values, type x, unsigned threads_per_row) {
  if (values != x) return {};
  if (values == type::float64) return choice_of<double>(threads_per_row);
  if (values == type::float32) return choice_of<float>(threads_per_row);
  return {};
}

even_rows_choice even_rows_kernel(type values, type x, std::size_t terms) {
  if (values != x) return {};
  const auto choice = [terms]<class T>() -> even_rows_choice {
    return {terms <= max_8_in_flight ? &spmv_even_rows<T, 2, 8> : &spmv_even_rows<T, 4, 16>,
            bytes_to_bring<T>(rows_per_row_tile * terms) +
                bytes_to_bring<std::int32_t>(rows_per_row_tile * terms)};
  };
  if (values == type::float64) return choice.template operator()<double>();
  if (values == type::float32) return choice.template operator()<float>();
  return {};
}

}  // namespace tally::backends::cuda
