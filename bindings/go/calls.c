#include "calls.h"

#include <stdlib.h>

tally_go_result tally_go_told(tally_go_result* result, tally_status status) {
  result->status = status;
  if (status != TALLY_SUCCESS) {
    const size_t size = tally_copy_last_error(NULL, 0) + 1;
    result->failure = malloc(size);
    if (result->failure != NULL) tally_copy_last_error(result->failure, size);
  }
  return *result;
}

tally_go_result tally_go_done(tally_status status) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, status);
}

const tally_call_options* tally_go_asked(const tally_call_options* options) {
  return options->size != 0 ? options : NULL;
}

/* --- Executors -------------------------------------------------------------------------------- */

tally_go_result tally_go_serial(tally_executor* where) {
  return tally_go_done(tally_serial(where));
}

tally_go_result tally_go_simd(tally_executor* where, tally_instruction_set instructions) {
  return tally_go_done(tally_simd(where, instructions));
}

tally_go_result tally_go_openmp(tally_executor* where, int threads) {
  return tally_go_done(tally_openmp(where, threads));
}

tally_go_result tally_go_cuda(tally_executor* where, int device, void* stream) {
  return tally_go_done(tally_cuda(where, device, stream));
}

tally_go_result tally_go_kokkos(tally_executor* where) {
  return tally_go_done(tally_kokkos(where));
}

tally_go_result tally_go_automatic(tally_executor* where) {
  return tally_go_done(tally_automatic(where));
}

tally_go_result tally_go_executor_named(tally_executor* where, const char* name) {
  return tally_go_done(tally_executor_named(where, name));
}

tally_go_result tally_go_executor_name(tally_go_executor where) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, tally_executor_name(where, &r.string));
}

tally_go_result tally_go_executors(size_t capacity, const char** names, int* usable,
                                   size_t* count) {
  return tally_go_done(tally_executors(capacity, names, usable, count));
}

/* --- Memory and workspaces -------------------------------------------------------------------- */

tally_go_result tally_go_allocate(tally_go_allocation f, tally_go_executor where, size_t bytes,
                                  unsigned char** memory) {
  void* allocated = NULL;
  const tally_go_result r = tally_go_done(f(where, bytes, &allocated));
  *memory = allocated;
  return r;
}

tally_go_result tally_go_release(tally_go_end f, tally_go_executor where, unsigned char* memory) {
  return tally_go_done(f(where, memory));
}

tally_go_result tally_go_pin(tally_go_executor where, unsigned char* memory, size_t bytes) {
  return tally_go_done(tally_pin(where, memory, bytes));
}

tally_go_result tally_go_device_copy(tally_go_executor where, unsigned char* to,
                                     const unsigned char* from, size_t bytes) {
  return tally_go_done(tally_device_copy(where, to, from, bytes));
}

tally_go_result tally_go_workspace_create(tally_go_executor where, size_t stage_bytes, int threads,
                                          tally_workspace** workspace, tally_executor* executor) {
  const tally_workspace_options options = {sizeof options, stage_bytes, threads, 0};
  const tally_go_result r = tally_go_done(tally_workspace_create(where, &options, workspace));
  return r.status != TALLY_SUCCESS ? r
                                   : tally_go_done(tally_workspace_executor(*workspace, executor));
}

/* --- Sums ------------------------------------------------------------------------------------- */

tally_go_result tally_go_reduce(tally_go_reduction f, tally_go_executor where, tally_go_vector x,
                                tally_type result_type, int64_t* words,
                                tally_call_options options) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, f(where, x.n, x.type, x.data, x.inc, result_type,
                             words != NULL ? (void*)words : r.value, tally_go_asked(&options)));
}

tally_go_result tally_go_dot(tally_go_executor where, tally_go_vector x, tally_go_vector y,
                             tally_type result_type, int64_t* words, tally_call_options options) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(
      &r, tally_dot(where, x.n, x.type, x.data, x.inc, y.type, y.data, y.inc, result_type,
                    words != NULL ? (void*)words : r.value, tally_go_asked(&options)));
}

tally_go_result tally_go_multi_dot(tally_go_pairs f, tally_go_executor where, size_t k, size_t n,
                                   tally_go_vector x, ptrdiff_t ldx, tally_go_vector y,
                                   ptrdiff_t incy, tally_type result_type, unsigned char* results,
                                   tally_call_options options) {
  return tally_go_done(f(where, k, n, x.type, x.data, ldx, y.type, y.data, incy, result_type,
                         results, tally_go_asked(&options)));
}

static tally_call_options in_blocks(tally_call_options options, tally_go_layout l) {
  options.size = sizeof options;
  options.outer = l.outer;
  options.outer_stride = l.outer_stride;
  return options;
}

tally_go_result tally_go_sums(tally_go_executor where, tally_go_layout l, tally_go_vector x,
                              tally_type result_type, unsigned char* results,
                              tally_call_options options) {
  options = in_blocks(options, l);
  return tally_go_done(
      tally_sums(where, l.k, l.n, x.type, x.data, l.ld, l.inc, result_type, results, &options));
}

tally_go_result tally_go_multi_dot_strided(tally_go_executor where, tally_go_layout l,
                                           tally_go_vector x, tally_go_vector y,
                                           tally_type result_type, unsigned char* results,
                                           tally_call_options options) {
  options = in_blocks(options, l);
  return tally_go_done(tally_multi_dot_strided(where, l.k, l.n, x.type, x.data, l.ld, l.inc, y.type,
                                               y.data, y.inc, result_type, results, &options));
}

tally_go_result tally_go_gemv(tally_go_executor where, tally_operation operation,
                              tally_go_scalar alpha, tally_go_layout l, tally_go_vector a,
                              tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                              tally_call_options options) {
  return tally_go_done(tally_gemv(where, operation, l.k, l.n, alpha.type, alpha.value, a.type,
                                  a.data, l.ld, l.inc, x.type, x.data, x.inc, beta.type, beta.value,
                                  y.type, y.data, y.inc, tally_go_asked(&options)));
}

tally_go_result tally_go_multi_dot_list(tally_go_executor where, size_t k, const size_t* n,
                                        tally_type x_type, const uintptr_t* x,
                                        const ptrdiff_t* incx, tally_type y_type,
                                        const uintptr_t* y, const ptrdiff_t* incy,
                                        tally_type result_type, unsigned char* results,
                                        tally_call_options options) {
  return tally_go_done(tally_multi_dot_list(where, k, n, x_type, (const void* const*)x, incx,
                                            y_type, (const void* const*)y, incy, result_type,
                                            results, tally_go_asked(&options)));
}

tally_go_result tally_go_merge_words(size_t count, tally_type sum_type, const int64_t* from,
                                     int64_t* to) {
  return tally_go_done(tally_merge_words(count, sum_type, from, to));
}

tally_go_result tally_go_round_words(tally_go_rounding f, tally_go_executor where, size_t count,
                                     tally_type sum_type, const int64_t* words,
                                     tally_type result_type, unsigned char* results) {
  return tally_go_done(f(where, count, sum_type, words, result_type, results, NULL));
}

/* --- Extrema ---------------------------------------------------------------------------------- */

tally_go_result tally_go_find(tally_go_search f, tally_go_executor where, tally_go_vector x) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, f(where, x.n, x.type, x.data, x.inc, r.value, NULL));
}

tally_go_result tally_go_iamax(tally_go_executor where, tally_go_vector x) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, tally_iamax(where, x.n, x.type, x.data, x.inc, (int64_t*)r.value, NULL));
}

/* --- Element-wise functions ------------------------------------------------------------------- */

tally_go_result tally_go_move_indexed(tally_go_move f, tally_go_executor where, tally_go_vector x,
                                      tally_go_vector indices, tally_go_vector z) {
  return tally_go_done(
      f(where, x.type, x.n, x.data, x.inc, indices.type, indices.data, z.n, z.data, z.inc, NULL));
}

tally_go_result tally_go_segmented_sum(tally_go_executor where, size_t segments,
                                       tally_go_vector offsets, tally_go_vector x,
                                       tally_type result_type, unsigned char* results,
                                       tally_call_options options) {
  return tally_go_done(tally_segmented_sum(where, segments, offsets.type, offsets.data, x.n, x.type,
                                           x.data, result_type, results, tally_go_asked(&options)));
}

tally_go_result tally_go_multi_axpy(tally_go_executor where, tally_go_vector alpha,
                                    tally_go_vector x, ptrdiff_t ldx, tally_go_scalar beta,
                                    tally_go_vector y) {
  return tally_go_done(tally_multi_axpy(where, alpha.n, y.n, alpha.type, alpha.data, x.type, x.data,
                                        ldx, 1, beta.type, beta.value, y.type, y.data, y.inc,
                                        NULL));
}

tally_go_result tally_go_multi_axpy_dot(tally_go_executor where, tally_go_vector alpha,
                                        tally_go_vector x, ptrdiff_t ldx, tally_go_scalar beta,
                                        tally_go_vector y, tally_type result_type,
                                        unsigned char* results, tally_call_options options) {
  return tally_go_done(tally_multi_axpy_dot(where, alpha.n, y.n, alpha.type, alpha.data, x.type,
                                            x.data, ldx, 1, beta.type, beta.value, y.type, y.data,
                                            y.inc, result_type, results, tally_go_asked(&options)));
}

tally_go_result tally_go_swap(tally_go_executor where, tally_go_vector x, tally_go_vector y) {
  return tally_go_done(tally_swap(where, x.n, x.type, x.data, x.inc, y.data, y.inc, NULL));
}

tally_go_result tally_go_axpy_dot(tally_go_executor where, tally_go_scalar alpha, tally_go_vector x,
                                  tally_go_vector y, tally_go_vector v, tally_type result_type,
                                  tally_call_options options) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, tally_axpy_dot(where, x.n, alpha.type, alpha.value, x.type, x.data,
                                          x.inc, y.type, y.data, y.inc, v.type, v.data, v.inc,
                                          result_type, r.value, tally_go_asked(&options)));
}

tally_go_result tally_go_waxpby_nrm2(tally_go_executor where, tally_go_scalar alpha,
                                     tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                                     tally_go_vector w, tally_type result_type,
                                     tally_call_options options) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(
      &r, tally_waxpby_nrm2(where, x.n, alpha.type, alpha.value, x.type, x.data, x.inc, beta.type,
                            beta.value, y.type, y.data, y.inc, w.type, w.data, w.inc, result_type,
                            r.value, tally_go_asked(&options)));
}

/* --- Histograms ------------------------------------------------------------------------------- */

static tally_histogram_options histogram_options(tally_go_histogram given) {
  tally_histogram_options options = {sizeof options, given.channels, NULL, NULL, 0, 0, 0};
  options.outside = (tally_outside_counts*)given.outside.data;
  options.weights = given.weights.data;
  options.incw = given.weights.inc;
  options.weights_type = given.weights.type;
  options.add = given.add;
  return options;
}

tally_go_result tally_go_bincount(tally_go_executor where, tally_go_vector keys, size_t bins,
                                  tally_go_vector counts, tally_go_histogram options) {
  const tally_histogram_options o = histogram_options(options);
  return tally_go_done(tally_bincount(where, keys.n, keys.type, keys.data, keys.inc, bins,
                                      counts.type, counts.data, &o));
}

tally_go_result tally_go_histogram_even(tally_go_executor where, tally_go_vector x,
                                        tally_go_scalar lower, tally_go_scalar upper, size_t bins,
                                        tally_go_vector counts, tally_go_histogram options) {
  const tally_histogram_options o = histogram_options(options);
  return tally_go_done(tally_histogram_even(where, x.n, x.type, x.data, x.inc, lower.type,
                                            lower.value, upper.value, bins, counts.type,
                                            counts.data, &o));
}

tally_go_result tally_go_histogram_range(tally_go_executor where, tally_go_vector x,
                                         tally_go_vector edges, size_t bins, tally_go_vector counts,
                                         tally_go_histogram options) {
  const tally_histogram_options o = histogram_options(options);
  return tally_go_done(tally_histogram_range(where, x.n, x.type, x.data, x.inc, edges.type,
                                             edges.data, bins, counts.type, counts.data, &o));
}

/* --- Sparse matrices -------------------------------------------------------------------------- */

static tally_csr csr(tally_go_matrix given) {
  tally_csr a = {
      sizeof a, given.rows, given.columns, given.values.n, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0,
      0,        0};
  a.row_offsets = given.row_offsets.data;
  a.column_indices = given.column_indices.data;
  a.values = given.values.data;
  a.offset_type = given.row_offsets.type;
  a.column_type = given.column_indices.type;
  a.value_type = given.values.type;
  a.row_ends = given.row_ends.data;
  a.operation = given.operation;
  a.fixed_values = given.fixed_values;
  a.fixed_columns = given.fixed_columns;
  return a;
}

tally_go_result tally_go_validate(tally_go_executor where, tally_go_matrix matrix) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_validate(where, &a));
}

tally_go_result tally_go_spmv_plan_create(tally_go_executor where, tally_go_matrix matrix,
                                          tally_spmv_plan** plan) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_spmv_plan_create(where, &a, plan));
}

tally_go_result tally_go_spmv_plan_describe(const tally_spmv_plan* plan) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  return tally_go_told(&r, tally_spmv_plan_describe(plan, &r.string));
}

tally_go_result tally_go_spmv(tally_go_executor where, const tally_spmv_plan* plan,
                              tally_go_scalar alpha, tally_go_matrix matrix, tally_go_vector x,
                              tally_go_scalar beta, tally_go_vector y, tally_call_options options) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_spmv(where, plan, alpha.type, alpha.value, &a, x.type, x.data, x.inc,
                                  beta.type, beta.value, y.type, y.data, y.inc,
                                  tally_go_asked(&options)));
}

tally_go_result tally_go_spmm(tally_go_executor where, const tally_spmv_plan* plan,
                              tally_go_scalar alpha, tally_go_matrix matrix, tally_go_layout x,
                              tally_go_vector x_elements, tally_go_scalar beta, tally_go_layout y,
                              tally_go_vector y_elements, tally_call_options options) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_spmm(where, plan, x.n, alpha.type, alpha.value, &a, x_elements.type,
                                  x_elements.data, x.ld, x.inc, beta.type, beta.value,
                                  y_elements.type, y_elements.data, y.ld, y.inc,
                                  tally_go_asked(&options)));
}

tally_go_result tally_go_diagonal(tally_go_executor where, tally_go_matrix matrix,
                                  tally_go_vector d) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_diagonal(where, &a, d.type, d.data, d.inc, NULL));
}

tally_go_result tally_go_row_norms(tally_go_executor where, tally_norm norm, tally_go_matrix matrix,
                                   tally_go_vector r, tally_call_options options) {
  const tally_csr a = csr(matrix);
  return tally_go_done(
      tally_row_norms(where, norm, &a, r.type, r.data, r.inc, tally_go_asked(&options)));
}

tally_go_result tally_go_scale_rows(tally_go_executor where, tally_go_matrix matrix,
                                    tally_go_vector d, tally_go_vector z) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_scale_rows(where, &a, d.type, d.data, d.inc, z.data, NULL));
}

tally_go_result tally_go_csr_from_coo(tally_go_executor where, size_t rows, size_t columns,
                                      tally_go_vector row_indices, tally_go_vector column_indices,
                                      tally_go_vector values, tally_go_vector row_offsets,
                                      tally_go_vector sorted_columns, tally_go_vector sorted_values,
                                      tally_call_options options) {
  tally_go_result r = {{0}, NULL, NULL, 0};
  size_t stored = 0;
  const tally_status status = tally_csr_from_coo(
      where, rows, columns, values.n, row_indices.type, row_indices.data, row_indices.inc,
      column_indices.type, column_indices.data, column_indices.inc, values.type, values.data,
      values.inc, row_offsets.type, row_offsets.data, sorted_columns.type, sorted_columns.data,
      sorted_values.data, &stored, tally_go_asked(&options));
  r.value[0] = stored;
  return tally_go_told(&r, status);
}

tally_go_result tally_go_spmv_apart(tally_go_executor where, const tally_spmv_plan* plan,
                                    tally_go_scalar alpha, tally_go_matrix matrix,
                                    tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                                    tally_go_vector w, tally_call_options options) {
  const tally_csr a = csr(matrix);
  return tally_go_done(tally_spmv_apart(where, plan, alpha.type, alpha.value, &a, x.type, x.data,
                                        x.inc, beta.type, beta.value, y.type, y.data, y.inc, w.data,
                                        w.inc, tally_go_asked(&options)));
}
