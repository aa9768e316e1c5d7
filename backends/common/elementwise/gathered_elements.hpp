// Gather and scatter of one element.
#pragma once

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/sparse/csr.hpp"

#include <tally/operations/gather.hpp>

#include <cstddef>

namespace tally::backends {

struct gathered_elements {
  moved_vector from, to;
  index_vector indices;
  int bytes;        ///< of an element
  bool is_boolean;  ///< nonzero bytes are written as 1
  bool is_scatter;  ///< indices are into `to`, else into `from`

  explicit gathered_elements(const gather_arguments& a)
      : from(output_operand{const_cast<void*>(a.x.data), a.x.size, a.x.increment, a.x.element}),
        to(a.z),
        indices(a.indices),
        bytes(static_cast<int>(size_of(a.x.element))),
        is_boolean(a.x.element == type::boolean),
        is_scatter(a.scatters) {}

  /// Moves element i in units of an unsigned integer type that its alignment allows.
  template <class unit>
  TALLY_HOST_DEVICE void move(std::size_t i) const {
    const auto place = static_cast<std::size_t>(indices[i]);
    const auto* const x = reinterpret_cast<const unit*>(from.at(is_scatter ? i : place));
    auto* const z = reinterpret_cast<unit*>(to.at(is_scatter ? place : i));
    if (is_boolean) {
      *z = static_cast<unit>(*x != 0);
      return;
    }
    constexpr int size = sizeof(unit);
    for (int k = 0; k < bytes / size; ++k) z[k] = x[k];
  }
};

}  // namespace tally::backends
