/* The C interface of Tally (and, through ISO_C_BINDING, Fortran's).
 *
 * Every function returns a status and never throws; on failure nothing is written, and
 * tally_last_error() has the text. Documentation of each operation: the C++ header of its name. */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include <stddef.h>
#include <stdint.h>
#include <tally/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of tally::errc, and 0 for success. */
typedef enum tally_status {
  TALLY_SUCCESS = 0,
  TALLY_SIZE_MISMATCH,
  TALLY_NULL_POINTER,
  TALLY_ZERO_INCREMENT,
  TALLY_MISALIGNED,
  TALLY_UNSUPPORTED_TYPE,
  TALLY_WRONG_MEMORY,
  TALLY_MISSING_BACKEND,
  TALLY_NO_DEVICE,
  TALLY_INVALID_ARGUMENT,
  TALLY_OUT_OF_MEMORY,
  TALLY_DEVICE_FAILURE,
  TALLY_NO_ELEMENTS,
  TALLY_OVERLAP,
  TALLY_KEY_OUT_OF_RANGE,
  TALLY_UNREADABLE_FILE,
  TALLY_UNKNOWN_FAILURE = 255 /* an exception that is not Tally's */
} tally_status;

/* The values of tally::type. */
typedef enum tally_type {
  TALLY_BOOL,
  TALLY_INT8,
  TALLY_UINT8,
  TALLY_INT32,
  TALLY_INT64,
  TALLY_FLOAT16,
  TALLY_BFLOAT16,
  TALLY_FLOAT32,
  TALLY_FLOAT64,
  TALLY_COMPLEX64,
  TALLY_COMPLEX128
} tally_type;

/* tally::executor: a small value to copy freely; its contents are private. */
typedef struct tally_executor {
  const void* pointers[2];
  int numbers[4];
} tally_executor;

/* Each makes an executor; 0 threads: OpenMP's default; device -1: the current one; stream: a
 * cudaStream_t, NULL for the default stream. */
TALLY_EXPORT tally_status tally_serial(tally_executor* where);
TALLY_EXPORT tally_status tally_simd(tally_executor* where);
TALLY_EXPORT tally_status tally_openmp(tally_executor* where, int threads);
TALLY_EXPORT tally_status tally_cuda(tally_executor* where, int device, void* stream);
TALLY_EXPORT tally_status tally_kokkos(tally_executor* where);
TALLY_EXPORT tally_status tally_automatic(tally_executor* where);

/* *result = sum_i x_i * y_i (tally_dot) or sum_i conj(x_i) * y_i (tally_dotc), accumulated in
 * result_type. Vectors are BLAS's (n, x, incx). With `where` NULL the executor is automatic.
 * Blocks; `result` is host memory. */
TALLY_EXPORT tally_status tally_dot(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type result_type, void* result);
TALLY_EXPORT tally_status tally_dotc(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type,
                                     const void* y, ptrdiff_t incy, tally_type result_type,
                                     void* result);

/* The forms that don't block: `result` is memory that the executor can write. On a CUDA stream that
 * is being captured they become part of the graph; executable graphs made from the same captured
 * graph share scratch memory and must not run at once. */
TALLY_EXPORT tally_status tally_dot_async(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, tally_type y_type,
                                          const void* y, ptrdiff_t incy, tally_type result_type,
                                          void* result);
TALLY_EXPORT tally_status tally_dotc_async(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type y_type,
                                           const void* y, ptrdiff_t incy, tally_type result_type,
                                           void* result);

/* The same, correctly rounded: the exact grade of tally/exact.hpp. */
TALLY_EXPORT tally_status tally_dot_exact(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, tally_type y_type,
                                          const void* y, ptrdiff_t incy, tally_type result_type,
                                          void* result);
TALLY_EXPORT tally_status tally_dot_exact_async(const tally_executor* where, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t incx,
                                                tally_type y_type, const void* y, ptrdiff_t incy,
                                                tally_type result_type, void* result);
TALLY_EXPORT tally_status tally_dotc_exact(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type y_type,
                                           const void* y, ptrdiff_t incy, tally_type result_type,
                                           void* result);
TALLY_EXPORT tally_status tally_dotc_exact_async(const tally_executor* where, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t incx,
                                                 tally_type y_type, const void* y, ptrdiff_t incy,
                                                 tally_type result_type, void* result);

/* *result = sum_i x_i (tally_sum), sum_i |x_i|, of complex elements |re x_i| + |im x_i|
 * (tally_asum), or sqrt(sum_i |x_i|^2) (tally_nrm2), accumulated in result_type, which for the last
 * two is real. Otherwise as tally_dot: in two forms, in two grades. */
TALLY_EXPORT tally_status tally_sum(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type result_type,
                                    void* result);
TALLY_EXPORT tally_status tally_sum_async(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, tally_type result_type,
                                          void* result);
TALLY_EXPORT tally_status tally_sum_exact(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, tally_type result_type,
                                          void* result);
TALLY_EXPORT tally_status tally_sum_exact_async(const tally_executor* where, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t incx,
                                                tally_type result_type, void* result);

TALLY_EXPORT tally_status tally_asum(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result);
TALLY_EXPORT tally_status tally_asum_async(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type result_type,
                                           void* result);
TALLY_EXPORT tally_status tally_asum_exact(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type result_type,
                                           void* result);
TALLY_EXPORT tally_status tally_asum_exact_async(const tally_executor* where, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t incx,
                                                 tally_type result_type, void* result);

TALLY_EXPORT tally_status tally_nrm2(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type result_type,
                                     void* result);
TALLY_EXPORT tally_status tally_nrm2_async(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type result_type,
                                           void* result);
TALLY_EXPORT tally_status tally_nrm2_exact(const tally_executor* where, size_t n, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type result_type,
                                           void* result);
TALLY_EXPORT tally_status tally_nrm2_exact_async(const tally_executor* where, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t incx,
                                                 tally_type result_type, void* result);

/* The smallest element (tally_min), the largest (tally_max) or both (tally_minmax), each with the
 * lowest index that it has, counted from 0. `result` points at a struct of the element type and an
 * int64_t, `struct { double value; int64_t index; }`, 16 bytes for every type, or at two of them.
 * The bytes between a shorter value and the index are written too: they are zero. tally_iamax gives
 * the index of the element of largest magnitude, -1 where n is 0. */
TALLY_EXPORT tally_status tally_min(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result);
TALLY_EXPORT tally_status tally_min_async(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, void* result);
TALLY_EXPORT tally_status tally_max(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, void* result);
TALLY_EXPORT tally_status tally_max_async(const tally_executor* where, size_t n, tally_type x_type,
                                          const void* x, ptrdiff_t incx, void* result);
TALLY_EXPORT tally_status tally_minmax(const tally_executor* where, size_t n, tally_type x_type,
                                       const void* x, ptrdiff_t incx, void* result);
TALLY_EXPORT tally_status tally_minmax_async(const tally_executor* where, size_t n,
                                             tally_type x_type, const void* x, ptrdiff_t incx,
                                             void* result);
TALLY_EXPORT tally_status tally_iamax(const tally_executor* where, size_t n, tally_type x_type,
                                      const void* x, ptrdiff_t incx, int64_t* result);
TALLY_EXPORT tally_status tally_iamax_async(const tally_executor* where, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t incx,
                                            int64_t* result);
/* k dot products in one pass over memory: results[j] = sum_i x[j * ldx + i] * y_i, j = 0 ... k-1.
 * The bits of each, the four forms and the conjugated ones (of x) are those of tally_dot. */
TALLY_EXPORT tally_status tally_multi_dot(const tally_executor* where, size_t k, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t ldx,
                                          tally_type y_type, const void* y, ptrdiff_t incy,
                                          tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dot_async(const tally_executor* where, size_t k, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t ldx,
                                                tally_type y_type, const void* y, ptrdiff_t incy,
                                                tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dot_exact(const tally_executor* where, size_t k, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t ldx,
                                                tally_type y_type, const void* y, ptrdiff_t incy,
                                                tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dot_exact_async(const tally_executor* where, size_t k,
                                                      size_t n, tally_type x_type, const void* x,
                                                      ptrdiff_t ldx, tally_type y_type,
                                                      const void* y, ptrdiff_t incy,
                                                      tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dotc(const tally_executor* where, size_t k, size_t n,
                                           tally_type x_type, const void* x, ptrdiff_t ldx,
                                           tally_type y_type, const void* y, ptrdiff_t incy,
                                           tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dotc_async(const tally_executor* where, size_t k, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t ldx,
                                                 tally_type y_type, const void* y, ptrdiff_t incy,
                                                 tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dotc_exact(const tally_executor* where, size_t k, size_t n,
                                                 tally_type x_type, const void* x, ptrdiff_t ldx,
                                                 tally_type y_type, const void* y, ptrdiff_t incy,
                                                 tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dotc_exact_async(const tally_executor* where, size_t k,
                                                       size_t n, tally_type x_type, const void* x,
                                                       ptrdiff_t ldx, tally_type y_type,
                                                       const void* y, ptrdiff_t incy,
                                                       tally_type result_type, void* results);

/* results[j] = sum_i x[j * ldx + i] * y[j * ldy + i], j = 0 ... k-1: many short ones. */
TALLY_EXPORT tally_status tally_batched_dot(const tally_executor* where, size_t k, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t ldx,
                                            tally_type y_type, const void* y, ptrdiff_t ldy,
                                            tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dot_async(const tally_executor* where, size_t k, size_t n,
                                                  tally_type x_type, const void* x, ptrdiff_t ldx,
                                                  tally_type y_type, const void* y, ptrdiff_t ldy,
                                                  tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dot_exact(const tally_executor* where, size_t k, size_t n,
                                                  tally_type x_type, const void* x, ptrdiff_t ldx,
                                                  tally_type y_type, const void* y, ptrdiff_t ldy,
                                                  tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dot_exact_async(const tally_executor* where, size_t k,
                                                        size_t n, tally_type x_type, const void* x,
                                                        ptrdiff_t ldx, tally_type y_type,
                                                        const void* y, ptrdiff_t ldy,
                                                        tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dotc(const tally_executor* where, size_t k, size_t n,
                                             tally_type x_type, const void* x, ptrdiff_t ldx,
                                             tally_type y_type, const void* y, ptrdiff_t ldy,
                                             tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dotc_async(const tally_executor* where, size_t k, size_t n,
                                                   tally_type x_type, const void* x, ptrdiff_t ldx,
                                                   tally_type y_type, const void* y, ptrdiff_t ldy,
                                                   tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dotc_exact(const tally_executor* where, size_t k, size_t n,
                                                   tally_type x_type, const void* x, ptrdiff_t ldx,
                                                   tally_type y_type, const void* y, ptrdiff_t ldy,
                                                   tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_batched_dotc_exact_async(const tally_executor* where, size_t k,
                                                         size_t n, tally_type x_type, const void* x,
                                                         ptrdiff_t ldx, tally_type y_type,
                                                         const void* y, ptrdiff_t ldy,
                                                         tally_type result_type, void* results);

/* results[j] = the dot product of (n[j], x[j], incx[j]) and (n[j], y[j], incy[j]), j = 0 ... k-1.
 * The arrays themselves are host memory and may go when the call returns. */
TALLY_EXPORT tally_status tally_multi_dot_list(const tally_executor* where, size_t k,
                                               const size_t* n, tally_type x_type,
                                               const void* const* x, const ptrdiff_t* incx,
                                               tally_type y_type, const void* const* y,
                                               const ptrdiff_t* incy, tally_type result_type,
                                               void* results);
TALLY_EXPORT tally_status tally_multi_dot_list_async(const tally_executor* where, size_t k,
                                                     const size_t* n, tally_type x_type,
                                                     const void* const* x, const ptrdiff_t* incx,
                                                     tally_type y_type, const void* const* y,
                                                     const ptrdiff_t* incy, tally_type result_type,
                                                     void* results);
TALLY_EXPORT tally_status tally_multi_dot_list_exact(const tally_executor* where, size_t k,
                                                     const size_t* n, tally_type x_type,
                                                     const void* const* x, const ptrdiff_t* incx,
                                                     tally_type y_type, const void* const* y,
                                                     const ptrdiff_t* incy, tally_type result_type,
                                                     void* results);
TALLY_EXPORT tally_status tally_multi_dot_list_exact_async(
    const tally_executor* where, size_t k, const size_t* n, tally_type x_type, const void* const* x,
    const ptrdiff_t* incx, tally_type y_type, const void* const* y, const ptrdiff_t* incy,
    tally_type result_type, void* results);
TALLY_EXPORT tally_status tally_multi_dotc_list(const tally_executor* where, size_t k,
                                                const size_t* n, tally_type x_type,
                                                const void* const* x, const ptrdiff_t* incx,
                                                tally_type y_type, const void* const* y,
                                                const ptrdiff_t* incy, tally_type result_type,
                                                void* results);
TALLY_EXPORT tally_status tally_multi_dotc_list_async(const tally_executor* where, size_t k,
                                                      const size_t* n, tally_type x_type,
                                                      const void* const* x, const ptrdiff_t* incx,
                                                      tally_type y_type, const void* const* y,
                                                      const ptrdiff_t* incy, tally_type result_type,
                                                      void* results);
TALLY_EXPORT tally_status tally_multi_dotc_list_exact(const tally_executor* where, size_t k,
                                                      const size_t* n, tally_type x_type,
                                                      const void* const* x, const ptrdiff_t* incx,
                                                      tally_type y_type, const void* const* y,
                                                      const ptrdiff_t* incy, tally_type result_type,
                                                      void* results);
TALLY_EXPORT tally_status tally_multi_dotc_list_exact_async(
    const tally_executor* where, size_t k, const size_t* n, tally_type x_type, const void* const* x,
    const ptrdiff_t* incx, tally_type y_type, const void* const* y, const ptrdiff_t* incy,
    tally_type result_type, void* results);

/* Element-wise functions of tally/transform.hpp: y = x (tally_copy), x = alpha x (tally_scal),
 * y = alpha x + y (tally_axpy), y = alpha x + beta y (tally_axpby), z = x + y, x - y, x y
 * (tally_add, tally_sub, tally_mul), y = max(x, 0), 1 / (1 + exp(-x)), exp(x) (tally_relu,
 * tally_sigmoid, tally_exp). alpha and beta point at a factor of any type in host memory, read
 * before the call returns. On CUDA they don't block: they return once the work is queued on the
 * stream. */
TALLY_EXPORT tally_status tally_copy(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy);
TALLY_EXPORT tally_status tally_scal(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, void* x, ptrdiff_t incx);
TALLY_EXPORT tally_status tally_axpy(const tally_executor* where, size_t n, tally_type alpha_type,
                                     const void* alpha, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy);
TALLY_EXPORT tally_status tally_axpby(const tally_executor* where, size_t n, tally_type alpha_type,
                                      const void* alpha, tally_type x_type, const void* x,
                                      ptrdiff_t incx, tally_type beta_type, const void* beta,
                                      tally_type y_type, void* y, ptrdiff_t incy);
TALLY_EXPORT tally_status tally_add(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz);
TALLY_EXPORT tally_status tally_sub(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz);
TALLY_EXPORT tally_status tally_mul(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type z_type, void* z, ptrdiff_t incz);
TALLY_EXPORT tally_status tally_relu(const tally_executor* where, size_t n, tally_type x_type,
                                     const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                     ptrdiff_t incy);
TALLY_EXPORT tally_status tally_sigmoid(const tally_executor* where, size_t n, tally_type x_type,
                                        const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                        ptrdiff_t incy);
TALLY_EXPORT tally_status tally_exp(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, void* y,
                                    ptrdiff_t incy);

/* Histograms of tally/histogram.hpp. How many of n keys are k = 0 ... bins - 1 (tally_bincount);
 * how many samples are in bins of equal width between two bounds (tally_histogram_even), or between
 * each edge and the next (tally_histogram_range). Bins are half-open, the last one is closed. The
 * counts, TALLY_INT32 or TALLY_INT64, are contiguous: those of the first channel, of the second,
 * ... */
typedef struct tally_outside_counts {
  int64_t below, above, nan;
} tally_outside_counts;

/* All zeros, or a null pointer to it, is the default. */
typedef struct tally_histogram_options {
  int add;                       /* not 0: counts are added to what is there */
  size_t channels;               /* of interleaved samples; 0 is 1 */
  tally_outside_counts* outside; /* one a channel, for samples in no bin; null: not counted */
  /* TALLY_FLOAT32 or TALLY_FLOAT64: each bin's weights are added up and rounded once, and the
   * counts are of such a type, too. Null: samples are counted. */
  tally_type weights_type;
  const void* weights;
  ptrdiff_t incw;
} tally_histogram_options;

/* A key that has no bin is an error (TALLY_KEY_OUT_OF_RANGE), unless `outside` is there. */
TALLY_EXPORT tally_status tally_bincount(const tally_executor* where, size_t n,
                                         tally_type keys_type, const void* keys, ptrdiff_t inckeys,
                                         size_t bins, tally_type counts_type, void* counts,
                                         const tally_histogram_options* options);
/* lower and upper point at bounds of one type in host memory. */
TALLY_EXPORT tally_status tally_histogram_even(const tally_executor* where, size_t n,
                                               tally_type x_type, const void* x, ptrdiff_t incx,
                                               tally_type bounds_type, const void* lower,
                                               const void* upper, size_t bins,
                                               tally_type counts_type, void* counts,
                                               const tally_histogram_options* options);
/* bins + 1 edges in host memory. */
TALLY_EXPORT tally_status tally_histogram_range(const tally_executor* where, size_t n,
                                                tally_type x_type, const void* x, ptrdiff_t incx,
                                                tally_type edges_type, const void* edges,
                                                size_t bins, tally_type counts_type, void* counts,
                                                const tally_histogram_options* options);
/* A matrix in compressed sparse rows, where `where` reaches it: row i has the terms row_offsets[i]
 * ... row_offsets[i+1] - 1. Offsets and columns are int32 or int64, each of its own; values are of
 * a floating-point or complex type. */
typedef struct tally_csr {
  size_t rows;
  size_t columns;
  size_t nonzeros;
  tally_type offset_type;
  const void* row_offsets; /* rows + 1 of them: from 0 to nonzeros */
  tally_type column_type;
  const void* column_indices;
  tally_type value_type;
  const void* values;
} tally_csr;

/* Checks a whole matrix; TALLY_INVALID_ARGUMENT for the first thing that is wrong. */
TALLY_EXPORT tally_status tally_validate(const tally_executor* where, const tally_csr* matrix);

/* A plan, made once for a matrix that is multiplied many times; see tally/spmv.hpp. It validates
 * the matrix. Destroying NULL does nothing. The description lives as long as the plan. */
typedef struct tally_spmv_plan tally_spmv_plan;
TALLY_EXPORT tally_status tally_spmv_plan_create(const tally_executor* where,
                                                 const tally_csr* matrix, tally_spmv_plan** plan);
TALLY_EXPORT void tally_spmv_plan_destroy(tally_spmv_plan* plan);
TALLY_EXPORT const char* tally_spmv_plan_describe(const tally_spmv_plan* plan);

/* y = alpha A x + beta y, in the accumulator that dot has for values and x. alpha and beta point at
 * factors of any type in host memory, or are NULL for 1 and 0; where beta is 0, y is not read. plan
 * is one of this matrix, or NULL. The exact grade rounds each row's sum correctly. On CUDA they
 * don't block: they return once the work is queued on the stream. */
TALLY_EXPORT tally_status tally_spmv(const tally_executor* where, const tally_spmv_plan* plan,
                                     tally_type alpha_type, const void* alpha,
                                     const tally_csr* matrix, tally_type x_type, const void* x,
                                     ptrdiff_t incx, tally_type beta_type, const void* beta,
                                     tally_type y_type, void* y, ptrdiff_t incy);
TALLY_EXPORT tally_status tally_spmv_exact(const tally_executor* where, const tally_spmv_plan* plan,
                                           tally_type alpha_type, const void* alpha,
                                           const tally_csr* matrix, tally_type x_type,
                                           const void* x, ptrdiff_t incx, tally_type beta_type,
                                           const void* beta, tally_type y_type, void* y,
                                           ptrdiff_t incy);

/* The text of this thread's last failure, of which 511 bytes are kept; "" before the first. Valid
 * until the next. It can be asked for, and calls may fail, while a thread or the program ends. */
TALLY_EXPORT const char* tally_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TALLY_TALLY_H */
