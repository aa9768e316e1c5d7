/* The C interface, compiled as C: every function in each form. */
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

static int failures = 0;

#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)
#define CALL(...)                                                    \
  do {                                                               \
    if ((__VA_ARGS__) != TALLY_SUCCESS) {                            \
      printf("%s:%d: %s\n", __FILE__, __LINE__, tally_last_error()); \
      ++failures;                                                    \
    }                                                                \
  } while (0)
#define FAIL(status, text, ...)                                      \
  do {                                                               \
    CHECK((__VA_ARGS__) == status);                                  \
    if (strcmp(tally_last_error(), text) != 0) {                     \
      printf("%s:%d: %s\n", __FILE__, __LINE__, tally_last_error()); \
      ++failures;                                                    \
    }                                                                \
  } while (0)

enum { F64 = TALLY_FLOAT64, F32 = TALLY_FLOAT32, C128 = TALLY_COMPLEX128, I32 = TALLY_INT32 };

static const double x[] = {1, 2, 3, 4};
static const float y[] = {5, 6, 7, 8};
static const double c[] = {1, 2, 3, 4}; /* two complex numbers */
static const int i[] = {3, -4, 2, 7, 0};
/* Its sum is 1; the default grade, which adds 1 to 1e17 first, returns 0. */
static const double w[] = {1e17, -1e17, 1, 0};

static const tally_call_options defaults = {.size = sizeof defaults};
static const tally_call_options exactly = {.size = sizeof exactly, .grade = TALLY_GRADE_EXACT};
static const tally_call_options waiting = {.size = sizeof waiting, .wait = TALLY_WAIT_YES};
static const tally_call_options queued = {.size = sizeof queued, .wait = TALLY_WAIT_NO};
static const tally_call_options conjugated = {.size = sizeof conjugated,
                                              .conjugate = TALLY_CONJUGATE_X};
/* Valid options of reductions and dot products. */
static const tally_call_options* const forms[] = {NULL, &defaults, &waiting, &queued};
enum { form_count = sizeof forms / sizeof *forms };

/* Instructions of every processor of this architecture. */
#if defined(__x86_64__)
static const tally_instruction_set some_instructions = TALLY_INSTRUCTIONS_BASELINE;
#else
static const tally_instruction_set some_instructions = TALLY_INSTRUCTIONS_BEST;
#endif

static tally_executor where;

static void names_and_versions(void) {
  int status, type;
  CHECK(tally_version() == TALLY_VERSION_NUMBER);
  CHECK(TALLY_VERSION_NUMBER ==
        10000 * TALLY_VERSION_MAJOR + 100 * TALLY_VERSION_MINOR + TALLY_VERSION_PATCH);
  CHECK(tally_order_version() == 1);
  CHECK(strcmp(tally_status_name(TALLY_SUCCESS), "success") == 0);
  CHECK(strcmp(tally_status_name(TALLY_SIZE_MISMATCH), "size_mismatch") == 0);
  CHECK(strcmp(tally_status_name(TALLY_INVALID_ARGUMENT), "invalid_argument") == 0);
  CHECK(strcmp(tally_status_name(TALLY_UNREADABLE_FILE), "unreadable_file") == 0);
  CHECK(strcmp(tally_status_name(TALLY_UNKNOWN_FAILURE), "unknown_failure") == 0);
  for (status = 16; status < 255; ++status)
    CHECK(strcmp(tally_status_name(status), "unknown") == 0);
  CHECK(strcmp(tally_status_name(-1), "unknown") == 0);
  CHECK(strcmp(tally_type_name(TALLY_BOOL), "bool") == 0 && tally_type_size(TALLY_BOOL) == 1);
  CHECK(strcmp(tally_type_name(TALLY_FLOAT64), "float64") == 0);
  CHECK(tally_type_size(TALLY_FLOAT16) == 2 && tally_type_size(TALLY_COMPLEX128) == 16);
  for (type = TALLY_BOOL; type <= TALLY_COMPLEX128; ++type) CHECK(tally_type_size(type) > 0);
  CHECK(strcmp(tally_type_name(11), "unknown") == 0 && tally_type_size(11) == 0);
  CHECK(strcmp(tally_type_name(-1), "unknown") == 0 && tally_type_size(-1) == 0);
}

static void errors(void) {
  char text[16];
  const char expected[] = "tally: where is null";
  CHECK(strcmp(tally_last_error(), "") == 0);
  CHECK(tally_copy_last_error(NULL, 0) == 0);
  FAIL(TALLY_NULL_POINTER, expected, tally_serial(NULL));
  CHECK(tally_copy_last_error(NULL, 0) == strlen(expected));
  memset(text, '#', sizeof text);
  CHECK(tally_copy_last_error(text, 0) == strlen(expected) && text[0] == '#');
  CHECK(tally_copy_last_error(text, 8) == strlen(expected));
  CHECK(strcmp(text, "tally: ") == 0 && text[8] == '#');
  CHECK(tally_copy_last_error(text, 1) == strlen(expected) && text[0] == '\0');
}

static void executors(void) {
  tally_executor made, before;
  const char* names[16];
  const char* name = NULL;
  int usable[16];
  size_t count = 0, k;
  double r = 42, serial;

  CALL(tally_executors(0, NULL, NULL, &count));
  CHECK(count >= 2 && count <= 16);
  usable[1] = 42;
  CALL(tally_executors(1, names, usable, &count));
  CHECK(strcmp(names[0], "serial") == 0 && usable[0] == 1 && usable[1] == 42);
  CALL(tally_executors(16, names, usable, &count));
  CHECK(strcmp(names[1], "simd") == 0 && usable[1] == 1);
  for (k = 0; k < count; ++k) {
    const tally_status status = tally_executor_named(&made, names[k]);
    CHECK(status == (usable[k] ? TALLY_SUCCESS : TALLY_NO_DEVICE));
    if (!usable[k]) continue;
    CALL(tally_executor_name(&made, &name));
    CHECK(strcmp(name, names[k]) == 0);
    if (strcmp(name, "cuda") == 0 || strcmp(name, "kokkos") == 0) continue; /* cannot read x */
    r = 0;
    CALL(tally_dot(&made, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
    CHECK(r == 70);
  }
  FAIL(TALLY_NULL_POINTER, "tally: count is null", tally_executors(16, names, usable, NULL));

  CALL(tally_executor_named(&made, "automatic"));
  CALL(tally_executor_name(&made, &name));
  CHECK(strcmp(name, "automatic") == 0);
  name = NULL;
  CALL(tally_executor_name(NULL, &name));
  CHECK(strcmp(name, "automatic") == 0);
  FAIL(TALLY_NULL_POINTER, "tally: name is null", tally_executor_name(&made, NULL));
  before = made;
  CHECK(tally_executor_named(&made, "abacus") == TALLY_MISSING_BACKEND);
  FAIL(TALLY_NULL_POINTER, "tally: name is null", tally_executor_named(&made, NULL));
  CHECK(tally_openmp(&made, -1) != TALLY_SUCCESS &&
        tally_cuda(&made, 12345, NULL) != TALLY_SUCCESS);
  CHECK(memcmp(&made, &before, sizeof made) == 0);

  {
    tally_executor twin; /* same bytes; none is ignored */
    memset(&made, 0xff, sizeof made);
    memset(&twin, 0x11, sizeof twin);
    CALL(tally_simd(&made, some_instructions));
    CALL(tally_simd(&twin, some_instructions));
    CHECK(memcmp(&made, &twin, sizeof made) == 0);
    for (size_t i = 40; i < sizeof twin; ++i) { /* after five words that are in use */
      ((unsigned char*)&twin)[i] ^= 1;
      CHECK(tally_dot(&twin, 4, F64, x, 1, F32, y, 1, F64, &r, NULL) == TALLY_INVALID_ARGUMENT);
      ((unsigned char*)&twin)[i] ^= 1;
    }
  }

  CALL(tally_automatic(&made));
  CALL(tally_dot(&made, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
  CHECK(r == 70);
  if (tally_openmp(&made, 2) == TALLY_SUCCESS) {
    CALL(tally_dot(&made, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
    CHECK(r == 70);
  } else {
    CHECK(strstr(tally_last_error(), "no openmp") != NULL);
  }
  if (tally_kokkos(&made) != TALLY_SUCCESS) {
    CHECK(strstr(tally_last_error(), "kokkos") != NULL);
  }
  if (tally_cuda(&made, -1, NULL) != TALLY_SUCCESS) {
    CHECK(strstr(tally_last_error(), "cuda") != NULL);
  }

  CALL(tally_dot(&where, 4, F64, w, 1, F64, x, 1, F64, &serial, NULL));
  for (int set = TALLY_INSTRUCTIONS_BEST; set <= TALLY_INSTRUCTIONS_RVV; ++set) {
    const tally_status status = tally_simd(&made, set);
    if (set == TALLY_INSTRUCTIONS_BEST || set == some_instructions) CHECK(status == TALLY_SUCCESS);
    CHECK(status == TALLY_SUCCESS || status == TALLY_NO_DEVICE);
    if (status != TALLY_SUCCESS) continue;
    CALL(tally_dot(&made, 4, F64, w, 1, F64, x, 1, F64, &r, NULL));
    CHECK(memcmp(&r, &serial, sizeof r) == 0);
  }
  FAIL(TALLY_INVALID_ARGUMENT, "tally::simd: instructions is 7, which is no instruction set",
       tally_simd(&made, 7));
  CHECK(tally_simd(&made, -2) == TALLY_INVALID_ARGUMENT);

  /* A handle that no function returned. */
  r = 42;
  memset(&made, 0, sizeof made);
  FAIL(TALLY_INVALID_ARGUMENT, "tally: where is an executor that no function of Tally has made",
       tally_dot(&made, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
  memset(&made, 0xa5, sizeof made);
  CHECK(tally_sum(&made, 4, F64, x, 1, F64, &r, NULL) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_executor_name(&made, &name) == TALLY_INVALID_ARGUMENT);
  made = where;
  made.contents[7] = 1; /* reserved for later releases */
  CHECK(tally_dot(&made, 4, F64, x, 1, F32, y, 1, F64, &r, NULL) == TALLY_INVALID_ARGUMENT);
  CHECK(r == 42);
}

static void options(void) {
  /* Members that a later release may append. */
  struct {
    tally_call_options known;
    int64_t more[2];
  } later = {{.size = sizeof later, .grade = TALLY_GRADE_EXACT}, {0, 0}};
  tally_call_options o = defaults;
  double r = 42;

  CALL(tally_sum(&where, 4, F64, w, 1, F64, &r, &later.known));
  CHECK(r == 1);
  r = 42;
  later.more[1] = 1;
  FAIL(TALLY_INVALID_ARGUMENT,
       "tally: options has 64 bytes, and byte 56 is not 0; this library knows the first 48",
       tally_sum(&where, 4, F64, w, 1, F64, &r, &later.known));
  o.size = 0;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.size is 0; the struct has 48 bytes",
       tally_sum(&where, 4, F64, w, 1, F64, &r, &o));
  o.size = 24; /* size in an older release */
  CALL(tally_sum(&where, 4, F64, x, 1, F64, &r, &o));
  CHECK(r == 10);
  r = 42;
  o.size = 23;
  CHECK(tally_dot(&where, 4, F64, x, 1, F64, x, 1, F64, &r, &o) == TALLY_INVALID_ARGUMENT);
  o.size = (size_t)-1;
  CHECK(tally_copy(&where, 1, F64, x, 1, F64, &r, 1, &o) == TALLY_INVALID_ARGUMENT);

  o = defaults;
  o.grade = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.grade is 2; it may be 0 to 1",
       tally_dot(&where, 4, F64, x, 1, F64, x, 1, F64, &r, &o));
  o.grade = -1;
  CHECK(tally_nrm2(&where, 4, F64, x, 1, F64, &r, &o) == TALLY_INVALID_ARGUMENT);
  o = defaults;
  o.wait = 3;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.wait is 3; it may be 0 to 2",
       tally_asum(&where, 4, F64, x, 1, F64, &r, &o));
  o = defaults;
  o.conjugate = 3;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.conjugate is 3; it may be 0 to 2",
       tally_dot(&where, 4, F64, x, 1, F64, x, 1, F64, &r, &o));
  o = defaults;
  o.reserved = 1;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.reserved is 1; it must be 0",
       tally_sum(&where, 4, F64, x, 1, F64, &r, &o));

  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.conjugate is 1; it must be 0",
       tally_sum(&where, 4, F64, x, 1, F64, &r, &conjugated));
  CHECK(tally_iamax(&where, 4, F64, x, 1, (int64_t*)&r, &conjugated) == TALLY_INVALID_ARGUMENT);
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.grade is 1; it must be 0",
       tally_copy(&where, 1, F64, x, 1, F64, &r, 1, &exactly));
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.wait is 1; there is no form that waits",
       tally_copy(&where, 1, F64, x, 1, F64, &r, 1, &waiting));
  CHECK(r == 42);
}

static void sums(void) {
  tally_call_options y_conjugated = conjugated, everything = conjugated;
  double r = 0, rc[2] = {0, 0};
  int64_t s = 0;
  int f;

  for (f = 0; f < form_count; ++f) {
    r = 0;
    CALL(tally_dot(&where, 4, F64, x, 1, F32, y, 1, F64, &r, forms[f]));
    CHECK(r == 70);
    CALL(tally_sum(&where, 2, F64, x, 3, F64, &r, forms[f]));
    CHECK(r == 5);
    CALL(tally_asum(&where, 3, I32, i, 1, TALLY_INT64, &s, forms[f]));
    CHECK(s == 9);
    CALL(tally_nrm2(&where, 2, I32, i, 1, F64, &r, forms[f]));
    CHECK(r == 5);
  }
  CALL(tally_dot(NULL, 2, F64, x, 3, F32, y, -1, F64, &r, NULL));
  CHECK(r == 1 * 6 + 4 * 5);
  CALL(tally_sum(NULL, 2, C128, c, -1, C128, rc, NULL));
  CHECK(rc[0] == 4 && rc[1] == 6);
  CALL(tally_asum(&where, 3, I32, i, 1, F64, &r, NULL));
  CHECK(r == 9);

  /* c = (1 + 2i, 3 + 4i), and reversed. */
  CALL(tally_dot(&where, 2, C128, c, 1, C128, c, 1, C128, rc, NULL));
  CHECK(rc[0] == -10 && rc[1] == 28);
  CALL(tally_dot(&where, 2, C128, c, 1, C128, c, 1, C128, rc, &conjugated));
  CHECK(rc[0] == 30 && rc[1] == 0);
  y_conjugated.conjugate = TALLY_CONJUGATE_Y;
  CALL(tally_dot(&where, 1, C128, c, 1, C128, c + 2, 1, C128, rc, &y_conjugated));
  CHECK(rc[0] == 11 && rc[1] == 2);
  CALL(tally_dot(&where, 1, C128, c, 1, C128, c + 2, 1, C128, rc, &conjugated));
  CHECK(rc[0] == 11 && rc[1] == -2);
  everything.grade = TALLY_GRADE_EXACT;
  everything.wait = TALLY_WAIT_NO;
  CALL(tally_dot(&where, 2, C128, c, 1, C128, c, -1, C128, rc, &everything));
  CHECK(rc[0] == 22 && rc[1] == 0);

  {
    const double ones[] = {1, 1, 1, 1};
    CALL(tally_dot(&where, 4, F64, w, 1, F64, ones, 1, F64, &r, NULL));
    CHECK(r == 0);
    CALL(tally_dot(&where, 4, F64, w, 1, F64, ones, 1, F64, &r, &exactly));
    CHECK(r == 1);
    CALL(tally_sum(&where, 4, F64, w, 1, F64, &r, &exactly));
    CHECK(r == 1);
    CALL(tally_asum(&where, 4, F64, w, 1, F64, &r, &exactly));
    CHECK(r == 2e17);
    CALL(tally_nrm2(&where, 2, I32, i, 1, F64, &r, &exactly));
    CHECK(r == 5);
    CALL(tally_sum(&where, 3, I32, i, 1, TALLY_INT64, &s, &exactly));
    CHECK(s == 1);
  }

  r = 42;
  FAIL(TALLY_UNSUPPORTED_TYPE, "tally::nrm2: the result is int64; int32 gives float64",
       tally_nrm2(&where, 2, I32, i, 1, TALLY_INT64, &r, NULL));
  CHECK(tally_asum(&where, 2, I32, NULL, 1, TALLY_INT64, &r, &exactly) == TALLY_NULL_POINTER);
  FAIL(TALLY_ZERO_INCREMENT, "tally::dot: x has increment 0",
       tally_dot(&where, 4, F64, x, 0, F32, y, 1, F64, &r, NULL));
  CHECK(tally_dot(&where, 4, F64, NULL, 1, F32, y, 1, F64, &r, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_dot(&where, 4, F64, NULL, -1, F32, y, 1, F64, &r, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_dot(&where, 4, F64, x, 1, F32, y, 1, TALLY_INT64, &r, NULL) ==
        TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, F64, x, 1, F32, y, 1, F64, NULL, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_dot(&where, 4, F64, (const char*)x + 4, 1, F32, y, 1, F64, &r, NULL) ==
        TALLY_MISALIGNED);
  CHECK(tally_sum(&where, (size_t)-1, F64, x, 1, F64, &r, NULL) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_sum(&where, 2, 11, x, 1, F64, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, -1, x, 1, F32, y, 1, F64, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, -1, x, -1, F32, y, 1, F64, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, F64, x, 1, 264, y, 1, F64, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, F64, x, 1, F32, y, 1, 264, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(r == 42);
}

static void several_sums(void) {
  const size_t lengths[] = {4, 2};
  const void* const xs[] = {x, x};
  const void* const ys[] = {y, y};
  const void* const cs[] = {c};
  const ptrdiff_t incx[] = {1, 3}, incy[] = {1, -1};
  const size_t negative = (size_t)-1;
  const double two = 2;
  tally_call_options blocks = {.size = sizeof blocks, .outer = 2, .outer_stride = 2};
  double r[2] = {0, 0};
  int f;

  for (f = 0; f <= form_count; ++f) {
    const tally_call_options* const o = f < form_count ? forms[f] : &exactly;
    CALL(tally_multi_dot(&where, 2, 2, F64, x, 2, F32, y, 3, F64, r, o));
    CHECK(r[0] == 1 * 5 + 2 * 8 && r[1] == 3 * 5 + 4 * 8);
    CALL(tally_batched_dot(&where, 2, 1, F64, x, 1, F32, y, 3, F64, r, o));
    CHECK(r[0] == 1 * 5 && r[1] == 2 * 8);
    CALL(tally_multi_dot_list(&where, 2, lengths, F64, xs, incx, F32, ys, incy, F64, r, o));
    CHECK(r[0] == 70 && r[1] == 1 * 6 + 4 * 5);
  }
  for (f = 0; f <= form_count; ++f) {
    const tally_call_options* const o = f < form_count ? forms[f] : &exactly;
    CALL(tally_sums(&where, 2, 2, F64, x, 1, 2, F64, r, o));
    CHECK(r[0] == 1 + 3 && r[1] == 2 + 4);
    CALL(tally_multi_dot_strided(&where, 2, 2, F64, x + 3, -1, -2, F32, y, 3, F64, r, o));
    CHECK(r[0] == 4 * 5 + 2 * 8 && r[1] == 3 * 5 + 1 * 8);
  }
  CALL(tally_sums(&where, 1, 2, F64, x, 0, 1, F64, r, &blocks));
  CHECK(r[0] == 1 + 2 && r[1] == 3 + 4);
  CALL(tally_multi_dot_strided(&where, 1, 2, F64, x, 0, 1, F32, y, 3, F64, r, &blocks));
  CHECK(r[0] == 1 * 5 + 2 * 8 && r[1] == 3 * 5 + 4 * 8);
  r[0] = r[1] = 1;
  CALL(tally_gemv(&where, TALLY_TRANSPOSE, 2, 2, F64, &two, F64, x, 2, 1, F32, y, 3, F64, x, F64, r,
                  1, NULL));
  CHECK(r[0] == 2 * (1 * 5 + 3 * 8) + 1 && r[1] == 2 * (2 * 5 + 4 * 8) + 1);
  CALL(tally_gemv(&where, TALLY_NO_TRANSPOSE, 2, 2, F64, NULL, F64, x, 1, 2, F32, y, 3, F64, NULL,
                  F64, r, -1, &exactly));
  CHECK(r[1] == 1 * 5 + 3 * 8 && r[0] == 2 * 5 + 4 * 8);
  CALL(tally_multi_dot(NULL, 1, 2, C128, c, 0, C128, c, 1, C128, r, &conjugated));
  CHECK(r[0] == 30 && r[1] == 0);
  CALL(tally_batched_dot(NULL, 1, 2, C128, c, 0, C128, c, 0, C128, r, &conjugated));
  CHECK(r[0] == 30 && r[1] == 0);
  CALL(tally_multi_dot_list(NULL, 1, lengths + 1, C128, cs, incx, C128, cs, incx, C128, r,
                            &conjugated));
  CHECK(r[0] == 30 && r[1] == 0);
  CALL(tally_multi_dot_list(&where, 0, NULL, F64, NULL, NULL, F32, NULL, NULL, F64, NULL, NULL));

  r[0] = r[1] = 42;
  FAIL(TALLY_NULL_POINTER, "tally: incx is null",
       tally_multi_dot_list(&where, 2, lengths, F64, xs, NULL, F32, ys, incy, F64, r, NULL));
  CHECK(tally_multi_dot_list(&where, 2, NULL, F64, xs, incx, F32, ys, incy, F64, r, NULL) ==
        TALLY_NULL_POINTER);
  CHECK(tally_multi_dot_list(&where, negative, lengths, F64, xs, incx, F32, ys, incy, F64, r,
                             NULL) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_multi_dot(&where, negative, 2, F64, x, 2, F32, y, 3, F64, r, NULL) ==
        TALLY_INVALID_ARGUMENT);
  CHECK(tally_batched_dot(&where, 2, 1, F64, r, 1, F32, y, 3, F64, r, NULL) == TALLY_OVERLAP);
  CHECK(tally_sums(&where, 2, 1, F64, r, 1, 2, F64, r, NULL) == TALLY_OVERLAP);
  CHECK(tally_gemv(&where, 3, 2, 2, F64, NULL, F64, x, 1, 2, F32, y, 3, F64, NULL, F64, r, 1,
                   NULL) == TALLY_INVALID_ARGUMENT);
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.outer is 2, options.outer_stride 2; they must be 0",
       tally_multi_dot(&where, 2, 2, F64, x, 2, F32, y, 3, F64, r, &blocks));
  blocks.outer = negative;
  CHECK(tally_sums(&where, 2, 1, F64, x, 1, 2, F64, r, &blocks) == TALLY_INVALID_ARGUMENT);
  CHECK(r[0] == 42 && r[1] == 42);
}

static void exact_words(void) {
  const double tenth = 0.1;
  tally_call_options words = {.size = sizeof words, .form = TALLY_RESULT_WORDS};
  int64_t sum[137] = {0}, other[137] = {0}, wide[274] = {0}, narrow[23] = {0};
  double r = 0, rc[2] = {0, 0};
  int f;

  CHECK(tally_exact_words(F64) == 137 && tally_exact_words(F32) == 23);
  CHECK(tally_exact_words(C128) == 274 && tally_exact_words(TALLY_COMPLEX64) == 46);
  CHECK(tally_exact_words(I32) == 0 && tally_exact_words(99) == 0);
  CHECK(tally_exact_sum_type(F64, I32, F64) == F64 && tally_exact_sum_type(I32, F64, F32) == F64);
  CHECK(tally_exact_sum_type(F32, I32, F64) == F32 && tally_exact_sum_type(I32, I32, F64) == F32);
  CHECK(tally_exact_sum_type(F32, C128, C128) == C128);
  CHECK(tally_exact_sum_type(TALLY_COMPLEX64, F32, C128) == TALLY_COMPLEX64);
  CHECK(tally_exact_sum_type(C128, C128, F64) == F64); /* norms are real */

  /* The sum of 1 + 2 + 3 + 4: once in one array, twice in another. */
  for (f = TALLY_WAIT_DEFAULT; f <= TALLY_WAIT_NO; ++f) {
    words.wait = f;
    CALL(tally_sum(&where, 4, F64, x, 1, F64, f == 0 ? other : sum, &words));
  }
  CALL(tally_merge_words(1, F64, other, sum));
  CALL(tally_round_words(&where, 1, F64, sum, F64, &r, NULL));
  CHECK(r == 30);
  CALL(tally_nrm2(&where, 2, I32, i, 1, F32, narrow, &words));
  CALL(tally_merge_words(1, F32, NULL, narrow));
  CALL(tally_round_root_words(&where, 1, F32, narrow, F64, &r, &queued));
  CHECK(r == 5);
  {
    const size_t lengths[] = {4, 2};
    const void* const both[] = {x, x + 2};
    const ptrdiff_t steps[] = {1, 1};
    memset(wide, 0, sizeof wide);
    CALL(tally_multi_dot_list(&where, 2, lengths, F64, both, steps, F64, both, steps, F64, wide,
                              &words));
    CALL(tally_round_words(&where, 2, F64, wide, F64, rc, NULL));
    CHECK(rc[0] == 30 && rc[1] == 25);
    memset(wide, 0, sizeof wide);
  }
  CALL(tally_dot(&where, 2, C128, c, 1, C128, c, 1, C128, wide, &words));
  CALL(tally_round_words(NULL, 1, C128, wide, C128, rc, &waiting));
  CHECK(rc[0] == -10 && rc[1] == 28);

  /* Ten times 0.1: 1 unless rounded on the way. */
  memset(sum, 0, sizeof sum);
  for (f = 0; f < 10; ++f) CALL(tally_sum(&where, 1, F64, &tenth, 1, F64, sum, &words));
  CALL(tally_round_words(&where, 1, F64, sum, F64, &r, NULL));
  CHECK(r == 1);

  r = 42;
  FAIL(TALLY_UNSUPPORTED_TYPE, "tally::sum: the exact sum is of float32; it can be of float64",
       tally_sum(&where, 4, F64, x, 1, F32, narrow, &words));
  words.form = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.form is 2; it may be 0 to 1",
       tally_sum(&where, 4, F64, x, 1, F64, sum, &words));
  words.form = TALLY_RESULT_WORDS;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.form is 1; it must be 0",
       tally_max(&where, 4, F64, x, 1, sum, &words));
  words.form = 0;
  words.reserved_too = 1;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.reserved_too is 1; it must be 0",
       tally_sum(&where, 4, F64, x, 1, F64, &r, &words));
  FAIL(TALLY_UNSUPPORTED_TYPE,
       "tally: the exact sum is of int32; it can be of float32, float64, complex64 or complex128",
       tally_merge_words(1, I32, NULL, sum));
  CHECK(tally_merge_words((size_t)-1, F64, NULL, sum) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_merge_words(1, F64, NULL, NULL) == TALLY_NULL_POINTER);
  CALL(tally_merge_words(0, F64, NULL, NULL));
  CHECK(tally_merge_words(1, F64, (int64_t*)((char*)wide + 4), sum) == TALLY_MISALIGNED);
  CHECK(tally_merge_words(1, F64, wide + 1, wide) == TALLY_OVERLAP);
  CHECK(tally_round_words(&where, (size_t)-1, F64, sum, F64, &r, NULL) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_round_words(&where, 1, F64, sum, I32, &r, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_round_words(&where, 1, F64, NULL, F64, &r, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_round_root_words(&where, 1, C128, wide, C128, rc, NULL) == TALLY_UNSUPPORTED_TYPE);
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.grade is 1; it must be 0",
       tally_round_words(&where, 1, F64, sum, F64, &r, &exactly));
  CALL(tally_round_words(&where, 0, F64, NULL, F64, NULL, NULL));
  CHECK(r == 42);
}

static void segments(void) {
  const int32_t cuts[] = {0, 2, 2, 3};
  const int64_t far[] = {0, 4};
  const float values[] = {1, 2, 4};
  double sums[3] = {7, 7, 7};
  float few[3];
  const int8_t bytes[] = {127, 127, -3};
  int64_t counts[3];

  CALL(tally_segmented_sum(&where, 3, I32, cuts, 3, TALLY_INT8, bytes, TALLY_INT64, counts, NULL));
  CHECK(counts[0] == 254 && counts[1] == 0 && counts[2] == -3);
  FAIL(TALLY_UNSUPPORTED_TYPE, "tally::segmented_sum: results is float64; int8 gives int64",
       tally_segmented_sum(&where, 3, I32, cuts, 3, TALLY_INT8, bytes, F64, sums, NULL));
  CALL(tally_segmented_sum(&where, 3, I32, cuts, 3, F32, values, F32, few, NULL));
  CHECK(few[0] == 3 && few[1] == 0 && few[2] == 4);
  CALL(tally_segmented_sum(&where, 1, TALLY_INT64, far, 4, F64, x, F64, sums, &exactly));
  CHECK(sums[0] == 10 && sums[1] == 7);
  FAIL(TALLY_INVALID_ARGUMENT, "tally::segmented_sum: offsets[1] is 4; x has 3 elements",
       tally_segmented_sum(&where, 1, TALLY_INT64, far, 3, F64, x, F64, sums, NULL));
  CHECK(tally_segmented_sum(&where, 1, TALLY_INT64, NULL, 4, F64, x, F64, sums, NULL) ==
        TALLY_NULL_POINTER);
  CHECK(tally_segmented_sum(&where, SIZE_MAX, TALLY_INT64, far, 4, F64, x, F64, sums, NULL) ==
        TALLY_INVALID_ARGUMENT);
}

static void several(void) {
  const float factors[] = {2, 3};
  const double rows[] = {1, 2, 3, 4, 5, 6}, beta = 10;
  double u[] = {1, 2, 3};

  CALL(tally_multi_axpy(&where, 2, 3, F32, factors, F64, rows, 3, 1, F64, &beta, F64, u, 1, NULL));
  CHECK(u[0] == 24 && u[1] == 39 && u[2] == 54);
  CALL(tally_multi_axpy(&where, 2, 2, F32, factors, F64, rows, 1, -2, F64, &beta, F64, u, 2,
                        &queued));
  CHECK(u[0] == 258 && u[1] == 39 && u[2] == 548);
  CHECK(tally_multi_axpy(&where, 2, 3, F32, NULL, F64, rows, 3, 1, F64, &beta, F64, u, 1, NULL) ==
        TALLY_NULL_POINTER);
  CHECK(tally_multi_axpy(&where, 2, 3, F32, factors, F64, rows, 3, 1, F64, NULL, F64, u, 1, NULL) ==
        TALLY_NULL_POINTER);
  FAIL(TALLY_OVERLAP, "tally::multi_axpy: y overlaps x",
       tally_multi_axpy(&where, 2, 1, F32, factors, F64, u, 2, 1, F64, &beta, F64, u + 2, 1, NULL));

  double r[2];
  u[0] = 1, u[1] = 2, u[2] = 3;
  CALL(tally_multi_axpy_dot(&where, 2, 3, F32, factors, F64, rows, 3, 1, F64, &beta, F64, u, 1, F64,
                            r, &exactly));
  CHECK(u[0] == 24 && u[2] == 54 && r[0] == 24 + 2 * 39 + 3 * 54 &&
        r[1] == 24 * 4 + 39 * 5 + 54 * 6);
  CALL(tally_multi_axpy_dot(&where, 1, 2, F32, factors, F64, rows, 0, -1, F64, &beta, F64, u, 2,
                            F64, r, &queued));
  CHECK(u[0] == 244 && u[1] == 39 && u[2] == 542 && r[0] == 2 * 244 + 542);
  FAIL(TALLY_OVERLAP, "tally::multi_axpy_dot: result overlaps y",
       tally_multi_axpy_dot(&where, 1, 3, F32, factors, F64, rows, 3, 1, F64, &beta, F64, u, 1, F64,
                            u + 2, NULL));
  CHECK(tally_multi_axpy_dot(&where, 1, 3, F32, factors, F64, rows, 3, 1, F64, &beta, F64, u, 1,
                             F64, NULL, NULL) == TALLY_NULL_POINTER);
}

static void scans(void) {
  const int8_t small[] = {5, -3, 100};
  int64_t long_sums[] = {7, 7, 7};
  double sums[] = {0, 0, 0, 0};

  CALL(tally_inclusive_scan(&where, 4, F64, x, 1, F64, sums, 1, NULL));
  CHECK(sums[0] == 1 && sums[1] == 3 && sums[2] == 6 && sums[3] == 10);
  CALL(tally_exclusive_scan(&where, 4, F64, sums, -1, F64, sums, -1, &queued));
  CHECK(sums[3] == 0 && sums[2] == 10 && sums[1] == 16 && sums[0] == 19);
  CALL(tally_exclusive_scan(&where, 3, TALLY_INT8, small, 1, TALLY_INT64, long_sums, 1, NULL));
  CHECK(long_sums[0] == 0 && long_sums[1] == 5 && long_sums[2] == 2);
  FAIL(TALLY_UNSUPPORTED_TYPE, "tally::inclusive_scan: y is float32; int8 gives int64 or float64",
       tally_inclusive_scan(&where, 3, TALLY_INT8, small, 1, F32, sums, 1, NULL));
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.grade is 1; it must be 0",
       tally_exclusive_scan(&where, 4, F64, x, 1, F64, sums, 1, &exactly));
  CHECK(sums[3] == 0);
}

static void gathers(void) {
  const int32_t places[] = {3, 0};
  const int64_t wide[] = {1, 2};
  double z[3] = {7, 8, 9};

  CALL(tally_gather(&where, F64, 4, x, 1, I32, places, 2, z, 2, NULL));
  CHECK(z[0] == 4 && z[1] == 8 && z[2] == 1);
  CALL(tally_scatter(&where, F64, 2, x, -1, TALLY_INT64, wide, 3, z, 1, &queued));
  CHECK(z[0] == 4 && z[1] == 2 && z[2] == 1);
  const int32_t repeated[] = {2, 0, -1, 2};
  CALL(tally_scatter_add(&where, F64, 4, x, 1, I32, repeated, 3, z, 1, NULL));
  CHECK(z[0] == 4 + x[1] && z[1] == 2 && z[2] == 1 + x[0] + x[3]);
  z[0] = 4, z[2] = 1;
  FAIL(TALLY_UNSUPPORTED_TYPE, "tally::gather: the indices are float32; they can be int32 or int64",
       tally_gather(&where, F64, 4, x, 1, F32, y, 2, z, 1, NULL));
  CHECK(tally_scatter(&where, F64, 2, x, 1, I32, NULL, 3, z, 1, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_gather(&where, 99, 2, x, 1, I32, places, 2, z, 1, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(z[0] == 4 && z[1] == 2 && z[2] == 1);
}

static void extrema(void) {
  struct {
    int value;
    int64_t index;
  } one, both[2];
  int64_t place = 0;
  int f;

  for (f = 0; f <= form_count; ++f) {
    const tally_call_options* const o = f < form_count ? forms[f] : &exactly;
    memset(&one, 0xff, sizeof one);
    CALL(tally_min(&where, 5, I32, i, 1, &one, o));
    CHECK(one.value == -4 && one.index == 1);
    CHECK(memcmp((const char*)&one + 4, "\0\0\0\0", 4) == 0); /* padding */
    CALL(tally_max(&where, 3, I32, i, 2, &one, o));
    CHECK(one.value == 3 && one.index == 0);
    CALL(tally_minmax(NULL, 5, I32, i, -1, both, o));
    CHECK(both[0].value == -4 && both[0].index == 3 && both[1].value == 7 && both[1].index == 1);
    CALL(tally_iamax(&where, 2, C128, c, 1, &place, o));
    CHECK(place == 1);
    CALL(tally_iamax(&where, 0, F64, NULL, 1, &place, o));
    CHECK(place == -1);
  }
  FAIL(TALLY_NO_ELEMENTS, "tally::min: x has 0 elements and should have at least 1",
       tally_min(&where, 0, I32, i, 1, &one, NULL));
  CHECK(tally_max(&where, 1, C128, c, 1, &one, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_minmax(&where, 1, 99, c, 1, both, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_iamax(&where, 2, C128, c, 1, NULL, NULL) == TALLY_NULL_POINTER);
}

static void elementwise(void) {
  double a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, d[3] = {0, 0, 0};
  const double half = 0.5;
  double sum = 0;
  const float two = 2;
  const int three = 3;
  const tally_call_options* const o[] = {NULL, &defaults, &queued};
  size_t k;

  for (k = 0; k < sizeof o / sizeof *o; ++k) {
    CALL(tally_copy(NULL, 3, F64, a, -1, F64, d, 1, o[k]));
    CHECK(d[0] == 3 && d[1] == 2 && d[2] == 1);
    CALL(tally_scal(&where, 3, I32, &three, F64, d, 1, o[k]));
    CHECK(d[0] == 9 && d[2] == 3);
    CALL(tally_axpy(&where, 3, F64, &half, F64, a, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 9.5 && d[1] == 7 && d[2] == 4.5);
    CALL(tally_axpby(&where, 3, F64, &half, F64, a, 1, F32, &two, F64, d, 1, o[k]));
    CHECK(d[0] == 19.5 && d[1] == 15 && d[2] == 10.5);
    CALL(tally_waxpby(&where, 3, F64, &half, F64, a, 1, F32, &two, F64, b, -1, F64, d, 1, o[k]));
    CHECK(d[0] == 60.5 && d[1] == 41 && d[2] == 21.5);
    CALL(tally_axpbypcz(&where, 3, F64, &half, F64, a, 1, F32, &two, F64, b, 1, I32, &three, F64, d,
                        1, o[k]));
    CHECK(d[0] == 202 && d[1] == 164 && d[2] == 126);
    CALL(tally_axypbz(&where, 3, F64, &half, F64, a, 1, F64, b, 1, F32, &two, F64, d, 1, o[k]));
    CHECK(d[0] == 409 && d[1] == 348 && d[2] == 297);
    CALL(tally_swap(&where, 3, F64, a, -1, d, 1, o[k]));
    CHECK(a[0] == 297 && a[2] == 409 && d[0] == 3 && d[2] == 1);
    CALL(tally_swap(&where, 3, F64, d, 1, a, -1, o[k]));
    CALL(tally_fill(&where, 3, I32, &three, F64, d, 1, o[k]));
    CHECK(d[0] == 3 && d[1] == 3 && d[2] == 3);
    CALL(tally_axpy_dot(&where, 3, F32, &two, F64, a, 1, F64, d, 1, F64, b, -1, F64, &sum, o[k]));
    CHECK(d[0] == 5 && d[1] == 7 && d[2] == 9 && sum == 5 * 30 + 7 * 20 + 9 * 10);
    CALL(tally_axpy_dot(&where, 3, I32, &three, F64, a, 1, F64, d, 1, 0, NULL, 0, F64, &sum, o[k]));
    CHECK(d[0] == 8 && d[1] == 13 && d[2] == 18 && sum == 64 + 169 + 324);
    CALL(tally_waxpby_nrm2(&where, 1, F32, &two, F64, a, 1, I32, &three, F64, b, 1, F64, d, 1, F64,
                           &sum, o[k]));
    CHECK(d[0] == 32 && d[1] == 13 && sum == 32);
    CALL(tally_add(&where, 3, F64, a, 1, F64, b, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 11 && d[2] == 33);
    CALL(tally_sub(&where, 3, F64, a, 1, F64, b, 1, F64, d, 1, o[k]));
    CHECK(d[0] == -9 && d[2] == -27);
    CALL(tally_relu(&where, 3, F64, d, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 0 && d[2] == 0);
    CALL(tally_sigmoid(&where, 3, F64, d, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 0.5 && d[2] == 0.5);
    CALL(tally_mul(&where, 3, F64, a, 1, F64, b, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 10 && d[2] == 90);
    CALL(tally_sub(&where, 3, F64, d, 1, F64, d, 1, F64, d, 1, o[k]));
    CALL(tally_exp(&where, 3, F64, d, 1, F64, d, 1, o[k]));
    CHECK(d[0] == 1 && d[2] == 1);
  }
  CHECK(tally_copy(&where, 2, F64, a, 1, F64, a + 1, 1, NULL) == TALLY_OVERLAP);
  CHECK(tally_copy(&where, 2, F64, x, 1, F64, NULL, -1, NULL) == TALLY_NULL_POINTER);
  FAIL(TALLY_NULL_POINTER, "tally: alpha is null",
       tally_scal(&where, 3, F64, NULL, F64, a, 1, NULL));
  {
    const double none = 0;
    double unset[2];
    memset(unset, 0xff, sizeof unset); /* these are NaN */
    CALL(tally_axpby(&where, 2, F64, &half, F64, a, 1, F64, &none, F64, unset, 1, NULL));
    CHECK(unset[0] == 0.5 && unset[1] == 1);
  }
  CHECK(tally_swap(&where, 2, F64, a, 1, a + 1, 1, NULL) == TALLY_OVERLAP);
  FAIL(TALLY_NULL_POINTER, "tally: value is null",
       tally_fill(&where, 3, F64, NULL, F64, d, 1, NULL));
  FAIL(TALLY_NULL_POINTER, "tally: beta is null",
       tally_axpby(&where, 3, F64, &half, F64, b, 1, F64, NULL, F64, a, 1, NULL));
  CHECK(tally_scal(&where, 3, 11, &half, F64, a, 1, NULL) == TALLY_UNSUPPORTED_TYPE);
  {
    double v[2] = {3, 5};
    char anywhere[9]; /* factors may be unaligned */
    memcpy(anywhere + 1, &half, sizeof half);
    CALL(tally_scal(&where, 2, F64, anywhere + 1, F64, v, 1, NULL));
    CHECK(v[0] == 1.5 && v[1] == 2.5);
  }
  CHECK(tally_scal(&where, 3, F64, &half, -5, a, 1, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_relu(&where, 1, C128, c, 1, C128, a, 1, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(a[0] == 1 && a[1] == 2 && a[2] == 3);
}

static void histograms(void) {
  const signed char k[] = {0, 2, 2, 1, 2, -3};
  const float v[] = {0, 0.5f, 1, 2.5f, 3, 7};
  const double edges[] = {0, 1, 3}, weights[] = {1, 2, 4, 8, 16, 32};
  const double lower = 0, upper = 3;
  int32_t counts[4] = {7, 7, 7, 7};
  int64_t wide[2] = {7, 7};
  double total[3] = {1, 1, 1};
  tally_outside_counts outside = {0, 0, 0};
  tally_histogram_options o = {.size = sizeof o};

  CALL(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, I32, counts, NULL));
  CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 3 && counts[3] == 7);
  FAIL(TALLY_KEY_OUT_OF_RANGE, "tally::bincount: key 5 is -3; there are 3 bins",
       tally_bincount(NULL, 6, TALLY_INT8, k, 1, 3, I32, counts, &o));
  o.add = 1;
  o.outside = &outside;
  CALL(tally_bincount(&where, 6, TALLY_INT8, k, 1, 3, I32, counts, &o));
  CHECK(counts[0] == 2 && counts[1] == 2 && counts[2] == 6 && outside.below == 1);
  o.add = 0;
  CALL(tally_histogram_even(&where, 6, F32, v, 1, F64, &lower, &upper, 3, I32, counts, &o));
  CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == 2);
  CHECK(outside.below == 0 && outside.above == 1 && outside.nan == 0);
  CALL(tally_histogram_range(&where, 6, F32, v, -1, F64, edges, 2, TALLY_INT64, wide, NULL));
  CHECK(wide[0] == 2 && wide[1] == 3);
  o.outside = NULL;
  o.channels = 2; /* keys 0, 2 of the first channel; 2, 1 of the second */
  {
    int64_t by_channel[6];
    CALL(tally_bincount(&where, 4, TALLY_INT8, k, 1, 3, TALLY_INT64, by_channel, &o));
    CHECK(by_channel[0] == 1 && by_channel[1] == 0 && by_channel[2] == 1);
    CHECK(by_channel[3] == 0 && by_channel[4] == 1 && by_channel[5] == 1);
  }
  o.channels = 0;
  o.weights_type = F64;
  o.weights = weights;
  o.incw = 1;
  CALL(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, F64, total, &o));
  CHECK(total[0] == 1 && total[1] == 8 && total[2] == 22);
  o.incw = 0; /* the default, 1 */
  CALL(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, F64, total, &o));
  CHECK(total[0] == 1 && total[1] == 8 && total[2] == 22);
  {
    int64_t words[3 * 137] = {0};
    CALL(tally_bincount(&where, 2, TALLY_INT8, k, 1, 3, TALLY_INT64, words, &o));
    o.weights = weights + 2;
    CALL(tally_bincount(&where, 3, TALLY_INT8, k + 2, 1, 3, TALLY_INT64, words, &o));
    CALL(tally_bincount(&where, 0, TALLY_INT8, NULL, 1, 3, TALLY_INT64, words,
                        &o)); /* adds nothing */
    total[0] = total[1] = total[2] = 0;
    CALL(tally_round_words(&where, 3, F64, words, F64, total, NULL));
    CHECK(total[0] == 1 && total[1] == 8 && total[2] == 22);
  }
  o.weights = NULL;
  o.channels = 2;
  CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, I32, counts, &o) == TALLY_SIZE_MISMATCH);
  o.channels = 65537;
  CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, I32, counts, &o) == TALLY_INVALID_ARGUMENT);
  o.channels = 0;
  o.weights = weights;

  counts[0] = 42;
  FAIL(TALLY_NULL_POINTER, "tally: lower is null",
       tally_histogram_even(&where, 6, F32, v, 1, F64, NULL, &upper, 3, I32, counts, NULL));
  CHECK(tally_histogram_even(&where, 6, F32, v, 1, 11, &lower, &upper, 3, I32, counts, NULL) ==
        TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_histogram_range(&where, 6, F32, v, 1, F64, NULL, 2, I32, counts, NULL) ==
        TALLY_NULL_POINTER);
  CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, 11, counts, NULL) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, (size_t)-1, I32, counts, NULL) ==
        TALLY_INVALID_ARGUMENT);
  o.weights_type = -1;
  CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, F64, total, &o) == TALLY_UNSUPPORTED_TYPE);
  o.weights = NULL;
  o.add = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.add is 2; it may be 0 to 1",
       tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, I32, counts, &o));
  o.add = 0;
  o.size = 40;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.size is 40; the struct has 48 bytes",
       tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, I32, counts, &o));
  CHECK(counts[0] == 42);
}

static void matrices(void) {
  const int64_t offsets[4] = {0, 2, 2, 3}, begins[3] = {2, 1, 0}, ends[3] = {3, 1, 2};
  const double u[3] = {1, 10, 100};
  double t[2] = {-1, -1}, v2[2] = {-1, -1};
  int32_t columns[3] = {0, 1, 1};
  const float values[3] = {1, 2, 3};
  const double v[2] = {10, 100}, half = 0.5, table[4] = {10, 7, 100, -3};
  double r[3] = {-1, -1, -1};
  const int two = 2;
  tally_csr a = {.size = sizeof a,
                 .rows = 3,
                 .columns = 2,
                 .nonzeros = 3,
                 .row_offsets = offsets,
                 .column_indices = columns,
                 .values = values,
                 .offset_type = TALLY_INT64,
                 .column_type = TALLY_INT32,
                 .value_type = TALLY_FLOAT32};
  tally_csr wrong = a;
  double w[3] = {0, 0, 0}, s[6];
  tally_spmv_plan* plan = NULL;
  const char* text = NULL;

  CALL(tally_validate(NULL, &a));
  CALL(tally_spmv(NULL, NULL, F64, NULL, &a, F64, v, 1, F64, NULL, F64, r, 1, NULL));
  CHECK(r[0] == 210 && r[1] == 0 && r[2] == 300);
  CALL(tally_spmv_plan_create(&where, &a, &plan));
  CALL(tally_spmv_plan_describe(plan, &text));
  CHECK(text != NULL && strlen(text) > 0);
  CALL(tally_spmv(&where, plan, I32, &two, &a, F64, v, 1, F64, &half, F64, r, 1, &queued));
  CHECK(r[0] == 525 && r[1] == 0 && r[2] == 750);
  CALL(
      tally_spmv_apart(&where, plan, I32, &two, &a, F64, v, 1, F64, &half, F64, r, 1, w, -1, NULL));
  CHECK(w[2] == 682.5 && w[1] == 0 && w[0] == 975 && r[0] == 525);
  CALL(tally_spmv(&where, plan, I32, NULL, &a, F64, v, 1, F64, NULL, F64, r, -1, &exactly));
  CHECK(r[0] == 300 && r[1] == 0 && r[2] == 210);

  CALL(tally_spmm(&where, plan, 2, I32, &two, &a, F64, table, 2, 1, F64, NULL, F64, s, 2, 1, NULL));
  CALL(tally_spmv(&where, plan, I32, &two, &a, F64, v, 1, F64, NULL, F64, r, 1, NULL));
  CALL(tally_spmv(&where, plan, I32, &two, &a, F64, table + 1, 2, F64, NULL, F64, w, 1, NULL));
  CHECK(s[0] == r[0] && s[2] == r[1] && s[4] == r[2]);
  CHECK(s[1] == w[0] && s[3] == w[1] && s[5] == w[2]);
  FAIL(TALLY_OVERLAP, "tally::spmm: y's rows overlap",
       tally_spmm(&where, plan, 2, I32, NULL, &a, F64, table, 2, 1, F64, NULL, F64, s, 1, 1, NULL));

  {
    float scaled[3], factors[3] = {2, 3, -1};
    CALL(tally_diagonal(&where, &a, F64, w, 1, NULL));
    CHECK(w[0] == 1 && w[1] == 0);
    CALL(tally_row_norms(&where, TALLY_NORM_ONE, &a, F64, w, -1, &exactly));
    CHECK(w[2] == 3 && w[1] == 0 && w[0] == 3);
    CALL(tally_row_norms(NULL, TALLY_NORM_INFINITY, &a, F32, factors, 1, NULL));
    CHECK(factors[0] == 2 && factors[1] == 0 && factors[2] == 3);
    CALL(tally_scale_rows(&where, &a, F32, factors, 1, scaled, NULL));
    CHECK(scaled[0] == 2 && scaled[1] == 4 && scaled[2] == 9);
    FAIL(TALLY_INVALID_ARGUMENT, "tally: norm is 2; it may be 0 to 1",
         tally_row_norms(&where, 2, &a, F64, w, 1, NULL));
  }
  {
    const int32_t rows_of[4] = {1, 0, 1, 1}, columns_of[4] = {1, 0, 0, 1};
    const double entries[4] = {1, 2, 3, 1e300};
    int64_t made_offsets[3];
    int32_t sorted[4];
    double sums[4];
    size_t stored = 0;
    CALL(tally_csr_from_coo(&where, 2, 2, 4, I32, rows_of, 1, I32, columns_of, 1, F64, entries, 1,
                            TALLY_INT64, made_offsets, I32, sorted, sums, &stored, &exactly));
    CHECK(stored == 3 && made_offsets[0] == 0 && made_offsets[1] == 1 && made_offsets[2] == 3);
    CHECK(sorted[0] == 0 && sorted[1] == 0 && sorted[2] == 1);
    CHECK(sums[0] == 2 && sums[1] == 3 && sums[2] == 1e300);
    CALL(tally_csr_from_coo(NULL, 2, 2, 2, I32, rows_of + 1, -1, I32, columns_of, 2, F64, entries,
                            1, TALLY_INT64, made_offsets, I32, sorted, sums, &stored, NULL));
    CHECK(stored == 2 && made_offsets[1] == 1 && sorted[1] == 1 && sums[0] == 2 && sums[1] == 1);
    FAIL(TALLY_INVALID_ARGUMENT, "tally::csr_from_coo: row_indices[0] is 1; there are 1 rows",
         tally_csr_from_coo(&where, 1, 2, 4, I32, rows_of, 1, I32, columns_of, 1, F64, entries, 1,
                            TALLY_INT64, made_offsets, I32, sorted, sums, &stored, NULL));
    FAIL(TALLY_NULL_POINTER, "tally: stored is null",
         tally_csr_from_coo(&where, 2, 2, 4, I32, rows_of, 1, I32, columns_of, 1, F64, entries, 1,
                            TALLY_INT64, made_offsets, I32, sorted, sums, NULL, NULL));
  }

  FAIL(TALLY_INVALID_ARGUMENT, "tally: options.wait is 1; there is no form that waits",
       tally_spmv(&where, plan, I32, NULL, &a, F64, v, 1, F64, NULL, F64, r, 1, &waiting));
  CHECK(tally_spmv(&where, plan, I32, NULL, &a, F64, v, 1, F64, NULL, F64, r, 1, &conjugated) ==
        TALLY_INVALID_ARGUMENT);
  FAIL(TALLY_NULL_POINTER, "tally: matrix is null",
       tally_spmv(&where, plan, I32, NULL, NULL, F64, v, 1, F64, NULL, F64, r, 1, NULL));
  CHECK(tally_spmv(&where, plan, 11, &two, &a, F64, v, 1, F64, NULL, F64, r, 1, NULL) ==
        TALLY_UNSUPPORTED_TYPE);
  wrong.size = 8;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.size is 8; the struct has 96 bytes",
       tally_validate(&where, &wrong));
  wrong = a;
  wrong.reserved = 1;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.reserved is 1; it must be 0",
       tally_validate(&where, &wrong));
  wrong = a;
  wrong.column_type = 42;
  CHECK(tally_spmv(&where, NULL, I32, NULL, &wrong, F64, v, 1, F64, NULL, F64, r, 1, NULL) ==
        TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_validate(&where, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_spmv_plan_create(&where, &a, NULL) == TALLY_NULL_POINTER);
  CHECK(tally_spmv_plan_describe(NULL, &text) == TALLY_NULL_POINTER);
  CHECK(tally_spmv_plan_describe(plan, NULL) == TALLY_NULL_POINTER);
  tally_spmv_plan_destroy(plan);
  tally_spmv_plan_destroy(NULL);
  plan = NULL;
  wrong = a;
  wrong.operation = 3;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.operation is 3; it may be 0 to 2",
       tally_validate(&where, &wrong));
  wrong = a;
  wrong.fixed_values = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.fixed_values is 2; it may be 0 to 1",
       tally_validate(&where, &wrong));
  wrong = a;
  wrong.fixed_columns = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.fixed_columns is 2; it may be 0 to 1",
       tally_validate(&where, &wrong));
  wrong = a;
  wrong.reserved_too = 1;
  FAIL(TALLY_INVALID_ARGUMENT, "tally: matrix.reserved_too is 1; it must be 0",
       tally_validate(&where, &wrong));

  /* Values may change under a plan with fixed_columns. */
  a.fixed_columns = 1;
  CALL(tally_spmv_plan_create(&where, &a, &plan));
  CALL(tally_spmv(&where, plan, I32, &two, &a, F64, v, 1, F64, NULL, F64, r, 1, NULL));
  CHECK(r[0] == 420 && r[1] == 0 && r[2] == 600);
  tally_spmv_plan_destroy(plan);
  plan = NULL;
  a.fixed_columns = 0;

  /* The struct of the first release. */
  wrong = a;
  wrong.size = 72;
  CALL(tally_validate(&where, &wrong));

  /* The transpose, with and without a plan. */
  a.operation = TALLY_CONJUGATE_TRANSPOSE;
  CALL(tally_spmv(&where, NULL, I32, NULL, &a, F64, u, 1, F64, NULL, F64, t, 1, NULL));
  CHECK(t[0] == 1 && t[1] == 302);
  a.fixed_values = 1;
  CALL(tally_spmv_plan_create(&where, &a, &plan));
  CALL(tally_spmv(&where, plan, I32, &two, &a, F64, u, 1, F64, &half, F64, t, 1, NULL));
  CHECK(t[0] == 2.5 && t[1] == 755);
  CALL(
      tally_spmv_apart(&where, plan, I32, &two, &a, F64, u, 1, F64, &half, F64, t, 1, v2, 1, NULL));
  CHECK(v2[0] == 3.25 && v2[1] == 981.5);
  tally_spmv_plan_destroy(plan);
  plan = NULL;

  /* Four arrays: the middle row is empty and may begin anywhere. */
  a.operation = TALLY_NO_TRANSPOSE;
  a.row_offsets = begins;
  a.row_ends = ends;
  CALL(tally_validate(&where, &a));
  CALL(tally_spmv(&where, NULL, I32, NULL, &a, F64, v, 1, F64, NULL, F64, r, 1, NULL));
  CHECK(r[0] == 300 && r[1] == 0 && r[2] == 210);
  a.row_offsets = offsets;
  a.row_ends = NULL;
  columns[1] = 2;
  FAIL(TALLY_INVALID_ARGUMENT, "tally::validate: column_indices[1] is 2; there are 2 columns",
       tally_validate(&where, &a));
  CHECK(tally_spmv_plan_create(&where, &a, &plan) == TALLY_INVALID_ARGUMENT && plan == NULL);
  CHECK(r[0] == 300 && r[1] == 0 && r[2] == 210);
}

static void memory_and_workspaces(void) {
  tally_workspace_options o = {.size = sizeof o, .stage_bytes = 1 << 16, .threads = 2};
  tally_workspace* workspace = NULL;
  tally_executor through, before;
  const char* name = NULL;
  void* memory = NULL;
  double r = 0, four[4] = {0, 0, 0, 0};

  CALL(tally_device_alloc(&where, sizeof x, &memory));
  CALL(tally_device_copy(&where, memory, x, sizeof x));
  CALL(tally_sum(&where, 4, F64, memory, 1, F64, &r, NULL));
  CHECK(r == 10);
  CALL(tally_device_copy(&where, four, memory, sizeof x));
  CHECK(four[3] == 4);
  CALL(tally_device_free(&where, memory));
  CALL(tally_device_free(&where, NULL));
  CALL(tally_device_alloc(&where, 0, &memory));
  CHECK(memory == NULL);
  CALL(tally_pinned_alloc(&where, 1, &memory));
  *(char*)memory = 1;
  CALL(tally_pinned_free(&where, memory));
  CALL(tally_pin(&where, four, sizeof four));
  CALL(tally_unpin(&where, four));
  FAIL(TALLY_NULL_POINTER, "tally: memory is null", tally_device_alloc(&where, 1, NULL));
  FAIL(TALLY_NULL_POINTER, "tally: memory is null", tally_pinned_alloc(&where, 1, NULL));
  FAIL(TALLY_NULL_POINTER, "tally::pin: memory is null", tally_pin(&where, NULL, 8));
  FAIL(TALLY_NULL_POINTER, "tally::unpin: memory is null", tally_unpin(&where, NULL));
  FAIL(TALLY_INVALID_ARGUMENT, "tally::pin: there are 0 bytes to pin", tally_pin(&where, four, 0));
  CHECK(tally_device_alloc(NULL, 8, &memory) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_device_free(NULL, four) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_device_copy(NULL, four, x, 8) == TALLY_INVALID_ARGUMENT);
  CHECK(tally_device_copy(&where, NULL, x, 8) == TALLY_NULL_POINTER);
  CHECK(tally_device_alloc(&where, (size_t)-1, &memory) == TALLY_OUT_OF_MEMORY);

  CALL(tally_workspace_create(&where, NULL, &workspace));
  tally_workspace_destroy(workspace);
  CALL(tally_workspace_create(&where, &o, &workspace));
  CALL(tally_workspace_executor(workspace, &through));
  CALL(tally_executor_name(&through, &name));
  CHECK(strcmp(name, "serial") == 0);
  r = 0;
  CALL(tally_dot(&through, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
  CHECK(r == 70);
  before = through;
  FAIL(TALLY_NULL_POINTER, "tally: workspace is null", tally_workspace_executor(NULL, &through));
  CHECK(memcmp(&through, &before, sizeof through) == 0);
  CHECK(tally_workspace_executor(workspace, NULL) == TALLY_NULL_POINTER);
  tally_workspace_destroy(workspace);
  tally_workspace_destroy(NULL);

  workspace = NULL;
  FAIL(TALLY_NULL_POINTER, "tally: workspace is null", tally_workspace_create(&where, &o, NULL));
  FAIL(TALLY_INVALID_ARGUMENT,
       "tally::workspace: the executor is automatic, which has no memory of its own",
       tally_workspace_create(NULL, &o, &workspace));
  o.stage_bytes = 100;
  FAIL(TALLY_INVALID_ARGUMENT,
       "tally::workspace: stage_bytes is 100; it can be 32768 to 1073741824, or 0",
       tally_workspace_create(&where, &o, &workspace));
  o.stage_bytes = 0;
  o.threads = -1;
  FAIL(TALLY_INVALID_ARGUMENT, "tally::workspace: threads is -1; it can be 1 to 256, or 0",
       tally_workspace_create(&where, &o, &workspace));
  o.threads = 0;
  o.reserved = 1;
  CHECK(tally_workspace_create(&where, &o, &workspace) == TALLY_INVALID_ARGUMENT);
  o.reserved = 0;
  o.size = 16;
  CHECK(tally_workspace_create(&where, &o, &workspace) == TALLY_INVALID_ARGUMENT);
  CHECK(workspace == NULL);

  if (tally_cuda(&through, -1, NULL) == TALLY_SUCCESS) {
    CALL(tally_workspace_create(&through, NULL, &workspace));
    CALL(tally_workspace_executor(workspace, &through));
    CALL(tally_executor_name(&through, &name));
    CHECK(strcmp(name, "workspace") == 0);
    r = 0;
    CALL(tally_dot(&through, 4, F64, x, 1, F32, y, 1, F64, &r, NULL));
    CHECK(r == 70);
    CHECK(tally_validate(&through, NULL) == TALLY_NULL_POINTER);
    tally_workspace_destroy(workspace);
  }
}

/* Functions that are rows of bindings/operations alone. */
static void short_functions(void) {
  static const double v[] = {-4, 0.25, 9}, u[] = {2, -0.5, 3};
  static const signed char mask[] = {1, 0, 1};
  const double two = 2, low = -1, high = 1;
  const int cube = 3;
  double z[3];
  CALL(tally_scale(&where, 3, F64, &two, F64, v, 1, F64, z, 1, NULL));
  CHECK(z[0] == -8 && z[1] == 0.5 && z[2] == 18);
  CALL(tally_add_constant(&where, 3, F64, v, 1, F64, &two, F64, z, 1, NULL));
  CHECK(z[0] == -2 && z[1] == 2.25 && z[2] == 11);
  CALL(tally_div(&where, 3, F64, v, 1, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == -2 && z[1] == -0.5 && z[2] == 3);
  CALL(tally_inv(&where, 3, F64, v, 1, F64, z, 1, NULL));
  CHECK(z[0] == -0.25 && z[1] == 4 && z[2] == 1. / 9);
  CALL(tally_jacobi_step(&where, 3, F64, v, 1, F64, &two, F64, u, 1, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == -2 && z[1] == 2.25 && z[2] == 11);
  CALL(tally_abs(&where, 3, F64, v, 1, F64, z, 1, NULL));
  CHECK(z[0] == 4 && z[1] == 0.25 && z[2] == 9);
  CALL(tally_sqrt(&where, 3, F64, z, 1, F64, z, 1, NULL));
  CHECK(z[0] == 2 && z[1] == 0.5 && z[2] == 3);
  CHECK(tally_log(&where, 3, F64, v, 0, F64, z, 1, NULL) == TALLY_ZERO_INCREMENT);
  z[0] = 1, z[1] = 0;
  CALL(tally_log(&where, 1, F64, z, 1, F64, z, 1, NULL));
  CALL(tally_tanh(&where, 1, F64, z + 1, 1, F64, z + 1, 1, NULL));
  CHECK(z[0] == 0 && z[1] == 0);
  CALL(tally_pow(&where, 3, F64, v, 1, I32, &cube, F64, z, 1, NULL));
  CHECK(z[0] == -64 && z[1] == 0.015625 && z[2] == 729);
  CALL(tally_minimum(&where, 3, F64, v, 1, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == -4 && z[1] == -0.5 && z[2] == 3);
  CALL(tally_maximum(&where, 3, F64, v, 1, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == 2 && z[1] == 0.25 && z[2] == 9);
  CALL(tally_clamp(&where, 3, F64, v, 1, F64, &low, F64, &high, F64, z, 1, NULL));
  CHECK(z[0] == -1 && z[1] == 0.25 && z[2] == 1);
  CALL(tally_sign(&where, 3, F64, v, 1, F64, z, 1, NULL));
  CHECK(z[0] == -1 && z[1] == 1 && z[2] == 1);
  CALL(tally_compare(&where, 3, F64, v, 1, TALLY_LESS, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == 1 && z[1] == 0 && z[2] == 0);
  CALL(tally_compare_constant(&where, 3, F64, v, 1, TALLY_GREATER, F64, &two, F64, z, 1, NULL));
  CHECK(z[0] == 0 && z[1] == 0 && z[2] == 1);
  CHECK(tally_compare(&where, 3, F64, v, 1, TALLY_GREATER + 1, F64, u, 1, F64, z, 1, NULL) ==
        TALLY_INVALID_ARGUMENT);
  CALL(tally_where(&where, 3, TALLY_INT8, mask, 1, F64, v, 1, F64, u, 1, F64, z, 1, NULL));
  CHECK(z[0] == -4 && z[1] == -0.5 && z[2] == 9);
}

static void norms(void) {
  static const double u[] = {3, -4}, one[] = {1, 1}, first[] = {1, 0};
  double r;
  CALL(tally_sum_of_squares(&where, 2, F64, u, 1, F64, &r, NULL));
  CHECK(r == 25);
  CALL(tally_max_norm(&where, 2, F64, u, 1, F64, &r, NULL));
  CHECK(r == 4);
  CALL(tally_weighted_sum_of_squares(&where, 2, F64, u, 1, F64, one, 1, F64, &r, &exactly));
  CHECK(r == 25);
  CALL(tally_weighted_nrm2(&where, 2, F64, u, 1, F64, one, 1, F64, &r, NULL));
  CHECK(r == 5);
  CALL(tally_wrms_norm(&where, 2, F64, u, 1, F64, u, 1, F64, &r, NULL));
  CHECK(r * r > 168.49 && r * r < 168.51); /* (81 + 256) / 2 */
  CALL(tally_wrms_norm_mask(&where, 2, F64, u, 1, F64, one, 1, F64, first, 1, F64, &r, NULL));
  CHECK(r * r > 4.49 && r * r < 4.51);
}

int main(void) {
  errors(); /* first: expects the empty message */
  CALL(tally_serial(&where));
  names_and_versions();
  executors();
  memory_and_workspaces();
  options();
  sums();
  several_sums();
  exact_words();
  segments();
  several();
  scans();
  gathers();
  extrema();
  elementwise();
  short_functions();
  norms();
  histograms();
  matrices();
  return failures != 0;
}
