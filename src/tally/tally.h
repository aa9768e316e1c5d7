/* The C interface of Tally, for C and for every language that calls C: Fortran, Python, Go, Julia.
 *
 * Threads. Every function may be called from several threads at once, with the same executor,
 * matrix and plan. The text of a failure belongs to the thread whose call failed.
 *
 * Lifetimes. A call keeps no pointer after it returns, except for work that it has queued on a
 * device: operands and result must stay until that work is done, and a stream until all work on it
 * is. Options, structs, factors, bounds, edges and the arrays of a list are host memory, read
 * before the call returns. A plan keeps the addresses of its matrix; see tally_spmv_plan_create.
 * Texts that are returned are static, except for tally_last_error and tally_spmv_plan_describe.
 *
 * Where results lie. Operands lie where the executor can read them: in host memory for the CPU
 * backends, in device, managed or pinned host memory for CUDA, in any of these for the executor of
 * a workspace. Sums, dot products and extrema come
 * in two forms. With TALLY_WAIT_YES, their default, `result` is host memory on every executor and
 * holds the result when the call returns. With TALLY_WAIT_NO it is memory that the executor can
 * write, and on CUDA the call returns as soon as the work is queued on the stream; on a stream that
 * is being captured it becomes part of the graph. (Executable graphs made from the same captured
 * graph share scratch memory: they must not run at once.) Functions that write vectors, counts or a
 * product have the second form alone. CPU backends are done in either form when a call returns.
 *
 * Errors. Every function that can fail returns a status: TALLY_SUCCESS, which is 0, or another
 * value, of which tally_last_error has the text. Arguments are checked first, and on failure
 * nothing is written, with two exceptions: a device's own failure, and tally_bincount with a key
 * that has no bin on a device. No function throws. Wherever a vector is taken, these may come:
 *   TALLY_SIZE_MISMATCH     operands that don't fit each other
 *   TALLY_NULL_POINTER      a null pointer where there should be elements, a result or a struct
 *   TALLY_ZERO_INCREMENT    an increment of 0
 *   TALLY_MISALIGNED        a pointer that is no multiple of its element's alignment
 *   TALLY_UNSUPPORTED_TYPE  an int that is no tally_type, or types that the operation doesn't take
 *   TALLY_WRONG_MEMORY      memory that the executor can't reach
 *   TALLY_INVALID_ARGUMENT  more than 2^48 elements (also a negative number), also times the
 *                           increment; an executor that no function made; an option out of range
 *   TALLY_OUT_OF_MEMORY     the host's memory, or a device's, is short
 *   TALLY_DEVICE_FAILURE    a call of the device's runtime failed
 *   TALLY_NO_DEVICE         openmp in the child of a fork of a process with several threads
 * The documentation of a function names what comes on top.
 *
 * Growth. Structs that callers fill in begin with their own size in bytes, and may get more members
 * at their end; zero is the default of each. A struct of an older program is taken as if the rest
 * were zero. One that is smaller than its first release, ends in the middle of a member, or has a
 * byte other than zero that this library doesn't know, is TALLY_INVALID_ARGUMENT. Enumerations are
 * ints, get new values and keep the old. Functions keep their parameters.
 *
 * Vectors are those of BLAS, (n, x, incx): x is the lowest address whatever the sign, element i is
 * x[i * incx], and with a negative increment x[(i - (n - 1)) * incx], the same memory backwards.
 * Any byte but 0 is a true TALLY_BOOL. All operations, their types and their bits are those of the
 * C++ header that is named with them, where there is more to read. */
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

/* What a call returns. */
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
  TALLY_UNKNOWN_FAILURE = 255 /* an exception that is not Tally's */
};

/* The type of elements, of results and of factors. */
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
  TALLY_COMPLEX64 = 9,  /* two floats: the real part, the imaginary part */
  TALLY_COMPLEX128 = 10 /* two doubles */
};

/* What decides the bits of a sum. */
typedef int tally_grade;
enum {
  TALLY_GRADE_DEFAULT = 0, /* the values and their order: the order contract */
  TALLY_GRADE_EXACT = 1    /* the values alone: the exact real sum, rounded once */
};

/* Whether a call returns before its result is there; see "Where results lie" above. */
typedef int tally_wait;
enum {
  TALLY_WAIT_DEFAULT = 0, /* as the function does: those that have a form that waits use it */
  TALLY_WAIT_YES = 1,
  TALLY_WAIT_NO = 2
};

/* What a sum leaves at `result`. */
typedef int tally_result_form;
enum {
  TALLY_RESULT_ROUNDED = 0, /* a number of result_type */
  /* The sum is in the exact grade, and added to the words of an exact sum: result_type is that of
   * the sum, of which tally_exact_words tells the words. */
  TALLY_RESULT_WORDS = 1
};

/* Which vector of a dot product enters conjugated. It changes nothing for real elements. */
typedef int tally_conjugate;
enum {
  TALLY_CONJUGATE_NONE = 0,
  TALLY_CONJUGATE_X = 1, /* BLAS's dotc */
  TALLY_CONJUGATE_Y = 2
};

/* The instruction sets that the simd backend is compiled for. */
typedef int tally_instruction_set;
enum {
  /* the widest here, but AVX2 where AVX-512 runs in halves, save for exp and sigmoid */
  TALLY_INSTRUCTIONS_BEST = -1,
  TALLY_INSTRUCTIONS_BASELINE = 0,
  TALLY_INSTRUCTIONS_SSE4 = 1,
  TALLY_INSTRUCTIONS_AVX2 = 2,
  TALLY_INSTRUCTIONS_AVX512 = 3,
  TALLY_INSTRUCTIONS_NEON = 4
};

/* The order contract of sums (<tally/order.hpp>, docs/numerics.md). Other numbers would give other
 * bits, so they are those of this version for ever. */
enum { TALLY_ORDER_VERSION = 1, TALLY_ORDER_LANES = 64, TALLY_ORDER_CHUNK = 1024 };

/* --- Structs ---------------------------------------------------------------------------------- */

/* Where and how an operation runs: a value to copy freely, which owns nothing. Its contents are
 * private; one that no function below has made is TALLY_INVALID_ARGUMENT. Wherever one is taken,
 * NULL stands for the one of tally_automatic. */
typedef struct tally_executor {
  uint64_t contents[8]; /* private */
} tally_executor;

/* What a call may be asked for beside its operands; NULL, and 0 in each member, are the defaults.
 * An option that a function doesn't have must be 0: TALLY_INVALID_ARGUMENT otherwise. */
typedef struct tally_call_options {
  size_t size;               /* sizeof(tally_call_options) */
  tally_grade grade;         /* which grade the sums have */
  tally_wait wait;           /* whether the call returns before its result is there */
  tally_conjugate conjugate; /* for dot products */
  int reserved;              /* 0 */
  tally_result_form form;    /* for dot, sum, asum, nrm2 and several dot products */
  int reserved_too;          /* 0 */
} tally_call_options;

/* How many samples of one channel are in no bin. */
typedef struct tally_outside_counts {
  int64_t below; /* less than the first edge */
  int64_t above; /* greater than the last */
  int64_t nan;   /* NaNs */
} tally_outside_counts;

/* What a histogram may be asked for; NULL, and 0 in each member, are the defaults. With weights
 * their type must be set. */
typedef struct tally_histogram_options {
  size_t size;     /* sizeof(tally_histogram_options) */
  size_t channels; /* Samples are interleaved: i is of channel i mod channels. 0: 1. */
  tally_outside_counts* outside; /* one for each channel, where the executor can write, or NULL */
  const void* weights; /* as many as samples: they are summed. NULL: samples are counted, so weights
                        * of no samples have some other address. */
  ptrdiff_t incw;      /* the increment of weights; 0: 1 */
  tally_type weights_type; /* TALLY_FLOAT32 or TALLY_FLOAT64; looked at if there are weights */
  int add;                 /* 1: added to what counts and outside hold; 0: written over it */
} tally_histogram_options;

/* What a product takes for the matrix A that is stored. */
typedef int tally_operation;
enum {
  TALLY_NO_TRANSPOSE = 0,
  TALLY_TRANSPOSE = 1,
  TALLY_CONJUGATE_TRANSPOSE = 2 /* of real values: the transpose */
};

/* A matrix in compressed sparse rows (CSR), where the executor can read it: row i has the terms
 * row_offsets[i] ... row_offsets[i+1] - 1, or with row_ends those up to row_ends[i] - 1, which may
 * lie anywhere. Columns may be in any order and repeat. Unsigned indices are passed as signed ones
 * of as many bits. */
typedef struct tally_csr {
  size_t size;             /* sizeof(tally_csr) */
  size_t rows;             /* the height of A */
  size_t columns;          /* its width */
  size_t nonzeros;         /* how many values it has, zeros among them */
  const void* row_offsets; /* rows + 1 of them, from 0 to nonzeros, never decreasing; with row_ends
                            * rows of them, each in [0, nonzeros] */
  const void* column_indices; /* nonzeros of them, each that is in a row in [0, columns) */
  const void* values;         /* nonzeros of them */
  tally_type offset_type;     /* TALLY_INT32 or TALLY_INT64 */
  tally_type column_type;     /* TALLY_INT32 or TALLY_INT64 */
  tally_type value_type;      /* a floating-point or complex type */
  int reserved;               /* 0 */
  const void* row_ends;       /* where rows end, rows of them; NULL: where the next one begins */
  tally_operation operation;  /* what products take for A */
  int fixed_values;  /* 1: columns and values stay as they are while a plan of the matrix is
                      * used; looked at by tally_spmv_plan_create */
  int fixed_columns; /* 1: columns stay as they are, at their address, while a plan of the matrix
                      * is used; values may change; looked at by tally_spmv_plan_create */
  int reserved_too;  /* 0 */
} tally_csr;

/* What is known of a matrix that is multiplied many times. */
typedef struct tally_spmv_plan tally_spmv_plan;

/* --- Versions, names and errors --------------------------------------------------------------- */

/* The version of the library that runs, as TALLY_VERSION_NUMBER has that of the header. */
TALLY_EXPORT int tally_version(void);

/* The version of the order contract that the library that runs keeps: TALLY_ORDER_VERSION. */
TALLY_EXPORT int tally_order_version(void);

/* "size_mismatch"; "unknown" for an int that is no status. */
TALLY_EXPORT const char* tally_status_name(tally_status status);

/* "float64"; "unknown" for an int that is no type. */
TALLY_EXPORT const char* tally_type_name(tally_type type);

/* The bytes of one element; 0 for an int that is no type. */
TALLY_EXPORT size_t tally_type_size(tally_type type);

/* The text of this thread's last failure, "" before the first; at most 511 bytes are kept. The
 * address holds until the thread ends, the text until its next failure. It can be asked for, and
 * calls may fail, while a thread or the program ends. */
TALLY_EXPORT const char* tally_last_error(void);

/* Copies that text into the caller's `buffer` of `size` bytes, cut if it has to be, and always
 * ended by a zero byte unless size is 0. Returns the length of the whole text, as snprintf does: it
 * was cut if that is size or more. */
TALLY_EXPORT size_t tally_copy_last_error(char* buffer, size_t size);

/* --- Executors -------------------------------------------------------------------------------- */

/* Each of these makes an executor and writes it to *where. On failure *where keeps what it had. */

/* One thread, plain loops: the reference. */
TALLY_EXPORT tally_status tally_serial(tally_executor* where);

/* One thread and the vector instructions of this processor. TALLY_NO_DEVICE if the set that is
 * asked for is not built in or not here, TALLY_INVALID_ARGUMENT for an int that is none. */
TALLY_EXPORT tally_status tally_simd(tally_executor* where, tally_instruction_set instructions);

/* Threads of OpenMP, each with those instructions; 0 threads stands for as many as OpenMP would
 * start. TALLY_INVALID_ARGUMENT for a negative number or more than 4096, TALLY_MISSING_BACKEND if
 * the build has no OpenMP, TALLY_NO_DEVICE in the child of a fork of a process with several
 * threads. */
TALLY_EXPORT tally_status tally_openmp(tally_executor* where, int threads);

/* A CUDA device, -1 for the calling thread's current one, and one of its streams, a cudaStream_t or
 * NULL for the default stream. TALLY_MISSING_BACKEND if the build has no CUDA, TALLY_NO_DEVICE if
 * there is no driver or no such device. */
TALLY_EXPORT tally_status tally_cuda(tally_executor* where, int device, void* stream);

/* Kokkos's default execution space. It initialises Kokkos when nobody has, and then finalises it at
 * exit. TALLY_MISSING_BACKEND if the build has no Kokkos, TALLY_NO_DEVICE if Kokkos is finalised or
 * its device is not here. */
TALLY_EXPORT tally_status tally_kokkos(tally_executor* where);

/* One of the others, chosen at each call: cuda on the device that holds the operands, with its
 * default stream, otherwise simd or, for long operands, openmp. It never moves data. */
TALLY_EXPORT tally_status tally_automatic(tally_executor* where);

/* The executor of that name with default options: "serial", "simd", "openmp", "cuda", "kokkos" or
 * "automatic". TALLY_MISSING_BACKEND for a name that this build has not; otherwise the errors of
 * the function of that name. */
TALLY_EXPORT tally_status tally_executor_named(tally_executor* where, const char* name);

/* *name = the name of an executor, as above. */
TALLY_EXPORT tally_status tally_executor_name(const tally_executor* where, const char** name);

/* The backends of this build, "serial" first: *count says how many there are, and of the first
 * `capacity` names[i] is the name and usable[i] 1 if it can run in this process, 0 if it can't.
 * names and usable may be NULL. For usable each executor is made, which initialises Kokkos where it
 * is built in; a failure other than TALLY_NO_DEVICE is this call's. TALLY_NULL_POINTER if count is
 * NULL. */
TALLY_EXPORT tally_status tally_executors(size_t capacity, const char** names, int* usable,
                                          size_t* count);

/* --- Memory ----------------------------------------------------------------------------------- */

/* Memory for programs without a binding to CUDA (<tally/buffer.hpp>). On an executor of the host
 * all of it is plain memory, and pinning does nothing. TALLY_INVALID_ARGUMENT with the executor of
 * tally_automatic, which has no memory of its own. */

/* *memory = `bytes` bytes that kernels of the executor reach, aligned to 64 bytes or more, not
 * written: on CUDA memory of the device, which the host does not reach. NULL for 0 bytes. */
TALLY_EXPORT tally_status tally_device_alloc(const tally_executor* where, size_t bytes,
                                             void** memory);

/* Frees it, with an executor of the same backend and device. Work that uses it must be done: on
 * CUDA the call waits for the device. NULL is fine. */
TALLY_EXPORT tally_status tally_device_free(const tally_executor* where, void* memory);

/* Copies bytes to and from memory of the host or of the executor, and waits until they are there;
 * on CUDA the copy is queued on the executor's stream. */
TALLY_EXPORT tally_status tally_device_copy(const tally_executor* where, void* to, const void* from,
                                            size_t bytes);

/* *memory = `bytes` bytes of the host's memory that stay in their place, so that a device reads and
 * writes them at the full speed of its bus; otherwise as tally_device_alloc. */
TALLY_EXPORT tally_status tally_pinned_alloc(const tally_executor* where, size_t bytes,
                                             void** memory);

/* Frees what tally_pinned_alloc made, as tally_device_free. */
TALLY_EXPORT tally_status tally_pinned_free(const tally_executor* where, void* memory);

/* Keeps pages of the caller's own memory in their place until tally_unpin, for the same speed. It
 * takes as long as reading the memory once, or longer, so it pays for memory that is used again.
 * TALLY_INVALID_ARGUMENT for memory that is pinned already and for 0 bytes. */
TALLY_EXPORT tally_status tally_pin(const tally_executor* where, void* memory, size_t bytes);

/* Lets pages go, with the address that tally_pin had. Work that uses them must be done.
 * TALLY_INVALID_ARGUMENT for an address that tally_pin did not have. */
TALLY_EXPORT tally_status tally_unpin(const tally_executor* where, void* memory);

/* --- Data in host memory, work on a device ---------------------------------------------------- */

/* Memory of the host and of a device, and threads, through which operations on data in host memory
 * run on the device (<tally/workspace.hpp>). It has a few MiB, which stay: after a thread's first
 * call of a kind none allocates memory of the device, or pinned memory. */
typedef struct tally_workspace tally_workspace;

/* What a workspace may be asked for; NULL, and 0 in each member, are the defaults. */
typedef struct tally_workspace_options {
  size_t size;        /* sizeof(tally_workspace_options) */
  size_t stage_bytes; /* bytes of all operands that go to the device at once, 2^15 to 2^30 */
  int threads;        /* how many copy what is not pinned, the calling one among them */
  int reserved;       /* 0 */
} tally_workspace_options;

/* *workspace = one for a device and a stream, or for an executor of the host. */
TALLY_EXPORT tally_status tally_workspace_create(const tally_executor* where,
                                                 const tally_workspace_options* options,
                                                 tally_workspace** workspace);

/* Ends a workspace, and with it its executor: no call on that may be under way or come later. NULL
 * is fine. */
TALLY_EXPORT void tally_workspace_destroy(tally_workspace* workspace);

/* *where = the executor whose operations take vectors and write results in host memory; pinned
 * memory is used from where it is, and what the device reaches, too. The sums, extrema,
 * element-wise functions, updates with a sum and histograms are there, of all types and increments,
 * with the same bits as on any other executor; tally_gather, tally_scatter and all that takes a
 * matrix are TALLY_INVALID_ARGUMENT. All calls wait, with TALLY_WAIT_NO, too. Calls from several
 * threads come one after the other. Of an executor of the host it is that one itself. */
TALLY_EXPORT tally_status tally_workspace_executor(const tally_workspace* workspace,
                                                   tally_executor* where);

/* --- Sums ------------------------------------------------------------------------------------- */

/* *result = sum_i x_i * y_i, i = 0 ... n-1 (<tally/dot.hpp>), for any two types. result_type is the
 * type of the sum and the result: TALLY_FLOAT64 where x or y is, TALLY_FLOAT32 for other
 * floating-point types, alone or with integers, TALLY_INT64 for integers, the complex type of these
 * where x or y is complex. In place of these it may be TALLY_FLOAT64, in place of a complex one
 * TALLY_COMPLEX128. Nothing but `result` is written, and it may be an element of x or y.
 *
 * options: grade, wait, form, conjugate. */
TALLY_EXPORT tally_status tally_dot(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type result_type, void* result,
                                    const tally_call_options* options);

/* *result = sum_i x_i (<tally/reduce.hpp>). result_type is TALLY_FLOAT64 for x of that type,
 * TALLY_FLOAT32 for other floating-point types, TALLY_INT64 for integers, the complex type of these
 * for complex elements. In place of these it may be TALLY_FLOAT64, in place of a complex one
 * TALLY_COMPLEX128.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_sum(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type result_type,
                                    void* result, const tally_call_options* options);

/* *result = sum_i |x_i|, of complex elements |re x_i| + |im x_i| (BLAS's asum). result_type is that
 * of tally_sum, of complex elements the type of their parts; in place of these it may be
 * TALLY_FLOAT64.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_asum(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result, const tally_call_options* options);

/* *result = sqrt(sum_i |x_i|^2) (BLAS's nrm2), without overflow or underflow on the way.
 * result_type is that of tally_asum, of integers TALLY_FLOAT64; in place of these it may be
 * TALLY_FLOAT64.
 *
 * options: grade, wait, form. */
TALLY_EXPORT tally_status tally_nrm2(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result, const tally_call_options* options);

/* results[j] = sum_i x[j * ldx + i] * y_i, j = 0 ... k-1, i = 0 ... n-1: k contiguous rows against
 * one vector, in one pass over memory (<tally/multi_dot.hpp>). Each result has the bits of
 * tally_dot. The rows may overlap, and with ldx 0 are all the same. Types are those of tally_dot.
 * `results` are contiguous; they share no memory with x or y: TALLY_OVERLAP.
 *
 * options: grade, wait, form, conjugate. */
TALLY_EXPORT tally_status tally_multi_dot(const tally_executor* where, size_t k, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t ldx,
                                          tally_type y_type, const void* y, ptrdiff_t incy,
                                          tally_type result_type, void* results,
                                          const tally_call_options* options);

/* results[j] = sum_i x[j * ldx + i] * y[j * ldy + i]: k pairs of rows; otherwise as
 * tally_multi_dot. */
TALLY_EXPORT tally_status tally_batched_dot(const tally_executor* where, size_t k, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t ldx,
                                            tally_type y_type, const void* y, ptrdiff_t ldy,
                                            tally_type result_type, void* results,
                                            const tally_call_options* options);

/* results[j] = the dot product of (n[j], x[j], incx[j]) and (n[j], y[j], incy[j]): k pairs of
 * vectors; otherwise as tally_multi_dot. The five arrays are host memory of k elements each. */
TALLY_EXPORT tally_status tally_multi_dot_list(const tally_executor* where, size_t k,
                                               const size_t* n, tally_type x_type,
                                               const void* const* x, const ptrdiff_t* incx,
                                               tally_type y_type, const void* const* y,
                                               const ptrdiff_t* incy, tally_type result_type,
                                               void* results, const tally_call_options* options);

/* --- Sums that are not rounded yet ------------------------------------------------------------ */

/* With options.form TALLY_RESULT_WORDS the functions above add their exact sums to words, which
 * begin as zeros, instead of rounding them (<tally/exact_words.hpp>). Words of several places, such
 * as the ranks of an MPI program, are merged by adding them as 64-bit integers, in any order, and
 * rounded at the end: then the result has the bits of TALLY_GRADE_EXACT for the whole. result_type
 * is TALLY_FLOAT64, of complex results TALLY_COMPLEX128; where no operand is of doubles it may be
 * TALLY_FLOAT32 or TALLY_COMPLEX64, which have fewer words. tally_nrm2 adds squares. Up to 2^29
 * calls, in all places together, may add to one sum; tally_merge_words makes room for as many more.
 * `result` is an int64_t*, with TALLY_WAIT_YES in host memory, and several results lie one behind
 * the other. */

/* The words of a sum of that type, each an int64_t: 137 for TALLY_FLOAT64, 23 for TALLY_FLOAT32,
 * twice as many for TALLY_COMPLEX128 and TALLY_COMPLEX64; 0 for any other int. */
TALLY_EXPORT size_t tally_exact_words(tally_type sum_type);

/* The sum with the fewest words that holds the terms of operands of these types: TALLY_FLOAT32
 * where none is of doubles, otherwise TALLY_FLOAT64; for a complex result_type TALLY_COMPLEX64 or
 * TALLY_COMPLEX128. For one operand y_type is x_type. -1 if one of them is no type. */
TALLY_EXPORT tally_type tally_exact_sum_type(tally_type x_type, tally_type y_type,
                                             tally_type result_type);

/* Adds the words of `count` sums at `from` to those at `to`, both in host memory, and leaves normal
 * forms at `to`: the same words for the same sums. With the same address for both, or with NULL for
 * `from`, the sums at `to` are only brought to their normal forms. TALLY_INVALID_ARGUMENT for a sum
 * beyond 2^2112 (TALLY_FLOAT32: 2^320), and nothing is written then. */
TALLY_EXPORT tally_status tally_merge_words(size_t count, tally_type sum_type, const int64_t* from,
                                            int64_t* to);

/* results[j] = sum j of those at `words`, correctly rounded. result_type is TALLY_FLOAT32 or
 * TALLY_FLOAT64 for sums of these, in any combination, otherwise a complex type. The words lie
 * where the executor can read them. They and the results share no memory: TALLY_OVERLAP.
 *
 * options: wait. */
TALLY_EXPORT tally_status tally_round_words(const tally_executor* where, size_t count,
                                            tally_type sum_type, const int64_t* words,
                                            tally_type result_type, void* results,
                                            const tally_call_options* options);

/* The same, with the square root of each sum, as tally_nrm2 has it; of a negative sum NaN. Sums are
 * real: TALLY_UNSUPPORTED_TYPE. */
TALLY_EXPORT tally_status tally_round_root_words(const tally_executor* where, size_t count,
                                                 tally_type sum_type, const int64_t* words,
                                                 tally_type result_type, void* results,
                                                 const tally_call_options* options);

/* --- Extrema ---------------------------------------------------------------------------------- */

/* The smallest element and the lowest index that it has, counted from 0 (<tally/extremum.hpp>); the
 * first NaN if there is one. `result` points at a struct of the element type and an int64_t,
 * `struct { double value; int64_t index; }`, 16 bytes aligned to 8 for every type; the bytes
 * between a shorter value and the index are written as zeros. x is of any type but a complex one,
 * and has an element: TALLY_NO_ELEMENTS. `result` shares no memory with it: TALLY_OVERLAP.
 *
 * options: wait, and grade, which changes nothing. */
TALLY_EXPORT tally_status tally_min(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result,
                                    const tally_call_options* options);

/* The largest element and the lowest index that it has; otherwise as tally_min. */
TALLY_EXPORT tally_status tally_max(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result,
                                    const tally_call_options* options);

/* Both in one pass: `result` points at two such structs, the smallest element's first; otherwise as
 * tally_min. */
TALLY_EXPORT tally_status tally_minmax(const tally_executor* where, size_t n, tally_type x_type,
                                       const void* x, ptrdiff_t incx, void* result,
                                       const tally_call_options* options);

/* *result = the lowest index, counted from 0, of the element of largest magnitude, of complex
 * elements |re x_i| + |im x_i|; -1 if n is 0. (BLAS counts from 1.) x is of any type; otherwise as
 * tally_min. */
TALLY_EXPORT tally_status tally_iamax(const tally_executor* where, size_t n, tally_type x_type,
                                      const void* x, ptrdiff_t incx, int64_t* result,
                                      const tally_call_options* options);

/* --- Element-wise functions ------------------------------------------------------------------- */

/* These write a vector, i = 0 ... n-1 (<tally/transform.hpp>). What they compute is rounded once to
 * the type of the output, which is of the kind of the inputs or a wider one: integer,
 * floating-point, complex; only tally_copy and tally_fill from TALLY_BOOL write TALLY_BOOL. alpha,
 * beta and gamma point at one factor of their type in host memory: a floating-point factor needs
 * floating-point elements, a complex one complex elements. An output may be one of the inputs, with
 * the same address and bytes from one element to the next; otherwise it shares no memory with an
 * input: TALLY_OVERLAP.
 *
 * options: wait, which may be TALLY_WAIT_NO, as it is without. */

/* y_i = x_i. */
TALLY_EXPORT tally_status tally_copy(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy, const tally_call_options* options);

/* z_i = the value at `value`, host memory of its type, rounded once to the type of z. */
TALLY_EXPORT tally_status tally_fill(const tally_executor* where, size_t n, tally_type value_type,
                                     const void* value, tally_type z_type, void* z, ptrdiff_t incz,
                                     const tally_call_options* options);

/* Exchanges the elements of two vectors of one type, which share no memory. */
TALLY_EXPORT tally_status tally_swap(const tally_executor* where, size_t n, tally_type type,
                                     void* x, ptrdiff_t incx, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* z_i = x[indices[i]], i = 0 ... nz-1 (<tally/gather.hpp>), for elements of one type, bit by bit.
 * There are nz indices, one behind the other, of TALLY_INT32 or TALLY_INT64, in [0, nx), which is
 * not checked. */
TALLY_EXPORT tally_status tally_gather(const tally_executor* where, tally_type type, size_t nx,
                                       const void* x, ptrdiff_t incx, tally_type index_type,
                                       const void* indices, size_t nz, void* z, ptrdiff_t incz,
                                       const tally_call_options* options);

/* z[indices[i]] = x_i, i = 0 ... nx-1. There are nx indices, none of them twice, in [0, nz), which
 * is not checked. */
TALLY_EXPORT tally_status tally_scatter(const tally_executor* where, tally_type type, size_t nx,
                                        const void* x, ptrdiff_t incx, tally_type index_type,
                                        const void* indices, size_t nz, void* z, ptrdiff_t incz,
                                        const tally_call_options* options);

/* x_i = alpha * x_i. */
TALLY_EXPORT tally_status tally_scal(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, void* x, ptrdiff_t incx,
                                     const tally_call_options* options);

/* y_i = alpha * x_i + y_i. */
TALLY_EXPORT tally_status tally_axpy(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* y_i = alpha * x_i + beta * y_i. y is not read where beta is 0, and may hold anything. */
TALLY_EXPORT tally_status tally_axpby(const tally_executor* where, size_t n, tally_type alpha_type,
                                      const void* alpha, tally_type x_type, const void* x,
                                      ptrdiff_t incx, tally_type beta_type, const void* beta,
                                      tally_type y_type, void* y, ptrdiff_t incy,
                                      const tally_call_options* options);

/* w_i = alpha * x_i + beta * y_i. Both x and y are read whatever the factors are. */
TALLY_EXPORT tally_status tally_waxpby(const tally_executor* where, size_t n, tally_type alpha_type,
                                       const void* alpha, tally_type x_type, const void* x,
                                       ptrdiff_t incx, tally_type beta_type, const void* beta,
                                       tally_type y_type, const void* y, ptrdiff_t incy,
                                       tally_type w_type, void* w, ptrdiff_t incw,
                                       const tally_call_options* options);

/* z_i = (alpha * x_i + beta * y_i) + gamma * z_i. z is not read where gamma is 0. */
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

/* z_i = x_i * y_i. */
TALLY_EXPORT tally_status tally_mul(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz,
                                    const tally_call_options* options);

/* z_i = (alpha * x_i) * y_i + beta * z_i. z is not read where beta is 0. */
TALLY_EXPORT tally_status tally_axypbz(const tally_executor* where, size_t n, tally_type alpha_type,
                                       const void* alpha, tally_type x_type, const void* x,
                                       ptrdiff_t incx, tally_type y_type, const void* y,
                                       ptrdiff_t incy, tally_type beta_type, const void* beta,
                                       tally_type z_type, void* z, ptrdiff_t incz,
                                       const tally_call_options* options);

/* y_i = max(x_i, 0), of real elements: +0 for -0, NaN for NaN. */
TALLY_EXPORT tally_status tally_relu(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy, const tally_call_options* options);

/* y_i = 1 / (1 + exp(-x_i)), of floating-point elements. */
TALLY_EXPORT tally_status tally_sigmoid(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                        ptrdiff_t incy, const tally_call_options* options);

/* y_i = exp(x_i), of floating-point elements. */
TALLY_EXPORT tally_status tally_exp(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                    ptrdiff_t incy, const tally_call_options* options);

/* y_i = alpha * x_i + y_i; then *result = sum_i y_i * v_i (the first or the second conjugated as
 * options.conjugate says), with the bits of tally_axpy and tally_dot, in one pass over memory where
 * the executor can (<tally/fused.hpp>). v is y itself, or shares no memory with it; NULL is y
 * itself, and v_type and incv are not looked at then. r_type is as for tally_dot.
 *
 * options: grade, wait, conjugate. */
TALLY_EXPORT tally_status tally_axpy_dot(const tally_executor* where, size_t n,
                                         tally_type alpha_type, const void* alpha,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type y_type, void* y, ptrdiff_t incy,
                                         tally_type v_type, const void* v, ptrdiff_t incv,
                                         tally_type r_type, void* result,
                                         const tally_call_options* options);

/* w_i = alpha * x_i + beta * y_i; then *result = sqrt(sum_i |w_i|^2), with the bits of
 * tally_waxpby and tally_nrm2, in one pass where the executor can. r_type is as for tally_nrm2.
 *
 * options: grade, wait. */
TALLY_EXPORT tally_status tally_waxpby_nrm2(
    const tally_executor* where, size_t n, tally_type alpha_type, const void* alpha,
    tally_type x_type, const void* x, ptrdiff_t incx, tally_type beta_type, const void* beta,
    tally_type y_type, const void* y, ptrdiff_t incy, tally_type w_type, void* w, ptrdiff_t incw,
    tally_type r_type, void* result, const tally_call_options* options);

/* --- Histograms ------------------------------------------------------------------------------- */

/* These count real samples in bins (<tally/histogram.hpp>), which are half-open, but for the last,
 * which is closed. `counts` are contiguous, of TALLY_INT32 or TALLY_INT64, as many as bins times
 * channels: those of the first channel, of the second, ... With weights they are TALLY_FLOAT32 or
 * TALLY_FLOAT64, and hold each bin's exact sum, rounded once; or TALLY_INT64: the words of each
 * bin's exact sum (tally_exact_words of weights_type for each), to which the weights are added, and
 * which tally_round_words rounds. Counts and `outside` share no memory with an input or each other:
 * TALLY_OVERLAP. TALLY_SIZE_MISMATCH for samples that are no multiple of the channels.
 * TALLY_INVALID_ARGUMENT for no bins, more than 2^31 - 1 counts, more than 65536 channels, more
 * samples than a count of TALLY_INT32 holds, or with weights more than 2^30 - 2. */

/* Counts how many of n integers are k, for k = 0 ... bins - 1. A key that has no bin is
 * TALLY_KEY_OUT_OF_RANGE, unless options have `outside`; without `outside` the call waits on every
 * executor, and on a device the counts are then those of the keys in range. */
TALLY_EXPORT tally_status tally_bincount(const tally_executor* where, size_t n,
                                         tally_type keys_type, const void* keys, ptrdiff_t inckeys,
                                         size_t bins, tally_type counts_type, void* counts,
                                         const tally_histogram_options* options);

/* Counts in bins of equal width. lower and upper point at the first edge and the last, of one real
 * type, in host memory; TALLY_INVALID_ARGUMENT unless they are finite and lower < upper. */
TALLY_EXPORT tally_status tally_histogram_even(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type bounds_type, const void* lower,
                                               const void* upper, size_t bins,
                                               tally_type counts_type, void* counts,
                                               const tally_histogram_options* options);

/* Counts between each edge and the next: bins + 1 contiguous edges of a real type, in host memory.
 * TALLY_INVALID_ARGUMENT if one is less than the one before it, or NaN. */
TALLY_EXPORT tally_status tally_histogram_range(const tally_executor* where, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t incx,
                                                tally_type edges_type, const void* edges,
                                                size_t bins, tally_type counts_type, void* counts,
                                                const tally_histogram_options* options);

/* --- Sparse matrices -------------------------------------------------------------------------- */

/* Checks a whole matrix where it lies, and waits for the answer: TALLY_INVALID_ARGUMENT for the
 * first offset or column that is wrong (<tally/spmv.hpp>). */
TALLY_EXPORT tally_status tally_validate(const tally_executor* where, const tally_csr* matrix);

/* *plan = a plan for products with this matrix, which it validates. It changes the time of a
 * product, never a bit. The row offsets must stay as they are, at their address, as long as the
 * plan is used; column indices and values may change, unless matrix->fixed_columns or
 * matrix->fixed_values promise that they do not. */
TALLY_EXPORT tally_status tally_spmv_plan_create(const tally_executor* where,
                                                 const tally_csr* matrix, tally_spmv_plan** plan);

/* Ends a plan that no product uses any more. NULL is fine. */
TALLY_EXPORT void tally_spmv_plan_destroy(tally_spmv_plan* plan);

/* *text = how rows are summed and why, for people. It lives as long as the plan. */
TALLY_EXPORT tally_status tally_spmv_plan_describe(const tally_spmv_plan* plan, const char** text);

/* y = alpha A x + beta y: x has as many elements as the matrix has columns, y as many as it has
 * rows; with matrix->operation the transpose's columns and rows (<tally/spmv.hpp>). alpha and beta
 * point at factors of their types in host memory, or are NULL for 1 and 0; where beta is 0, y is
 * not read. x and y are of floating-point or complex types of 32 or 64 bits, y is complex where the
 * values or x are. plan is one of this matrix on this backend (TALLY_INVALID_ARGUMENT), or NULL. y
 * shares no memory with x or the matrix: TALLY_OVERLAP. The backends simd and openmp copy an x with
 * an increment other than 1, or of another type than the sums, whole, unless these are complex or
 * exact.
 *
 * options: grade (with TALLY_GRADE_EXACT the sum of each row is rounded once), and wait, which may
 * be TALLY_WAIT_NO, as it is without. */
TALLY_EXPORT tally_status tally_spmv(const tally_executor* where, const tally_spmv_plan* plan,
                                     tally_type alpha_type, const void* alpha,
                                     const tally_csr* matrix, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type beta_type, const void* beta,
                                     tally_type y_type, void* y, ptrdiff_t incy,
                                     const tally_call_options* options);

/* w = alpha A x + beta y, with w apart from y, which is an input: it is read whatever beta is. w
 * has the type and size of y, and is y itself or shares no memory with it. Otherwise as tally_spmv.
 */
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
