/* The C interface for Go. Each function is one call of <tally/tally.h> and returns the failure's
 * message too, which is per thread, while a goroutine may change threads.
 *
 * Operands, factors and results travel by value, so that a call creates no garbage and passes no
 * memory with pointers. Data are bytes: cgo need not scan them. */
#ifndef TALLY_BINDINGS_GO_CALLS_H
#define TALLY_BINDINGS_GO_CALLS_H

#include <tally/tally.h>

typedef const tally_executor* tally_go_executor;

typedef struct tally_go_vector {
  unsigned char* data;
  const unsigned char* owner; /* a Go object to keep alive, or NULL */
  size_t n;
  ptrdiff_t inc;
  tally_type type;
} tally_go_vector;

typedef struct tally_go_scalar {
  uint64_t value[2];
  tally_type type;
} tally_go_scalar;

typedef struct tally_go_result {
  uint64_t value[4];  /* a number, or one or two extrema, as bytes */
  const char* string; /* a name owned by the library */
  char* failure;      /* from malloc, or NULL */
  tally_status status;
} tally_go_result;

typedef struct tally_go_matrix {
  size_t rows;
  size_t columns;
  tally_go_vector row_offsets;
  tally_go_vector row_ends; /* empty, at NULL, for adjacent rows */
  tally_go_vector column_indices;
  tally_go_vector values;
  tally_operation operation;
  int fixed_values;
  int fixed_columns;
} tally_go_matrix;

typedef struct tally_go_histogram {
  size_t channels;
  tally_go_vector outside; /* at NULL if absent; so are weights */
  tally_go_vector weights;
  int add;
} tally_go_histogram;

/* The result of a call that only returns a status. */
tally_go_result tally_go_done(tally_status status);
/* The result, with the status and, of a failure, its message. */
tally_go_result tally_go_told(tally_go_result* result, tally_status status);
/* NULL for options of size 0, which spares the library a check. */
const tally_call_options* tally_go_asked(const tally_call_options* options);

/* --- Executors -------------------------------------------------------------------------------- */

tally_go_result tally_go_serial(tally_executor* where);
tally_go_result tally_go_simd(tally_executor* where, tally_instruction_set instructions);
tally_go_result tally_go_openmp(tally_executor* where, int threads);
tally_go_result tally_go_cuda(tally_executor* where, int device, void* stream);
tally_go_result tally_go_kokkos(tally_executor* where);
tally_go_result tally_go_automatic(tally_executor* where);
tally_go_result tally_go_executor_named(tally_executor* where, const char* name);
tally_go_result tally_go_executor_name(tally_go_executor where);
tally_go_result tally_go_executors(size_t capacity, const char** names, int* usable, size_t* count);

/* --- Memory and workspaces -------------------------------------------------------------------- */

typedef tally_status (*tally_go_allocation)(const tally_executor*, size_t, void**);
typedef tally_status (*tally_go_end)(const tally_executor*, void*);

tally_go_result tally_go_allocate(tally_go_allocation f, tally_go_executor where, size_t bytes,
                                  unsigned char** memory);
/* Frees or unpins memory. */
tally_go_result tally_go_release(tally_go_end f, tally_go_executor where, unsigned char* memory);
tally_go_result tally_go_pin(tally_go_executor where, unsigned char* memory, size_t bytes);
tally_go_result tally_go_device_copy(tally_go_executor where, unsigned char* to,
                                     const unsigned char* from, size_t bytes);
tally_go_result tally_go_workspace_create(tally_go_executor where, size_t stage_bytes, int threads,
                                          tally_workspace** workspace, tally_executor* executor);

/* --- Sums: added to `words`, or if that is NULL returned as value -------------------------------- */

typedef tally_status (*tally_go_reduction)(const tally_executor*, size_t, tally_type, const void*,
                                           ptrdiff_t, tally_type, void*, const tally_call_options*);
typedef tally_status (*tally_go_pairs)(const tally_executor*, size_t, size_t, tally_type,
                                       const void*, ptrdiff_t, tally_type, const void*, ptrdiff_t,
                                       tally_type, void*, const tally_call_options*);
typedef tally_status (*tally_go_rounding)(const tally_executor*, size_t, tally_type, const int64_t*,
                                          tally_type, void*, const tally_call_options*);

tally_go_result tally_go_reduce(tally_go_reduction f, tally_go_executor where, tally_go_vector x,
                                tally_type result_type, int64_t* words, tally_call_options options);
tally_go_result tally_go_dot(tally_go_executor where, tally_go_vector x, tally_go_vector y,
                             tally_type result_type, int64_t* words, tally_call_options options);
/* `incy`: y's increment, or the distance of its rows. */
tally_go_result tally_go_multi_dot(tally_go_pairs f, tally_go_executor where, size_t k, size_t n,
                                   tally_go_vector x, ptrdiff_t ldx, tally_go_vector y,
                                   ptrdiff_t incy, tally_type result_type, unsigned char* results,
                                   tally_call_options options);

/* Vectors of any layout. */
typedef struct tally_go_layout {
  size_t k;
  size_t n;
  size_t outer;
  ptrdiff_t ld;
  ptrdiff_t inc;
  ptrdiff_t outer_stride;
} tally_go_layout;

tally_go_result tally_go_sums(tally_go_executor where, tally_go_layout l, tally_go_vector x,
                              tally_type result_type, unsigned char* results,
                              tally_call_options options);
tally_go_result tally_go_multi_dot_strided(tally_go_executor where, tally_go_layout l,
                                           tally_go_vector x, tally_go_vector y,
                                           tally_type result_type, unsigned char* results,
                                           tally_call_options options);
tally_go_result tally_go_gemv(tally_go_executor where, tally_operation operation,
                              tally_go_scalar alpha, tally_go_layout l, tally_go_vector a,
                              tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                              tally_call_options options);
tally_go_result tally_go_multi_dot_list(tally_go_executor where, size_t k, const size_t* n,
                                        tally_type x_type, const uintptr_t* x,
                                        const ptrdiff_t* incx, tally_type y_type,
                                        const uintptr_t* y, const ptrdiff_t* incy,
                                        tally_type result_type, unsigned char* results,
                                        tally_call_options options);
tally_go_result tally_go_merge_words(size_t count, tally_type sum_type, const int64_t* from,
                                     int64_t* to);
tally_go_result tally_go_round_words(tally_go_rounding f, tally_go_executor where, size_t count,
                                     tally_type sum_type, const int64_t* words,
                                     tally_type result_type, unsigned char* results);

/* --- Extrema ---------------------------------------------------------------------------------- */

typedef tally_status (*tally_go_search)(const tally_executor*, size_t, tally_type, const void*,
                                        ptrdiff_t, void*, const tally_call_options*);

tally_go_result tally_go_find(tally_go_search f, tally_go_executor where, tally_go_vector x);
tally_go_result tally_go_iamax(tally_go_executor where, tally_go_vector x);

/* --- Element-wise functions ------------------------------------------------------------------- */

typedef tally_status (*tally_go_move)(const tally_executor*, tally_type, size_t, const void*,
                                      ptrdiff_t, tally_type, const void*, size_t, void*, ptrdiff_t,
                                      const tally_call_options*);

tally_go_result tally_go_move_indexed(tally_go_move f, tally_go_executor where, tally_go_vector x,
                                      tally_go_vector indices, tally_go_vector z);
tally_go_result tally_go_segmented_sum(tally_go_executor where, size_t segments,
                                       tally_go_vector offsets, tally_go_vector x,
                                       tally_type result_type, unsigned char* results,
                                       tally_call_options options);
tally_go_result tally_go_multi_axpy(tally_go_executor where, tally_go_vector alpha,
                                    tally_go_vector x, ptrdiff_t ldx, tally_go_scalar beta,
                                    tally_go_vector y);
tally_go_result tally_go_multi_axpy_dot(tally_go_executor where, tally_go_vector alpha,
                                        tally_go_vector x, ptrdiff_t ldx, tally_go_scalar beta,
                                        tally_go_vector y, tally_type result_type,
                                        unsigned char* results, tally_call_options options);
tally_go_result tally_go_swap(tally_go_executor where, tally_go_vector x, tally_go_vector y);
tally_go_result tally_go_axpy_dot(tally_go_executor where, tally_go_scalar alpha, tally_go_vector x,
                                  tally_go_vector y, tally_go_vector v, tally_type result_type,
                                  tally_call_options options);
tally_go_result tally_go_waxpby_nrm2(tally_go_executor where, tally_go_scalar alpha,
                                     tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                                     tally_go_vector w, tally_type result_type,
                                     tally_call_options options);

/* --- Histograms ------------------------------------------------------------------------------- */

tally_go_result tally_go_bincount(tally_go_executor where, tally_go_vector keys, size_t bins,
                                  tally_go_vector counts, tally_go_histogram options);
tally_go_result tally_go_histogram_even(tally_go_executor where, tally_go_vector x,
                                        tally_go_scalar lower, tally_go_scalar upper, size_t bins,
                                        tally_go_vector counts, tally_go_histogram options);
tally_go_result tally_go_histogram_range(tally_go_executor where, tally_go_vector x,
                                         tally_go_vector edges, size_t bins, tally_go_vector counts,
                                         tally_go_histogram options);

/* --- Sparse matrices -------------------------------------------------------------------------- */

tally_go_result tally_go_validate(tally_go_executor where, tally_go_matrix matrix);
tally_go_result tally_go_spmv_plan_create(tally_go_executor where, tally_go_matrix matrix,
                                          tally_spmv_plan** plan);
tally_go_result tally_go_spmv_plan_describe(const tally_spmv_plan* plan);
tally_go_result tally_go_spmv(tally_go_executor where, const tally_spmv_plan* plan,
                              tally_go_scalar alpha, tally_go_matrix matrix, tally_go_vector x,
                              tally_go_scalar beta, tally_go_vector y, tally_call_options options);
tally_go_result tally_go_spmm(tally_go_executor where, const tally_spmv_plan* plan,
                              tally_go_scalar alpha, tally_go_matrix matrix, tally_go_layout x,
                              tally_go_vector x_elements, tally_go_scalar beta, tally_go_layout y,
                              tally_go_vector y_elements, tally_call_options options);
tally_go_result tally_go_diagonal(tally_go_executor where, tally_go_matrix matrix,
                                  tally_go_vector d);
tally_go_result tally_go_row_norms(tally_go_executor where, tally_norm norm, tally_go_matrix matrix,
                                   tally_go_vector r, tally_call_options options);
tally_go_result tally_go_scale_rows(tally_go_executor where, tally_go_matrix matrix,
                                    tally_go_vector d, tally_go_vector z);
tally_go_result tally_go_csr_from_coo(tally_go_executor where, size_t rows, size_t columns,
                                      tally_go_vector row_indices, tally_go_vector column_indices,
                                      tally_go_vector values, tally_go_vector row_offsets,
                                      tally_go_vector sorted_columns, tally_go_vector sorted_values,
                                      tally_call_options options);
tally_go_result tally_go_spmv_apart(tally_go_executor where, const tally_spmv_plan* plan,
                                    tally_go_scalar alpha, tally_go_matrix matrix,
                                    tally_go_vector x, tally_go_scalar beta, tally_go_vector y,
                                    tally_go_vector w, tally_call_options options);

#endif
