/* A C program against an installed Tally. */
#include <stdio.h>
#include <tally/tally.h>

int main(void) {
  const double x[] = {1, 2, 3}, y[] = {4, 5, 6};
  double r = 0;
  if (tally_dot(NULL, 3, TALLY_FLOAT64, x, 1, TALLY_FLOAT64, y, 1, TALLY_FLOAT64, &r, NULL) !=
      TALLY_SUCCESS) {
    puts(tally_last_error());
    return 1;
  }
  printf("%g\n", r);
  return r != 32;
}
