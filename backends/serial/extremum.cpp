// Extrema in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/common/extremum/rank.hpp"

namespace tally::backends::serial {
namespace {

template <extreme what, class X>
candidate best_of(const operand& x) {
  const auto* const data = static_cast<const detail::stored_t<X>*>(x.data);
  const auto at = [&](std::size_t i) -> const detail::stored_t<X>& {
    return data[static_cast<std::ptrdiff_t>(i) * x.increment];
  };
  if (x.size == 0) return {};
  std::size_t best = 0;
  auto best_rank = rank_of<what, X>(at(0));
  for (std::size_t i = 1; i < x.size; ++i) {
    const auto rank = rank_of<what, X>(at(i));
    if (rank > best_rank) best = i, best_rank = rank;
  }
  return candidate_at<what, X>(at(best), best);
}

template <class X>
candidates best_of(extreme what, const operand& x) {
  if (what == extreme::iamax) return {{}, best_of<extreme::iamax, X>(x)};
  candidates best;
  if constexpr (!is_complex_v<X>) {
    if (what != extreme::max) best.min = best_of<extreme::min, X>(x);
    if (what != extreme::min) best.max = best_of<extreme::max, X>(x);
  }
  return best;
}

}  // namespace

void backend::extremum(const executor&, const extremum_arguments& a) const {
  with_type(a.x.element, [&]<class X>() { write_result(a, best_of<X>(a.what, a.x)); });
}

}  // namespace tally::backends::serial
