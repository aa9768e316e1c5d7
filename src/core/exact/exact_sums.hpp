// The exact grade adds terms up in these sums on a host, and makes the result of them.
#pragma once

#include "src/core/table.hpp"

#include <tally/exact_sum.hpp>

namespace tally::backends {

/// Has the sums of the real and the imaginary part. Magnitudes and squares have the real one alone.
struct exact_sums {
  exact_sum<double> re, im;

  void merge(const exact_sums& other) {
    re.merge(other.re);
    im.merge(other.im);
  }
};

/// Rounds the sums, once, and writes them where and as what the caller wants the result.
inline void write_rounded(const exact_sums& sums, const exact_arguments& a) {
  const auto write = [&]<class R>(R* result) {
    if (a.term == exact_term::square) {
      result[0] = sums.re.round_root<R>();
      return;
    }
    result[0] = sums.re.round<R>();
    if (a.result.element == type::complex64 || a.result.element == type::complex128) {
      result[1] = sums.im.round<R>();
    }
  };
  if (a.result.element == type::float32 || a.result.element == type::complex64) {
    write(static_cast<float*>(a.result.data));
  } else {
    write(static_cast<double*>(a.result.data));
  }
}

/// Adds terms to sums. The environment must be the default one.
using exact_node = void(const exact_arguments& a, exact_sums& to);

}  // namespace tally::backends
