// Intel MKL, where it is: on the loader's path, or in the folder that MKLROOT names.
#pragma once

#include "bench/peers/library.hpp"

#include <string>

namespace bench::peers {

struct mkl {
  library from;
  std::string version;
  void (*set_threads)(int);
};

/// Returns it; null where it isn't installed.
const mkl* find_mkl();

}  // namespace bench::peers
