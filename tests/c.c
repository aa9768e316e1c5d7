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
  double r = 0, rc[2] = {0, 0};
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

  r = 42;
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
