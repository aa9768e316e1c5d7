/* Correctly rounded sums over MPI ranks, for C: the same bits on any number of ranks and for any
 * distribution. (C++, with more functions: <tally/mpi.hpp>.)
 *
 * A rank adds to the limbs of an exact sum (<tally/tally.h>, "Unrounded sums"), one MPI_Allreduce
 * adds the limbs as integers, and each rank rounds them: 1104 bytes for doubles, 192 without.
 *
 * Collective and blocking: all ranks of `comm` call with the same types and options, each with its
 * own elements (maybe none) and executor. `result` is host memory. Defined in this header, since
 * MPI libraries have no common binary interface; calls only MPI_Allreduce, MPI_Comm_rank and
 * MPI_Bcast. Not before MPI_Init or after MPI_Finalize.
 *
 * options: conjugate, for dot products. The grade is always exact.
 *
 * Errors. All ranks return the status of the lowest failed one, and nothing is written; failed
 * ranks have the text in tally_last_error. A failure of MPI is TALLY_DEVICE_FAILURE where MPI
 * reports it. */
#ifndef TALLY_MPI_H
#define TALLY_MPI_H

#include <limits.h>
#include <mpi.h>
#include <string.h>
#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* State of one sum over ranks, for the functions below. */
typedef struct tally_mpi_call {
  tally_call_options options; /* for this rank's executor */
  tally_status status;        /* of this rank, so far */
  int is_integer;             /* whether the result is an int64_t */
  int is_root;                /* whether to take the root */
  tally_type sum_type;        /* type of the sum */
  tally_type result_type;     /* type to round to */
  int64_t words[2 * 137 + 1]; /* limbs of any sum; failed ranks */
  double unused[2];           /* destination of an empty sum, which checks the types */
} tally_mpi_call;

static inline void tally_mpi_begin(tally_mpi_call* call, tally_type x_type, tally_type y_type,
                                   int is_root, tally_type result_type,
                                   const tally_call_options* options) {
  memset(call, 0, sizeof *call);
  call->is_integer = result_type == TALLY_INT64;
  call->is_root = is_root;
  call->sum_type = tally_exact_sum_type(x_type, y_type, result_type);
  call->result_type = result_type;
  call->options.size = sizeof call->options;
  call->options.grade = TALLY_GRADE_EXACT;
  if (options != NULL) {
    call->options.conjugate = options->conjugate;
  }
}

/* Destination of an empty sum: `result` if that is invalid, so that it is refused. */
static inline void* tally_mpi_place(tally_mpi_call* call, void* result) {
  const size_t size = tally_type_size(call->result_type);
  return result == NULL || (uintptr_t)result % (size < 8 && size > 0 ? size : 8) != 0
             ? result
             : call->unused;
}

/* Selects the form of the local sum and returns its type. */
static inline tally_type tally_mpi_local_type(tally_mpi_call* call) {
  call->options.form = call->is_integer ? TALLY_RESULT_ROUNDED : TALLY_RESULT_WORDS;
  return call->is_integer ? TALLY_INT64 : call->sum_type;
}

/* Adds the limbs of all ranks. call->status becomes the lowest failed rank's; any other status
 * returned is MPI's. */
static inline tally_status tally_mpi_merge(tally_mpi_call* call, MPI_Comm comm) {
  const int count = call->is_integer ? 1 : (int)tally_exact_words(call->sum_type);
  int i, rank, lowest;
  if (call->status != TALLY_SUCCESS) {
    for (i = 0; i < count; ++i) call->words[i] = 0;
  }
  call->words[count] = call->status != TALLY_SUCCESS;
  if (MPI_Allreduce(MPI_IN_PLACE, call->words, count + 1, MPI_UINT64_T, MPI_SUM, comm) !=
      MPI_SUCCESS) {
    return TALLY_DEVICE_FAILURE;
  }
  if (call->words[count] != 0) {
    if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return TALLY_DEVICE_FAILURE;
    lowest = call->status != TALLY_SUCCESS ? rank : INT_MAX;
    if (MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS ||
        MPI_Bcast(&call->status, 1, MPI_INT, lowest, comm) != MPI_SUCCESS) {
      return TALLY_DEVICE_FAILURE;
    }
    return call->status;
  }
  return TALLY_SUCCESS;
}

static inline tally_status tally_mpi_round(const tally_mpi_call* call, void* result) {
  if (call->is_integer) {
    *(int64_t*)result = call->words[0];
    return TALLY_SUCCESS;
  }
  return call->is_root ? tally_round_root_words(NULL, 1, call->sum_type, call->words,
                                                call->result_type, result, NULL)
                       : tally_round_words(NULL, 1, call->sum_type, call->words, call->result_type,
                                           result, NULL);
}

/* Both steps in one. */
static inline tally_status tally_mpi_end(tally_mpi_call* call, MPI_Comm comm, void* result) {
  const tally_status status = tally_mpi_merge(call, comm);
  return status == TALLY_SUCCESS ? tally_mpi_round(call, result) : status;
}

/* Adds this rank's part of a dot product, unless the call has failed. */
static inline void tally_mpi_add_dot(tally_mpi_call* call, const tally_executor* where, size_t n,
                                     tally_type x_type, const void* x, ptrdiff_t incx,
                                     tally_type y_type, const void* y, ptrdiff_t incy,
                                     void* result) {
  if (call->status == TALLY_SUCCESS) {
    call->status = tally_dot(NULL, 0, x_type, NULL, 1, y_type, NULL, 1, call->result_type,
                             tally_mpi_place(call, result), &call->options);
  }
  if (call->status == TALLY_SUCCESS) {
    const tally_type local = tally_mpi_local_type(call);
    call->status =
        tally_dot(where, n, x_type, x, incx, y_type, y, incy, local, call->words, &call->options);
  }
}

/* *result = sum_i x_i*y_i over all ranks, otherwise as tally_dot in the exact grade; modulo 2^64
 * for TALLY_INT64. */
static inline tally_status tally_mpi_dot(MPI_Comm comm, const tally_executor* where, size_t n,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type y_type, const void* y, ptrdiff_t incy,
                                         tally_type result_type, void* result,
                                         const tally_call_options* options) {
  tally_mpi_call call;
  tally_mpi_begin(&call, x_type, y_type, 0, result_type, options);
  tally_mpi_add_dot(&call, where, n, x_type, x, incx, y_type, y, incy, result);
  return tally_mpi_end(&call, comm, result);
}

/* tally_sum, tally_asum or tally_nrm2. */
typedef tally_status tally_mpi_local_sum(const tally_executor* where, size_t n, tally_type x_type,
                                         const void* x, ptrdiff_t incx, tally_type result_type,
                                         void* result, const tally_call_options* options);

/* Adds this rank's part of such a sum, likewise. */
static inline void tally_mpi_add(tally_mpi_call* call, tally_mpi_local_sum* sum,
                                 const tally_executor* where, size_t n, tally_type x_type,
                                 const void* x, ptrdiff_t incx, void* result) {
  if (call->status == TALLY_SUCCESS) {
    call->status = sum(NULL, 0, x_type, NULL, 1, call->result_type, tally_mpi_place(call, result),
                       &call->options);
  }
  if (call->status == TALLY_SUCCESS) {
    const tally_type local = tally_mpi_local_type(call);
    call->status = sum(where, n, x_type, x, incx, local, call->words, &call->options);
  }
}

static inline tally_status tally_mpi_reduce(MPI_Comm comm, tally_mpi_local_sum* sum, int is_root,
                                            const tally_executor* where, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t incx,
                                            tally_type result_type, void* result,
                                            const tally_call_options* options) {
  tally_mpi_call call;
  tally_mpi_begin(&call, x_type, x_type, is_root, result_type, options);
  tally_mpi_add(&call, sum, where, n, x_type, x, incx, result);
  return tally_mpi_end(&call, comm, result);
}

/* *result = sum_i x_i over all ranks; see tally_sum. */
static inline tally_status tally_mpi_sum(MPI_Comm comm, const tally_executor* where, size_t n,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type result_type, void* result,
                                         const tally_call_options* options) {
  return tally_mpi_reduce(comm, tally_sum, 0, where, n, x_type, x, incx, result_type, result,
                          options);
}

/* *result = sum_i |x_i| over all ranks; see tally_asum. */
static inline tally_status tally_mpi_asum(MPI_Comm comm, const tally_executor* where, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t incx,
                                          tally_type result_type, void* result,
                                          const tally_call_options* options) {
  return tally_mpi_reduce(comm, tally_asum, 0, where, n, x_type, x, incx, result_type, result,
                          options);
}

/* *result = sqrt(sum_i |x_i|^2) over all ranks; see tally_nrm2. */
static inline tally_status tally_mpi_nrm2(MPI_Comm comm, const tally_executor* where, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t incx,
                                          tally_type result_type, void* result,
                                          const tally_call_options* options) {
  return tally_mpi_reduce(comm, tally_nrm2, 1, where, n, x_type, x, incx, result_type, result,
                          options);
}

#ifdef __cplusplus
}
#endif

#endif
