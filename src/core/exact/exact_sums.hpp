// The exact grade adds terms up in these sums on a host, and makes the result of them.
#pragma once

#include "src/core/table.hpp"
#include "src/core/types/tables.hpp"

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
    if (is_complex(a.result.element)) result[1] = sums.im.round<R>();
  };
  with_type<type_list<float, double>>(part_of(a.result.element),
                                      [&]<class R>() { write(static_cast<R*>(a.result.data)); });
}

/// Adds terms to sums. The environment must be the default one.
using exact_node = void(const exact_arguments& a, exact_sums& to);

}  // namespace tally::backends
