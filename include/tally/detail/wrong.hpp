// What may be wrong with a call: names for the compiler's messages.
#pragma once

#include <cstdint>

namespace tally::detail {

/// Reasons.
enum class wrong : std::uint8_t {
  nothing,
  /// The forms are in the line of the deleted function, and in the documentation.
  arguments_are_of_no_form_of_the_function,

  // operands

  /// std::vector, std::span, an array, or anything else with data() and size() and no strides; a
  /// tally::strided(p, n, increment), of a pointer std::span(p, n); a rank-1 Kokkos::View, not
  /// Atomic, or std::mdspan; a vector, map, row or column of Eigen's, of an expression its eval(),
  /// of a matrix its reshaped().
  an_operand_is_memory_with_data_and_size_or_a_view_of_rank_1,
  /// bool (but not std::vector<bool>, which packs bits), std::int8_t, std::uint8_t, std::int32_t,
  /// std::int64_t, tally::float16, tally::bfloat16, float, double, std::complex of float or double.
  elements_are_of_no_element_type,
  /// Neither it nor its elements are const.
  an_operand_that_is_written_is_not_const,
  /// A factor or value is a number of one of the element types.
  a_factor_is_of_no_element_type,
  /// A View in device memory with a host execution space, or the reverse.
  the_execution_space_cannot_access_the_views_memory,
  /// tally::rows(pointer, rows, columns), or a rank-2 Kokkos::View or std::mdspan, of an element
  /// type; of multi_dot also a range of tally::pair_of(x, y), of multi_axpy a range of vectors, of
  /// gemv the tally::transpose or tally::conjugate_transpose of a matrix.
  several_vectors_or_a_dense_matrix_are_tally_rows_or_a_view_of_rank_2,
  /// A csr_view (of a tally::csr_matrix its view()), or the tally::transpose or
  /// tally::conjugate_transpose of one.
  a_matrix_is_a_tally_csr_view_or_the_transpose_of_one,
  /// Functions of rows, and transpose itself, are of a csr_view alone, of floating-point or complex
  /// values.
  a_matrix_is_a_tally_csr_view_and_no_transpose,
  /// Rows, columns, row_offsets, column_indices and values; or rows, columns, begins, ends,
  /// column_indices and values: arrays of adjacent memory with data() and size(), of integers of 32
  /// or 64 bits, and of an element type.
  a_tally_csr_view_is_made_of_two_sizes_and_three_or_four_arrays,
  /// std::int32_t or std::int64_t.
  indices_and_offsets_are_a_vector_of_int32_or_int64,

  // numbers

  /// Not complex; the sum of complex squares is dot(x, x, tally::conjugate::x).
  the_function_is_of_real_numbers,
  /// Neither integers nor complex.
  the_function_is_of_real_floating_point_numbers,
  /// Floating-point or complex numbers.
  the_function_is_not_of_integers,
  /// Or of real numbers that the computation in x's and y's type keeps.
  a_mask_is_of_bool_or_integers,
  /// Numbers that are not integers don't go into integers, complex ones not into real ones, and
  /// only bool into bool, whether elements or factors.
  numbers_do_not_fit_into_the_output,
  /// The vectors exchanged or copied, or w and y.
  the_vectors_are_of_one_type,
  /// gemv: A or x is of a floating-point or complex type. spmv: x, too, is of one of these.
  the_output_is_float_double_or_complex_and_complex_where_an_input_is,
  /// `sum` has double where x is, float or double for other floating-point types, std::int64_t or,
  /// but for segments, double for integers; complex for complex.
  the_output_is_of_a_type_that_the_sum_has,
  /// Floating-point or complex.
  the_diagonal_is_complex_where_the_matrix_is,
  /// Or, unless the matrix is of 64 bits, float.
  norms_of_rows_are_double,
  /// Floating-point factors, or complex ones where the matrix is; results of its type.
  factors_of_rows_are_real_or_the_matrix_and_the_results_of_its_type_are_complex,
  /// And values are floating-point or complex, and those of the matrix as those of the entries.
  values_of_entries_are_floating_point_or_complex_and_so_the_matrixs,
  scatter_add_adds_floats_or_doubles,

  // results

  /// Behind it there may be tally::exact. Of sums it may be tally::add_to of exact sums.
  a_result_is_a_pointer_or_memory_that_is_not_const,
  /// tally::dot_result_t and so on, or double or std::complex<double>.
  a_result_is_of_the_sums_own_type_or_double,
  /// tally::extremum, tally::extrema or std::int64_t.
  a_result_is_of_the_type_returned,
  an_exact_sum_of_float_does_not_hold_doubles,
  /// R, in which function<R> sums: that, or double or std::complex<double>.
  the_type_asked_for_is_no_narrower_than_the_sums_own,

  // histograms

  /// bool, std::int8_t, std::uint8_t or integers of 32 or 64 bits, signed or not.
  keys_are_a_vector_of_integers,
  /// Convert them to std::int64_t or double.
  samples_are_no_unsigned_integers_of_32_or_64_bits,
  lower_and_upper_are_real_numbers,
  edges_are_a_vector_of_real_numbers,
  /// Signed or not, and not const.
  counts_are_a_vector_of_integers_of_32_or_64_bits,
  /// And not const; or tally::add_to of exact sums.
  weights_and_their_sums_are_float_or_double,

  // the caller's functions

  a_function_is_a_function_or_a_function_object,
  /// An element of x, and one of y and of w if they are passed; called as const.
  the_function_takes_an_element_of_each_vector_and_returns_what_converts_to_z,
  /// The function may convert them.
  the_function_returns_no_integers_but_z_is_of_integers,
  /// And returns what converts to that type; called as const. The first function.
  reduce_takes_two_values_of_identitys_type,
  /// The last function, called as const, likewise.
  map_takes_an_element_of_each_vector_and_returns_what_converts_to_identitys_type,
};

}  // namespace tally::detail
