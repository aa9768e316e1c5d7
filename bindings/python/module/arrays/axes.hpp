// The arguments axis= and keepdims=.
#pragma once

#include "arrays/layout.hpp"
#include "call.hpp"

namespace python {

/// Axes of an array that a function keeps and those that it reduces, both in C order.
struct axes {
  int kept[max_dimensions], reduced[max_dimensions];
  int kept_count = 0, reduced_count = 0;
  int ndim = 0;  ///< of the results
  std::int64_t shape[max_dimensions];

  /// `axis` is None (all), a number or a tuple.
  axes(const array& a, nb::handle axis, bool keepdims);
};

/// A copy of an array in C order of the kept, then the reduced axes, in its own library.
void copy_slices(call& c, const axes& x, array& a);

}  // namespace python
