// Sums over an interval; terms are made on the host, to which elements are copied. Nodes are joined
// by a thread per field.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/order/interval_numbers.hpp"
#include "backends/common/order/node_sum.hpp"
#include "backends/kokkos/sums.hpp"

#include <tally/error.hpp>

namespace tally::backends::kokkos {
namespace {

struct gather_bytes {
  const std::byte* from;
  std::ptrdiff_t stride;  // bytes between elements
  std::size_t size;       // bytes per element
  std::byte* to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::byte* const element = from + static_cast<std::ptrdiff_t>(i) * stride;
    for (std::size_t k = 0; k < size; ++k) to[i * size + k] = element[k];
  }
};

void fetch(const executor& where, const operand& x, void* to) {
  if constexpr (on_host) {
    fetch_on_host(where, x, to);
  } else {
    locked([&] {
      const space on;
      const std::size_t size = size_of(x.element);
      auto* const adjacent = static_cast<std::byte*>(scratch(x.size * size));
      Kokkos::parallel_for(
          "tally fetch", Kokkos::RangePolicy<space>(on, 0, x.size),
          gather_bytes{static_cast<const std::byte*>(x.data),
                       x.increment * static_cast<std::ptrdiff_t>(size), size, adjacent});
      copy_to_host(on, adjacent, to, static_cast<int>(x.size * size));
      on.fence();
    });
  }
}

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

void backend::sum_interval(const executor& where, const interval_arguments& a) const {
  if (!on_host && !a.wait && !a.terms.empty()) {
    throw error(errc::invalid_argument, std::string("tally::") + a.function +
                                            ": Kokkos on a device would wait for the terms");
  }
  write_interval_terms(fetch, where, a);
  if (a.nodes.empty()) return;
  const std::size_t each = node_sum_bytes(a.shape.what, a.shape.accumulator);
  auto* to = static_cast<std::byte*>(a.sums);
  std::size_t longest = 0;
  for (const interval_field& node : a.nodes) longest = std::max(longest, node.x.size);
  const auto leave = a.shape.what == summand::product ? leave_products : leave_elements;
  locked([&] {
    (void)scratch(node_count(longest) * each);  // so that none fails after another has written
    for (const interval_field& node : a.nodes) {
      leave(a.shape.accumulator, node, to, a.wait);
      to += each;
    }
  });
}

void backend::join_nodes(const executor&, const join_arguments& a) const {
  locked([&] {
    const space where;
    with_node(a.shape.what, a.shape.accumulator, [&]<summand what, class A>() {
      using join = join_field<what, A>;
      Kokkos::parallel_for(
          "tally join", Kokkos::RangePolicy<space>(where, 0, a.shape.fields),
          join{a.steps.data(), a.steps.size(), static_cast<const typename join::Sum*>(a.nodes),
               a.shape.fields, a.conjugated, static_cast<typename join::R*>(a.results)});
    });
    if (on_host) where.fence();
  });
}

}  // namespace tally::backends::kokkos
