// Nodes of a longer vector's tree, summed and joined in plain loops.
#include "backends/common/order/node_sum.hpp"
#include "backends/serial/serial.hpp"

namespace tally::backends::serial {

void sum_node(const executor&, const node_arguments& a) {
  a.what == summand::product ? sum_node_of_products(a) : sum_node_of_elements(a);
}

void join_nodes(const executor&, const join_arguments& a) {
  with_node(a.shape.what, a.shape.accumulator, [&]<summand what, class A>() {
    using Sum = node_sum<what, A>;
    using R = real_t<A>;
    const auto* const nodes = static_cast<const Sum*>(a.nodes);
    R* to = static_cast<R*>(a.results);
    for (std::size_t f = 0; f < a.shape.fields; ++f) {
      joined_nodes<Sum> all;
      for (const join_step& step : a.steps) {
        all.take(nodes[static_cast<std::size_t>(step.node) * a.shape.fields + f], step.additions);
      }
      const complex_number<R> result =
          finish_node<what, A>(all.count > 0 ? all.held[0] : Sum{}, a.conjugated);
      *to++ = result.re;
      if (result_parts<what, A> == 2) *to++ = result.im;
    }
  });
}

// Never called: the public function rejects peer buffers on a host.
void join_words(const executor&, const join_words_arguments&) {}

}  // namespace tally::backends::serial
