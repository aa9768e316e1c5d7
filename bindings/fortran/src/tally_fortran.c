/* C functions of module tally, in C11 on tally.h alone. Arguments absent in Fortran are null
 * pointers. Compile with the ISO_Fortran_binding.h of tally.f90's compiler. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally_fortran.h"

typedef tally_fortran_call call;
typedef tally_fortran_vector vector;

/* --- Errors ----------------------------------------------------------------------------------- */

static _Thread_local char last_error[512];

static void forget_doubtful(void);

void tally_fortran_fail(call* c, tally_status status, const char* format, ...) {
  forget_doubtful();
  if (c->status != TALLY_SUCCESS) return;
  c->status = status;
  const int length = snprintf(last_error, sizeof last_error, "%s: ", c->name);
  va_list values;
  va_start(values, format);
  vsnprintf(last_error + length, sizeof last_error - (size_t)length, format, values);
  va_end(values);
}

tally_status tally_fortran_kept(tally_status status) {
  forget_doubtful();
  if (status != TALLY_SUCCESS) tally_copy_last_error(last_error, sizeof last_error);
  return status;
}

const char* tally_fortran_last_error(void) { return last_error; }

void tally_fortran_error_stop(void); /* a procedure of module tally */

/* Writes a status to an integer of the caller's default kind. */
void tally_fortran_set_stat(const CFI_cdesc_t* stat, tally_status status) {
  if (stat->rank == 0 && stat->type == CFI_type_int32_t) {
    *(int32_t*)stat->base_addr = status;
  } else if (stat->rank == 0 && stat->type == CFI_type_int64_t) {
    *(int64_t*)stat->base_addr = status;
  } else {
    call c = {"tally", TALLY_SUCCESS};
    tally_fortran_fail(&c, TALLY_UNSUPPORTED_TYPE,
                       "stat must be an integer scalar of 4 or 8 bytes");
    tally_fortran_error_stop();
  }
}

/* --- gfortran's own descriptors --------------------------------------------------------------- */

/* Arrays whose descriptors can't be completed, until the call ends. */
static _Thread_local struct {
  int count;
  struct {
    const void* address;
    ptrdiff_t span;
  } arrays[8];
} doubtful;

static void forget_doubtful(void) { doubtful.count = 0; }

#ifdef ISO_FORTRAN_BINDING_H /* gfortran's header */

/* libgfortran's layout since GCC 9: element i of a dimension lies i * stride * span bytes behind
 * the first. */
typedef struct descriptor {
  void* base_addr;
  ptrdiff_t offset;
  struct {
    size_t elem_len;
    int version;
    signed char rank, type;
    short attribute;
  } dtype;
  ptrdiff_t span;
  struct {
    ptrdiff_t stride, lower_bound, upper_bound;
  } dim[];
} descriptor;

/* Sets an array's span to the size of an element.
 *
 * gfortran 12 to 14 leave a random span where a function of the runtime library allocates the
 * target of an assignment: x = reshape(...), pack, matmul, cshift, spread, maxloc. C's strides are
 * computed from it. An array without a pointer has no other span, and gfortran's own procedures
 * ignore it. For a pointer to components, p => z%im, it is the structure's size: a span that could
 * be one is ambiguous. */
static void complete(descriptor* d) {
  if (d == NULL || d->base_addr == NULL || d->dtype.rank <= 0) return;
  const ptrdiff_t element = (ptrdiff_t)d->dtype.elem_len;
  const ptrdiff_t max_structure = (ptrdiff_t)1 << 40, alignment = element < 4 ? element : 4;
  if (d->span == element) return;
  if (d->span > element && d->span <= max_structure && d->span % alignment == 0) {
    doubtful.arrays[doubtful.count].address = d->base_addr;
    doubtful.arrays[doubtful.count++].span = d->span;
  } else {
    d->span = element;
  }
}

static const CFI_cdesc_t* without_address(const descriptor* d, CFI_cdesc_t* room) {
  if (d == NULL) return NULL;
  const size_t kind = d->dtype.type == CFI_type_Complex ? d->dtype.elem_len / 2 : d->dtype.elem_len;
  memset(room, 0, sizeof *room);
  room->elem_len = d->dtype.elem_len;
  room->type = (CFI_type_t)(d->dtype.type + (kind << CFI_type_kind_shift));
  room->rank = (CFI_rank_t)d->dtype.rank;
  for (int i = 0; i < d->dtype.rank; ++i) {
    const ptrdiff_t extent = d->dim[i].upper_bound - d->dim[i].lower_bound + 1;
    room->dim[i].extent = extent > 0 ? extent : 0;
  }
  return room;
}

#else

typedef CFI_cdesc_t descriptor;
static void complete(descriptor* d) { (void)d; }
static const CFI_cdesc_t* without_address(const descriptor* d, CFI_cdesc_t* room) {
  (void)room;
  return d;
}

#endif

/* Fortran procedures, under the names that compilers give them. */
void tally_fortran_complete_(descriptor* a, descriptor* b, descriptor* c, descriptor* d,
                             descriptor* e, descriptor* f, descriptor* g, descriptor* h);
const void* tally_fortran_passed_(const descriptor* x);

void tally_fortran_complete_(descriptor* a, descriptor* b, descriptor* c, descriptor* d,
                             descriptor* e, descriptor* f, descriptor* g, descriptor* h) {
  descriptor* const all[] = {a, b, c, d, e, f, g, h};
  forget_doubtful();
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) complete(all[i]);
}

const void* tally_fortran_passed_(const descriptor* x) { return x; }

/* --- Descriptors ------------------------------------------------------------------------------ */

static void check_span(call* c, const char* name, const CFI_cdesc_t* d) {
  for (int i = 0; i < doubtful.count; ++i) {
    if (doubtful.arrays[i].address != d->base_addr) continue;
    tally_fortran_fail(
        c, TALLY_INVALID_ARGUMENT,
        "%s is a pointer to components %td bytes apart, or gfortran says so of an array "
        "that is none; pass a contiguous copy, or allocate the array before it is "
        "assigned to",
        name, doubtful.arrays[i].span);
    return;
  }
}

tally_type tally_fortran_type_of(call* c, const char* name, const CFI_cdesc_t* d) {
  static const struct {
    CFI_type_t descriptor;
    tally_type type;
  } known[] = {{CFI_type_Bool, TALLY_BOOL},
               {CFI_type_int8_t, TALLY_INT8},
               {CFI_type_int32_t, TALLY_INT32},
               {CFI_type_int64_t, TALLY_INT64},
#ifdef CFI_type_half_float
               {CFI_type_half_float, TALLY_FLOAT16},
#endif
#ifdef CFI_type_bfloat
               {CFI_type_bfloat, TALLY_BFLOAT16},
#endif
               {CFI_type_float, TALLY_FLOAT32},
               {CFI_type_double, TALLY_FLOAT64},
               {CFI_type_float_Complex, TALLY_COMPLEX64},
               {CFI_type_double_Complex, TALLY_COMPLEX128}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    if (d->type == known[i].descriptor && d->elem_len == tally_type_size(known[i].type)) {
      return known[i].type;
    }
  }
  tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE,
                     "%s has elements of %zu bytes that are none of integer of 1, 4 or 8 bytes, "
                     "logical(c_bool), real or complex of single or double precision",
                     name, (size_t)d->elem_len);
  return TALLY_BOOL;
}

vector tally_fortran_scalar(call* c, const char* name, const CFI_cdesc_t* d) {
  vector v = {1, NULL, 1, TALLY_BOOL};
  if (c->status != TALLY_SUCCESS) return v;
  if (d->rank != 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s has rank %d; it must be a scalar", name,
                       (int)d->rank);
    return v;
  }
  v.type = tally_fortran_type_of(c, name, d);
  v.data = d->base_addr;
  return v;
}

/* Whether an array is present and as long as its last extent; sets the number of elements. An empty
 * array may have no address; an unallocated one has none, and meaningless extents. */
static int has_size(call* c, const char* name, const CFI_cdesc_t* d, size_t* n) {
  *n = 0;
  for (int i = 0; i < d->rank; ++i) {
    if (d->dim[i].extent == 0) return 1;
  }
  if (d->base_addr == NULL) {
    tally_fortran_fail(c, TALLY_NULL_POINTER, "%s is not allocated, or points at nothing", name);
    return 0;
  }
  *n = 1;
  for (int i = 0; i < d->rank; ++i) {
    if (d->dim[i].extent < 0) {
      tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                         "%s has assumed size; pass a section with both bounds, %s(1:n)", name,
                         name);
      return 0;
    }
    *n *= (size_t)d->dim[i].extent;
  }
  return 1;
}

vector tally_fortran_vector_of(call* c, const char* name, const CFI_cdesc_t* d) {
  vector v = {0, NULL, 1, TALLY_BOOL};
  if (c->status != TALLY_SUCCESS) return v;
  if (d->rank == 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s is a scalar; it must be an array", name);
    return v;
  }
  v.type = tally_fortran_type_of(c, name, d);
  size_t n;
  if (c->status != TALLY_SUCCESS || !has_size(c, name, d, &n)) return v;
  if (n > 1) check_span(c, name, d);
  if (c->status != TALLY_SUCCESS) return v;
  const ptrdiff_t element = (ptrdiff_t)d->elem_len;
  ptrdiff_t stride = 0, next = 0; /* from one element to the next; start of the next dimension */
  for (int i = 0; i < d->rank && n > 0; ++i) {
    const ptrdiff_t extent = (ptrdiff_t)d->dim[i].extent, step = (ptrdiff_t)d->dim[i].sm;
    if (extent == 1) continue;
    if (stride == 0) {
      stride = step;
    } else if (step != next) {
      tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                         "the elements of %s have more than one stride: %td bytes, and %td where "
                         "dimension %d goes on; pass a contiguous copy, or a part of it at a time",
                         name, stride, step, i + 1);
      return v;
    }
    next = step * extent;
  }
  if (stride % element != 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                       "the elements of %s are %td bytes apart, which is no multiple of their %td",
                       name, stride, element);
    return v;
  }
  v.n = n;
  v.data = d->base_addr;
  if (n > 1) {
    v.inc = stride / element;
    if (stride < 0) v.data = (char*)v.data + (ptrdiff_t)(n - 1) * stride;
  }
  return v;
}

vector tally_fortran_contiguous(call* c, const char* name, const CFI_cdesc_t* d) {
  const vector v = tally_fortran_vector_of(c, name, d);
  if (v.inc != 1) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                       "%s has a stride of %td elements; it must be contiguous", name, v.inc);
  }
  return v;
}

void tally_fortran_check_size(call* c, const char* name, const vector* v, size_t n,
                              const char* other) {
  if (v->n == n) return;
  tally_fortran_fail(c, TALLY_SIZE_MISMATCH, "%s has %zu elements, %s %zu", name, v->n, other, n);
}

static vector vector_like(call* c, const char* name, const CFI_cdesc_t* d, const vector* other,
                          const char* other_name) {
  const vector v = tally_fortran_vector_of(c, name, d);
  if (v.n != other->n) {
    tally_fortran_fail(c, TALLY_SIZE_MISMATCH, "%s has %zu elements, %s has %zu", name, v.n,
                       other_name, other->n);
  }
  return v;
}

static vector vector_of(call* c, const char* name, const CFI_cdesc_t* d) {
  return tally_fortran_vector_of(c, name, d);
}

static vector scalar(call* c, const char* name, const CFI_cdesc_t* d) {
  return tally_fortran_scalar(c, name, d);
}

/* An integer of any kind. */
static int64_t whole(call* c, const char* name, const CFI_cdesc_t* d) {
  const vector v = scalar(c, name, d);
  if (c->status != TALLY_SUCCESS) return 0;
  switch (v.type) {
    case TALLY_INT8:
      return *(const int8_t*)v.data;
    case TALLY_INT32:
      return *(const int32_t*)v.data;
    case TALLY_INT64:
      return *(const int64_t*)v.data;
    default:
      tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "%s is not an integer", name);
      return 0;
  }
}

/* An optional integer of any kind, as int. */
static int option(call* c, const char* name, const CFI_cdesc_t* d, int otherwise) {
  if (d == NULL) return otherwise;
  const int64_t value = whole(c, name, d);
  if (value < INT_MIN || value > INT_MAX) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s is %lld", name, (long long)value);
    return otherwise;
  }
  return (int)value;
}

/* A nonnegative integer of any kind. */
static size_t integer(call* c, const char* name, const CFI_cdesc_t* d) {
  const int64_t value = whole(c, name, d);
  if (value < 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s is %lld", name, (long long)value);
    return 0;
  }
  return (size_t)value;
}

/* An optional logical of any kind. */
static int truth(call* c, const char* name, const CFI_cdesc_t* d) {
  static const char zeros[sizeof(int64_t)];
  if (d == NULL || c->status != TALLY_SUCCESS) return 0;
#ifdef CFI_type_Logical
  const int is_logical = (d->type & CFI_type_mask) == CFI_type_Logical;
#else
  const int is_logical = d->type == CFI_type_Bool || d->type == CFI_type_int_least16_t ||
                         d->type == CFI_type_int_least32_t || d->type == CFI_type_int_least64_t;
#endif
  if (d->rank != 0 || !is_logical || d->elem_len > sizeof zeros) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s must be a logical scalar", name);
    return 0;
  }
  return memcmp(d->base_addr, zeros, d->elem_len) != 0;
}

/* --- Names and executors ---------------------------------------------------------------------- */

const char* tally_fortran_status_name(const CFI_cdesc_t* status) {
  call c = {"tally_status_name", TALLY_SUCCESS};
  return tally_status_name(option(&c, "status", status, -1));
}

tally_status tally_fortran_simd(tally_executor* where, const CFI_cdesc_t* instructions) {
  call c = {"tally_simd", TALLY_SUCCESS};
  const int set = option(&c, "instructions", instructions, TALLY_INSTRUCTIONS_BEST);
  return c.status != TALLY_SUCCESS ? c.status : tally_fortran_kept(tally_simd(where, set));
}

tally_status tally_fortran_openmp(tally_executor* where, const CFI_cdesc_t* threads) {
  call c = {"tally_openmp", TALLY_SUCCESS};
  const int n = option(&c, "threads", threads, 0);
  return c.status != TALLY_SUCCESS ? c.status : tally_fortran_kept(tally_openmp(where, n));
}

tally_status tally_fortran_cuda(tally_executor* where, const CFI_cdesc_t* device, void* stream) {
  call c = {"tally_cuda", TALLY_SUCCESS};
  const int number = option(&c, "device", device, -1);
  return c.status != TALLY_SUCCESS ? c.status
                                   : tally_fortran_kept(tally_cuda(where, number, stream));
}

/* --- Results ---------------------------------------------------------------------------------- */

static int value_of(const int* option) { return option == NULL ? 0 : *option; }

static tally_call_options options_of(const int* grade, const int* conjugate, const int* wait,
                                     const int* sum_type) {
  tally_call_options options = {.size = sizeof options};
  options.grade = value_of(grade);
  options.conjugate = value_of(conjugate);
  options.wait = value_of(wait);
  options.form = sum_type == NULL ? TALLY_RESULT_ROUNDED : TALLY_RESULT_WORDS;
  return options;
}

static vector words_per(call* c, const char* name, const CFI_cdesc_t* d, tally_type sum_type,
                        size_t count) {
  const vector v = tally_fortran_contiguous(c, name, d);
  const size_t words = tally_exact_words(sum_type);
  if (words == 0) {
    tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "%d is not the type of an exact sum", sum_type);
  } else if (c->status == TALLY_SUCCESS && v.type != TALLY_INT64) {
    tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "%s holds words, which are of integer(int64)",
                       name);
  }
  if (v.n != count * words) {
    tally_fortran_fail(c, TALLY_SIZE_MISMATCH,
                       "%s has %zu elements, and the words of %zu sums are %zu", name, v.n, count,
                       count * words);
  }
  return v;
}

/* Destination of `count` results: numbers, or with a sum_type the words of exact sums. */
static vector results_of(call* c, const char* name, const CFI_cdesc_t* d, const int* sum_type,
                         size_t count) {
  if (c->status == TALLY_SUCCESS && sum_type != NULL) {
    vector v = words_per(c, name, d, *sum_type, count);
    v.type = *sum_type;
    return v;
  }
  if (c->status == TALLY_SUCCESS && d->rank == 0 && count == 1) return scalar(c, name, d);
  const vector v = tally_fortran_contiguous(c, name, d);
  tally_fortran_check_size(c, name, &v, count, "and the number of results is");
  return v;
}

/* --- Memory ----------------------------------------------------------------------------------- */

static size_t bytes_of(const vector* v) { return v->n * tally_type_size(v->type); }

tally_status tally_fortran_device_copy(const CFI_cdesc_t* to, const CFI_cdesc_t* from,
                                       const tally_executor* where) {
  call c = {"tally_device_copy", TALLY_SUCCESS};
  const vector t = tally_fortran_contiguous(&c, "to", to),
               f = tally_fortran_contiguous(&c, "from", from);
  if (c.status == TALLY_SUCCESS && t.type != f.type) {
    tally_fortran_fail(&c, TALLY_UNSUPPORTED_TYPE, "to is of type %s, from of %s",
                       tally_type_name(t.type), tally_type_name(f.type));
  }
  tally_fortran_check_size(&c, "to", &t, f.n, "from has");
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_device_copy(where, t.data, f.data, bytes_of(&f)));
}

tally_status tally_fortran_pin(const CFI_cdesc_t* x, const tally_executor* where) {
  call c = {"tally_pin", TALLY_SUCCESS};
  const vector v = tally_fortran_contiguous(&c, "x", x);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_pin(where, v.data, bytes_of(&v)));
}

tally_status tally_fortran_unpin(const CFI_cdesc_t* x, const tally_executor* where) {
  call c = {"tally_unpin", TALLY_SUCCESS};
  const vector v = tally_fortran_contiguous(&c, "x", x);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_unpin(where, v.data));
}

tally_status tally_fortran_workspace_create(const tally_executor* where,
                                            const CFI_cdesc_t* stage_bytes,
                                            const CFI_cdesc_t* threads,
                                            tally_workspace** workspace) {
  call c = {"tally_workspace_create", TALLY_SUCCESS};
  tally_workspace_options options = {.size = sizeof options};
  if (stage_bytes != NULL) options.stage_bytes = integer(&c, "stage_bytes", stage_bytes);
  options.threads = option(&c, "threads", threads, 0);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_workspace_create(where, &options, workspace));
}

/* --- Sums ------------------------------------------------------------------------------------- */

tally_status tally_fortran_dot(const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                               const CFI_cdesc_t* result, const int* sum_type,
                               const tally_executor* where, const int* grade, const int* conjugate,
                               const int* wait) {
  call c = {"tally_dot", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), v = vector_like(&c, "y", y, &u, "x");
  const vector r = results_of(&c, "result", result, sum_type, 1);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, sum_type);
  return tally_fortran_kept(tally_dot(where, u.n, u.type, u.data, u.inc, v.type, v.data, v.inc,
                                      r.type, r.data, &options));
}

typedef tally_status sum_of_one(const tally_executor*, size_t, tally_type, const void*, ptrdiff_t,
                                tally_type, void*, const tally_call_options*);

static tally_status reduce(const char* name, sum_of_one* sum, const CFI_cdesc_t* x,
                           const CFI_cdesc_t* result, const int* sum_type,
                           const tally_executor* where, const int* grade, const int* wait) {
  call c = {name, TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x);
  const vector r = results_of(&c, "result", result, sum_type, 1);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, wait, sum_type);
  return tally_fortran_kept(sum(where, u.n, u.type, u.data, u.inc, r.type, r.data, &options));
}

/* The columns of an array of rank 2: vectors of n elements, `ld` elements apart. */
typedef struct columns {
  vector first; /* the first column, or if there is none the whole of tally_fortran_vector_of */
  size_t k;
  ptrdiff_t ld;
  int is_plain; /* columns without gaps, none before the first */
} columns;

static columns columns_of(call* c, const char* name, const CFI_cdesc_t* d) {
  columns a = {{0, NULL, 1, TALLY_BOOL}, 0, 0, 1};
  if (c->status != TALLY_SUCCESS) return a;
  if (d->rank != 2) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "%s has rank %d; it must have rank 2", name,
                       (int)d->rank);
    return a;
  }
  CFI_CDESC_T(2) column;
  memcpy(&column, d, sizeof(CFI_CDESC_T(2)));
  column.dim[1].extent = d->dim[1].extent < 0 ? d->dim[1].extent : 1;
  a.first = vector_of(c, name, (const CFI_cdesc_t*)&column);
  if (c->status != TALLY_SUCCESS) return a;
  a.k = (size_t)d->dim[1].extent;
  const ptrdiff_t step = a.k > 1 ? (ptrdiff_t)d->dim[1].sm : 0;
  if (step % (ptrdiff_t)d->elem_len != 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT,
                       "the columns of %s are %td bytes apart, which is no multiple of %zu", name,
                       step, (size_t)d->elem_len);
  }
  a.ld = a.first.n > 0 ? step / (ptrdiff_t)d->elem_len : 0;
  a.is_plain = a.first.inc == 1 && a.ld >= 0;
  return a;
}

static void* column_at(const columns* a, size_t j) {
  return (char*)a->first.data + (ptrdiff_t)j * a->ld * (ptrdiff_t)tally_type_size(a->first.type);
}

/* Element 0, where a negative increment has the lowest address. */
static void* first_of(const vector* v) {
  const ptrdiff_t back = v->inc < 0 && v->n > 0 ? (ptrdiff_t)(v->n - 1) * -v->inc : 0;
  return v->data == NULL ? NULL : (char*)v->data + back * (ptrdiff_t)tally_type_size(v->type);
}

static tally_status dot_pairs(call* c, tally_type x_type, const vector* x, tally_type y_type,
                              const vector* y, size_t k, const vector* r,
                              const tally_executor* where, const tally_call_options* options) {
  const size_t bytes = sizeof(size_t) + 2 * sizeof(void*) + 2 * sizeof(ptrdiff_t);
  char* const memory = malloc((k + 1) * bytes);
  if (memory == NULL) {
    tally_fortran_fail(c, TALLY_OUT_OF_MEMORY, "out of memory");
    return c->status;
  }
  const void** const px = (const void**)memory;
  const void** const py = px + k;
  size_t* const n = (size_t*)(py + k);
  ptrdiff_t* const incx = (ptrdiff_t*)(n + k);
  ptrdiff_t* const incy = incx + k;
  for (size_t j = 0; j < k; ++j) {
    n[j] = x[j].n;
    px[j] = x[j].data;
    py[j] = y[j].data;
    incx[j] = x[j].inc;
    incy[j] = y[j].inc;
  }
  const tally_status status = tally_fortran_kept(tally_multi_dot_list(
      where, k, n, x_type, px, incx, y_type, py, incy, r->type, r->data, options));
  free(memory);
  return status;
}

static tally_status dot_columns(call* c, const columns* x, const columns* y, const vector* r,
                                const tally_executor* where, const tally_call_options* options) {
  vector* const vectors = malloc((2 * x->k + 1) * sizeof(vector));
  if (vectors == NULL) {
    tally_fortran_fail(c, TALLY_OUT_OF_MEMORY, "out of memory");
    return c->status;
  }
  for (size_t j = 0; j < x->k; ++j) {
    vectors[j] = x->first;
    vectors[j].data = column_at(x, j);
    vectors[x->k + j] = y->first;
    vectors[x->k + j].data = column_at(y, j);
  }
  const tally_status status =
      dot_pairs(c, x->first.type, vectors, y->first.type, vectors + x->k, x->k, r, where, options);
  free(vectors);
  return status;
}

tally_status tally_fortran_multi_dot(const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                     const CFI_cdesc_t* results, const int* sum_type,
                                     const tally_executor* where, const int* grade,
                                     const int* conjugate, const int* wait) {
  call c = {"tally_multi_dot", TALLY_SUCCESS};
  const columns a = columns_of(&c, "x", x);
  const columns b = {vector_like(&c, "y", y, &a.first, "a column of x"), a.k, 0, 1};
  const vector r = results_of(&c, "results", results, sum_type, a.k);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, sum_type);
  return tally_fortran_kept(tally_multi_dot_strided(
      where, a.k, a.first.n, a.first.type, first_of(&a.first), a.ld, a.first.inc, b.first.type,
      b.first.data, b.first.inc, r.type, r.data, &options));
}

/* A matrix whose vectors are its columns, or with `dim` 2 its rows. */
static columns vectors_of(call* c, const CFI_cdesc_t* x, const int* dim) {
  columns a = columns_of(c, "x", x);
  const int along = dim != NULL ? *dim : 1;
  if (c->status == TALLY_SUCCESS && along != 1 && along != 2) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "dim is %d; it must be 1 or 2", along);
  }
  a.first.data = first_of(&a.first);
  if (along != 2) return a;
  const columns rows = {{a.k, a.first.data, a.ld, a.first.type}, a.first.n, a.first.inc, 0};
  return rows;
}

tally_status tally_fortran_sums(const CFI_cdesc_t* x, const CFI_cdesc_t* results, const int* dim,
                                const int* sum_type, const tally_executor* where, const int* grade,
                                const int* wait) {
  call c = {"tally_sums", TALLY_SUCCESS};
  columns a = vectors_of(&c, x, dim);
  const vector r = results_of(&c, "results", results, sum_type, a.k);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, wait, sum_type);
  if (a.first.n < 2) a.first.inc = 1;
  return tally_fortran_kept(tally_sums(where, a.k, a.first.n, a.first.type, a.first.data, a.ld,
                                       a.first.inc, r.type, r.data, &options));
}

tally_status tally_fortran_gemv(const CFI_cdesc_t* matrix, const CFI_cdesc_t* x,
                                const CFI_cdesc_t* y, const CFI_cdesc_t* alpha,
                                const CFI_cdesc_t* beta, const int* operation,
                                const tally_executor* where, const int* grade) {
  call c = {"tally_gemv", TALLY_SUCCESS};
  columns a = columns_of(&c, "a", matrix);
  const vector u = vector_of(&c, "x", x), v = vector_of(&c, "y", y);
  const vector one = {0, NULL, 1, TALLY_FLOAT64};
  const vector f = alpha != NULL ? scalar(&c, "alpha", alpha) : one;
  const vector g = beta != NULL ? scalar(&c, "beta", beta) : one;
  const int op = value_of(operation);
  const size_t height = op == TALLY_NO_TRANSPOSE ? a.first.n : a.k;
  const size_t width = op == TALLY_NO_TRANSPOSE ? a.k : a.first.n;
  tally_fortran_check_size(&c, "x", &u, width, "and the columns of op(a) are");
  tally_fortran_check_size(&c, "y", &v, height, "and the rows of op(a) are");
  if (c.status != TALLY_SUCCESS) return c.status;
  if (a.k < 2) a.ld = 1;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_gemv(where, op, a.first.n, a.k, f.type, f.data, a.first.type,
                                       first_of(&a.first), a.first.inc, a.ld, u.type, u.data, u.inc,
                                       g.type, g.data, v.type, v.data, v.inc, &options));
}

tally_status tally_fortran_batched_dot(const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                       const CFI_cdesc_t* results, const int* sum_type,
                                       const tally_executor* where, const int* grade,
                                       const int* conjugate, const int* wait) {
  call c = {"tally_batched_dot", TALLY_SUCCESS};
  const columns a = columns_of(&c, "x", x), b = columns_of(&c, "y", y);
  tally_fortran_check_size(&c, "a column of y", &b.first, a.first.n, "one of x has");
  if (a.k != b.k) {
    tally_fortran_fail(&c, TALLY_SIZE_MISMATCH, "y has %zu columns, x has %zu", b.k, a.k);
  }
  const vector r = results_of(&c, "results", results, sum_type, a.k);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, sum_type);
  if (!a.is_plain || !b.is_plain) return dot_columns(&c, &a, &b, &r, where, &options);
  return tally_fortran_kept(tally_batched_dot(where, a.k, a.first.n, a.first.type, a.first.data,
                                              a.ld, b.first.type, b.first.data, b.ld, r.type,
                                              r.data, &options));
}

tally_status tally_fortran_segmented_sum(const CFI_cdesc_t* offsets, const CFI_cdesc_t* x,
                                         const CFI_cdesc_t* results, const tally_executor* where,
                                         const int* grade) {
  call c = {"tally_segmented_sum", TALLY_SUCCESS};
  const vector o = tally_fortran_contiguous(&c, "offsets", offsets),
               u = tally_fortran_contiguous(&c, "x", x),
               r = tally_fortran_contiguous(&c, "results", results);
  tally_fortran_check_size(&c, "offsets", &o, r.n + 1, "the results and one more are");
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_segmented_sum(where, r.n, o.type, o.data, u.n, u.type, u.data,
                                                r.type, r.data, &options));
}

tally_status tally_fortran_vector_made(const CFI_cdesc_t* x, vector* made) {
  call c = {"tally_vector", TALLY_SUCCESS};
  *made = vector_of(&c, "x", x);
  return c.status;
}

tally_status tally_fortran_multi_dot_list(size_t k, const vector* x, size_t k_of_y, const vector* y,
                                          const CFI_cdesc_t* results, const int* sum_type,
                                          const tally_executor* where, const int* grade,
                                          const int* conjugate, const int* wait) {
  call c = {"tally_multi_dot_list", TALLY_SUCCESS};
  if (k != k_of_y) {
    tally_fortran_fail(&c, TALLY_SIZE_MISMATCH, "y has %zu vectors, x has %zu", k_of_y, k);
  }
  for (size_t j = 0; j < k && c.status == TALLY_SUCCESS; ++j) {
    if (x[j].n != y[j].n) {
      tally_fortran_fail(&c, TALLY_SIZE_MISMATCH, "y(%zu) has %zu elements, x(%zu) has %zu", j + 1,
                         y[j].n, j + 1, x[j].n);
    }
    if (x[j].type != x->type || y[j].type != y->type) {
      tally_fortran_fail(&c, TALLY_UNSUPPORTED_TYPE,
                         "x(%zu) and y(%zu) are of other types than the first ones", j + 1, j + 1);
    }
  }
  const vector r = results_of(&c, "results", results, sum_type, k);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, sum_type);
  /* An empty list takes the results' types. */
  return dot_pairs(&c, k > 0 ? x->type : r.type, x, k > 0 ? y->type : r.type, y, k, &r, where,
                   &options);
}

/* --- Sums that are not rounded yet ------------------------------------------------------------ */

tally_status tally_fortran_merge_words(const CFI_cdesc_t* to, tally_type sum_type,
                                       const CFI_cdesc_t* from) {
  call c = {"tally_merge_words", TALLY_SUCCESS};
  const vector given = tally_fortran_contiguous(&c, "to", to);
  const size_t words = tally_exact_words(sum_type), count = words > 0 ? given.n / words : 0;
  const vector t = words_per(&c, "to", to, sum_type, count);
  vector f = {0, NULL, 1, TALLY_INT64};
  if (from != NULL) f = words_per(&c, "from", from, sum_type, count);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_merge_words(count, sum_type, f.data, t.data));
}

typedef tally_status rounding(const tally_executor*, size_t, tally_type, const int64_t*, tally_type,
                              void*, const tally_call_options*);

static tally_status round_with(const char* name, rounding* function, const CFI_cdesc_t* words,
                               const CFI_cdesc_t* results, tally_type sum_type,
                               const tally_executor* where, const int* wait) {
  call c = {name, TALLY_SUCCESS};
  const vector given = tally_fortran_contiguous(&c, "words", words);
  const size_t size = tally_exact_words(sum_type), count = size > 0 ? given.n / size : 0;
  const vector w = words_per(&c, "words", words, sum_type, count);
  const vector r = results_of(&c, "results", results, NULL, count);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(NULL, NULL, wait, NULL);
  return tally_fortran_kept(function(where, count, sum_type, w.data, r.type, r.data, &options));
}

tally_status tally_fortran_round_words(const CFI_cdesc_t* words, const CFI_cdesc_t* results,
                                       tally_type sum_type, const tally_executor* where,
                                       const int* wait) {
  return round_with("tally_round_words", tally_round_words, words, results, sum_type, where, wait);
}

tally_status tally_fortran_round_root_words(const CFI_cdesc_t* words, const CFI_cdesc_t* results,
                                            tally_type sum_type, const tally_executor* where,
                                            const int* wait) {
  return round_with("tally_round_root_words", tally_round_root_words, words, results, sum_type,
                    where, wait);
}

/* --- Extrema ---------------------------------------------------------------------------------- */

/* The result of tally_min for every type. */
typedef struct extreme_element {
  int64_t value; /* begins with the element */
  int64_t index;
} extreme_element;

/* A scalar of x's type. */
static vector value_like(call* c, const char* name, const CFI_cdesc_t* d, const vector* x) {
  const vector v = scalar(c, name, d);
  if (c->status == TALLY_SUCCESS && v.type != x->type) {
    tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "%s is of type %s, x of %s", name,
                       tally_type_name(v.type), tally_type_name(x->type));
  }
  return v;
}

/* Fortran counts from 1. */
static void write_extreme(const extreme_element* found, const vector* value, int64_t* index) {
  memcpy(value->data, &found->value, tally_type_size(value->type));
  if (index != NULL) *index = found->index + 1;
}

typedef tally_status extremum(const tally_executor*, size_t, tally_type, const void*, ptrdiff_t,
                              void*, const tally_call_options*);

static tally_status find_extreme(const char* name, extremum* function, const CFI_cdesc_t* x,
                                 const CFI_cdesc_t* value, int64_t* index,
                                 const tally_executor* where) {
  call c = {name, TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), v = value_like(&c, "the result", value, &u);
  if (c.status != TALLY_SUCCESS) return c.status;
  extreme_element found;
  const tally_status status = function(where, u.n, u.type, u.data, u.inc, &found, NULL);
  if (status == TALLY_SUCCESS) write_extreme(&found, &v, index);
  return tally_fortran_kept(status);
}

tally_status tally_fortran_minmax(const CFI_cdesc_t* x, const CFI_cdesc_t* smallest,
                                  const CFI_cdesc_t* largest, int64_t* smallest_index,
                                  int64_t* largest_index, const tally_executor* where) {
  call c = {"tally_minmax", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), low = value_like(&c, "smallest", smallest, &u),
               high = value_like(&c, "largest", largest, &u);
  if (c.status != TALLY_SUCCESS) return c.status;
  extreme_element found[2];
  const tally_status status = tally_minmax(where, u.n, u.type, u.data, u.inc, found, NULL);
  if (status == TALLY_SUCCESS) {
    write_extreme(&found[0], &low, smallest_index);
    write_extreme(&found[1], &high, largest_index);
  }
  return tally_fortran_kept(status);
}

tally_status tally_fortran_iamax(const CFI_cdesc_t* x, int64_t* index,
                                 const tally_executor* where) {
  call c = {"tally_iamax", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x);
  if (c.status != TALLY_SUCCESS) return c.status;
  int64_t found = -1;
  const tally_status status = tally_iamax(where, u.n, u.type, u.data, u.inc, &found, NULL);
  if (status == TALLY_SUCCESS) *index = found + 1;
  return tally_fortran_kept(status);
}

/* --- Element-wise functions ------------------------------------------------------------------- */

#include "tally_fortran_operations.h"

/* TALLY_UNSUPPORTED_TYPE unless two vectors have one type. */
static void check_same_type(call* c, const char* name, const vector* v, const char* other_name,
                            const vector* other) {
  if (c->status != TALLY_SUCCESS || v->type == other->type) return;
  tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "%s has elements of type %s, %s of %s", name,
                     tally_type_name(v->type), other_name, tally_type_name(other->type));
}

tally_status tally_fortran_swap(const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                const tally_executor* where) {
  call c = {"tally_swap", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), v = vector_like(&c, "y", y, &u, "x");
  check_same_type(&c, "y", &v, "x", &u);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_swap(where, u.n, u.type, u.data, u.inc, v.data, v.inc, NULL));
}

/* Operands of tally_multi_axpy. */
typedef struct update {
  columns x;
  vector alpha, beta, y;
} update;

static update update_of(call* c, const CFI_cdesc_t* alpha, const CFI_cdesc_t* x,
                        const CFI_cdesc_t* beta, const CFI_cdesc_t* y) {
  update u;
  u.x = columns_of(c, "x", x);
  u.alpha = tally_fortran_contiguous(c, "alpha", alpha);
  u.beta = scalar(c, "beta", beta);
  u.y = vector_like(c, "y", y, &u.x.first, "a column of x");
  tally_fortran_check_size(c, "alpha", &u.alpha, u.x.k, "the number of columns of x is");
  return u;
}

tally_status tally_fortran_multi_axpy(const CFI_cdesc_t* alpha, const CFI_cdesc_t* x,
                                      const CFI_cdesc_t* beta, const CFI_cdesc_t* y,
                                      const tally_executor* where) {
  call c = {"tally_multi_axpy", TALLY_SUCCESS};
  const update u = update_of(&c, alpha, x, beta, y);
  if (c.status != TALLY_SUCCESS) return c.status;
  const vector* const first = &u.x.first;
  return tally_fortran_kept(tally_multi_axpy(
      where, u.x.k, u.y.n, u.alpha.type, u.alpha.data, first->type, first->data, u.x.ld, first->inc,
      u.beta.type, u.beta.data, u.y.type, u.y.data, u.y.inc, NULL));
}

tally_status tally_fortran_multi_axpy_dot(const CFI_cdesc_t* alpha, const CFI_cdesc_t* x,
                                          const CFI_cdesc_t* beta, const CFI_cdesc_t* y,
                                          const CFI_cdesc_t* results, const tally_executor* where,
                                          const int* grade, const int* conjugate, const int* wait) {
  call c = {"tally_multi_axpy_dot", TALLY_SUCCESS};
  const update u = update_of(&c, alpha, x, beta, y);
  const vector r = results_of(&c, "results", results, NULL, u.x.k);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, NULL);
  const vector* const first = &u.x.first;
  return tally_fortran_kept(tally_multi_axpy_dot(
      where, u.x.k, u.y.n, u.alpha.type, u.alpha.data, first->type, first->data, u.x.ld, first->inc,
      u.beta.type, u.beta.data, u.y.type, u.y.data, u.y.inc, r.type, r.data, &options));
}

tally_status tally_fortran_gather(const CFI_cdesc_t* x, const CFI_cdesc_t* indices,
                                  const CFI_cdesc_t* z, const tally_executor* where) {
  call c = {"tally_gather", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), i = tally_fortran_contiguous(&c, "indices", indices),
               w = vector_like(&c, "z", z, &i, "indices");
  check_same_type(&c, "z", &w, "x", &u);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(
      tally_gather(where, u.type, u.n, u.data, u.inc, i.type, i.data, w.n, w.data, w.inc, NULL));
}

typedef tally_status indexing(const tally_executor*, tally_type, size_t, const void*, ptrdiff_t,
                              tally_type, const void*, size_t, void*, ptrdiff_t,
                              const tally_call_options*);
static tally_status scattered(const char* name, indexing* f, const CFI_cdesc_t* x,
                              const CFI_cdesc_t* indices, const CFI_cdesc_t* z,
                              const tally_executor* where) {
  call c = {name, TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), i = tally_fortran_contiguous(&c, "indices", indices),
               w = vector_of(&c, "z", z);
  tally_fortran_check_size(&c, "indices", &i, u.n, "x has");
  check_same_type(&c, "z", &w, "x", &u);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(
      f(where, u.type, u.n, u.data, u.inc, i.type, i.data, w.n, w.data, w.inc, NULL));
}

tally_status tally_fortran_scatter(const CFI_cdesc_t* x, const CFI_cdesc_t* indices,
                                   const CFI_cdesc_t* z, const tally_executor* where) {
  return scattered("tally_scatter", tally_scatter, x, indices, z, where);
}

tally_status tally_fortran_scatter_add(const CFI_cdesc_t* x, const CFI_cdesc_t* indices,
                                       const CFI_cdesc_t* z, const tally_executor* where) {
  return scattered("tally_scatter_add", tally_scatter_add, x, indices, z, where);
}

tally_status tally_fortran_axpy_dot(const CFI_cdesc_t* alpha, const CFI_cdesc_t* x,
                                    const CFI_cdesc_t* y, const CFI_cdesc_t* result,
                                    const CFI_cdesc_t* v, const tally_executor* where,
                                    const int* grade, const int* conjugate, const int* wait) {
  call c = {"tally_axpy_dot", TALLY_SUCCESS};
  const vector a = scalar(&c, "alpha", alpha), u = vector_of(&c, "x", x),
               w = vector_like(&c, "y", y, &u, "x");
  vector other = {0, NULL, 1, TALLY_BOOL};
  if (v != NULL) other = vector_like(&c, "v", v, &u, "x");
  const vector r = results_of(&c, "result", result, NULL, 1);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, conjugate, wait, NULL);
  return tally_fortran_kept(tally_axpy_dot(where, u.n, a.type, a.data, u.type, u.data, u.inc,
                                           w.type, w.data, w.inc, other.type, other.data, other.inc,
                                           r.type, r.data, &options));
}

tally_status tally_fortran_waxpby_nrm2(const CFI_cdesc_t* alpha, const CFI_cdesc_t* x,
                                       const CFI_cdesc_t* beta, const CFI_cdesc_t* y,
                                       const CFI_cdesc_t* w, const CFI_cdesc_t* result,
                                       const tally_executor* where, const int* grade,
                                       const int* wait) {
  call c = {"tally_waxpby_nrm2", TALLY_SUCCESS};
  const vector a = scalar(&c, "alpha", alpha), u = vector_of(&c, "x", x),
               b = scalar(&c, "beta", beta), v = vector_like(&c, "y", y, &u, "x"),
               out = vector_like(&c, "w", w, &u, "x");
  const vector r = results_of(&c, "result", result, NULL, 1);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, wait, NULL);
  return tally_fortran_kept(tally_waxpby_nrm2(where, u.n, a.type, a.data, u.type, u.data, u.inc,
                                              b.type, b.data, v.type, v.data, v.inc, out.type,
                                              out.data, out.inc, r.type, r.data, &options));
}

/* --- Histograms ------------------------------------------------------------------------------- */

/* Common to the three: destination of the counts, and options. */
typedef struct histogram {
  vector counts;
  size_t bins;
  tally_histogram_options options;
} histogram;

static histogram histogram_of(call* c, const vector* samples, const CFI_cdesc_t* counts,
                              const CFI_cdesc_t* outside, const CFI_cdesc_t* weights,
                              const void* passed, const CFI_cdesc_t* channels,
                              const CFI_cdesc_t* add) {
  static const double no_weights = 0; /* a NULL address would mean counting */
  histogram h = {tally_fortran_contiguous(c, "counts", counts), 0, {.size = sizeof h.options}};
  size_t each = 1;
  CFI_CDESC_T(CFI_MAX_RANK) room;
  if (weights == NULL) weights = without_address(passed, (CFI_cdesc_t*)&room);
  h.options.channels = channels == NULL ? 1 : integer(c, "channels", channels);
  h.options.add = truth(c, "add", add);
  if (c->status == TALLY_SUCCESS && h.options.channels == 0) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "channels is 0");
  }
  if (weights != NULL) {
    const vector w = vector_like(c, "weights", weights, samples, "x");
    h.options.weights = w.data != NULL ? w.data : &no_weights;
    h.options.incw = w.inc;
    h.options.weights_type = w.type;
    if (h.counts.type == TALLY_INT64) each = tally_exact_words(w.type);
    if (c->status == TALLY_SUCCESS && each == 0) {
      tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "weights are of type %s, and must be real",
                         tally_type_name(w.type));
    }
  }
  if (c->status != TALLY_SUCCESS) return h;
  if (h.counts.n % (each * h.options.channels) != 0) {
    tally_fortran_fail(c, TALLY_SIZE_MISMATCH,
                       "counts has %zu elements, which is no multiple of %zu: %zu for each bin and "
                       "channel, and %zu channels",
                       h.counts.n, each * h.options.channels, each, h.options.channels);
  }
  h.bins = h.counts.n / (each * h.options.channels);
  if (outside != NULL) {
    const vector o = tally_fortran_contiguous(c, "outside", outside);
    if (c->status == TALLY_SUCCESS && o.type != TALLY_INT64) {
      tally_fortran_fail(c, TALLY_UNSUPPORTED_TYPE, "outside must be of integer(int64)");
    }
    tally_fortran_check_size(c, "outside", &o, 3 * h.options.channels,
                             "and three for each channel are");
    h.options.outside = o.data;
  }
  return h;
}

tally_status tally_fortran_bincount(const CFI_cdesc_t* keys, const CFI_cdesc_t* counts,
                                    const CFI_cdesc_t* outside, const CFI_cdesc_t* weights,
                                    const void* passed, const CFI_cdesc_t* channels,
                                    const CFI_cdesc_t* add, const tally_executor* where) {
  call c = {"tally_bincount", TALLY_SUCCESS};
  const vector u = vector_of(&c, "keys", keys);
  const histogram h = histogram_of(&c, &u, counts, outside, weights, passed, channels, add);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_bincount(where, u.n, u.type, u.data, u.inc, h.bins, h.counts.type,
                                           h.counts.data, &h.options));
}

tally_status tally_fortran_histogram_even(const CFI_cdesc_t* x, const CFI_cdesc_t* lower,
                                          const CFI_cdesc_t* upper, const CFI_cdesc_t* counts,
                                          const CFI_cdesc_t* outside, const CFI_cdesc_t* weights,
                                          const void* passed, const CFI_cdesc_t* channels,
                                          const CFI_cdesc_t* add, const tally_executor* where) {
  call c = {"tally_histogram_even", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), low = scalar(&c, "lower", lower),
               high = scalar(&c, "upper", upper);
  check_same_type(&c, "upper", &high, "lower", &low);
  const histogram h = histogram_of(&c, &u, counts, outside, weights, passed, channels, add);
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_histogram_even(where, u.n, u.type, u.data, u.inc, low.type,
                                                 low.data, high.data, h.bins, h.counts.type,
                                                 h.counts.data, &h.options));
}

tally_status tally_fortran_histogram_range(const CFI_cdesc_t* x, const CFI_cdesc_t* edges,
                                           const CFI_cdesc_t* counts, const CFI_cdesc_t* outside,
                                           const CFI_cdesc_t* weights, const void* passed,
                                           const CFI_cdesc_t* channels, const CFI_cdesc_t* add,
                                           const tally_executor* where) {
  call c = {"tally_histogram_range", TALLY_SUCCESS};
  const vector u = vector_of(&c, "x", x), e = tally_fortran_contiguous(&c, "edges", edges);
  const histogram h = histogram_of(&c, &u, counts, outside, weights, passed, channels, add);
  tally_fortran_check_size(&c, "edges", &e, h.bins + 1, "and one more than bins are");
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_histogram_range(where, u.n, u.type, u.data, u.inc, e.type, e.data,
                                                  h.bins, h.counts.type, h.counts.data,
                                                  &h.options));
}

/* --- Sparse matrices -------------------------------------------------------------------------- */

_Static_assert(sizeof(tally_csr) <= 16 * sizeof(int64_t),
               "type(tally_csr) has room for what tally.h knows of a matrix");

tally_status tally_fortran_csr(tally_csr* made, const CFI_cdesc_t* columns,
                               const CFI_cdesc_t* row_offsets, const CFI_cdesc_t* column_indices,
                               const CFI_cdesc_t* values, const CFI_cdesc_t* row_ends,
                               const int* operation, const CFI_cdesc_t* fixed_values,
                               const CFI_cdesc_t* fixed_columns) {
  call c = {"tally_csr", TALLY_SUCCESS};
  tally_csr a = {.size = sizeof a};
  const vector offsets = tally_fortran_contiguous(&c, "row_offsets", row_offsets),
               indices = tally_fortran_contiguous(&c, "column_indices", column_indices),
               terms = tally_fortran_contiguous(&c, "values", values);
  a.columns = integer(&c, "columns", columns);
  a.fixed_values = truth(&c, "fixed_values", fixed_values);
  a.fixed_columns = truth(&c, "fixed_columns", fixed_columns);
  tally_fortran_check_size(&c, "column_indices", &indices, terms.n, "values has");
  if (row_ends != NULL) {
    const vector ends = tally_fortran_contiguous(&c, "row_ends", row_ends);
    tally_fortran_check_size(&c, "row_ends", &ends, offsets.n, "row_offsets has");
    check_same_type(&c, "row_ends", &ends, "row_offsets", &offsets);
    a.row_ends = ends.data;
  } else if (c.status == TALLY_SUCCESS && offsets.n == 0) {
    tally_fortran_fail(&c, TALLY_SIZE_MISMATCH,
                       "row_offsets has no elements; it must have one more than there are rows");
  }
  if (c.status != TALLY_SUCCESS) return c.status;
  a.rows = row_ends != NULL ? offsets.n : offsets.n - 1;
  a.nonzeros = terms.n;
  a.row_offsets = offsets.data;
  a.column_indices = indices.data;
  a.values = terms.data;
  a.offset_type = offsets.type;
  a.column_type = indices.type;
  a.value_type = terms.type;
  a.operation = value_of(operation);
  *made = a;
  return TALLY_SUCCESS;
}

/* An optional factor. */
static vector factor(call* c, const char* name, const CFI_cdesc_t* d) {
  const vector none = {1, NULL, 1, TALLY_FLOAT64};
  return d == NULL ? none : scalar(c, name, d);
}

/* A type(tally_spmv_plan), or NULL. */
typedef tally_spmv_plan* const* plan_of_fortran;

static const tally_spmv_plan* plan_at(call* c, plan_of_fortran plan) {
  if (plan == NULL) return NULL;
  if (*plan == NULL) {
    tally_fortran_fail(c, TALLY_INVALID_ARGUMENT, "plan was not made, or is destroyed");
  }
  return *plan;
}

typedef struct product {
  vector x, y, alpha, beta;
} product;

static product product_of(call* c, const tally_csr* a, const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                          const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta) {
  const int is_transposed = a->operation != TALLY_NO_TRANSPOSE;
  product p;
  p.x = vector_of(c, "x", x);
  p.y = vector_of(c, "y", y);
  p.alpha = factor(c, "alpha", alpha);
  p.beta = factor(c, "beta", beta);
  tally_fortran_check_size(
      c, "x", &p.x, is_transposed ? a->rows : a->columns,
      is_transposed ? "and the rows of the matrix are" : "and the columns of the matrix are");
  tally_fortran_check_size(
      c, "y", &p.y, is_transposed ? a->columns : a->rows,
      is_transposed ? "and the columns of the matrix are" : "and the rows of the matrix are");
  return p;
}

tally_status tally_fortran_spmv(const tally_csr* a, const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta,
                                plan_of_fortran plan, const tally_executor* where,
                                const int* grade) {
  call c = {"tally_spmv", TALLY_SUCCESS};
  const product p = product_of(&c, a, x, y, alpha, beta);
  const tally_spmv_plan* const made = plan_at(&c, plan);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_spmv(where, made, p.alpha.type, p.alpha.data, a, p.x.type,
                                       p.x.data, p.x.inc, p.beta.type, p.beta.data, p.y.type,
                                       p.y.data, p.y.inc, &options));
}

/* The columns of a dense operand; of one the distance does not count. */
static columns dense(call* c, const char* name, const CFI_cdesc_t* d, size_t rows, const char* of) {
  columns all = columns_of(c, name, d);
  all.first.data = c->status == TALLY_SUCCESS ? first_of(&all.first) : NULL;
  tally_fortran_check_size(c, name, &all.first, rows, of);
  if (all.k < 2) all.ld = 1;
  return all;
}

tally_status tally_fortran_spmm(const tally_csr* a, const CFI_cdesc_t* x, const CFI_cdesc_t* y,
                                const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta,
                                plan_of_fortran plan, const tally_executor* where,
                                const int* grade) {
  call c = {"tally_spmm", TALLY_SUCCESS};
  const int is_transposed = a->operation != TALLY_NO_TRANSPOSE;
  const char* const rows = "and the rows of the matrix are";
  const char* const all = "and the columns of the matrix are";
  const columns u = dense(&c, "a column of x", x, is_transposed ? a->rows : a->columns,
                          is_transposed ? rows : all);
  const columns v = dense(&c, "a column of y", y, is_transposed ? a->columns : a->rows,
                          is_transposed ? all : rows);
  const vector f = factor(&c, "alpha", alpha), g = factor(&c, "beta", beta);
  const tally_spmv_plan* const made = plan_at(&c, plan);
  if (u.k != v.k) {
    tally_fortran_fail(&c, TALLY_SIZE_MISMATCH, "y has %zu columns, x has %zu", v.k, u.k);
  }
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_spmm(where, made, u.k, f.type, f.data, a, u.first.type,
                                       u.first.data, u.first.inc, u.ld, g.type, g.data,
                                       v.first.type, v.first.data, v.first.inc, v.ld, &options));
}

/* Checks that an output has room for n elements. */
static void check_room(call* c, const char* name, const vector* v, size_t n) {
  if (c->status == TALLY_SUCCESS && v->n < n) {
    tally_fortran_fail(c, TALLY_SIZE_MISMATCH, "%s has %zu elements; %zu are needed", name, v->n,
                       n);
  }
}

tally_status tally_fortran_csr_from_coo(const CFI_cdesc_t* columns, const CFI_cdesc_t* row_indices,
                                        const CFI_cdesc_t* column_indices,
                                        const CFI_cdesc_t* values, const CFI_cdesc_t* row_offsets,
                                        const CFI_cdesc_t* sorted_columns,
                                        const CFI_cdesc_t* sorted_values, int64_t* stored,
                                        const tally_executor* where, const int* grade) {
  call c = {"tally_csr_from_coo", TALLY_SUCCESS};
  const size_t width = integer(&c, "columns", columns);
  const vector i = vector_of(&c, "row_indices", row_indices),
               j = vector_of(&c, "column_indices", column_indices),
               v = vector_of(&c, "values", values),
               offsets = tally_fortran_contiguous(&c, "row_offsets", row_offsets),
               indices = tally_fortran_contiguous(&c, "sorted_columns", sorted_columns),
               sums = tally_fortran_contiguous(&c, "sorted_values", sorted_values);
  size_t n = 0;
  tally_fortran_check_size(&c, "row_indices", &i, v.n, "values has");
  tally_fortran_check_size(&c, "column_indices", &j, v.n, "values has");
  check_room(&c, "row_offsets", &offsets, 1);
  check_room(&c, "sorted_columns", &indices, v.n);
  check_room(&c, "sorted_values", &sums, v.n);
  check_same_type(&c, "sorted_values", &sums, "values", &v);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  const tally_status status =
      tally_csr_from_coo(where, offsets.n - 1, width, v.n, i.type, i.data, i.inc, j.type, j.data,
                         j.inc, v.type, v.data, v.inc, offsets.type, offsets.data, indices.type,
                         indices.data, sums.data, &n, &options);
  if (status == TALLY_SUCCESS) *stored = (int64_t)n;
  return tally_fortran_kept(status);
}

tally_status tally_fortran_diagonal(const tally_csr* a, const CFI_cdesc_t* d,
                                    const tally_executor* where) {
  call c = {"tally_diagonal", TALLY_SUCCESS};
  const vector v = vector_of(&c, "d", d);
  tally_fortran_check_size(&c, "d", &v, a->rows < a->columns ? a->rows : a->columns,
                           "the diagonal of the matrix has");
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(tally_diagonal(where, a, v.type, v.data, v.inc, NULL));
}

tally_status tally_fortran_row_norms(const int* norm, const tally_csr* a, const CFI_cdesc_t* r,
                                     const tally_executor* where, const int* grade) {
  call c = {"tally_row_norms", TALLY_SUCCESS};
  const vector v = vector_of(&c, "r", r);
  tally_fortran_check_size(&c, "r", &v, a->rows, "the rows of the matrix are");
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_row_norms(where, *norm, a, v.type, v.data, v.inc, &options));
}

tally_status tally_fortran_scale_rows(const tally_csr* a, const CFI_cdesc_t* d,
                                      const CFI_cdesc_t* z, const tally_executor* where) {
  call c = {"tally_scale_rows", TALLY_SUCCESS};
  const vector factors = vector_of(&c, "d", d), to = tally_fortran_contiguous(&c, "z", z);
  tally_fortran_check_size(&c, "d", &factors, a->rows, "the rows of the matrix are");
  tally_fortran_check_size(&c, "z", &to, a->nonzeros, "the values of the matrix are");
  if (c.status == TALLY_SUCCESS && to.type != a->value_type) {
    tally_fortran_fail(&c, TALLY_UNSUPPORTED_TYPE, "z is not of the type of the matrix");
  }
  if (c.status != TALLY_SUCCESS) return c.status;
  return tally_fortran_kept(
      tally_scale_rows(where, a, factors.type, factors.data, factors.inc, to.data, NULL));
}

tally_status tally_fortran_spmv_apart(const tally_csr* a, const CFI_cdesc_t* x,
                                      const CFI_cdesc_t* y, const CFI_cdesc_t* w,
                                      const CFI_cdesc_t* alpha, const CFI_cdesc_t* beta,
                                      plan_of_fortran plan, const tally_executor* where,
                                      const int* grade) {
  call c = {"tally_spmv_apart", TALLY_SUCCESS};
  const product p = product_of(&c, a, x, y, alpha, beta);
  const tally_spmv_plan* const made = plan_at(&c, plan);
  const vector out = vector_like(&c, "w", w, &p.y, "y");
  check_same_type(&c, "w", &out, "y", &p.y);
  if (c.status != TALLY_SUCCESS) return c.status;
  const tally_call_options options = options_of(grade, NULL, NULL, NULL);
  return tally_fortran_kept(tally_spmv_apart(where, made, p.alpha.type, p.alpha.data, a, p.x.type,
                                             p.x.data, p.x.inc, p.beta.type, p.beta.data, p.y.type,
                                             p.y.data, p.y.inc, out.data, out.inc, &options));
}
