// All symbols of one of the libraries, of bindings/blas/names.h.
#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace blas_test {

enum class convention { fortran32, fortran64, c32, c64, subroutine32, subroutine64 };

struct symbol {
  std::string routine;  ///< "ddot"
  convention called;
  const char* name;  ///< "cblas_ddot64_"
};

std::vector<symbol> symbols();
std::vector<symbol> symbols_of_blas64();

/// A library of the build, loaded with RTLD_LOCAL; ends the program where that fails.
struct library {
  const char* path;
  void* loaded;
  std::vector<symbol> symbols;
  bool returns_complex_in_memory = false;

  void* operator[](const char* name) const;
};

/// libtally_blas, libtally_blas64, libtally_blas_f2c.
const std::vector<library>& libraries();

/// The first one's symbol as a function.
template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(libraries().front()[name]);
}

}  // namespace blas_test
