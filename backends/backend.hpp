// A backend is a table of functions, one row an operation. The members are references, so a backend
// that lacks a row does not compile.
#pragma once

#include <tally/dot.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>

#include <string>
#include <string_view>

namespace tally::backends {

/// Who can reach an address.
struct place {
  static constexpr int none = -1;
  static constexpr int every = -2;

  bool host = true;   ///< the host can
  int device = none;  ///< the CUDA device that can: a number, `every` (managed, pinned) or `none`
};

struct backend {
  std::string_view name;
  /// What is behind the name, for people: "AVX2"; empty where there is nothing to say.
  std::string (&describe)(const executor& where);
  /// Whether kernels on `where` can read and write there.
  bool (&reaches)(const executor& where, const place& memory);

  /// The public function has checked the arguments: equal sizes, pointers that are aligned and
  /// reachable, increments not zero, the type of x not after that of y, a result type that the pair
  /// can accumulate.
  void (&dot)(const executor& where, const dot_arguments& arguments);
};

/// `reaches` of the backends that run on the host.
inline bool host_reaches(const executor&, const place& memory) { return memory.host; }

// The columns. One that a build leaves out is never referred to (see src/executor.cpp).
namespace serial {
extern const backend table;
}
namespace simd {
extern const backend table;
}
namespace openmp {
extern const backend table;
}
namespace cuda {
extern const backend table;
}
namespace kokkos {
extern const backend table;
}

}  // namespace tally::backends
