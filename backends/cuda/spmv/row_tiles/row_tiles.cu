// Kernels of row tiles.
#include "backends/cuda/spmv/row_tiles/row_tiles.cuh"

namespace tally::backends::cuda {
namespace {

template <class T, int in_flight>
spmv_kernel* kernel_of(column_form from) {
  switch (from) {
    case column_form::patterns:
      return &spmv_row_tiles<T, column_form::patterns, in_flight>;
    case column_form::differences:
      return &spmv_row_tiles<T, column_form::differences, in_flight>;
    default:
      return &spmv_row_tiles<T, column_form::matrix, in_flight>;
  }
}

template <class T>
row_tile_choice choice_of(column_form from, std::size_t terms, bool has_16_in_flight) {
  std::size_t bytes = bytes_to_bring<T>(terms);
  if (from == column_form::matrix) bytes += bytes_to_bring<std::int32_t>(terms);
  if (from == column_form::differences) bytes += bytes_to_bring<std::int16_t>(terms);
  return {has_16_in_flight ? kernel_of<T, 16>(from) : kernel_of<T, 8>(from), bytes};
}

}  // namespace

row_tile_choice row_tile_kernel(type values, type x, column_form from, std::size_t terms,
                                bool has_16_in_flight) {
  if (values != x) return {};
  if (values == type::float64) return choice_of<double>(from, terms, has_16_in_flight);
  if (values == type::float32) return choice_of<float>(from, terms, has_16_in_flight);
  return {};
}

}  // namespace tally::backends::cuda
