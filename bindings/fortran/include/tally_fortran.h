/* Conversion of Fortran's arguments to tally.h's.
 *
 * Fortran passes arrays as descriptors of type(*), dimension(..). Nothing is copied and no element
 * is read, so arrays may lie on a device. Ranks, sizes and strides are checked before each call. */
#ifndef TALLY_FORTRAN_H
#define TALLY_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <tally/tally.h>

/* One call from Fortran. The functions below do nothing after a failure. */
typedef struct tally_fortran_call {
  const char* name;
  tally_status status;
} tally_fortran_call;

/* type(tally_vector) in Fortran. */
typedef struct tally_fortran_vector {
  size_t n;
  void* data; /* the lowest address, also for negative increments */
  ptrdiff_t inc;
  tally_type type;
} tally_fortran_vector;

/* Fails the call with a status and a message for tally_fortran_last_error. */
void tally_fortran_fail(tally_fortran_call* call, tally_status status, const char* format, ...);

/* Keeps the message of a failure. */
tally_status tally_fortran_kept(tally_status status);

const char* tally_fortran_last_error(void);

/* The type of an array's elements, also after a failure. */
tally_type tally_fortran_type_of(tally_fortran_call* call, const char* name,
                                 const CFI_cdesc_t* array);

/* An array's elements in array order, with one stride. Pre: rank > 0. */
tally_fortran_vector tally_fortran_vector_of(tally_fortran_call* call, const char* name,
                                             const CFI_cdesc_t* array);

/* The same, without gaps. */
tally_fortran_vector tally_fortran_contiguous(tally_fortran_call* call, const char* name,
                                              const CFI_cdesc_t* array);

/* Pre: rank 0. */
tally_fortran_vector tally_fortran_scalar(tally_fortran_call* call, const char* name,
                                          const CFI_cdesc_t* value);

/* TALLY_SIZE_MISMATCH unless a vector has n elements, as many as `other`. */
void tally_fortran_check_size(tally_fortran_call* call, const char* name,
                              const tally_fortran_vector* vector, size_t n, const char* other);

#endif
