#include "bench/peers/xsum.h"

#include <xsum.h>

double tally_bench_xsum_large(const double* x, size_t n) {
  xsum_large_accumulator sum;
  xsum_large_init(&sum);
  xsum_large_addv(&sum, x, (xsum_length)n);
  return xsum_large_round(&sum);
}

double tally_bench_xsum_small(const double* x, size_t n) {
  xsum_small_accumulator sum;
  xsum_small_init(&sum);
  xsum_small_addv(&sum, x, (xsum_length)n);
  return xsum_small_round(&sum);
}
