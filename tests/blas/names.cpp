// Compiled twice: for libtally_blas64 with TALLY_BLAS_PLAIN_64.
#include "tests/blas/names.hpp"

#include "bindings/blas/names.h"

namespace blas_test {

#ifdef TALLY_BLAS_PLAIN_64
std::vector<symbol> symbols_of_blas64() {
#else
std::vector<symbol> symbols() {
#endif
#define NAME(how, routine, symbol) {#routine, convention::how, #symbol},
#define NAMES(name, c_name, shape, T, R) \
  TALLY_BLAS_NAMES(NAME, name, c_name)   \
  TALLY_BLAS_SUBROUTINE_##shape(NAME, name)
  return {TALLY_BLAS_ROUTINES(NAMES)};
}

}  // namespace blas_test
