// Parameters of an update by sums: y_i = alpha * sum_i + beta * a_i.
#pragma once

#include "backends/common/types/typed_vector.hpp"

namespace tally::backends::cuda {

struct update_job {
  typed_vector y;  ///< no update if its data are null
  bool reads_addend = false;
  type computation = type::float64;  ///< C of <tally/sparse/spmv.hpp>
  /// alpha and beta, of type C.
  alignas(16) unsigned char factors[sizeof(backends::factors<complex_number<double>>)] = {};
  typed_vector addend;  ///< operand of beta
};

}  // namespace tally::backends::cuda
