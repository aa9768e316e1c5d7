// Shared libraries opened at run time: one binary compares with whatever is installed.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace bench {

/// RTLD_LOCAL and RTLD_DEEPBIND: OpenBLAS and BLIS export the same names, and Kokkos Kernels may
/// bring one along.
class library {
 public:
  /// Opens the first available of `names`, until the process ends.
  explicit library(std::initializer_list<std::string> names) {
    for (const std::string& name : names) {
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
      if (handle_) return;
    }
  }

  explicit operator bool() const { return handle_ != nullptr; }

  template <class F>
  F* function(const char* name) const {
    void* const found = dlsym(handle_, name);
    if (!found)
      throw std::runtime_error(std::string("no ") + name + " in a library that is a peer");
    return reinterpret_cast<F*>(found);
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace bench
