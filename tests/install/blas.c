/* A program that was linked with any BLAS: has ddot Tally's bits, and is the rest still there? */
#include <stdio.h>
#include <string.h>

double ddot_(const int* n, const double* x, const int* incx, const double* y, const int* incy);
void drot_(const int* n, double* x, const int* incx, double* y, const int* incy, const double* c,
           const double* s);

/* The order of docs/numerics.md for at most a chunk. */
static double tally_dot(const double* x, const double* y, int n) {
  double lane[64] = {0};
  int i, w;
  for (i = 0; i < n; ++i) {
    const volatile double product = x[i] * y[i];
    lane[i % 64] += product;
  }
  for (w = 32; w > 0; w /= 2) {
    for (i = 0; i < w; ++i) lane[i] += lane[i + w];
  }
  return lane[0];
}

int main(void) {
  enum { n = 1000 };
  static double x[n], y[n];
  const int size = n, one = 1;
  const double c = 0, s = 1;
  double found, expected;
  int i;
  for (i = 0; i < n; ++i) x[i] = 1.0 / (i + 1), y[i] = 1.0 / (2 * i + 3);
  found = ddot_(&size, x, &one, y, &one), expected = tally_dot(x, y, n);
  drot_(&one, x, &one, y, &one, &c, &s);
  if (y[0] != -1) return 1;
  printf("%s\n", memcmp(&found, &expected, sizeof found) == 0 ? "Tally's bits" : "other bits");
  return 0;
}
