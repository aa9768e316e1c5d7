// Joins nodes of longer vectors' trees on Kokkos, a thread per field.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

template <summand what, class A>
struct join_field {
  using Sum = node_sum<what, A>;
  using R = real_t<A>;
  static constexpr int parts = result_parts<what, A>;

  const join_step* steps;
  std::size_t count;
  const Sum* nodes;
  std::size_t fields;
  conjugate conjugated;
  R* results;

  KOKKOS_FUNCTION void operator()(std::size_t field) const {
    const environment_guard environment;
    joined_nodes<Sum> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.take(nodes[static_cast<std::size_t>(steps[i].node) * fields + field], steps[i].additions);
    }
    const auto made = finish_node<what, A>(all.count > 0 ? all.held[0] : Sum{}, conjugated);
    R* const to = results + field * parts;
    to[0] = made.re;
    if (parts == 2) to[1] = made.im;
  }
};

}  // namespace

void sum_node(const executor&, const node_arguments& a) {
  const auto lock = acquire();
  a.what == summand::product ? sum_node_of_products(a) : sum_node_of_elements(a);
}

void join_nodes(const executor&, const join_arguments& a) {
  const auto lock = acquire();
  const space where;
  with_node(a.shape.what, a.shape.accumulator, [&]<summand what, class A>() {
    using join = join_field<what, A>;
    Kokkos::parallel_for(
        "tally join", Kokkos::RangePolicy<space>(where, 0, a.shape.fields),
        join{a.steps.data(), a.steps.size(), static_cast<const typename join::Sum*>(a.nodes),
             a.shape.fields, a.conjugated, static_cast<typename join::R*>(a.results)});
  });
  if (on_host) where.fence();
}

// Never called: the public function rejects peer buffers here.
void join_words(const executor&, const join_words_arguments&) {}

}  // namespace tally::backends::kokkos
