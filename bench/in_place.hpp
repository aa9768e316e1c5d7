// Candidates that update a vector in place, as BLAS's axpy.
#pragma once

#include "bench/contender.hpp"

#include <cstring>
#include <utility>

namespace bench {

/// z starts as y where it is checked.
inline contender in_place(contender c, const workload& w) {
  c.compute = [compute = std::move(c.compute), y = w.y, z = w.z](void* result) {
    std::memcpy(z, y.data, y.size * tally::size_of(y.element));
    compute(result);
  };
  return c;
}

}  // namespace bench
