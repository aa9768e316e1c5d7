/* C functions of module tally_mpi: sums over ranks, by the steps of tally/mpi.h. A rank with an
 * argument error takes part in the reduction, so that all ranks return.
 * */
#include <stdio.h>
#include <tally/mpi.h>

#include "tally_fortran.h"

typedef tally_fortran_call call;
typedef tally_fortran_vector vector;

/* A Fortran communicator: an integer, or a type(MPI_Comm) with one. */
static MPI_Comm communicator(call* c, const CFI_cdesc_t* d) {
  MPI_Fint handle;
  const int is_handle =
      d->type == CFI_type_int32_t || d->type == CFI_type_int64_t || d->type == CFI_type_struct;
  if (d->rank != 0 || d->elem_len != sizeof handle || !is_handle) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                       "comm is no communicator: neither an integer nor a type(MPI_Comm)");
    return MPI_COMM_NULL;
  }
  memcpy(&handle, d->base_addr, sizeof handle);
  return MPI_Comm_f2c(handle);
}

/* Reduces over all ranks and rounds. After a failure this rank keeps its own message if its status
 * is everybody's; otherwise the message names the failing rank, and includes this rank's own.
 * */
static tally_status end(call* c, tally_mpi_call* sum, MPI_Comm comm, void* result) {
  const tally_status own = sum->status, status = tally_mpi_merge(sum, comm);
  if (status == TALLY_SUCCESS) return tally_fortran_kept(tally_mpi_round(sum, result));
  if (status == own) return status;
  char text[512] = "";
  if (own != TALLY_SUCCESS) {
    snprintf(text, sizeof text, "; on this one: %s", tally_fortran_last_error());
  }
  c->status = TALLY_SUCCESS;
  tally_fortran_fail(
      c, status, "%s: %s%s",
      sum->status == status ? "it has failed on another rank" : "MPI has failed on this rank",
      tally_status_name(status), text);
  return status;
}

/* Records this rank's failure: of its arguments, or of the library. */
static void take_status(const call* c, tally_mpi_call* sum) {
  if (c->status != TALLY_SUCCESS) {
    sum->status = c->status;
  } else {
    tally_fortran_kept(sum->status);
  }
}

tally_status tally_fortran_mpi_dot(const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                   const CFI_cdesc_t* result, const CFI_cdesc_t* comm,
                                   const tally_executor* where, const int* conjugate) {
  call c = {"tally_mpi_dot", TALLY_SUCCESS};
  const MPI_Comm ranks = communicator(&c, comm);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_type x_type = tally_fortran_type_of(&c, "x", x),
                   y_type = tally_fortran_type_of(&c, "y", y),
                   r_type = tally_fortran_type_of(&c, "result", result);
  const vector u = tally_fortran_vector_of(&c, "x", x), v = tally_fortran_vector_of(&c, "y", y);
  tally_fortran_check_size(&c, "y", &v, u.n, "x has");
  tally_call_options options = {.size = sizeof options};
  if (conjugate != NULL) options.conjugate = *conjugate;
  tally_mpi_call sum;
  tally_mpi_begin(&sum, x_type, y_type, 0, r_type, &options);
  if (c.status == TALLY_SUCCESS) {
    tally_mpi_add_dot(&sum, where, u.n, u.type, u.data, u.inc, v.type, v.data, v.inc,
                      result->base_addr);
  }
  take_status(&c, &sum);
  return end(&c, &sum, ranks, result->base_addr);
}

static tally_status reduce(const char* name, tally_mpi_local_sum* local_sum, int is_root,
                           const CFI_cdesc_t* x, const CFI_cdesc_t* result, const CFI_cdesc_t* comm,
                           const tally_executor* where) {
  call c = {name, TALLY_SUCCESS};
  const MPI_Comm ranks = communicator(&c, comm);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_type x_type = tally_fortran_type_of(&c, "x", x),
                   r_type = tally_fortran_type_of(&c, "result", result);
  const vector u = tally_fortran_vector_of(&c, "x", x);
  tally_mpi_call sum;
  tally_mpi_begin(&sum, x_type, x_type, is_root, r_type, NULL);
  if (c.status == TALLY_SUCCESS) {
    tally_mpi_add(&sum, local_sum, where, u.n, u.type, u.data, u.inc, result->base_addr);
  }
  take_status(&c, &sum);
  return end(&c, &sum, ranks, result->base_addr);
}

tally_status tally_fortran_mpi_sum(const CFI_cdesc_t* x, const CFI_cdesc_t* result,
                                   const CFI_cdesc_t* comm, const tally_executor* where) {
  return reduce("tally_mpi_sum", tally_sum, 0, x, result, comm, where);
}

tally_status tally_fortran_mpi_asum(const CFI_cdesc_t* x, const CFI_cdesc_t* result,
                                    const CFI_cdesc_t* comm, const tally_executor* where) {
  return reduce("tally_mpi_asum", tally_asum, 0, x, result, comm, where);
}

tally_status tally_fortran_mpi_nrm2(const CFI_cdesc_t* x, const CFI_cdesc_t* result,
                                    const CFI_cdesc_t* comm, const tally_executor* where) {
  return reduce("tally_mpi_nrm2", tally_nrm2, 1, x, result, comm, where);
}
