// multi_axpy as a sequence of element-wise functions.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/elementwise/elementwise.hpp"
#include "backends/common/elementwise/moves.hpp"

#include <tally/operations/multi_axpy.hpp>

#include <cstddef>

namespace tally::backends {

/// Returns factor j of a vector in host memory.
inline scalar factor_at(const operand& factors, std::size_t j) {
  return scalar_at(factors.slice(j, 1).data, factors.element);
}

/// Returns step j, on elements [first, first + n).
inline transform_arguments step_of(const multi_axpy_arguments& a, std::size_t j, std::size_t first,
                                   std::size_t n) {
  const operand x = a.x[j].slice(first, n);
  const output_operand y = a.y.slice(first, n);
  const scalar alpha = factor_at(a.alpha, j);
  if (j > 0) return {elementwise::axpby, alpha, 1, x, y, y};
  if (a.beta.is_zero()) return {elementwise::scal, alpha, {}, x, {nullptr, 0, 1, x.element}, y};
  return {elementwise::axpby, alpha, a.beta, x, y, y};
}

}  // namespace tally::backends
