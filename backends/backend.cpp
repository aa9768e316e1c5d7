// Operations that need no more than others.
#include "backends/backend.hpp"

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

void backend::fused_dot(const executor& where, const transform_arguments& update, type computation,
                        const dot_arguments& a) const {
  transform(where, update, computation);
  is_exact(a.options, a.result) ? exact(where, exact_of(a)) : dot(where, a);
}

void backend::fused_nrm2(const executor& where, const transform_arguments& update, type computation,
                         const reduce_arguments& a) const {
  transform(where, update, computation);
  is_exact(a.options, a.result) ? exact(where, exact_of(a)) : reduce(where, a);
}

}  // namespace tally::backends
