// Operations that need no more than others.
#include "backends/backend.hpp"

#include <tally/operations/fused.hpp>

namespace tally::backends {

void backend::multi_dot(const executor& where, const multi_dot_arguments& a) const {
  for (std::size_t j = 0; j < a.pairs.size(); ++j) {
    const dot_arguments one = dot_of_pair(a, j);
    is_exact(a) ? exact(where, exact_of(one)) : dot(where, one);
  }
}

void backend::multi_exact(const executor& where, std::span<const exact_arguments> all) const {
  for (const exact_arguments& one : all) exact(where, one);
}

void backend::fused(const executor& where, const fused_update& a) const {
  transform(where, a.update, a.computation);
  if (a.what == fused_sum::dot) {
    a.is_exact() ? exact(where, exact_of(a.sum)) : dot(where, a.sum);
  } else {
    a.is_exact() ? exact(where, exact_of(a.nrm2())) : reduce(where, a.nrm2());
  }
}

}  // namespace tally::backends
