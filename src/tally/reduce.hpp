// Reductions of one vector: sum, asum, nrm2.
#pragma once

#include <tally/exact.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/types.hpp>

namespace tally {

/// What becomes of a vector: sum x_i; sum |x_i| (for complex |re| + |im|, BLAS `asum`);
/// sqrt(sum |x_i|^2) (BLAS `nrm2`).
enum class reduction : std::uint8_t { sum, asum, nrm2 };

/// What one reduction is asked for, its types erased.
struct reduce_arguments {
  operand x;
  reduction what = reduction::sum;
  output result;
  bool exact = false;  ///< the correctly rounded value, <tally/exact.hpp>
  bool wait = true;    ///< as in `dot_arguments`
};

/// A reduction with its types erased: what the templates below call, for bindings.
TALLY_EXPORT void reduce(const executor& where, const reduce_arguments& arguments);

}  // namespace tally
