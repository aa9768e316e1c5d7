// What both programs share: SUNDIALS's context, and elements of vectors on any executor.
#pragma once

#include "nvector_tally.hpp"

#include <sundials/sundials_config.h>
#include <sundials/sundials_context.h>

#include <span>
#include <vector>

namespace example {

class context {
 public:
  context() {
#if SUNDIALS_VERSION_MAJOR >= 7
    SUNContext_Create(SUN_COMM_NULL, &made_);
#else
    SUNContext_Create(nullptr, &made_);
#endif
  }
  ~context() { SUNContext_Free(&made_); }
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  operator SUNContext() const { return made_; }

 private:
  SUNContext made_ = nullptr;
};

/// Waits for the work queued before.
inline std::vector<double> on_host(N_Vector v) {
  std::vector<double> all(elements(v).size());
  if (!all.empty()) {
    tally::copy_bytes(executor_of(v), elements(v).data(), all.data(), all.size() * sizeof(double));
  }
  return all;
}

inline void assign(N_Vector v, std::span<const double> values) {
  if (values.empty()) return;
  tally::copy_bytes(executor_of(v), values.data(), elements(v).data(), values.size_bytes());
}

}  // namespace example
