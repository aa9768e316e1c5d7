/* netlib's error routine of CBLAS, which knows by a variable that a call was by rows. */
#include <stdio.h>

int RowMajorStrg = 0;

void cblas_xerbla(int argument, const char* name, const char* format, ...) {
  (void)format;
  if (RowMajorStrg && (argument == 3 || argument == 4)) argument = 7 - argument;
  fprintf(stderr, "%s %d;", name, argument);
}
