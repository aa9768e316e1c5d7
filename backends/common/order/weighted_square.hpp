// Terms (x_i * w_i)^2 of weighted norms, and their results; shared by all backends.
#pragma once

#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/types/typed_vector.hpp"

#include <tally/operations/norms.hpp>

#include <cstddef>
#include <optional>

namespace tally::backends {

/// Vectors of run-time types.
struct weighted_vectors {
  typed_vector x, w, mask;
  bool is_masked = false;

  weighted_vectors() = default;
  weighted_vectors(const operand& x_, const operand& w_, const std::optional<operand>& mask_)
      : x(x_), w(w_), is_masked(mask_.has_value()) {
    if (is_masked) mask = typed_vector(*mask_);
  }

  /// Returns x_i * w_i, rounded; +0 where the mask is not positive.
  template <class R>
  TALLY_HOST_DEVICE R product(std::size_t i) const {
    if (is_masked && !(mask.get<double>(i) > 0)) return R{};
    return x.get<R>(i) * w.get<R>(i);
  }
  template <class R>
  TALLY_HOST_DEVICE R square(std::size_t i) const {
    const R number = product<R>(i);
    return number * number;
  }
};

/// Returns the root of the mean of n terms with this sum; 0 for n = 0.
template <class R>
TALLY_HOST_DEVICE R root_of_mean(R sum, std::size_t n) {
  return canonical(norm(rounded_quotient(sum, static_cast<R>(n > 0 ? n : 1)), R{1}));
}

/// Returns the result of a sum of n terms.
template <class R>
TALLY_HOST_DEVICE R finish_weighted(R sum, weighted_norm what, std::size_t n) {
  switch (what) {
    case weighted_norm::root:
      return canonical(norm(sum, R{1}));
    case weighted_norm::root_mean:
      return root_of_mean(sum, n);
    default:
      return canonical(sum);
  }
}

}  // namespace tally::backends
