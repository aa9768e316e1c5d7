// An interval of chunks as nodes of the order's tree: the largest within it, in order. Sizes rise,
// then fall; no two neighbours are siblings.
#pragma once

#include <tally/distributed/interval_sum.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tally::backends {

/// Node over chunks [first, first + chunks); `chunks` is a power of two that divides `first`.
struct interval_node {
  std::int64_t first = 0;
  std::int64_t chunks = 1;

  std::int64_t last() const { return first + chunks; }
};

template <class F>
void for_each_node(std::int64_t first, std::int64_t last, const F& f) {
  while (first < last) {
    const auto fits = std::bit_floor(static_cast<std::uint64_t>(last - first));
    const auto aligned =
        static_cast<std::uint64_t>(first) & (0 - static_cast<std::uint64_t>(first));
    const auto chunks = static_cast<std::int64_t>(first == 0 ? fits : std::min(fits, aligned));
    f(interval_node{first, chunks});
    first += chunks;
  }
}

/// Number of nodes of chunks [first, last).
inline std::int64_t count_nodes(std::int64_t first, std::int64_t last) {
  if (first >= last) return 0;
  // Nodes rise up to `last` without the bits below the highest that differs from `first`. On either
  // side of that point the 1 bits of the distance are the nodes.
  const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(last);
  const std::uint64_t highest = std::bit_floor(a ^ b), below = highest - 1;
  return std::popcount(highest - (a & below)) + std::popcount(b & below);
}

/// Maximum number of nodes of an interval.
constexpr std::int64_t max_nodes(std::int64_t chunks) {
  if (chunks <= 0) return 0;
  const int highest_bit = 63 - std::countl_zero(static_cast<std::uint64_t>(chunks - 1));
  return std::max(1, 2 * highest_bit);
}

constexpr std::int64_t count_chunks(std::int64_t elements) {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  return elements / chunk + (elements % chunk != 0);
}

template <class R>
R* nodes_of(interval_head& head) {
  return reinterpret_cast<R*>(&head + 1);
}
template <class R>
const R* nodes_of(const interval_head& head) {
  return reinterpret_cast<const R*>(&head + 1);
}

template <class F>
void with_component_type(type element, const F& f) {
  element == type::float32 ? f.template operator()<float>() : f.template operator()<double>();
}

/// Appends the next node, with components value(0), value(1), ..., merging with left siblings.
template <class R, class Value>
void append_node(interval_head& head, const interval_node& next, const Value& value) {
  if (head.first == head.last) head.first = head.last = next.first;
  const std::int64_t held = count_nodes(head.first, head.last);
  const std::int64_t additions = held + 1 - count_nodes(head.first, next.last());
  R* node = nodes_of<R>(head) + (held - (additions > 0)) * head.numbers;
  for (std::int32_t i = 0; i < head.numbers; ++i) {
    node[i] = additions > 0 ? node[i] + value(i) : value(i);
  }
  for (std::int64_t k = 1; k < additions; ++k) {
    node -= head.numbers;
    for (std::int32_t i = 0; i < head.numbers; ++i) node[i] = node[i] + node[head.numbers + i];
  }
  head.last = next.last();
}

/// See tally::append_interval.
inline void append(interval_head& head, const interval_head& next) {
  if (next.failed != 0 && (head.failed == 0 || next.failed < head.failed)) {
    head.failed = next.failed;
  }
  const bool empty = next.first == next.last;
  const bool adjacent = head.first == head.last || head.last == next.first;
  const bool alike = head.numbers == next.numbers && head.element == next.element;
  if (next.gap != 0 || !alike || (!empty && !adjacent)) head.gap = 1;
  if (head.gap != 0 || empty) return;
  with_component_type(head.element, [&]<class R>() {
    const R* from = nodes_of<R>(next);
    for_each_node(next.first, next.last, [&](const interval_node& node) {
      append_node<R>(head, node, [&](std::int32_t i) { return from[i]; });
      from += next.numbers;
    });
  });
}

/// Component i of the whole vector's sum: nodes added from the last, as in the tree.
template <class R>
R total_of(const interval_head& head, std::int32_t i) {
  const R* const nodes = nodes_of<R>(head);
  std::int64_t k = count_nodes(head.first, head.last);
  if (k == 0) return R{};
  R sum = nodes[--k * head.numbers + i];
  while (k > 0) {
    --k;
    sum = nodes[k * head.numbers + i] + sum;
  }
  return sum;
}

}  // namespace tally::backends
