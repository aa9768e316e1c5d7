// Sums over an interval. Nodes are joined by a thread per field.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/order/interval_term.hpp"
#include "backends/common/order/node_sum.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/kokkos/sums.hpp"

namespace tally::backends::kokkos {
namespace {

template <class R>
struct write_terms {
  summand what;
  typed_vector x, y;
  unsigned number;
  R* to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    to[i] = interval_term<R>(what, x, y, number, i);
  }
};

template <class R>
struct write_weighted {
  weighted_vectors vectors;
  R* to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const R number = vectors.product<R>(i);
    to[i] = multiply(number, number);
  }
};

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
  const summand what = a.shape.what;
  locked([&] {
    const space on = space_of(where);
    with_type<type_list<float, double>>(part_of(a.shape.accumulator), [&]<class R>() {
      for (const terms_destination& t : a.terms) {
        const std::size_t n = t.elements.x.size;
        for (unsigned k = 0; k < a.shape.numbers(); ++k) {
          const bool staged = a.wait && !on_host;
          R* const to = static_cast<R*>(t.to) + k * t.stride;
          R* const made = staged ? static_cast<R*>(scratch(on, n * sizeof(R))) : to;
          if (const interval_field& f = t.elements; f.squared) {
            for_each(on, "tally terms", n,
                     write_weighted<R>{weighted_vectors(f.x, f.y, f.mask), made});
          } else {
            for_each(on, "tally terms", n,
                     write_terms<R>{what, typed_vector(f.x), typed_vector(f.y), k, made});
          }
          if (staged) copy_to_host(on, made, to, static_cast<int>(n));
        }
      }
    });
    if (a.wait || on_host) on.fence();
  });
  if (a.when_terms_are_there) a.when_terms_are_there();
  if (a.nodes.empty()) return;

  const std::size_t each = node_sum_bytes(what, a.shape.accumulator);
  auto* to = static_cast<std::byte*>(a.sums);
  const auto leave = a.nodes[0].squared         ? leave_weighted
                     : what == summand::product ? leave_products
                                                : leave_elements;
  locked([&] {
    const space on = space_of(where);
    (void)scratch(on, node_bytes);  // so that none fails after another has written
    (void)memory_of_launches(on);
    for (const interval_field& node : a.nodes) {
      leave(on, a.shape.accumulator, node, to, a.wait);
      to += each;
    }
  });
}

void backend::join_nodes(const executor& where, const join_arguments& a) const {
  locked([&] {
    const space on = space_of(where);
    with_node(a.shape.what, a.shape.accumulator, [&]<summand what, class A>() {
      using join = join_field<what, A>;
      for_each(on, "tally join", a.shape.fields,
               join{a.steps.data(), a.steps.size(), static_cast<const typename join::Sum*>(a.nodes),
                    a.shape.fields, a.conjugated, static_cast<typename join::R*>(a.results)});
    });
    if (on_host) on.fence();
  });
}

}  // namespace tally::backends::kokkos
