// Reductions in plain loops.
#include "backends/serial/serial.hpp"

#include "backends/backends.hpp"
#include "backends/common/order/interval_numbers.hpp"
#include "backends/common/order/interval_term.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/serial/order.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tally::backends::serial {
namespace {

/// Returns |value|; for the least integer 2^63, which is -2^63 modulo 2^64.
template <class R>
R magnitude(R value) {
  if constexpr (std::is_integral_v<R>) {
    return value < 0 ? static_cast<R>(-static_cast<std::uint64_t>(value)) : value;
  } else {
    return std::abs(value);
  }
}

template <reduction what, class R>
R term(R number, [[maybe_unused]] R scale) {
  if constexpr (what == reduction::sum) {
    return number;
  } else if constexpr (what == reduction::asum) {
    return magnitude(number);
  } else {
    return number * scale * (number * scale);
  }
}

template <reduction what, class A, class X>
reduce_sum<A> sum(const operand& x, real_t<A> scale) {
  using R = real_t<A>;
  const auto* const data = static_cast<const detail::stored_t<X>*>(x.data);
  return sum_in_order<reduce_sum<A>>(x.size, [&](std::size_t i) -> reduce_sum<A> {
    const auto& element = data[static_cast<std::ptrdiff_t>(i) * x.increment];
    if constexpr (is_complex_v<X>) {
      return {term<what>(convert<R>(element.real()), scale),
              term<what>(convert<R>(element.imag()), scale)};
    } else {
      return {term<what>(convert<R>(element), scale)};
    }
  });
}

template <reduction what, class A>
constexpr auto sums = make_type_table<reduce_sum<A>(const operand&, real_t<A>), A>(
    []<class X>() { return &sum<what, A, X>; });

template <class A>
auto* sum_of(reduction what, type x) {
  switch (what) {
    case reduction::sum:
      return sums<reduction::sum, A>[x];
    case reduction::asum:
      return sums<reduction::asum, A>[x];
    default:
      return sums<reduction::nrm2, A>[x];
  }
}

template <class R>
void write_terms(const interval_arguments& a) {
  for (const terms_destination& t : a.terms) {
    const interval_field& from = t.elements;
    const typed_vector x(from.x), y(from.y);
    if (from.squared) {
      const weighted_vectors vectors(from.x, from.y, from.mask);
      for (std::size_t i = 0; i < from.x.size; ++i) {
        static_cast<R*>(t.to)[i] = vectors.square<R>(i);
      }
      continue;
    }
    for (unsigned k = 0; k < a.shape.numbers(); ++k) {
      R* const to = static_cast<R*>(t.to) + k * t.stride;
      for (std::size_t i = 0; i < from.x.size; ++i) {
        to[i] = interval_term<R>(from.what, x, y, k, i);
      }
    }
  }
}

/// Vectors of fields as rows, if they lie at one distance.
std::optional<operand_rows> rows_of(std::span<const interval_field> fields,
                                    operand interval_field::* vector) {
  const auto address = [&](std::size_t j) {
    return reinterpret_cast<std::intptr_t>((fields[j].*vector).data);
  };
  const operand& first = fields[0].*vector;
  const std::intptr_t bytes = address(1) - address(0),
                      size = static_cast<std::intptr_t>(size_of(first.element));
  for (std::size_t j = 1; j < fields.size(); ++j) {
    if (address(j) - address(j - 1) != bytes) return {};
    if ((fields[j].*vector).increment != first.increment) return {};
  }
  if (bytes % size != 0) return {};
  return operand_rows{first, fields.size(), bytes / size};
}

/// Writes real sums of several fields node by node and returns true, if their vectors are rows of a
/// layout: such are summed side by side.
template <class R>
bool sum_rows(const executor& where, const interval_arguments& a) {
  const summand what = a.shape.what;
  const std::size_t fields = a.shape.fields;
  const bool products = what == summand::product;
  if (a.shape.numbers() > 1 || fields < 2 || !(products || what == summand::value)) return false;
  auto* to = static_cast<R*>(a.sums);
  for (std::size_t i = 0; i < a.nodes.size(); i += fields, to += fields) {
    const std::span node = a.nodes.subspan(i, fields);
    std::optional<operand_rows> x = rows_of(node, &interval_field::x), y = operand_rows{};
    if (products) y = rows_of(node, &interval_field::y);
    if (!x || !y) return false;
    if (products && !in_order(x->first.element, y->first.element)) std::swap(x, y);
    multi_sum all =
        multi_dot_arguments{{*x, *y}, conjugate::none, {to, type_of<R>}, {.wait = true}};
    all.values = !products;
    backends::multi_dot(where, all);
  }
  return true;
}

/// Squares are first summed as products; the scaled sum takes another pass, if it matters.
template <class R>
void sum_nodes(const executor& where, const interval_arguments& a) {
  if (sum_rows<R>(where, a)) return;
  const auto numbers = static_cast<unsigned>(a.shape.numbers());
  const summand what = a.shape.what;
  const bool squares = what == summand::square;
  if (a.nodes[0].squared) {
    auto* to = static_cast<R*>(a.sums);
    for (const interval_field& node : a.nodes) {
      backends::weighted(
          where,
          {node.x, node.y, node.mask, weighted_norm::squares, {to++, type_of<R>}, {.wait = true}});
    }
    return;
  }
  std::vector<R> plain(squares ? a.nodes.size() * numbers : 0);
  if (squares || what == summand::product) {
    const std::vector<operand_pair> pairs = pairs_of(a);
    backends::multi_dot(where, multi_dot_arguments{{{}, {}, pairs},
                                                   conjugate::none,
                                                   {squares ? plain.data() : a.sums, type_of<R>},
                                                   {.wait = true}});
    if (!squares) return;
  }
  auto* to = static_cast<R*>(a.sums);
  for (std::size_t i = 0; i < a.nodes.size() * numbers; ++i) {
    const operand x = component_of(a.nodes[i / numbers].x, static_cast<int>(i % numbers));
    if (squares) {
      using range = norm_range<R>;
      norm_sum<R> node{plain[i]};
      if (node.is_small() || node.sum >= range::unheard) {
        node.scaled = backends::serial::sums<reduction::nrm2, R>[x.element](x, node.scale()).value;
      }
      *to++ = node.sum;
      *to++ = node.scaled;
    } else {
      const reduction of = what == summand::value ? reduction::sum : reduction::asum;
      backends::reduce(where, {x, of, {to++, type_of<R>}, {.wait = true}});
    }
  }
}

}  // namespace

void backend::sum_interval(const executor& where, const interval_arguments& a) const {
  with_type<type_list<float, double>>(part_of(a.shape.accumulator), [&]<class R>() {
    write_terms<R>(a);
    if (a.when_terms_are_there) a.when_terms_are_there();
    if (!a.nodes.empty()) sum_nodes<R>(where, a);
  });
}

void backend::reduce(const executor&, const reduce_arguments& a) const {
  with_type<accumulator_types>(accumulator_of(a), [&]<class A>() {
    auto* const sum = sum_of<A>(a.what, a.x.element);
    reduce_on_host<A>(a, [&](real_t<A> scale) { return sum(a.x, scale); });
  });
}

void backend::weighted(const executor&, const weighted_norm_arguments& a) const {
  const weighted_vectors vectors(a.x, a.w, a.mask);
  with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
    const auto sum = sum_in_order<dot_sum<R>>(
        a.x.size, [&](std::size_t i) { return dot_sum<R>{vectors.square<R>(i)}; });
    *static_cast<R*>(a.result.data) = finish_weighted(sum.value, a.what, a.x.size);
  });
}

}  // namespace tally::backends::serial
