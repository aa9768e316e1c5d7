/* The C interface, compiled as C. */
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

int main(void) {
  const double x[] = {1, 2, 3, 4};
  const float y[] = {5, 6, 7, 8};
  const double c[] = {1, 2, 3, 4}; /* two complex numbers */
  const int i[] = {3, -4, 2, 7, 0};
  double r = 0, rc[2] = {0, 0};
  long long s = 0;
  struct {
    int value;
    int64_t index;
  } one, both[2];
  int64_t place = 0;
  tally_executor where;

  CHECK(strcmp(tally_last_error(), "") == 0);
  CHECK(tally_simd(&where) == TALLY_SUCCESS);
  CHECK(tally_dot(&where, 4, TALLY_FLOAT64, x, 1, TALLY_FLOAT32, y, 1, TALLY_FLOAT64, &r) ==
        TALLY_SUCCESS);
  CHECK(r == 70);
  CHECK(tally_dot(NULL, 2, TALLY_FLOAT64, x, 3, TALLY_FLOAT32, y, -1, TALLY_FLOAT64, &r) ==
        TALLY_SUCCESS);
  CHECK(r == 1 * 6 + 4 * 5);
  CHECK(tally_serial(&where) == TALLY_SUCCESS);
  CHECK(tally_dotc(&where, 2, TALLY_COMPLEX128, c, 1, TALLY_COMPLEX128, c, 1, TALLY_COMPLEX128,
                   rc) == TALLY_SUCCESS);
  CHECK(rc[0] == 30 && rc[1] == 0);
  CHECK(tally_dot_async(&where, 2, TALLY_COMPLEX128, c, 1, TALLY_COMPLEX128, c, 1, TALLY_COMPLEX128,
                        rc) == TALLY_SUCCESS);
  CHECK(rc[0] == -10 && rc[1] == 28);

  CHECK(tally_sum(&where, 4, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, &r) == TALLY_SUCCESS && r == 10);
  CHECK(tally_sum(NULL, 2, TALLY_COMPLEX128, c, -1, TALLY_COMPLEX128, rc) == TALLY_SUCCESS);
  CHECK(rc[0] == 4 && rc[1] == 6);
  CHECK(tally_sum_async(&where, 2, TALLY_FLOAT64, x, 3, TALLY_FLOAT64, &r) == TALLY_SUCCESS);
  CHECK(r == 5);
  CHECK(tally_asum(&where, 3, TALLY_INT32, i, 1, TALLY_INT64, &s) == TALLY_SUCCESS && s == 9);
  CHECK(tally_asum_async(&where, 3, TALLY_INT32, i, 1, TALLY_FLOAT64, &r) == TALLY_SUCCESS);
  CHECK(r == 9);
  CHECK(tally_nrm2(&where, 2, TALLY_INT32, i, 1, TALLY_FLOAT64, &r) == TALLY_SUCCESS && r == 5);
  CHECK(tally_nrm2_async(&where, 2, TALLY_INT32, i, 1, TALLY_FLOAT64, &r) == TALLY_SUCCESS);
  CHECK(r == 5);
  /* Sums of integers that return int64 are exact as they are. */
  CHECK(tally_sum_exact(&where, 3, TALLY_INT32, i, 1, TALLY_INT64, &s) == TALLY_SUCCESS && s == 1);
  CHECK(tally_sum_exact_async(&where, 3, TALLY_INT32, i, 2, TALLY_INT64, &s) == TALLY_SUCCESS);
  CHECK(s == 3 + 2 + 0);
  CHECK(tally_asum_exact(&where, 3, TALLY_INT32, i, 1, TALLY_INT64, &s) == TALLY_SUCCESS && s == 9);
  CHECK(tally_dot_exact(&where, 2, TALLY_INT32, i, 1, TALLY_INT32, i, 1, TALLY_INT64, &s) ==
        TALLY_SUCCESS);
  CHECK(s == 25);
  CHECK(tally_dotc_exact_async(&where, 2, TALLY_INT32, i, 1, TALLY_INT32, i, 1, TALLY_INT64, &s) ==
        TALLY_SUCCESS);
  CHECK(s == 25);

  memset(&one, 0xff, sizeof one);
  CHECK(tally_min(&where, 5, TALLY_INT32, i, 1, &one) == TALLY_SUCCESS);
  CHECK(one.value == -4 && one.index == 1);
  CHECK(memcmp((const char*)&one + 4, "\0\0\0\0", 4) == 0); /* between the two */
  CHECK(tally_max_async(&where, 3, TALLY_INT32, i, 2, &one) == TALLY_SUCCESS);
  CHECK(one.value == 3 && one.index == 0);
  CHECK(tally_minmax(NULL, 5, TALLY_INT32, i, -1, both) == TALLY_SUCCESS);
  CHECK(both[0].value == -4 && both[0].index == 3 && both[1].value == 7 && both[1].index == 1);
  CHECK(tally_min_async(&where, 1, TALLY_INT32, i, 1, &one) == TALLY_SUCCESS && one.value == 3);
  CHECK(tally_max(&where, 5, TALLY_INT32, i, 1, &one) == TALLY_SUCCESS && one.value == 7);
  CHECK(tally_minmax_async(&where, 2, TALLY_INT32, i, 1, both) == TALLY_SUCCESS);
  CHECK(both[0].index == 1 && both[1].index == 0);
  CHECK(tally_iamax(&where, 2, TALLY_COMPLEX128, c, 1, &place) == TALLY_SUCCESS && place == 1);
  CHECK(tally_iamax_async(&where, 0, TALLY_FLOAT64, NULL, 1, &place) == TALLY_SUCCESS);
  CHECK(place == -1);
  CHECK(tally_min(&where, 0, TALLY_INT32, i, 1, &one) == TALLY_NO_ELEMENTS);
  CHECK(strcmp(tally_last_error(), "tally::min: x has 0 elements and should have at least 1") == 0);

  /* Several at once. */
  CHECK(tally_multi_dot(&where, 2, 2, TALLY_FLOAT64, x, 2, TALLY_FLOAT32, y, 3, TALLY_FLOAT64,
                        rc) == TALLY_SUCCESS);
  CHECK(rc[0] == 1 * 5 + 2 * 8 && rc[1] == 3 * 5 + 4 * 8);
  CHECK(tally_multi_dotc_async(NULL, 1, 2, TALLY_COMPLEX128, c, 0, TALLY_COMPLEX128, c, 1,
                               TALLY_COMPLEX128, rc) == TALLY_SUCCESS);
  CHECK(rc[0] == 30 && rc[1] == 0);
  CHECK(tally_batched_dot_exact(&where, 2, 1, TALLY_FLOAT64, x, 1, TALLY_FLOAT32, y, 3,
                                TALLY_FLOAT64, rc) == TALLY_SUCCESS);
  CHECK(rc[0] == 1 * 5 && rc[1] == 2 * 8);
  {
    const size_t lengths[] = {4, 2};
    const void* const xs[] = {x, x};
    const void* const ys[] = {y, y};
    const ptrdiff_t incx[] = {1, 3}, incy[] = {1, -1};
    CHECK(tally_multi_dot_list(&where, 2, lengths, TALLY_FLOAT64, xs, incx, TALLY_FLOAT32, ys, incy,
                               TALLY_FLOAT64, rc) == TALLY_SUCCESS);
    CHECK(rc[0] == 70 && rc[1] == 1 * 6 + 4 * 5);
    CHECK(tally_multi_dot_list(&where, 2, lengths, TALLY_FLOAT64, xs, NULL, TALLY_FLOAT32, ys, incy,
                               TALLY_FLOAT64, rc) == TALLY_NULL_POINTER);
    CHECK(tally_multi_dot_list(&where, (size_t)-1, lengths, TALLY_FLOAT64, xs, incx, TALLY_FLOAT32,
                               ys, incy, TALLY_FLOAT64, rc) == TALLY_INVALID_ARGUMENT);
  }

  {
    double a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, d[3] = {0, 0, 0};
    const double half = 0.5;
    const float two = 2;
    const int three = 3;
    CHECK(tally_copy(NULL, 3, TALLY_FLOAT64, a, -1, TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 3 && d[1] == 2 && d[2] == 1);
    CHECK(tally_scal(&where, 3, TALLY_INT32, &three, TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 9 && d[2] == 3);
    CHECK(tally_axpy(&where, 3, TALLY_FLOAT64, &half, TALLY_FLOAT64, a, 1, TALLY_FLOAT64, d, 1) ==
          TALLY_SUCCESS);
    CHECK(d[0] == 9.5 && d[1] == 7 && d[2] == 4.5);
    CHECK(tally_axpby(&where, 3, TALLY_FLOAT64, &half, TALLY_FLOAT64, a, 1, TALLY_FLOAT32, &two,
                      TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 19.5 && d[1] == 15 && d[2] == 10.5);
    CHECK(tally_add(&where, 3, TALLY_FLOAT64, a, 1, TALLY_FLOAT64, b, 1, TALLY_FLOAT64, d, 1) ==
          TALLY_SUCCESS);
    CHECK(d[0] == 11 && d[2] == 33);
    CHECK(tally_sub(&where, 3, TALLY_FLOAT64, a, 1, TALLY_FLOAT64, b, 1, TALLY_FLOAT64, d, 1) ==
          TALLY_SUCCESS);
    CHECK(d[0] == -9 && d[2] == -27);
    CHECK(tally_relu(&where, 3, TALLY_FLOAT64, d, 1, TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 0 && d[2] == 0);
    CHECK(tally_sigmoid(&where, 3, TALLY_FLOAT64, d, 1, TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 0.5 && d[2] == 0.5);
    CHECK(tally_mul(&where, 3, TALLY_FLOAT64, a, 1, TALLY_FLOAT64, b, 1, TALLY_FLOAT64, d, 1) ==
          TALLY_SUCCESS);
    CHECK(d[0] == 10 && d[2] == 90);
    CHECK(tally_sub(&where, 3, TALLY_FLOAT64, d, 1, TALLY_FLOAT64, d, 1, TALLY_FLOAT64, d, 1) ==
          TALLY_SUCCESS);
    CHECK(tally_exp(&where, 3, TALLY_FLOAT64, d, 1, TALLY_FLOAT64, d, 1) == TALLY_SUCCESS);
    CHECK(d[0] == 1 && d[2] == 1);
    CHECK(tally_copy(&where, 2, TALLY_FLOAT64, a, 1, TALLY_FLOAT64, a + 1, 1) == TALLY_OVERLAP);
    CHECK(tally_scal(&where, 3, TALLY_FLOAT64, NULL, TALLY_FLOAT64, a, 1) == TALLY_NULL_POINTER);
    CHECK(a[0] == 1 && a[1] == 2 && a[2] == 3);
  }

  {
    const signed char k[] = {0, 2, 2, 1, 2, -3};
    const float v[] = {0, 0.5f, 1, 2.5f, 3, 7};
    const double edges[] = {0, 1, 3}, w[] = {1, 2, 4, 8, 16, 32};
    const double lower = 0, upper = 3;
    int32_t counts[3] = {7, 7, 7};
    int64_t wide[2] = {7, 7};
    double sums[3] = {1, 1, 1};
    tally_outside_counts outside = {0, 0, 0};
    tally_histogram_options options = {0};
    CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, TALLY_INT32, counts, NULL) ==
          TALLY_SUCCESS);
    CHECK(counts[0] == 1 && counts[1] == 1 && counts[2] == 3);
    CHECK(tally_bincount(NULL, 6, TALLY_INT8, k, 1, 3, TALLY_INT32, counts, NULL) ==
          TALLY_KEY_OUT_OF_RANGE);
    CHECK(strcmp(tally_last_error(), "tally::bincount: key 5 is -3; there are 3 bins") == 0);
    options.add = 1;
    options.outside = &outside;
    CHECK(tally_bincount(&where, 6, TALLY_INT8, k, 1, 3, TALLY_INT32, counts, &options) ==
          TALLY_SUCCESS);
    CHECK(counts[0] == 2 && counts[1] == 2 && counts[2] == 6 && outside.below == 1);
    options.add = 0;
    CHECK(tally_histogram_even(&where, 6, TALLY_FLOAT32, v, 1, TALLY_FLOAT64, &lower, &upper, 3,
                               TALLY_INT32, counts, &options) == TALLY_SUCCESS);
    CHECK(counts[0] == 2 && counts[1] == 1 && counts[2] == 2);
    CHECK(outside.below == 0 && outside.above == 1 && outside.nan == 0);
    CHECK(tally_histogram_range(&where, 6, TALLY_FLOAT32, v, -1, TALLY_FLOAT64, edges, 2,
                                TALLY_INT64, wide, NULL) == TALLY_SUCCESS);
    CHECK(wide[0] == 2 && wide[1] == 3);
    options.outside = NULL;
    options.weights_type = TALLY_FLOAT64;
    options.weights = w;
    options.incw = 1;
    CHECK(tally_bincount(&where, 5, TALLY_INT8, k, 1, 3, TALLY_FLOAT64, sums, &options) ==
          TALLY_SUCCESS);
    CHECK(sums[0] == 1 && sums[1] == 8 && sums[2] == 22);
    CHECK(tally_histogram_even(&where, 6, TALLY_FLOAT32, v, 1, TALLY_FLOAT64, NULL, &upper, 3,
                               TALLY_INT32, counts, NULL) == TALLY_NULL_POINTER);
  }

  {
    const int64_t offsets[4] = {0, 2, 2, 3};
    int32_t columns[3] = {0, 1, 1};
    const float values[3] = {1, 2, 3};
    const double v[2] = {10, 100}, half = 0.5;
    double w[3] = {-1, -1, -1};
    const int two = 2;
    const tally_csr a = {3,     2, 3, TALLY_INT64, offsets, TALLY_INT32, columns, TALLY_FLOAT32,
                         values};
    tally_spmv_plan* plan = NULL;
    CHECK(tally_validate(NULL, &a) == TALLY_SUCCESS);
    CHECK(tally_spmv(NULL, NULL, TALLY_FLOAT64, NULL, &a, TALLY_FLOAT64, v, 1, TALLY_FLOAT64, NULL,
                     TALLY_FLOAT64, w, 1) == TALLY_SUCCESS);
    CHECK(w[0] == 210 && w[1] == 0 && w[2] == 300);
    CHECK(tally_spmv_plan_create(&where, &a, &plan) == TALLY_SUCCESS);
    CHECK(strlen(tally_spmv_plan_describe(plan)) > 0);
    CHECK(tally_spmv(&where, plan, TALLY_INT32, &two, &a, TALLY_FLOAT64, v, 1, TALLY_FLOAT64, &half,
                     TALLY_FLOAT64, w, 1) == TALLY_SUCCESS);
    CHECK(w[0] == 525 && w[1] == 0 && w[2] == 750);
    CHECK(tally_spmv_exact(&where, plan, TALLY_INT32, NULL, &a, TALLY_FLOAT64, v, 1, TALLY_FLOAT64,
                           NULL, TALLY_FLOAT64, w, -1) == TALLY_SUCCESS);
    CHECK(w[0] == 300 && w[1] == 0 && w[2] == 210);
    columns[1] = 2;
    CHECK(tally_validate(&where, &a) == TALLY_INVALID_ARGUMENT);
    CHECK(strcmp(tally_last_error(),
                 "tally::validate: column_indices[1] is 2; there are 2 columns") == 0);
    CHECK(tally_spmv(&where, plan, TALLY_INT32, NULL, NULL, TALLY_FLOAT64, v, 1, TALLY_FLOAT64,
                     NULL, TALLY_FLOAT64, w, 1) == TALLY_NULL_POINTER);
    tally_spmv_plan_destroy(plan);
    tally_spmv_plan_destroy(NULL);
  }

  r = 42;
  CHECK(tally_nrm2(&where, 2, TALLY_INT32, i, 1, TALLY_INT64, &r) == TALLY_UNSUPPORTED_TYPE);
  CHECK(strcmp(tally_last_error(),
               "tally::nrm2: the result is int64; int32 gives float64 or float64") == 0);
  CHECK(tally_asum_exact(&where, 2, TALLY_INT32, NULL, 1, TALLY_INT64, &r) == TALLY_NULL_POINTER);
  CHECK(tally_sum(&where, 2, (tally_type)11, x, 1, TALLY_FLOAT64, &r) == TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, TALLY_FLOAT64, x, 0, TALLY_FLOAT32, y, 1, TALLY_FLOAT64, &r) ==
        TALLY_ZERO_INCREMENT);
  CHECK(strcmp(tally_last_error(), "tally::dot: x has increment 0") == 0);
  CHECK(tally_dot(&where, 4, TALLY_FLOAT64, NULL, 1, TALLY_FLOAT32, y, 1, TALLY_FLOAT64, &r) ==
        TALLY_NULL_POINTER);
  CHECK(tally_dot(&where, 4, (tally_type)99, x, 1, TALLY_FLOAT32, y, 1, TALLY_FLOAT64, &r) ==
        TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, TALLY_FLOAT64, x, 1, TALLY_FLOAT32, y, 1, TALLY_INT64, &r) ==
        TALLY_UNSUPPORTED_TYPE);
  CHECK(tally_dot(&where, 4, TALLY_FLOAT64, x, 1, TALLY_FLOAT32, y, 1, TALLY_FLOAT64, NULL) ==
        TALLY_NULL_POINTER);
  CHECK(tally_serial(NULL) == TALLY_NULL_POINTER);
  CHECK(r == 42);
  return failures != 0;
}
