/* Sums over the ranks of MPI, correctly rounded, for C: the same bits on any number of ranks,
 * however the elements are shared out. (C++ has <tally/mpi.hpp>, which can do more.)
 *
 * A rank makes the words of its exact sum (<tally/tally.h>, "Sums that are not rounded yet"), one
 * MPI_Allreduce adds the words of all ranks as integers, and each rank rounds them. It is 1104
 * bytes for sums of doubles and products of them, 192 where no element is a double.
 *
 * The functions are collective: all ranks of `comm` call them with the same types, each with its
 * own elements, of which there may be none, and its own executor. They block. They are defined
 * here, since MPI libraries have no common binary interface, and call MPI_Allreduce, MPI_Comm_rank
 * and MPI_Bcast on `comm` alone. Before MPI_Init and after MPI_Finalize they must not be called.
 *
 * Errors. Where a rank has failed, all ranks return the status of the lowest one that has, and no
 * result is written. tally_last_error has the text on those that have failed themselves. What MPI
 * doesn't do is TALLY_DEVICE_FAILURE, on the ranks where MPI says so. */
#ifndef TALLY_MPI_H
#define TALLY_MPI_H

#include <mpi.h>
#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type of the exact sums that hold all terms of elements of these types. */
static inline tally_type tally_mpi_sum_type(tally_type x_type, tally_type y_type,
                                            tally_type result_type) {
  const int is_wide = x_type == TALLY_FLOAT64 || x_type == TALLY_COMPLEX128 ||
                      y_type == TALLY_FLOAT64 || y_type == TALLY_COMPLEX128;
  if (result_type == TALLY_COMPLEX64 || result_type == TALLY_COMPLEX128) {
    return is_wide ? TALLY_COMPLEX128 : TALLY_COMPLEX64;
  }
  return is_wide ? TALLY_FLOAT64 : TALLY_FLOAT32;
}

/* What a rank asks its executor for. */
static inline tally_call_options tally_mpi_options(tally_conjugate conjugate, int is_integer) {
  tally_call_options options;
  options.size = sizeof options;
  options.grade = TALLY_GRADE_DEFAULT;
  options.wait = TALLY_WAIT_YES;
  options.conjugate = conjugate;
  options.reserved = options.reserved_too = 0;
  options.form = is_integer ? TALLY_RESULT_ROUNDED : TALLY_RESULT_WORDS;
  return options;
}

/* The room for the words of any sum, and for one that counts the ranks that have failed. */
enum { TALLY_MPI_WORDS = 275 };

/* Adds up what all ranks have in `words`, and rounds it. `status` is what making it returned. */
static inline tally_status tally_mpi_finish(MPI_Comm comm, tally_status status, tally_type sum_type,
                                            int root, int64_t* words, tally_type result_type,
                                            void* result) {
  const int is_integer = result_type == TALLY_INT64;
  const int count = is_integer ? 1 : (int)tally_exact_words(sum_type);
  int i, rank, lowest;
  if (status != TALLY_SUCCESS) {
    for (i = 0; i < count; ++i) words[i] = 0;
  }
  words[count] = status != TALLY_SUCCESS;
  if (MPI_Allreduce(MPI_IN_PLACE, words, count + 1, MPI_UINT64_T, MPI_SUM, comm) != MPI_SUCCESS) {
    return TALLY_DEVICE_FAILURE;
  }
  if (words[count] != 0) {
    if (MPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return TALLY_DEVICE_FAILURE;
    lowest = status != TALLY_SUCCESS ? rank : INT32_MAX;
    if (MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS ||
        MPI_Bcast(&status, 1, MPI_INT, lowest, comm) != MPI_SUCCESS) {
      return TALLY_DEVICE_FAILURE;
    }
    return status;
  }
  if (is_integer) {
    *(int64_t*)result = words[0];
    return TALLY_SUCCESS;
  }
  return root ? tally_round_root_words(NULL, 1, sum_type, words, result_type, result, NULL)
              : tally_round_words(NULL, 1, sum_type, words, result_type, result, NULL);
}

/* *result = sum_i x_i * y_i over the elements of all ranks, otherwise as tally_dot in the exact
 * grade. result_type is one of those that tally_dot has; of TALLY_INT64 the sum is modulo 2^64.
 * `result` is host memory. */
static inline tally_status tally_mpi_dot(MPI_Comm comm, const tally_executor* where, size_t n,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type y_type, const void* y, ptrdiff_t incy,
                                         tally_conjugate conjugate, tally_type result_type,
                                         void* result) {
  int64_t words[TALLY_MPI_WORDS] = {0};
  const int is_integer = result_type == TALLY_INT64;
  const tally_type sum = tally_mpi_sum_type(x_type, y_type, result_type);
  const tally_call_options options = tally_mpi_options(conjugate, is_integer);
  const tally_status status = tally_dot(where, n, x_type, x, incx, y_type, y, incy,
                                        is_integer ? TALLY_INT64 : sum, words, &options);
  return tally_mpi_finish(comm, status, sum, 0, words, result_type, result);
}

/* *result = sum_i x_i over the elements of all ranks; see tally_sum and tally_mpi_dot. */
static inline tally_status tally_mpi_sum(MPI_Comm comm, const tally_executor* where, size_t n,
                                         tally_type x_type, const void* x, ptrdiff_t incx,
                                         tally_type result_type, void* result) {
  int64_t words[TALLY_MPI_WORDS] = {0};
  const int is_integer = result_type == TALLY_INT64;
  const tally_type sum = tally_mpi_sum_type(x_type, x_type, result_type);
  const tally_call_options options = tally_mpi_options(TALLY_CONJUGATE_NONE, is_integer);
  const tally_status status =
      tally_sum(where, n, x_type, x, incx, is_integer ? TALLY_INT64 : sum, words, &options);
  return tally_mpi_finish(comm, status, sum, 0, words, result_type, result);
}

/* *result = sum_i |x_i| over the elements of all ranks; see tally_asum and tally_mpi_dot. */
static inline tally_status tally_mpi_asum(MPI_Comm comm, const tally_executor* where, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t incx,
                                          tally_type result_type, void* result) {
  int64_t words[TALLY_MPI_WORDS] = {0};
  const int is_integer = result_type == TALLY_INT64;
  const tally_type sum = tally_mpi_sum_type(x_type, x_type, result_type);
  const tally_call_options options = tally_mpi_options(TALLY_CONJUGATE_NONE, is_integer);
  const tally_status status =
      tally_asum(where, n, x_type, x, incx, is_integer ? TALLY_INT64 : sum, words, &options);
  return tally_mpi_finish(comm, status, sum, 0, words, result_type, result);
}

/* *result = sqrt(sum_i |x_i|^2) over the elements of all ranks; see tally_nrm2 and tally_mpi_dot.
 */
static inline tally_status tally_mpi_nrm2(MPI_Comm comm, const tally_executor* where, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t incx,
                                          tally_type result_type, void* result) {
  int64_t words[TALLY_MPI_WORDS] = {0};
  const tally_type sum = tally_mpi_sum_type(x_type, x_type, result_type);
  const tally_call_options options = tally_mpi_options(TALLY_CONJUGATE_NONE, 0);
  const tally_status status = tally_nrm2(where, n, x_type, x, incx, sum, words, &options);
  return tally_mpi_finish(comm, status, sum, 1, words, result_type, result);
}

#ifdef __cplusplus
}
#endif

#endif
