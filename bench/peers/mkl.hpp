// Intel MKL, on the loader's path or in the folder MKLROOT.
#pragma once

#include "bench/peers/library.hpp"

#include <string>

namespace bench::peers {

struct mkl {
  library from;
  std::string version;
  void (*set_threads)(int);
};

/// Null if not installed.
const mkl* find_mkl();

}  // namespace bench::peers
