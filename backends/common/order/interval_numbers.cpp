#include "backends/common/order/interval_numbers.hpp"

#include "backends/common/order/interval.hpp"
#include "backends/common/order/interval_term.hpp"
#include "backends/common/order/tree.hpp"

#include <tally/numerics/order.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tally::backends {
namespace {

/// Returns the re (0) or im (1) component; im of a real vector is empty.
operand component_of(const operand& v, int which) {
  if (!is_complex(v.element)) return {v.data, which == 0 ? v.size : 0, v.increment, v.element};
  const type number = part_of(v.element);
  const auto offset = which * static_cast<std::ptrdiff_t>(size_of(number));
  return {static_cast<const char*>(v.data) + offset, v.size, 2 * v.increment, number};
}

/// Returns the real vectors whose products component k sums, in canonical order; empty if it is +0.
operand_pair factors_of(const interval_field& field, unsigned k) {
  operand x = component_of(field.x, part_of_x(field.what, k));
  if (field.what == summand::square) return {x, x};
  operand y = component_of(field.y, part_of_y(k));
  x.size = y.size = std::min(x.size, y.size);
  if (!in_order(x.element, y.element)) std::swap(x, y);
  return {x, y};
}

template <class R>
void write_terms(const interval_field& field, unsigned k, R scale, R* to) {
  const typed_vector x(field.x), y(field.what == summand::product ? field.y : field.x);
  for (std::size_t i = 0; i < field.x.size; ++i) {
    to[i] = interval_term<R>(field.what, x, y, k, i, scale);
  }
}

class fetched_fields {
 public:
  fetched_fields(const executor& where, fetch_elements& fetch) : where_(where), fetch_(fetch) {}

  /// Valid until the next call.
  interval_field of(const interval_field& field) {
    interval_field here = {field.what, fetched(field.x, x_), {}};
    if (field.what == summand::product) here.y = fetched(field.y, y_);
    return here;
  }

 private:
  operand fetched(const operand& v, std::vector<std::byte>& memory) {
    memory.resize(v.size * size_of(v.element));
    fetch_(where_, v, memory.data());
    return {memory.data(), v.size, 1, v.element};
  }

  const executor& where_;
  fetch_elements& fetch_;
  std::vector<std::byte> x_, y_;
};

/// Sums squares of scaled elements, by blocks on the host.
template <class R>
void sum_scaled(const backend& on_host, fetched_fields& fields, const executor& where,
                const interval_arguments& a) {
  constexpr std::size_t chunks_of_block = 64, block = chunks_of_block * order::chunk;
  std::vector<R> terms;
  auto* to = static_cast<R*>(a.sums);
  for (const interval_field& node : a.nodes) {
    for (unsigned k = 0; k < a.shape.numbers(); ++k) {
      tree<R> sums;
      for (std::size_t i = 0; i < node.x.size; i += block) {  // one block or a power of two
        const std::size_t n = std::min(block, node.x.size - i);
        terms.resize(n);
        write_terms<R>(fields.of({node.what, node.x.slice(i, n), {}}), k, static_cast<R>(a.scale),
                       terms.data());
        R sum{};
        on_host.reduce(
            where,
            {{terms.data(), n, 1, type_of<R>}, reduction::sum, {&sum, type_of<R>}, {.wait = true}});
        sums.add(sum, chunks_of_block);
      }
      *to++ = sums.total();
    }
  }
}

}  // namespace

std::vector<operand_pair> pairs_of(const interval_arguments& a) {
  std::vector<operand_pair> pairs;
  for (const interval_field& node : a.nodes) {
    for (unsigned k = 0; k < a.shape.numbers(); ++k) pairs.push_back(factors_of(node, k));
  }
  return pairs;
}

void sum_interval_by_numbers(const backend& sums, const backend& on_host, fetch_elements& fetch,
                             const executor& where, const interval_arguments& a) {
  const auto numbers = static_cast<unsigned>(a.shape.numbers());
  with_component_type(part_of(a.shape.accumulator), [&]<class R>() {
    fetched_fields fields(where, fetch);
    for (const terms_destination& t : a.terms) {
      const interval_field here = fields.of(t.elements);
      for (unsigned k = 0; k < numbers; ++k) {
        write_terms<R>(here, k, static_cast<R>(a.scale), static_cast<R*>(t.to) + k * t.stride);
      }
    }
    if (a.when_terms_are_there) a.when_terms_are_there();

    if (a.scale != 1) return sum_scaled<R>(on_host, fields, where, a);
    if (a.nodes.empty()) return;
    if (a.shape.what == summand::product || a.shape.what == summand::square) {
      const std::vector<operand_pair> pairs = pairs_of(a);
      return sums.multi_dot(
          where, {{{}, {}, pairs}, conjugate::none, {a.sums, type_of<R>}, {.wait = true}});
    }
    const reduction what = a.shape.what == summand::value ? reduction::sum : reduction::asum;
    auto* to = static_cast<R*>(a.sums);
    for (const interval_field& node : a.nodes) {
      for (unsigned k = 0; k < numbers; ++k) {
        const operand x = component_of(node.x, part_of_x(node.what, k));
        sums.reduce(where, {x, what, {to++, type_of<R>}, {.wait = true}});
      }
    }
  });
}

}  // namespace tally::backends
