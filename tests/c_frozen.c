/* The released C interface: enumerators, sizes, offsets of members, functions. No line ever
 * changes; additions get new ones. */
#include <tally/tally.h>

#define ENUMERATOR(name, value) _Static_assert(name == value, #name)
ENUMERATOR(TALLY_SUCCESS, 0);
ENUMERATOR(TALLY_SIZE_MISMATCH, 1);
ENUMERATOR(TALLY_NULL_POINTER, 2);
ENUMERATOR(TALLY_ZERO_INCREMENT, 3);
ENUMERATOR(TALLY_MISALIGNED, 4);
ENUMERATOR(TALLY_UNSUPPORTED_TYPE, 5);
ENUMERATOR(TALLY_WRONG_MEMORY, 6);
ENUMERATOR(TALLY_MISSING_BACKEND, 7);
ENUMERATOR(TALLY_NO_DEVICE, 8);
ENUMERATOR(TALLY_INVALID_ARGUMENT, 9);
ENUMERATOR(TALLY_OUT_OF_MEMORY, 10);
ENUMERATOR(TALLY_DEVICE_FAILURE, 11);
ENUMERATOR(TALLY_NO_ELEMENTS, 12);
ENUMERATOR(TALLY_OVERLAP, 13);
ENUMERATOR(TALLY_KEY_OUT_OF_RANGE, 14);
ENUMERATOR(TALLY_UNREADABLE_FILE, 15);
ENUMERATOR(TALLY_UNKNOWN_FAILURE, 255);
ENUMERATOR(TALLY_BOOL, 0);
ENUMERATOR(TALLY_INT8, 1);
ENUMERATOR(TALLY_UINT8, 2);
ENUMERATOR(TALLY_INT32, 3);
ENUMERATOR(TALLY_INT64, 4);
ENUMERATOR(TALLY_FLOAT16, 5);
ENUMERATOR(TALLY_BFLOAT16, 6);
ENUMERATOR(TALLY_FLOAT32, 7);
ENUMERATOR(TALLY_FLOAT64, 8);
ENUMERATOR(TALLY_COMPLEX64, 9);
ENUMERATOR(TALLY_COMPLEX128, 10);
ENUMERATOR(TALLY_GRADE_DEFAULT, 0);
ENUMERATOR(TALLY_GRADE_EXACT, 1);
ENUMERATOR(TALLY_WAIT_DEFAULT, 0);
ENUMERATOR(TALLY_WAIT_YES, 1);
ENUMERATOR(TALLY_WAIT_NO, 2);
ENUMERATOR(TALLY_RESULT_ROUNDED, 0);
ENUMERATOR(TALLY_RESULT_WORDS, 1);
ENUMERATOR(TALLY_CONJUGATE_NONE, 0);
ENUMERATOR(TALLY_CONJUGATE_X, 1);
ENUMERATOR(TALLY_CONJUGATE_Y, 2);
ENUMERATOR(TALLY_NO_TRANSPOSE, 0);
ENUMERATOR(TALLY_TRANSPOSE, 1);
ENUMERATOR(TALLY_CONJUGATE_TRANSPOSE, 2);
ENUMERATOR(TALLY_LESS, 0);
ENUMERATOR(TALLY_LESS_EQUAL, 1);
ENUMERATOR(TALLY_EQUAL, 2);
ENUMERATOR(TALLY_NOT_EQUAL, 3);
ENUMERATOR(TALLY_GREATER_EQUAL, 4);
ENUMERATOR(TALLY_GREATER, 5);
ENUMERATOR(TALLY_INSTRUCTIONS_BEST, -1);
ENUMERATOR(TALLY_INSTRUCTIONS_BASELINE, 0);
ENUMERATOR(TALLY_INSTRUCTIONS_SSE4, 1);
ENUMERATOR(TALLY_INSTRUCTIONS_AVX2, 2);
ENUMERATOR(TALLY_INSTRUCTIONS_AVX512, 3);
ENUMERATOR(TALLY_INSTRUCTIONS_NEON, 4);
ENUMERATOR(TALLY_INSTRUCTIONS_SVE, 5);
ENUMERATOR(TALLY_INSTRUCTIONS_RVV, 6);
ENUMERATOR(TALLY_ORDER_VERSION, 1);
ENUMERATOR(TALLY_ORDER_LANES, 64);
ENUMERATOR(TALLY_ORDER_CHUNK, 1024);

/* Structs that begin with their size may grow. */
#define SIZE(type, bytes) _Static_assert(sizeof(type) == bytes, #type)
SIZE(tally_executor, 64);
SIZE(tally_outside_counts, 24);
SIZE(tally_histogram_options, 48);

#define AT_LEAST(type, bytes) _Static_assert(sizeof(type) >= bytes, #type)
AT_LEAST(tally_csr, 72);
AT_LEAST(tally_call_options, 24);
AT_LEAST(tally_workspace_options, 24);

#define MEMBER(type, member, place, bytes) \
  _Static_assert(offsetof(type, member) == place && sizeof(((type*)0)->member) == bytes, #member)
MEMBER(tally_executor, contents, 0, 64);
MEMBER(tally_call_options, size, 0, 8);
MEMBER(tally_call_options, grade, 8, 4);
MEMBER(tally_call_options, wait, 12, 4);
MEMBER(tally_call_options, conjugate, 16, 4);
MEMBER(tally_call_options, reserved, 20, 4);
MEMBER(tally_call_options, form, 24, 4);
MEMBER(tally_call_options, reserved_too, 28, 4);
MEMBER(tally_call_options, outer, 32, 8);
MEMBER(tally_call_options, outer_stride, 40, 8);
MEMBER(tally_outside_counts, below, 0, 8);
MEMBER(tally_outside_counts, above, 8, 8);
MEMBER(tally_outside_counts, nan, 16, 8);
MEMBER(tally_histogram_options, size, 0, 8);
MEMBER(tally_histogram_options, channels, 8, 8);
MEMBER(tally_histogram_options, outside, 16, 8);
MEMBER(tally_histogram_options, weights, 24, 8);
MEMBER(tally_histogram_options, incw, 32, 8);
MEMBER(tally_histogram_options, weights_type, 40, 4);
MEMBER(tally_histogram_options, add, 44, 4);
MEMBER(tally_csr, size, 0, 8);
MEMBER(tally_csr, rows, 8, 8);
MEMBER(tally_csr, columns, 16, 8);
MEMBER(tally_csr, nonzeros, 24, 8);
MEMBER(tally_csr, row_offsets, 32, 8);
MEMBER(tally_csr, column_indices, 40, 8);
MEMBER(tally_csr, values, 48, 8);
MEMBER(tally_csr, offset_type, 56, 4);
MEMBER(tally_csr, column_type, 60, 4);
MEMBER(tally_csr, value_type, 64, 4);
MEMBER(tally_csr, reserved, 68, 4);
MEMBER(tally_csr, row_ends, 72, 8);
MEMBER(tally_csr, operation, 80, 4);
MEMBER(tally_csr, fixed_values, 84, 4);
MEMBER(tally_csr, fixed_columns, 88, 4);
MEMBER(tally_csr, reserved_too, 92, 4);
MEMBER(tally_workspace_options, size, 0, 8);
MEMBER(tally_workspace_options, stage_bytes, 8, 8);
MEMBER(tally_workspace_options, threads, 16, 4);
MEMBER(tally_workspace_options, reserved, 20, 4);

#define FUNCTION(name, result, ...) \
  _Static_assert(_Generic(&name, result (*)(__VA_ARGS__): 1, default: 0), #name)
typedef const tally_executor* where;
typedef const tally_call_options* options;
typedef const tally_histogram_options* histogram_options;
typedef const void* in;
FUNCTION(tally_version, int, void);
FUNCTION(tally_order_version, int, void);
FUNCTION(tally_status_name, const char*, int);
FUNCTION(tally_type_name, const char*, int);
FUNCTION(tally_type_size, size_t, int);
FUNCTION(tally_last_error, const char*, void);
FUNCTION(tally_copy_last_error, size_t, char*, size_t);
FUNCTION(tally_serial, int, tally_executor*);
FUNCTION(tally_simd, int, tally_executor*, int);
FUNCTION(tally_openmp, int, tally_executor*, int);
FUNCTION(tally_cuda, int, tally_executor*, int, void*);
FUNCTION(tally_kokkos, int, tally_executor*);
FUNCTION(tally_automatic, int, tally_executor*);
FUNCTION(tally_executor_named, int, tally_executor*, const char*);
FUNCTION(tally_executor_name, int, where, const char**);
FUNCTION(tally_executors, int, size_t, const char**, int*, size_t*);
FUNCTION(tally_dot, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         options);
FUNCTION(tally_sum, int, where, size_t, int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_asum, int, where, size_t, int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_nrm2, int, where, size_t, int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_sum_of_squares, int, where, size_t, int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_max_norm, int, where, size_t, int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_weighted_sum_of_squares, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t,
         int, void*, options);
FUNCTION(tally_weighted_nrm2, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int,
         void*, options);
FUNCTION(tally_wrms_norm, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         options);
FUNCTION(tally_wrms_norm_mask, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, in,
         ptrdiff_t, int, void*, options);
FUNCTION(tally_inclusive_scan, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_exclusive_scan, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_multi_dot, int, where, size_t, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int,
         void*, options);
FUNCTION(tally_batched_dot, int, where, size_t, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int,
         void*, options);
FUNCTION(tally_multi_dot_list, int, where, size_t, const size_t*, int, const in*, const ptrdiff_t*,
         int, const in*, const ptrdiff_t*, int, void*, options);
FUNCTION(tally_sums, int, where, size_t, size_t, int, in, ptrdiff_t, ptrdiff_t, int, void*,
         options);
FUNCTION(tally_multi_dot_strided, int, where, size_t, size_t, int, in, ptrdiff_t, ptrdiff_t, int,
         in, ptrdiff_t, int, void*, options);
FUNCTION(tally_gemv, int, where, int, size_t, size_t, int, in, int, in, ptrdiff_t, ptrdiff_t, int,
         in, ptrdiff_t, int, in, int, void*, ptrdiff_t, options);
FUNCTION(tally_exact_words, size_t, int);
FUNCTION(tally_exact_sum_type, int, int, int, int);
FUNCTION(tally_merge_words, int, size_t, int, const int64_t*, int64_t*);
FUNCTION(tally_round_words, int, where, size_t, int, const int64_t*, int, void*, options);
FUNCTION(tally_round_root_words, int, where, size_t, int, const int64_t*, int, void*, options);
FUNCTION(tally_segmented_sum, int, where, size_t, int, in, size_t, int, in, int, void*, options);
FUNCTION(tally_multi_axpy, int, where, size_t, size_t, int, in, int, in, ptrdiff_t, ptrdiff_t, int,
         in, int, void*, ptrdiff_t, options);
FUNCTION(tally_multi_axpy_dot, int, where, size_t, size_t, int, in, int, in, ptrdiff_t, ptrdiff_t,
         int, in, int, void*, ptrdiff_t, int, void*, options);
FUNCTION(tally_gather, int, where, int, size_t, in, ptrdiff_t, int, in, size_t, void*, ptrdiff_t,
         options);
FUNCTION(tally_scatter, int, where, int, size_t, in, ptrdiff_t, int, in, size_t, void*, ptrdiff_t,
         options);
FUNCTION(tally_scatter_add, int, where, int, size_t, in, ptrdiff_t, int, in, size_t, void*,
         ptrdiff_t, options);
FUNCTION(tally_min, int, where, size_t, int, in, ptrdiff_t, void*, options);
FUNCTION(tally_max, int, where, size_t, int, in, ptrdiff_t, void*, options);
FUNCTION(tally_minmax, int, where, size_t, int, in, ptrdiff_t, void*, options);
FUNCTION(tally_iamax, int, where, size_t, int, in, ptrdiff_t, int64_t*, options);
FUNCTION(tally_copy, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_fill, int, where, size_t, int, in, int, void*, ptrdiff_t, options);
FUNCTION(tally_swap, int, where, size_t, int, void*, ptrdiff_t, void*, ptrdiff_t, options);
FUNCTION(tally_scal, int, where, size_t, int, in, int, void*, ptrdiff_t, options);
FUNCTION(tally_axpy, int, where, size_t, int, in, int, in, ptrdiff_t, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_axpby, int, where, size_t, int, in, int, in, ptrdiff_t, int, in, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_waxpby, int, where, size_t, int, in, int, in, ptrdiff_t, int, in, int, in, ptrdiff_t,
         int, void*, ptrdiff_t, options);
FUNCTION(tally_axpbypcz, int, where, size_t, int, in, int, in, ptrdiff_t, int, in, int, in,
         ptrdiff_t, int, in, int, void*, ptrdiff_t, options);
FUNCTION(tally_axypbz, int, where, size_t, int, in, int, in, ptrdiff_t, int, in, ptrdiff_t, int, in,
         int, void*, ptrdiff_t, options);
FUNCTION(tally_add, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_sub, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_mul, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_relu, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_sigmoid, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_exp, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_scale, int, where, size_t, int, in, int, in, ptrdiff_t, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_add_constant, int, where, size_t, int, in, ptrdiff_t, int, in, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_div, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_inv, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_jacobi_step, int, where, size_t, int, in, ptrdiff_t, int, in, int, in, ptrdiff_t,
         int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_abs, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_sqrt, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_log, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_tanh, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_pow, int, where, size_t, int, in, ptrdiff_t, int, in, int, void*, ptrdiff_t,
         options);
FUNCTION(tally_minimum, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_maximum, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_clamp, int, where, size_t, int, in, ptrdiff_t, int, in, int, in, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_sign, int, where, size_t, int, in, ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_compare, int, where, size_t, int, in, ptrdiff_t, int, int, in, ptrdiff_t, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_compare_constant, int, where, size_t, int, in, ptrdiff_t, int, int, in, int, void*,
         ptrdiff_t, options);
FUNCTION(tally_where, int, where, size_t, int, in, ptrdiff_t, int, in, ptrdiff_t, int, in,
         ptrdiff_t, int, void*, ptrdiff_t, options);
FUNCTION(tally_axpy_dot, int, where, size_t, int, in, int, in, ptrdiff_t, int, void*, ptrdiff_t,
         int, in, ptrdiff_t, int, void*, options);
FUNCTION(tally_waxpby_nrm2, int, where, size_t, int, in, int, in, ptrdiff_t, int, in, int, in,
         ptrdiff_t, int, void*, ptrdiff_t, int, void*, options);
FUNCTION(tally_bincount, int, where, size_t, int, in, ptrdiff_t, size_t, int, void*,
         histogram_options);
FUNCTION(tally_histogram_even, int, where, size_t, int, in, ptrdiff_t, int, in, in, size_t, int,
         void*, histogram_options);
FUNCTION(tally_histogram_range, int, where, size_t, int, in, ptrdiff_t, int, in, size_t, int, void*,
         histogram_options);
FUNCTION(tally_validate, int, where, const tally_csr*);
FUNCTION(tally_spmv_plan_create, int, where, const tally_csr*, tally_spmv_plan**);
FUNCTION(tally_spmv_plan_destroy, void, tally_spmv_plan*);
FUNCTION(tally_spmv_plan_describe, int, const tally_spmv_plan*, const char**);
FUNCTION(tally_spmv, int, where, const tally_spmv_plan*, int, in, const tally_csr*, int, in,
         ptrdiff_t, int, in, int, void*, ptrdiff_t, options);
FUNCTION(tally_spmm, int, where, const tally_spmv_plan*, size_t, int, in, const tally_csr*, int, in,
         ptrdiff_t, ptrdiff_t, int, in, int, void*, ptrdiff_t, ptrdiff_t, options);
FUNCTION(tally_spmv_apart, int, where, const tally_spmv_plan*, int, in, const tally_csr*, int, in,
         ptrdiff_t, int, in, int, in, ptrdiff_t, void*, ptrdiff_t, options);
FUNCTION(tally_diagonal, int, where, const tally_csr*, int, void*, ptrdiff_t, options);
FUNCTION(tally_row_norms, int, where, int, const tally_csr*, int, void*, ptrdiff_t, options);
FUNCTION(tally_scale_rows, int, where, const tally_csr*, int, in, ptrdiff_t, void*, options);
FUNCTION(tally_csr_from_coo, int, where, size_t, size_t, size_t, int, in, ptrdiff_t, int, in,
         ptrdiff_t, int, in, ptrdiff_t, int, void*, int, void*, void*, size_t*, options);
FUNCTION(tally_device_alloc, int, where, size_t, void**);
FUNCTION(tally_device_free, int, where, void*);
FUNCTION(tally_device_copy, int, where, void*, in, size_t);
FUNCTION(tally_pinned_alloc, int, where, size_t, void**);
FUNCTION(tally_pinned_free, int, where, void*);
FUNCTION(tally_pin, int, where, void*, size_t);
FUNCTION(tally_unpin, int, where, void*);
FUNCTION(tally_workspace_create, int, where, const tally_workspace_options*, tally_workspace**);
FUNCTION(tally_workspace_destroy, void, tally_workspace*);
FUNCTION(tally_workspace_executor, int, const tally_workspace*, tally_executor*);
