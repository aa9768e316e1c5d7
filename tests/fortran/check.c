/* References for the Fortran module: the operation by tally.h, on contiguous copies made through
 * the descriptors. */
#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/tally.h>

typedef struct copy {
  tally_type type;
  size_t n;
  void* data;
} copy;

static tally_type type_of(const CFI_cdesc_t* d) {
  if (d->type == CFI_type_Bool) return TALLY_BOOL;
  if (d->type == CFI_type_int8_t) return TALLY_INT8;
  if (d->type == CFI_type_int32_t) return TALLY_INT32;
  if (d->type == CFI_type_int64_t) return TALLY_INT64;
  if (d->type == CFI_type_float) return TALLY_FLOAT32;
  if (d->type == CFI_type_double) return TALLY_FLOAT64;
  if (d->type == CFI_type_float_Complex) return TALLY_COMPLEX64;
  if (d->type == CFI_type_double_Complex) return TALLY_COMPLEX128;
  fprintf(stderr, "a test passed an array of type %d\n", (int)d->type);
  abort();
}

/* In array order. */
static const char* element_at(const CFI_cdesc_t* d, size_t number) {
  const char* address = d->base_addr;
  for (int i = 0; i < d->rank; ++i) {
    const size_t extent = (size_t)d->dim[i].extent;
    address += (ptrdiff_t)(number % extent) * (ptrdiff_t)d->dim[i].sm;
    number /= extent;
  }
  return address;
}

static copy copy_of(const CFI_cdesc_t* d) {
  copy c = {type_of(d), 1, NULL};
  for (int i = 0; i < d->rank; ++i) c.n *= (size_t)d->dim[i].extent;
  c.data = malloc(c.n * d->elem_len + 1);
  for (size_t i = 0; i < c.n; ++i) {
    memcpy((char*)c.data + i * d->elem_len, element_at(d, i), d->elem_len);
  }
  return c;
}

static tally_type sum_type(tally_type x, tally_type y) {
  const int is_complex = x >= TALLY_COMPLEX64 || y >= TALLY_COMPLEX64;
  const int is_double =
      x == TALLY_FLOAT64 || x == TALLY_COMPLEX128 || y == TALLY_FLOAT64 || y == TALLY_COMPLEX128;
  const int is_float = is_complex || x == TALLY_FLOAT32 || y == TALLY_FLOAT32;
  if (is_double) return is_complex ? TALLY_COMPLEX128 : TALLY_FLOAT64;
  if (is_float) return is_complex ? TALLY_COMPLEX64 : TALLY_FLOAT32;
  return TALLY_INT64;
}

static tally_type part_of(tally_type t) {
  return t == TALLY_COMPLEX64 ? TALLY_FLOAT32 : t == TALLY_COMPLEX128 ? TALLY_FLOAT64 : t;
}

static int same(const copy* got, size_t at, tally_type type, const void* expected) {
  const size_t size = tally_type_size(type);
  return got->type == type && memcmp((const char*)got->data + at * size, expected, size) == 0;
}

static tally_executor serial(void) {
  tally_executor where;
  if (tally_serial(&where) != TALLY_SUCCESS) abort();
  return where;
}

/* results[j] is the dot product of part j of x and part j of y, or of the one part of y. */
int check_dots(const CFI_cdesc_t* results, const CFI_cdesc_t* x, const CFI_cdesc_t* y, int parts,
               int parts_of_y, tally_grade grade, tally_conjugate conjugate) {
  const tally_executor where = serial();
  const tally_call_options options = {
      .size = sizeof options, .grade = grade, .conjugate = conjugate};
  copy r = copy_of(results), u = copy_of(x), v = copy_of(y);
  const tally_type type = sum_type(u.type, v.type);
  const size_t n = u.n / (size_t)parts;
  int agrees = r.n == (size_t)parts;
  for (size_t j = 0; j < (size_t)parts && agrees; ++j) {
    double expected[2];
    const size_t k = parts_of_y == 1 ? 0 : j;
    agrees = tally_dot(&where, n, u.type, (char*)u.data + j * n * tally_type_size(u.type), 1,
                       v.type, (char*)v.data + k * n * tally_type_size(v.type), 1, type, expected,
                       &options) == TALLY_SUCCESS &&
             same(&r, j, type, expected);
  }
  free(r.data);
  free(u.data);
  free(v.data);
  return agrees;
}

/* which: 0 sum, 1 asum, 2 nrm2 */
int check_reduce(const CFI_cdesc_t* result, const CFI_cdesc_t* x, int which, tally_grade grade) {
  const tally_executor where = serial();
  const tally_call_options options = {.size = sizeof options, .grade = grade};
  copy r = copy_of(result), u = copy_of(x);
  tally_type type = sum_type(u.type, u.type);
  if (which > 0) type = part_of(type);
  if (which == 2 && type == TALLY_INT64) type = TALLY_FLOAT64;
  double expected[2];
  const tally_status status =
      (which == 0   ? tally_sum
       : which == 1 ? tally_asum
                    : tally_nrm2)(&where, u.n, u.type, u.data, 1, type, expected, &options);
  const int agrees = status == TALLY_SUCCESS && same(&r, 0, type, expected);
  free(r.data);
  free(u.data);
  return agrees;
}

/* which: 0 min, 1 max */
int check_extreme(const CFI_cdesc_t* result, int64_t index, const CFI_cdesc_t* x, int which) {
  const tally_executor where = serial();
  copy r = copy_of(result), u = copy_of(x);
  struct {
    int64_t value, index;
  } expected;
  const tally_status status =
      (which == 0 ? tally_min : tally_max)(&where, u.n, u.type, u.data, 1, &expected, NULL);
  const int agrees = status == TALLY_SUCCESS && same(&r, 0, u.type, &expected.value) &&
                     index == expected.index + 1;
  free(r.data);
  free(u.data);
  return agrees;
}

int check_iamax(int64_t index, const CFI_cdesc_t* x) {
  const tally_executor where = serial();
  copy u = copy_of(x);
  int64_t expected;
  const tally_status status = tally_iamax(&where, u.n, u.type, u.data, 1, &expected, NULL);
  free(u.data);
  return status == TALLY_SUCCESS && index == expected + 1;
}

typedef tally_status unary(const tally_executor*, size_t, tally_type, const void*, ptrdiff_t,
                           tally_type, void*, ptrdiff_t, const tally_call_options*);

int check_map(const CFI_cdesc_t* result, const CFI_cdesc_t* x, unary* function) {
  const tally_executor where = serial();
  copy r = copy_of(result), u = copy_of(x);
  void* const expected = malloc(r.n * tally_type_size(r.type) + 1);
  const tally_status status = function(&where, u.n, u.type, u.data, 1, r.type, expected, 1, NULL);
  const int agrees = status == TALLY_SUCCESS && r.n == u.n &&
                     memcmp(expected, r.data, r.n * tally_type_size(r.type)) == 0;
  free(expected);
  free(r.data);
  free(u.data);
  return agrees;
}

/* For descriptors.f90, which passes gfortran's own descriptors. */
static int spoil(void* descriptor, int64_t span) {
#ifdef ISO_FORTRAN_BINDING_H /* gfortran's header */
  struct {
    void* base_addr;
    ptrdiff_t offset;
    size_t elem_len, dtype;
    ptrdiff_t span;
  } d;
  memcpy(&d, descriptor, sizeof d);
  d.span = (ptrdiff_t)span;
  memcpy(descriptor, &d, sizeof d);
  return 1;
#else
  (void)descriptor, (void)span;
  return 0;
#endif
}

int spoil_vector_(void* descriptor, const int64_t* span);
int spoil_vector_(void* descriptor, const int64_t* span) { return spoil(descriptor, *span); }

int spoil_table_(void* descriptor, const int64_t* span);
int spoil_table_(void* descriptor, const int64_t* span) { return spoil(descriptor, *span); }

int spoil_integers_(void* descriptor, const int64_t* span);
int spoil_integers_(void* descriptor, const int64_t* span) { return spoil(descriptor, *span); }
