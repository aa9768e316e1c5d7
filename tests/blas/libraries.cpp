#include "tests/blas/names.hpp"

#include <cstdio>
#include <cstdlib>

namespace blas_test {
namespace {

library load(const char* path, std::vector<symbol> symbols, bool in_memory) {
  void* const loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return {path, loaded, std::move(symbols), in_memory};
}

}  // namespace

void* library::operator[](const char* name) const {
  void* const found = dlsym(loaded, name);
  if (found == nullptr) {
    std::fprintf(stderr, "%s has no %s\n", path, name);
    std::exit(1);
  }
  return found;
}

const std::vector<library>& libraries() {
  static const std::vector<library> all = {load(TALLY_BLAS, symbols(), false),
                                           load(TALLY_BLAS64, symbols_of_blas64(), false),
                                           load(TALLY_BLAS_F2C, symbols(), true)};
  return all;
}

}  // namespace blas_test
