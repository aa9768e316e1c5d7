/* The C interface of Tally, also for languages that call C.
 *
 * Threads. Every function may be called concurrently, also on one executor, matrix or plan. Failure
 * texts are per thread.
 *
 * Lifetimes. A call keeps no pointer after it returns, except for work queued on a device:
 * operands, result and stream must outlive that. Options, structs, factors, bounds, edges and list
 * arrays are host memory, read before the call returns. A plan keeps its matrix's addresses.
 * Returned texts are static, except those of tally_last_error and tally_spmv_plan_describe.
 *
 * Where results lie. The executor must be able to read operands: host memory for CPU backends;
 * device, managed or pinned host memory for CUDA; any of these for a workspace. Sums, dot products
 * and extrema have two forms. With TALLY_WAIT_YES, the default, `result` is host memory, complete
 * when the call returns. With TALLY_WAIT_NO the executor must be able to write `result`, and on
 * CUDA the call returns once the work is queued on the stream, or captured in a graph. (Executable
 * graphs of one captured graph must not run at once.) Functions that write vectors, counts or a
 * product have only the second form. CPU backends always return when done.
 *
 * Errors. Functions that can fail return TALLY_SUCCESS (0) or another status, whose text is
 * tally_last_error. On failure nothing is written, except by a failing device and by tally_bincount
 * with an outside key on a device. No function throws. Every function of vectors may return:
 *   TALLY_SIZE_MISMATCH     operands of incompatible sizes
 *   TALLY_NULL_POINTER      null where elements, a result or a struct are needed
 *   TALLY_ZERO_INCREMENT    an increment of 0
 *   TALLY_MISALIGNED        a pointer not aligned to its element type
 *   TALLY_UNSUPPORTED_TYPE  no tally_type, or an unsupported combination
 *   TALLY_WRONG_MEMORY      memory that the executor can't reach
 *   TALLY_INVALID_ARGUMENT  more than 2^48 elements (or a negative number), also times the
 *                           increment; an uninitialised executor; an option out of range
 *   TALLY_OUT_OF_MEMORY     out of host or device memory
 *   TALLY_DEVICE_FAILURE    a failed call of the device's runtime
 *   TALLY_NO_DEVICE         openmp in a forked child of a multi-threaded process
 *
 * Growth. Structs that callers fill in begin with their size in bytes and may gain members at the
 * end, taken for zero in shorter ones. TALLY_INVALID_ARGUMENT for less than the first release's
 * size, a size within a member, or unknown non-zero bytes. Enumerations may gain values. Functions
 * keep their parameters.
 *
 * Vectors are BLAS's (n, x, incx): x is the lowest address; element i is x[i*incx], or
 * x[(i-(n-1))*incx] if incx < 0. Any byte but 0 is a true TALLY_BOOL. For types, bits and details
 * see the C++ header named with an operation. */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include <stddef.h>
#include <stdint.h>
#include <tally/export.h>
#include <tally/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Enumerations ----------------------------------------------------------------------------- */

/* Result of a call. */
typedef int tally_status;
enum {
  TALLY_SUCCESS = 0,
  TALLY_SIZE_MISMATCH = 1,
  TALLY_NULL_POINTER = 2,
  TALLY_ZERO_INCREMENT = 3,
  TALLY_MISALIGNED = 4,
  TALLY_UNSUPPORTED_TYPE = 5,
  TALLY_WRONG_MEMORY = 6,
  TALLY_MISSING_BACKEND = 7,
  TALLY_NO_DEVICE = 8,
  TALLY_INVALID_ARGUMENT = 9,
  TALLY_OUT_OF_MEMORY = 10,
  TALLY_DEVICE_FAILURE = 11,
  TALLY_NO_ELEMENTS = 12,
  TALLY_OVERLAP = 13,
  TALLY_KEY_OUT_OF_RANGE = 14,
  TALLY_UNREADABLE_FILE = 15,
  TALLY_UNKNOWN_FAILURE = 255 /* an exception other than Tally's */
};

/* Type of elements, results and factors. */
typedef int tally_type;
enum {
  TALLY_BOOL = 0,
  TALLY_INT8 = 1,
  TALLY_UINT8 = 2,
  TALLY_INT32 = 3,
  TALLY_INT64 = 4,
  TALLY_FLOAT16 = 5,  /* IEEE 754 binary16 */
  TALLY_BFLOAT16 = 6, /* the upper half of a float */
  TALLY_FLOAT32 = 7,
  TALLY_FLOAT64 = 8,
  TALLY_COMPLEX64 = 9,  /* two floats: real part, imaginary part */
  TALLY_COMPLEX128 = 10 /* two doubles */
};

/* What decides the bits of a sum. */
typedef int tally_grade;
enum {
  TALLY_GRADE_DEFAULT = 0, /* the values and their order: the order contract */
  TALLY_GRADE_EXACT = 1    /* the values only: the exact real sum, rounded once */
};

/* Whether a call waits. */
typedef int tally_wait;
enum {
  TALLY_WAIT_DEFAULT = 0, /* waits if the function has a waiting form */
  TALLY_WAIT_YES = 1,
  TALLY_WAIT_NO = 2
};

/* What a sum writes to `result`. */
typedef int tally_result_form;
enum {
  TALLY_RESULT_ROUNDED = 0, /* a number of result_type */
  /* The exact sum of type result_type, added to tally_exact_words limbs at `result`. */
  TALLY_RESULT_WORDS = 1
};

/* The conjugated vector of a dot product. */
typedef int tally_conjugate;
enum {
  TALLY_CONJUGATE_NONE = 0,
  TALLY_CONJUGATE_X = 1, /* BLAS dotc */
  TALLY_CONJUGATE_Y = 2
};

/* How tally_compare compares, in the type of a product of x and y, to which a constant is rounded:
 * with a NaN only TALLY_NOT_EQUAL is true. */
typedef int tally_comparison;
enum {
  TALLY_LESS = 0,
  TALLY_LESS_EQUAL = 1,
  TALLY_EQUAL = 2,
  TALLY_NOT_EQUAL = 3,
  TALLY_GREATER_EQUAL = 4,
  TALLY_GREATER = 5
};

/* Instruction sets of the simd backend. */
typedef int tally_instruction_set;
enum {
  /* the widest; where AVX-512 runs in halves, AVX2, save for compute-bound functions and sums in
   * the caches; NEON where SVE's vectors are no longer */
  TALLY_INSTRUCTIONS_BEST = -1,
  TALLY_INSTRUCTIONS_BASELINE = 0,
  TALLY_INSTRUCTIONS_SSE4 = 1,
  TALLY_INSTRUCTIONS_AVX2 = 2,
  TALLY_INSTRUCTIONS_AVX512 = 3,
  TALLY_INSTRUCTIONS_NEON = 4,
  TALLY_INSTRUCTIONS_SVE = 5,
  TALLY_INSTRUCTIONS_RVV = 6
};

/* Constants of the order contract (<tally/numerics/order.hpp>). */
enum { TALLY_ORDER_VERSION = 1, TALLY_ORDER_LANES = 64, TALLY_ORDER_CHUNK = 1024 };

/* --- Structs ---------------------------------------------------------------------------------- */

/* Where and how an operation runs: copyable, owns nothing, made by a function below. NULL stands
 * for tally_automatic's. */
typedef struct tally_executor {
  uint64_t contents[8]; /* private */
} tally_executor;

/* Options of a call; NULL, and 0 in each member, are the defaults. TALLY_INVALID_ARGUMENT for one
 * that the function lacks. */
typedef struct tally_call_options {
  size_t size;               /* sizeof(tally_call_options) */
  tally_grade grade;         /* of the sums */
  tally_wait wait;           /* whether the call waits for its result */
  tally_conjugate conjugate; /* for dot products */
  int reserved;              /* 0 */
  tally_result_form form;    /* for dot, sum, asum, nrm2 and several dot products */
  int reserved_too;          /* 0 */
  size_t outer; /* for tally_sums and tally_multi_dot_strided: blocks of k vectors; 0: 1 */
  ptrdiff_t outer_stride; /* elements between blocks */
} tally_call_options;

/* Samples of one channel outside bins. */
typedef struct tally_outside_counts {
  int64_t below; /* less than the first edge */
  int64_t above; /* greater than the last edge */
  int64_t nan;   /* NaNs */
} tally_outside_counts;

/* Options of a histogram; defaults as above. */
typedef struct tally_histogram_options {
  size_t size;     /* sizeof(tally_histogram_options) */
  size_t channels; /* interleaved histograms: sample i is of channel i mod channels; 0: 1 */
  tally_outside_counts* outside; /* one per channel, where the executor can write, or NULL */
  const void* weights; /* one per sample, to be summed; NULL: samples are counted (so no NULL with 0
                        * samples) */
  ptrdiff_t incw;      /* increment of weights; 0: 1 */
  tally_type weights_type; /* TALLY_FLOAT32 or TALLY_FLOAT64; ignored without weights */
  int add;                 /* 1: add to counts and outside; 0: overwrite */
} tally_histogram_options;

/* op(A) of the stored A. */
typedef int tally_operation;
enum {
  TALLY_NO_TRANSPOSE = 0,
  TALLY_TRANSPOSE = 1,
  TALLY_CONJUGATE_TRANSPOSE = 2 /* for real values, the transpose */
};

/* A matrix in compressed sparse rows (CSR), where the executor can read it: row i has the terms
 * row_offsets[i] ... row_offsets[i+1] - 1, or with row_ends, anywhere, up to row_ends[i] - 1.
 * Columns may be unsorted and repeat. Unsigned indices pass as signed. */
typedef struct tally_csr {
  size_t size;             /* sizeof(tally_csr) */
  size_t rows;             /* of A */
  size_t columns;          /* of A */
  size_t nonzeros;         /* stored values, explicit zeros included */
  const void* row_offsets; /* rows + 1, from 0 to nonzeros, nondecreasing; with row_ends rows, each
                            * in [0, nonzeros] */
  const void* column_indices; /* nonzeros, in [0, columns) within rows */
  const void* values;         /* nonzeros of them */
  tally_type offset_type;     /* TALLY_INT32 or TALLY_INT64 */
  tally_type column_type;     /* TALLY_INT32 or TALLY_INT64 */
  tally_type value_type;      /* floating-point or complex */
  int reserved;               /* 0 */
  const void* row_ends;       /* rows; NULL: the next row's begin */
  tally_operation operation;  /* op(A) */
  int fixed_values;           /* 1: as fixed_columns, and values don't change, either */
  int fixed_columns;          /* 1: columns don't change or move while a plan is used (for
                               * tally_spmv_plan_create) */
  int reserved_too;           /* 0 */
} tally_csr;

/* Norms of a matrix's rows. */
typedef int tally_norm;
enum {
  TALLY_NORM_ONE = 0,     /* the sum of magnitudes */
  TALLY_NORM_INFINITY = 1 /* the largest magnitude */
};

/* Precomputed analysis of a matrix for repeated products. */
typedef struct tally_spmv_plan tally_spmv_plan;

/* --- Versions, names and errors --------------------------------------------------------------- */

/* Version of the library; the header's: TALLY_VERSION_NUMBER. */
TALLY_EXPORT int tally_version(void);

/* The library's TALLY_ORDER_VERSION. */
TALLY_EXPORT int tally_order_version(void);

/* Name of a status, such as "size_mismatch", or "unknown". */
TALLY_EXPORT const char* tally_status_name(tally_status status);

/* Name of a type, such as "float64", or "unknown". */
TALLY_EXPORT const char* tally_type_name(tally_type type);

/* Bytes per element or 0. */
TALLY_EXPORT size_t tally_type_size(tally_type type);

/* Text of this thread's last failure, "" before the first, at most 511 bytes. The address is valid
 * until the thread ends, the text until its next failure. */
TALLY_EXPORT const char* tally_last_error(void);

/* Copies that text to `buffer`, truncated and (unless size is 0) zero-terminated; returns the full
 * length, as snprintf. */
TALLY_EXPORT size_t tally_copy_last_error(char* buffer, size_t size);

/* --- Executors -------------------------------------------------------------------------------- */

/* Each writes an executor to *where, unchanged on failure. TALLY_MISSING_BACKEND if the build lacks
 * the backend, TALLY_NO_DEVICE if it can't run here. */

/* One thread, plain loops: the reference. */
TALLY_EXPORT tally_status tally_serial(tally_executor* where);

/* One thread, vector instructions. */
TALLY_EXPORT tally_status tally_simd(tally_executor* where, tally_instruction_set instructions);

/* OpenMP threads with the same instructions, at most 4096; 0: OpenMP's default. */
TALLY_EXPORT tally_status tally_openmp(tally_executor* where, int threads);

/* A CUDA device, -1 for the thread's current one, and a cudaStream_t or NULL for the default
 * stream. */
TALLY_EXPORT tally_status tally_cuda(tally_executor* where, int device, void* stream);

/* Kokkos's default execution space. Initialised, and finalised at exit, if nobody has. */
TALLY_EXPORT tally_status tally_kokkos(tally_executor* where);

/* Chooses at each call: cuda, default stream, on the device that holds the operands; otherwise
 * simd, or openmp for long operands. Never moves data. */
TALLY_EXPORT tally_status tally_automatic(tally_executor* where);

/* The executor of that name with default options: "serial", "simd", "openmp", "cuda", "kokkos" or
 * "automatic". */
TALLY_EXPORT tally_status tally_executor_named(tally_executor* where, const char* name);

/* *name = an executor's name, as above. */
TALLY_EXPORT tally_status tally_executor_name(const tally_executor* where, const char** name);

/* *count = the number of this build's backends, "serial" first. Of the first `capacity`, names[i]
 * is the name, usable[i] whether it can run here (1 or 0); both may be NULL. `usable` initialises a
 * built-in Kokkos; failures other than TALLY_NO_DEVICE are returned. */
TALLY_EXPORT tally_status tally_executors(size_t capacity, const char** names, int* usable,
                                          size_t* count);

/* --- Memory ----------------------------------------------------------------------------------- */

/* For programs without a CUDA binding (<tally/buffer.hpp>); plain memory on host executors.
 * TALLY_INVALID_ARGUMENT for tally_automatic's executor. */

/* *memory = uninitialised memory for kernels, 64-byte aligned; on CUDA device memory. NULL for 0
 * bytes. */
TALLY_EXPORT tally_status tally_device_alloc(const tally_executor* where, size_t bytes,
                                             void** memory);

/* Frees memory of tally_device_alloc, with an executor of the same backend and device. Pre: not in
 * use (CUDA: waits for the device). NULL is allowed. */
TALLY_EXPORT tally_status tally_device_free(const tally_executor* where, void* memory);

/* Copies bytes between memory of the host or the executor; blocks. On CUDA queued on the executor's
 * stream. */
TALLY_EXPORT tally_status tally_device_copy(const tally_executor* where, void* to, const void* from,
                                            size_t bytes);

/* *memory = page-locked host memory, for full bus speed on a device; otherwise as
 * tally_device_alloc. */
TALLY_EXPORT tally_status tally_pinned_alloc(const tally_executor* where, size_t bytes,
                                             void** memory);

/* As tally_device_free. */
TALLY_EXPORT tally_status tally_pinned_free(const tally_executor* where, void* memory);

/* Page-locks the caller's memory until tally_unpin. Costs at least one read of it: pays for reuse.
 * TALLY_INVALID_ARGUMENT for pinned memory and 0 bytes. */
TALLY_EXPORT tally_status tally_pin(const tally_executor* where, void* memory, size_t bytes);

/* Undoes tally_pin. Pre: not in use. TALLY_INVALID_ARGUMENT for any other address. */
TALLY_EXPORT tally_status tally_unpin(const tally_executor* where, void* memory);

/* --- Host data, work on a device ------------------------------------------------------------- */

/* Staging memory and threads for host data on a device (<tally/workspace.hpp>); a few MiB. */
typedef struct tally_workspace tally_workspace;

/* Options of a workspace; NULL and 0 are the defaults. */
typedef struct tally_workspace_options {
  size_t size;        /* sizeof(tally_workspace_options) */
  size_t stage_bytes; /* staged at once, all operands together: 2^15 to 2^30 */
  int threads;        /* to copy pageable memory, the calling one included */
  int reserved;       /* 0 */
} tally_workspace_options;

/* *workspace = one for a device and stream, or a host executor. */
TALLY_EXPORT tally_status tally_workspace_create(const tally_executor* where,
                                                 const tally_workspace_options* options,
                                                 tally_workspace** workspace);

/* Destroys a workspace; no call may use its executor, now or later. NULL is allowed. */
TALLY_EXPORT void tally_workspace_destroy(tally_workspace* workspace);

/* *where = an executor for operands and results in host memory (pinned memory, and what the device
 * reaches, in place). For sums, extrema, element-wise functions, updates with a sum and histograms;
 * others are TALLY_INVALID_ARGUMENT. Calls always wait, one after another. Of a host executor, that
 * executor. */
TALLY_EXPORT tally_status tally_workspace_executor(const tally_workspace* workspace,
                                                   tally_executor* where);

/* --- Sums ------------------------------------------------------------------------------------- */

/* *result = sum_i x_i*y_i, i = 0 ... n-1 (<tally/operations/dot.hpp>), for any two types.
 * result_type: TALLY_FLOAT64 where x or y is; TALLY_FLOAT32 for other floating-point types, alone
 * or with integers; TALLY_INT64 for integers; complex where x or y is; or instead TALLY_FLOAT64
 * (TALLY_COMPLEX128). `result` may be an element of x or y.
 *
 * options: grade, wait, form, conjugate. */
TALLY_EXPORT tally_status tally_dot(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type result_type, void* result,
                                    const tally_call_options* options);

/* *result = sum_i x_i (<tally/operations/reduce.hpp>). result_type is as for tally_dot of x and x.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_sum(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type result_type,
                                    void* result, const tally_call_options* options);

/* *result = sum_i |x_i|, for complex |re x_i| + |im x_i| (BLAS asum). result_type is the real type
 * of tally_sum's.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_asum(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result, const tally_call_options* options);

/* *result = sqrt(sum_i |x_i|^2) (BLAS nrm2), without intermediate overflow or underflow.
 * result_type is as for tally_asum, but TALLY_FLOAT64 for integers.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_nrm2(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result, const tally_call_options* options);

/* *result = sum_i x_i^2 of real numbers, the bits of tally_dot of x and x, with its result_type.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_sum_of_squares(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type result_type, void* result,
                                               const tally_call_options* options);

/* *result = max_i |x_i| of real numbers; 0 if there is none, NaN if one is NaN. result_type is as
 * for tally_asum. Waits on a device.
 *
 * options: wait. */
TALLY_EXPORT tally_status tally_max_norm(const tally_executor* where, size_t n, tally_type x_type,
                                         const void* x, ptrdiff_t incx, tally_type result_type,
                                         void* result, const tally_call_options* options);

/* *result = sum_i (x_i w_i)^2 of real numbers, x_i w_i rounded; squares are not scaled, and may
 * overflow (<tally/operations/norms.hpp>). result_type is as for tally_dot, but TALLY_FLOAT64 for
 * integers.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_weighted_sum_of_squares(const tally_executor* where, size_t n,
                                                        tally_type x_type, const void* x,
                                                        ptrdiff_t incx, tally_type w_type,
                                                        const void* w, ptrdiff_t incw,
                                                        tally_type result_type, void* result,
                                                        const tally_call_options* options);

/* *result = sqrt(sum_i (x_i w_i)^2), likewise; limbs take the squares. */
TALLY_EXPORT tally_status tally_weighted_nrm2(const tally_executor* where, size_t n,
                                              tally_type x_type, const void* x, ptrdiff_t incx,
                                              tally_type w_type, const void* w, ptrdiff_t incw,
                                              tally_type result_type, void* result,
                                              const tally_call_options* options);

/* *result = sqrt(sum_i (x_i w_i)^2 / n), likewise; 0 for n = 0. */
TALLY_EXPORT tally_status tally_wrms_norm(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, tally_type w_type,
                                          const void* w, ptrdiff_t incw, tally_type result_type,
                                          void* result, const tally_call_options* options);

/* *result = sqrt(sum_i (x_i w_i)^2 / n), likewise, with the terms of positive elements of the mask,
 * of any real type. */
TALLY_EXPORT tally_status tally_wrms_norm_mask(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type w_type, const void* w, ptrdiff_t incw,
                                               tally_type mask_type, const void* mask,
                                               ptrdiff_t incmask, tally_type result_type,
                                               void* result, const tally_call_options* options);

/* y_i = x_0 + ... + x_i, with the bits of tally_sum of these elements
 * (<tally/operations/scan.hpp>). y_type is as result_type of tally_sum. y is x or shares no memory
 * with it. There is no exact grade. */
TALLY_EXPORT tally_status tally_inclusive_scan(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type y_type, void* y, ptrdiff_t incy,
                                               const tally_call_options* options);

/* y_i = x_0 + ... + x_(i-1), y_0 = 0; otherwise as tally_inclusive_scan. */
TALLY_EXPORT tally_status tally_exclusive_scan(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type y_type, void* y, ptrdiff_t incy,
                                               const tally_call_options* options);

/* results[j] = sum_i x[j*ldx+i]*y_i, j = 0 ... k-1, i = 0 ... n-1: k contiguous rows times a vector
 * in one pass (<tally/operations/multi_dot.hpp>), otherwise as tally_dot. Rows may overlap; ldx may
 * be 0. TALLY_OVERLAP if `results`, contiguous, share memory with x or y.
 *
 * options: grade, wait, form, conjugate. */
TALLY_EXPORT tally_status tally_multi_dot(const tally_executor* where, size_t k, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t ldx,
                                          tally_type y_type, const void* y, ptrdiff_t incy,
                                          tally_type result_type, void* results,
                                          const tally_call_options* options);

/* results[j] = sum_i x[j*ldx+i]*y[j*ldy+i]: k pairs of rows; otherwise as tally_multi_dot. */
TALLY_EXPORT tally_status tally_batched_dot(const tally_executor* where, size_t k, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t ldx,
                                            tally_type y_type, const void* y, ptrdiff_t ldy,
                                            tally_type result_type, void* results,
                                            const tally_call_options* options);

/* results[j] = the dot product of (n[j], x[j], incx[j]) and (n[j], y[j], incy[j]); otherwise as
 * tally_multi_dot. The five arrays are host memory of k elements. */
TALLY_EXPORT tally_status tally_multi_dot_list(const tally_executor* where, size_t k,
                                               const size_t* n, tally_type x_type,
                                               const void* const* x, const ptrdiff_t* incx,
                                               tally_type y_type, const void* const* y,
                                               const ptrdiff_t* incy, tally_type result_type,
                                               void* results, const tally_call_options* options);

/* results[j] = sum_i x[j*ldx+i*incx], j = 0 ... k-1, i = 0 ... n-1
 * (<tally/operations/multi_dot.hpp>): the sums along an axis of an array of any layout, each with
 * the bits of tally_sum of its vector. ldx = 1 and incx = k are the columns of a row-major matrix.
 * x points at element 0 of vector 0, also where incx or ldx is negative; otherwise as
 * tally_multi_dot, with result_type as for tally_sum. With options.outer there are outer*k vectors:
 * results[o*k+j] is of the one that starts at x[o*outer_stride+j*ldx].
 *
 * options: grade, wait, form, outer, outer_stride. */
TALLY_EXPORT tally_status tally_sums(const tally_executor* where, size_t k, size_t n,
                                     tally_type x_type, const void* x, ptrdiff_t ldx,
                                     ptrdiff_t incx, tally_type result_type, void* results,
                                     const tally_call_options* options);

/* results[j] = sum_i x[j*ldx+i*incx]*y_i: vectors of any layout, as for tally_sums, times one,
 * which is as for tally_dot; otherwise as tally_multi_dot.
 *
 * options: grade, wait, form, conjugate, outer, outer_stride. */
TALLY_EXPORT tally_status tally_multi_dot_strided(const tally_executor* where, size_t k, size_t n,
                                                  tally_type x_type, const void* x, ptrdiff_t ldx,
                                                  ptrdiff_t incx, tally_type y_type, const void* y,
                                                  ptrdiff_t incy, tally_type result_type,
                                                  void* results, const tally_call_options* options);

/* y = alpha op(A) x + beta y (<tally/operations/gemv.hpp>), with A of m rows and n columns and
 * element (i, j) at a[i*lda+j*inca]: inca is 1 for a row-major A, lda for a column-major one. Each
 * element of op(A) x has the bits of tally_dot. alpha and beta point at factors in host memory;
 * NULL is 1 and 0. Where beta is 0, y is not read. A or x is floating-point or complex, y
 * floating-point of 32 or 64 bits or complex, and complex where A or x is. TALLY_OVERLAP if y
 * shares memory with A or x.
 *
 * options: grade (of the sums), wait (not TALLY_WAIT_YES). */
TALLY_EXPORT tally_status tally_gemv(const tally_executor* where, tally_operation operation,
                                     size_t m, size_t n, tally_type alpha_type, const void* alpha,
                                     tally_type a_type, const void* a, ptrdiff_t lda,
                                     ptrdiff_t inca, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type beta_type, const void* beta,
                                     tally_type y_type, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* results[j] = sum_i x[i], i = offsets[j] ... offsets[j+1]-1, j = 0 ... segments-1, in the order of
 * tally_spmv's rows (<tally/sparse/segmented_sum.hpp>). offsets: segments+1 contiguous numbers
 * of TALLY_INT32 or TALLY_INT64, from 0 to n, not decreasing. x: n contiguous elements.
 * result_type is as for tally_sum, of integers TALLY_INT64.
 *
 * options: grade, wait (not TALLY_WAIT_YES). */
TALLY_EXPORT tally_status tally_segmented_sum(const tally_executor* where, size_t segments,
                                              tally_type offset_type, const void* offsets, size_t n,
                                              tally_type x_type, const void* x,
                                              tally_type result_type, void* results,
                                              const tally_call_options* options);

/* --- Unrounded sums --------------------------------------------------------------------------- */

/* With options.form TALLY_RESULT_WORDS the functions above add unrounded exact sums to limbs,
 * initially zero (<tally/numerics/exact_words.hpp>). Limbs of parts, such as MPI ranks, are merged
 * by adding them in any order; rounded, the sum has the bits of TALLY_GRADE_EXACT for the whole.
 * result_type is TALLY_FLOAT64 (TALLY_COMPLEX128), or, without operands of doubles, TALLY_FLOAT32
 * (TALLY_COMPLEX64) with fewer limbs. tally_nrm2 adds squares. At most 2^29 calls, over all parts,
 * may add to a sum before tally_merge_words normalises it. `result` is a contiguous int64_t array,
 * with TALLY_WAIT_YES in host memory. */

/* Limbs (int64_t) of a sum: 137 for TALLY_FLOAT64, 23 for TALLY_FLOAT32, twice as many for complex;
 * 0 for any other int. */
TALLY_EXPORT size_t tally_exact_words(tally_type sum_type);

/* The smallest sum for these operands: TALLY_FLOAT32 without doubles, otherwise TALLY_FLOAT64,
 * complex if result_type is. For one operand y_type is x_type. -1 for no type. */
TALLY_EXPORT tally_type tally_exact_sum_type(tally_type x_type, tally_type y_type,
                                             tally_type result_type);

/* Adds the limbs of `count` sums at `from` to those at `to`, both in host memory, and normalises
 * `to`: equal sums then have equal limbs. With `from` NULL or equal to `to` only normalises.
 * TALLY_INVALID_ARGUMENT, nothing written, for a sum beyond 2^2112 (TALLY_FLOAT32: 2^320). */
TALLY_EXPORT tally_status tally_merge_words(size_t count, tally_type sum_type, const int64_t* from,
                                            int64_t* to);

/* results[j] = sum j of `words`, correctly rounded to TALLY_FLOAT32 or TALLY_FLOAT64, or for
 * complex sums a complex type. `words` is where the executor can read. TALLY_OVERLAP with the
 * results.
 *
 * options: wait. */
TALLY_EXPORT tally_status tally_round_words(const tally_executor* where, size_t count,
                                            tally_type sum_type, const int64_t* words,
                                            tally_type result_type, void* results,
                                            const tally_call_options* options);

/* As above, the square roots, as by tally_nrm2; NaN if negative. TALLY_UNSUPPORTED_TYPE for complex
 * sums. */
TALLY_EXPORT tally_status tally_round_root_words(const tally_executor* where, size_t count,
                                                 tally_type sum_type, const int64_t* words,
                                                 tally_type result_type, void* results,
                                                 const tally_call_options* options);

/* --- Extrema ---------------------------------------------------------------------------------- */

/* The smallest element and its lowest index, from 0 (<tally/operations/extremum.hpp>); the first
 * NaN if any. `result` is a struct of element type and int64_t, `struct { double value; int64_t
 * index; }`, for every type 16 bytes aligned to 8, padding zeroed. x is not complex.
 * TALLY_NO_ELEMENTS if n is 0; TALLY_OVERLAP if `result` shares memory with x.
 *
 * options: wait, grade (without effect). */
TALLY_EXPORT tally_status tally_min(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result,
                                    const tally_call_options* options);

/* The largest element and its lowest index, as tally_min. */
TALLY_EXPORT tally_status tally_max(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result,
                                    const tally_call_options* options);

/* Both in one pass; `result` is two such structs, minimum first. */
TALLY_EXPORT tally_status tally_minmax(const tally_executor* where, size_t n, tally_type x_type,
                                       const void* x, ptrdiff_t incx, void* result,
                                       const tally_call_options* options);

/* *result = the lowest index, from 0 (BLAS: 1), of the element of largest magnitude, for complex
 * |re x_i| + |im x_i|; -1 if n is 0. Any type; otherwise as tally_min. */
TALLY_EXPORT tally_status tally_iamax(const tally_executor* where, size_t n, tally_type x_type,
                                      const void* x, ptrdiff_t incx, int64_t* result,
                                      const tally_call_options* options);

/* --- Element-wise functions ------------------------------------------------------------------- */

/* These write a vector, i = 0 ... n-1 (<tally/operations/transform.hpp>), rounded once to the
 * output's type, of the inputs' kind or wider: integer, floating-point, complex. (tally_abs of
 * complex numbers is real, tally_compare of any real type; only tally_copy and tally_fill from
 * TALLY_BOOL, and tally_compare, write TALLY_BOOL.) Factors are in host memory; floating-point and
 * complex ones need such elements. TALLY_OVERLAP unless an output is an input (same address and
 * byte stride) or shares no memory with one.
 *
 * options: wait (not TALLY_WAIT_YES). */

/* y_i = x_i. */
TALLY_EXPORT tally_status tally_copy(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy, const tally_call_options* options);

/* z_i = *value, host memory, rounded once. */
TALLY_EXPORT tally_status tally_fill(const tally_executor* where, size_t n, tally_type value_type,
                                     const void* value, tally_type z_type, void* z, ptrdiff_t incz,
                                     const tally_call_options* options);

/* Exchanges two vectors of one type that share no memory. */
TALLY_EXPORT tally_status tally_swap(const tally_executor* where, size_t n, tally_type type,
                                     void* x, ptrdiff_t incx, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* y_i = beta*y_i + sum_j alpha[j]*x[j*ldx+i*incx], j = 0 ... k-1, in this order
 * (<tally/operations/multi_axpy.hpp>): the bits of tally_axpby with alpha[0] and then tally_axpy,
 * in one pass. For negative incx x points as in BLAS. alpha is k contiguous numbers in host memory,
 * or where the device reaches them. y is not read where beta is 0, and shares no memory with x or
 * alpha. */
TALLY_EXPORT tally_status tally_multi_axpy(const tally_executor* where, size_t k, size_t n,
                                           tally_type alpha_type, const void* alpha,
                                           tally_type x_type, const void* x, ptrdiff_t ldx,
                                           ptrdiff_t incx, tally_type beta_type, const void* beta,
                                           tally_type y_type, void* y, ptrdiff_t incy,
                                           const tally_call_options* options);

/* y as by tally_multi_axpy; then results[j] = sum_i x[j*ldx+i*incx]*y_i of the new y, j = 0 ...
 * k-1, with the bits of tally_multi_dot_strided (and result_type), in one pass where possible.
 * `results`, contiguous, share no memory with alpha, x or y.
 *
 * options: grade, wait, conjugate. */
TALLY_EXPORT tally_status tally_multi_axpy_dot(const tally_executor* where, size_t k, size_t n,
                                               tally_type alpha_type, const void* alpha,
                                               tally_type x_type, const void* x, ptrdiff_t ldx,
                                               ptrdiff_t incx, tally_type beta_type,
                                               const void* beta, tally_type y_type, void* y,
                                               ptrdiff_t incy, tally_type result_type,
                                               void* results, const tally_call_options* options);

/* z_i = x[indices[i]], i = 0 ... nz-1 (<tally/operations/gather.hpp>), bit by bit, for one type. nz
 * contiguous indices of TALLY_INT32 or TALLY_INT64 in [0, nx), unchecked. */
TALLY_EXPORT tally_status tally_gather(const tally_executor* where, tally_type type, size_t nx,
                                       const void* x, ptrdiff_t incx, tally_type index_type,
                                       const void* indices, size_t nz, void* z, ptrdiff_t incz,
                                       const tally_call_options* options);

/* z[indices[i]] = x_i, i = 0 ... nx-1; indices are distinct, in [0, nz), unchecked. */
TALLY_EXPORT tally_status tally_scatter(const tally_executor* where, tally_type type, size_t nx,
                                        const void* x, ptrdiff_t incx, tally_type index_type,
                                        const void* indices, size_t nz, void* z, ptrdiff_t incz,
                                        const tally_call_options* options);

/* z_j becomes the sum of z_j and all x_i with indices[i] = j, rounded once, as in
 * TALLY_GRADE_EXACT, for TALLY_FLOAT32 and TALLY_FLOAT64. It is unchanged if the x_i are none or
 * add up to 0. incz is 1. x_i is ignored unless its index is in [0, nz). */
TALLY_EXPORT tally_status tally_scatter_add(const tally_executor* where, tally_type type, size_t nx,
                                            const void* x, ptrdiff_t incx, tally_type index_type,
                                            const void* indices, size_t nz, void* z, ptrdiff_t incz,
                                            const tally_call_options* options);

/* x_i = alpha*x_i. */
TALLY_EXPORT tally_status tally_scal(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, void* x, ptrdiff_t incx,
                                     const tally_call_options* options);

/* y_i = alpha*x_i + y_i. */
TALLY_EXPORT tally_status tally_axpy(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* y_i = alpha*x_i + beta*y_i. y is not read where beta is 0. */
TALLY_EXPORT tally_status tally_axpby(const tally_executor* where, size_t n, tally_type alpha_type,
                                      const void* alpha, tally_type x_type, const void* x,
                                      ptrdiff_t incx, tally_type beta_type, const void* beta,
                                      tally_type y_type, void* y, ptrdiff_t incy,
                                      const tally_call_options* options);

/* w_i = alpha*x_i + beta*y_i. x and y are always read. */
TALLY_EXPORT tally_status tally_waxpby(const tally_executor* where, size_t n, tally_type alpha_type,
                                       const void* alpha, tally_type x_type, const void* x,
                                       ptrdiff_t incx, tally_type beta_type, const void* beta,
                                       tally_type y_type, const void* y, ptrdiff_t incy,
                                       tally_type w_type, void* w, ptrdiff_t incw,
                                       const tally_call_options* options);

/* z_i = (alpha*x_i + beta*y_i) + gamma*z_i. z is not read where gamma is 0. */
TALLY_EXPORT tally_status tally_axpbypcz(const tally_executor* where, size_t n,
                                         tally_type alpha_type, const void* alpha,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type beta_type, const void* beta, tally_type y_type,
                                         const void* y, ptrdiff_t incy, tally_type gamma_type,
                                         const void* gamma, tally_type z_type, void* z,
                                         ptrdiff_t incz, const tally_call_options* options);

/* z_i = x_i + y_i. */
TALLY_EXPORT tally_status tally_add(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz,
                                    const tally_call_options* options);

/* z_i = x_i - y_i. */
TALLY_EXPORT tally_status tally_sub(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz,
                                    const tally_call_options* options);

/* z_i = x_i*y_i. */
TALLY_EXPORT tally_status tally_mul(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz,
                                    const tally_call_options* options);

/* z_i = (alpha*x_i)*y_i + beta*z_i. z is not read where beta is 0. */
TALLY_EXPORT tally_status tally_axypbz(const tally_executor* where, size_t n, tally_type alpha_type,
                                       const void* alpha, tally_type x_type, const void* x,
                                       ptrdiff_t incx, tally_type y_type, const void* y,
                                       ptrdiff_t incy, tally_type beta_type, const void* beta,
                                       tally_type z_type, void* z, ptrdiff_t incz,
                                       const tally_call_options* options);

/* y_i = max(x_i, 0), real: +0 for -0, NaN for NaN. */
TALLY_EXPORT tally_status tally_relu(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy, const tally_call_options* options);

/* y_i = 1/(1 + exp(-x_i)), floating-point. */
TALLY_EXPORT tally_status tally_sigmoid(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                        ptrdiff_t incy, const tally_call_options* options);

/* y_i = exp(x_i), floating-point. */
TALLY_EXPORT tally_status tally_exp(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                    ptrdiff_t incy, const tally_call_options* options);

/* z_i = alpha x_i. */
TALLY_EXPORT tally_status tally_scale(const tally_executor* where, size_t n, tally_type alpha_type,
                                      const void* alpha, tally_type x_type, const void* x,
                                      ptrdiff_t incx, tally_type z_type, void* z, ptrdiff_t incz,
                                      const tally_call_options* options);

/* z_i = x_i + b. */
TALLY_EXPORT tally_status tally_add_constant(const tally_executor* where, size_t n,
                                             tally_type x_type, const void* x, ptrdiff_t incx,
                                             tally_type b_type, const void* b, tally_type z_type,
                                             void* z, ptrdiff_t incz,
                                             const tally_call_options* options);

/* z_i = x_i / y_i; not of integers; complex by Smith's formula. */
TALLY_EXPORT tally_status tally_div(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz,
                                    const tally_call_options* options);

/* z_i = 1 / x_i; not of integers. */
TALLY_EXPORT tally_status tally_inv(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                    ptrdiff_t incz, const tally_call_options* options);

/* z_i = x_i + (alpha y_i) / d_i; not of integers. */
TALLY_EXPORT tally_status tally_jacobi_step(const tally_executor* where, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t incx,
                                            tally_type alpha_type, const void* alpha,
                                            tally_type y_type, const void* y, ptrdiff_t incy,
                                            tally_type d_type, const void* d, ptrdiff_t incd,
                                            tally_type z_type, void* z, ptrdiff_t incz,
                                            const tally_call_options* options);

/* z_i = |x_i|; complex: the modulus, real. */
TALLY_EXPORT tally_status tally_abs(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                    ptrdiff_t incz, const tally_call_options* options);

/* z_i = sqrt(x_i); floating-point, real. */
TALLY_EXPORT tally_status tally_sqrt(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                     ptrdiff_t incz, const tally_call_options* options);

/* z_i = log(x_i); floating-point, real. */
TALLY_EXPORT tally_status tally_log(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                    ptrdiff_t incz, const tally_call_options* options);

/* z_i = tanh(x_i); floating-point, real. */
TALLY_EXPORT tally_status tally_tanh(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                     ptrdiff_t incz, const tally_call_options* options);

/* z_i = x_i^exponent; an integer of at most 2^24 in magnitude, for integers not negative; a product
 * of the squares that its digits name. */
TALLY_EXPORT tally_status tally_pow(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type exponent_type,
                                    const void* exponent, tally_type z_type, void* z,
                                    ptrdiff_t incz, const tally_call_options* options);

/* z_i = min(x_i, y_i); real: IEEE 754's minimum, NaN if either is, -0 below +0. */
TALLY_EXPORT tally_status tally_minimum(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_type y_type,
                                        const void* y, ptrdiff_t incy, tally_type z_type, void* z,
                                        ptrdiff_t incz, const tally_call_options* options);

/* z_i = max(x_i, y_i); real: IEEE 754's maximum. */
TALLY_EXPORT tally_status tally_maximum(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_type y_type,
                                        const void* y, ptrdiff_t incy, tally_type z_type, void* z,
                                        ptrdiff_t incz, const tally_call_options* options);

/* z_i = min(max(x_i, low), high); real: NaN if one of the three is. */
TALLY_EXPORT tally_status tally_clamp(const tally_executor* where, size_t n, tally_type x_type,
                                      const void* x, ptrdiff_t incx, tally_type low_type,
                                      const void* low, tally_type high_type, const void* high,
                                      tally_type z_type, void* z, ptrdiff_t incz,
                                      const tally_call_options* options);

/* z_i = sign(x_i); real: 1, -1 or +0. */
TALLY_EXPORT tally_status tally_sign(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type z_type, void* z,
                                     ptrdiff_t incz, const tally_call_options* options);

/* z_i = 1 if x_i compares with y_i, else 0; real, z of any real type. */
TALLY_EXPORT tally_status tally_compare(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_comparison comparison,
                                        tally_type y_type, const void* y, ptrdiff_t incy,
                                        tally_type z_type, void* z, ptrdiff_t incz,
                                        const tally_call_options* options);

/* z_i = 1 if x_i compares with y, else 0; real, z of any real type. */
TALLY_EXPORT tally_status tally_compare_constant(const tally_executor* where, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t incx,
                                                 tally_comparison comparison, tally_type y_type,
                                                 const void* y, tally_type z_type, void* z,
                                                 ptrdiff_t incz, const tally_call_options* options);

/* z_i = x_i where mask_i is not 0, else y_i. */
TALLY_EXPORT tally_status tally_where(const tally_executor* where, size_t n, tally_type mask_type,
                                      const void* mask, ptrdiff_t incmask, tally_type x_type,
                                      const void* x, ptrdiff_t incx, tally_type y_type,
                                      const void* y, ptrdiff_t incy, tally_type z_type, void* z,
                                      ptrdiff_t incz, const tally_call_options* options);

/* y_i = alpha*x_i + y_i; then *result = sum_i y_i*v_i, with the bits of tally_axpy and tally_dot,
 * in one pass where possible (<tally/operations/fused.hpp>). v shares no memory with y, or is y,
 * also as NULL (v_type and incv are then ignored). r_type is as for tally_dot.
 *
 * options: grade, wait, conjugate. */
TALLY_EXPORT tally_status tally_axpy_dot(const tally_executor* where, size_t n,
                                         tally_type alpha_type, const void* alpha,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type y_type, void* y, ptrdiff_t incy,
                                         tally_type v_type, const void* v, ptrdiff_t incv,
                                         tally_type r_type, void* result,
                                         const tally_call_options* options);

/* w_i = alpha*x_i + beta*y_i; then *result = sqrt(sum_i |w_i|^2), with the bits of tally_waxpby and
 * tally_nrm2 (and r_type), in one pass where possible.
 *
 * options: grade, wait. */
TALLY_EXPORT tally_status tally_waxpby_nrm2(
    const tally_executor* where, size_t n, tally_type alpha_type, const void* alpha,
    tally_type x_type, const void* x, ptrdiff_t incx, tally_type beta_type, const void* beta,
    tally_type y_type, const void* y, ptrdiff_t incy, tally_type w_type, void* w, ptrdiff_t incw,
    tally_type r_type, void* result, const tally_call_options* options);

/* --- Histograms ------------------------------------------------------------------------------- */

/* Counts of real samples in half-open bins, the last closed (<tally/operations/histogram.hpp>).
 * `counts` has bins*channels contiguous TALLY_INT32 or TALLY_INT64, channel after channel. With
 * weights it has TALLY_FLOAT32 or TALLY_FLOAT64, each bin's exact sum rounded once, or TALLY_INT64:
 * each bin's limbs (tally_exact_words of weights_type), to which weights are added. TALLY_OVERLAP
 * if counts or `outside` share memory with an input or each other. TALLY_SIZE_MISMATCH if samples
 * are no multiple of the channels. TALLY_INVALID_ARGUMENT for no bins, more than 2^31 - 1 counts,
 * 65536 channels, 2^30 - 2 weighted samples, or more samples than TALLY_INT32 counts hold. */

/* counts[k] = the number of keys equal to k, k = 0 ... bins - 1. Without options' `outside` a key
 * outside is TALLY_KEY_OUT_OF_RANGE, and the call always waits; a device then counts the keys in
 * range. */
TALLY_EXPORT tally_status tally_bincount(const tally_executor* where, size_t n,
                                         tally_type keys_type, const void* keys, ptrdiff_t inckeys,
                                         size_t bins, tally_type counts_type, void* counts,
                                         const tally_histogram_options* options);

/* Bins of equal width. lower and upper point at the outer edges, of one real type, in host memory.
 * TALLY_INVALID_ARGUMENT unless finite and lower < upper. */
TALLY_EXPORT tally_status tally_histogram_even(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type bounds_type, const void* lower,
                                               const void* upper, size_t bins,
                                               tally_type counts_type, void* counts,
                                               const tally_histogram_options* options);

/* Bins between consecutive edges: bins + 1 contiguous, of a real type, in host memory.
 * TALLY_INVALID_ARGUMENT if decreasing or NaN. */
TALLY_EXPORT tally_status tally_histogram_range(const tally_executor* where, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t incx,
                                                tally_type edges_type, const void* edges,
                                                size_t bins, tally_type counts_type, void* counts,
                                                const tally_histogram_options* options);

/* --- Sparse matrices -------------------------------------------------------------------------- */

/* Checks a whole matrix in place (<tally/sparse/spmv.hpp>); blocks. TALLY_INVALID_ARGUMENT if
 * wrong. */
TALLY_EXPORT tally_status tally_validate(const tally_executor* where, const tally_csr* matrix);

/* *plan = a plan for products with this matrix, which is validated. Changes speed, never bits.
 * While the plan is used, row offsets must not change or move, nor what matrix->fixed_columns or
 * matrix->fixed_values promise. */
TALLY_EXPORT tally_status tally_spmv_plan_create(const tally_executor* where,
                                                 const tally_csr* matrix, tally_spmv_plan** plan);

/* Destroys a plan no longer in use. NULL is allowed. */
TALLY_EXPORT void tally_spmv_plan_destroy(tally_spmv_plan* plan);

/* *text = how rows are summed and why, valid as long as the plan. */
TALLY_EXPORT tally_status tally_spmv_plan_describe(const tally_spmv_plan* plan, const char** text);

/* y = alpha op(A) x + beta y (<tally/sparse/spmv.hpp>), with x of the width of op(A) and y of
 * the height. alpha and beta point at factors in host memory; NULL is 1 and 0. Where beta is 0, y
 * is not read. x and y are floating-point or complex of 32 or 64 bits, y complex where values or x
 * are. plan is NULL or of this matrix and backend (TALLY_INVALID_ARGUMENT). TALLY_OVERLAP if y
 * shares memory with x or the matrix. simd and openmp copy an x with an increment or another type
 * than the sums, unless these are complex or exact.
 *
 * options: grade (TALLY_GRADE_EXACT: each row's sum is rounded once), wait (not TALLY_WAIT_YES). */
TALLY_EXPORT tally_status tally_spmv(const tally_executor* where, const tally_spmv_plan* plan,
                                     tally_type alpha_type, const void* alpha,
                                     const tally_csr* matrix, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type beta_type, const void* beta,
                                     tally_type y_type, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* Y = alpha op(A) X + beta Y for k columns (<tally/sparse/spmm.hpp>), with element (i, j) of X at
 * x[i*ldx+j*incx]: incx is 1 for a row-major X, ldx for a column-major one. Each column has the
 * bits of tally_spmv. Y's elements are distinct: TALLY_OVERLAP. Otherwise as tally_spmv. */
TALLY_EXPORT tally_status tally_spmm(const tally_executor* where, const tally_spmv_plan* plan,
                                     size_t k, tally_type alpha_type, const void* alpha,
                                     const tally_csr* matrix, tally_type x_type, const void* x,
                                     ptrdiff_t ldx, ptrdiff_t incx, tally_type beta_type,
                                     const void* beta, tally_type y_type, void* y, ptrdiff_t ldy,
                                     ptrdiff_t incy, const tally_call_options* options);

/* Writes the arrays of the matrix of these entries in any order: row_offsets (rows + 1), and,
 * sorted by row and column, sorted_columns and sorted_values, with room for n. Entries of one row
 * and column become their sum, in the order given (<tally/sparse/assembly.hpp>). Indices are
 * TALLY_INT32 or TALLY_INT64, as are the two outputs of indices, and start at 0; values are
 * floating-point or complex. *stored = the number of values, at most n. Blocks. TALLY_OVERLAP if
 * outputs share memory with inputs or each other.
 *
 * options: grade (TALLY_GRADE_EXACT: a sum is rounded once). */
TALLY_EXPORT tally_status tally_csr_from_coo(
    const tally_executor* where, size_t rows, size_t columns, size_t n, tally_type row_type,
    const void* row_indices, ptrdiff_t incrow, tally_type column_type, const void* column_indices,
    ptrdiff_t inccolumn, tally_type value_type, const void* values, ptrdiff_t incvalue,
    tally_type offset_type, void* row_offsets, tally_type sorted_type, void* sorted_columns,
    void* sorted_values, size_t* stored, const tally_call_options* options);

/* d[i] = the value of A in row i and column i (<tally/sparse/row_functions.hpp>), 0 if there is
 * none: as many as rows or columns, the fewer. d is floating-point or complex, complex if A is. A
 * is not transposed: TALLY_INVALID_ARGUMENT. */
TALLY_EXPORT tally_status tally_diagonal(const tally_executor* where, const tally_csr* matrix,
                                         tally_type d_type, void* d, ptrdiff_t incd,
                                         const tally_call_options* options);

/* r[i] = the norm of row i of A: with TALLY_NORM_ONE the sum of its magnitudes, in the order of
 * tally_spmv, with TALLY_NORM_INFINITY the largest one. r is TALLY_FLOAT64 or, unless A's values
 * are of 64 bits, TALLY_FLOAT32. Blocks.
 *
 * options: grade. */
TALLY_EXPORT tally_status tally_row_norms(const tally_executor* where, tally_norm norm,
                                          const tally_csr* matrix, tally_type r_type, void* r,
                                          ptrdiff_t incr, const tally_call_options* options);

/* z[k] = a_k d[i] for each value k of row i of A, as tally_mul has it. z: nonzeros contiguous
 * elements of A's type, A's values themselves or memory of their own. d is floating-point, or
 * complex if A is. */
TALLY_EXPORT tally_status tally_scale_rows(const tally_executor* where, const tally_csr* matrix,
                                           tally_type d_type, const void* d, ptrdiff_t incd,
                                           void* z, const tally_call_options* options);

/* w = alpha op(A) x + beta y with an input y, always read. w has y's type and size, and is y or
 * shares no memory with it. */
TALLY_EXPORT tally_status tally_spmv_apart(const tally_executor* where, const tally_spmv_plan* plan,
                                           tally_type alpha_type, const void* alpha,
                                           const tally_csr* matrix, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type beta_type,
                                           const void* beta, tally_type y_type, const void* y,
                                           ptrdiff_t incy, void* w, ptrdiff_t incw,
                                           const tally_call_options* options);

#ifdef __cplusplus
}
#endif

#endif /* TALLY_TALLY_H */
