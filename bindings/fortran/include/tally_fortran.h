/* How Fortran's arguments become those of tally.h: what tally_fortran.c and tally_fortran_mpi.c
 * share.
 *
 * Fortran passes every array as a descriptor of type(*), dimension(..): its address, type, rank,
 * extents and strides. Nothing is copied, and no element is looked at, so arrays may lie on a
 * device. Each function checks ranks, sizes and strides before it calls the library. */
#ifndef TALLY_FORTRAN_H
#define TALLY_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <tally/tally.h>

/* One call from Fortran: the function's name there, and what it has met so far. The
 * functions below do nothing once the status is another one than TALLY_SUCCESS. */
typedef struct tally_fortran_call {
  const char* name;
  tally_status status;
} tally_fortran_call;

/* A vector as tally.h takes it. Fortran knows this struct as type(tally_vector). */
typedef struct tally_fortran_vector {
  size_t n;
  void* data; /* the lowest address, whatever the sign of the increment */
  ptrdiff_t inc;
  tally_type type;
} tally_fortran_vector;

/* Ends the call with a status and its text, which tally_fortran_last_error has from then on. */
void tally_fortran_fail(tally_fortran_call* call, tally_status status, const char* format, ...);

/* The status of a call of tally.h, whose text is kept if it failed. */
tally_status tally_fortran_kept(tally_status status);

/* The text of this thread's last failure. */
const char* tally_fortran_last_error(void);

/* The type of an array's elements, also when the call has failed before. */
tally_type tally_fortran_type_of(tally_fortran_call* call, const char* name,
                                 const CFI_cdesc_t* array);

/* An array's elements in array order, which have one stride; its rank is not 0. */
tally_fortran_vector tally_fortran_vector_of(tally_fortran_call* call, const char* name,
                                             const CFI_cdesc_t* array);

/* The same without gaps between the elements. */
tally_fortran_vector tally_fortran_contiguous(tally_fortran_call* call, const char* name,
                                              const CFI_cdesc_t* array);

/* One value, whose rank is 0. */
tally_fortran_vector tally_fortran_scalar(tally_fortran_call* call, const char* name,
                                          const CFI_cdesc_t* value);

/* TALLY_SIZE_MISMATCH unless a vector has n elements, as many as `other` has. */
void tally_fortran_check_size(tally_fortran_call* call, const char* name,
                              const tally_fortran_vector* vector, size_t n, const char* other);

#endif
