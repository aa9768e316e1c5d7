// gemv in two calls: sums, then the update of y.
#pragma once

#include "backends/backends.hpp"

#include <cstddef>

namespace tally::backends {

/// Returns the bytes of an update's sums.
inline std::size_t bytes_of_sums(const multi_sum& a) {
  return a.pairs.size() * size_of(a.results.element);
}

/// Sums into `memory`, of `bytes_of_sums(a)`, then an update of y.
inline void update_by_sums(const executor& where, const multi_sum& a, void* memory) {
  const sums_update& update = *a.update;
  multi_sum sums = a;
  sums.update.reset();
  sums.results.data = memory;
  sums.options.wait = false;
  backends::multi_dot(where, sums);
  const operand r{memory, a.pairs.size(), 1, a.results.element};
  const bool adds = update.reads_addend();
  backends::transform(where,
                      {adds ? elementwise::axpby : elementwise::scal, update.alpha, update.beta, r,
                       adds ? update.addend() : operand{}, update.y},
                      detail::spmv_combination(a.results.element, update.y.element));
}

}  // namespace tally::backends
