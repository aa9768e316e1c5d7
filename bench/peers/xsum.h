// Radford Neal's xsum for C++: its own header is C.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Rounded once, by xsum's large or small accumulator.
double tally_bench_xsum_large(const double* x, size_t n);
double tally_bench_xsum_small(const double* x, size_t n);

#ifdef __cplusplus
}
#endif
