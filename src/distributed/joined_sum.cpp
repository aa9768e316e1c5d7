// Public sums over devices.
#include <tally/distributed/joined_sum.hpp>
#include <tally/error.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operations/multi_dot.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/interval.hpp"
#include "backends/common/order/node_sum.hpp"
#include "src/check.hpp"
#include "src/distributed/interval_sum.hpp"
#include "src/operands/overlap.hpp"
#include "src/operations/pair_rules.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace tally {
namespace {

using backends::interval_node;
using backends::node_arguments;

constexpr auto chunk_size = static_cast<std::int64_t>(order::chunk);

/// 0 for an invalid shape.
std::size_t sum_bytes(const interval_shape& shape) {
  std::size_t bytes = 0;
  const type a = shape.accumulator;
  if (a != type::float32 && a != type::float64 && a != type::complex64 && a != type::complex128) {
    return 0;
  }
  backends::with_node(shape.what, shape.accumulator, [&]<summand what, class A>() {
    bytes = sizeof(backends::node_sum<what, A>);
  });
  return bytes;
}

/// Real products in one call.
void sum_products(const executor& where, const interval_shape& shape,
                  const std::vector<interval_field>& nodes, void* sums) {
  std::vector<operand_pair> pairs;
  for (const interval_field& node : nodes) {
    pairs.push_back({node.x, node.y});
    if (!in_order(node.x.element, node.y.element)) std::swap(pairs.back().x, pairs.back().y);
  }
  where.backend()->multi_dot(
      where, {{{}, {}, pairs}, conjugate::none, {sums, shape.accumulator}, {.wait = false}});
}

/// Any terms, one call each.
void sum_each(const executor& where, const interval_shape& shape,
              const std::vector<interval_field>& nodes, void* sums) {
  auto* to = static_cast<std::byte*>(sums);
  for (const interval_field& node : nodes) {
    node_arguments a{shape.what, shape.accumulator, node.x, node.y, to};
    if (shape.what == summand::product && !in_order(a.x.element, a.y.element)) {
      std::swap(a.x, a.y);
      a.exchanged = true;
    }
    where.backend()->sum_node(where, a);
    to += sum_bytes(shape);
  }
}

/// Checks memory, and overlap with the nodes.
void check_vectors(const check& check, const executor& where,
                   std::span<const interval_field> fields, const operand& nodes) {
  const auto check_vector = [&](const char* name, const operand& v) {
    if (check::is_needed(where)) check.reach(where, name, v);
    check_apart(check, name, v, "nodes", nodes);
  };
  for (const interval_field& field : fields) {
    check_vector("x", field.x);
    if (field.what == summand::product) check_vector("y", field.y);
  }
}

void check_windows(const check& check, const executor& where, const windows& through,
                   std::size_t sums, std::size_t bytes) {
  if (where.name() != "cuda") {
    check.fail(errc::invalid_argument, "windows are on cuda, not on ", where.name());
  }
  if (through.ranks < 1 || through.ranks > windows::most || through.rank < 0 ||
      through.rank >= through.ranks) {
    check.fail(errc::invalid_argument, "rank ", through.rank, " of ", through.ranks,
               " has no window; there can be ", windows::most);
  }
  if (!windows_take(sums, bytes)) {
    check.fail(errc::invalid_argument, "windows take ", windows::max_sums, " sums of ",
               windows::max_numbers_bytes, " bytes, not ", sums, " of ", bytes);
  }
}

void check_memory_of(const check& check, const executor& where, const char* name,
                     const void* memory, type element) {
  check.pointer(name, memory, element);
  if (check::is_needed(where)) check.reach(where, name, memory);
}

}  // namespace

std::int64_t count_interval_nodes(std::int64_t first, std::int64_t last) noexcept {
  return backends::count_nodes(first, last);
}

void list_join_steps(std::span<const node_interval> intervals, vector_reference<join_step> listed) {
  std::vector<join_step> steps;
  std::vector<interval_node> held;
  std::int64_t next = 0;
  for (const node_interval& interval : intervals) {
    if (interval.first >= interval.last) continue;
    if (interval.first != next) {
      check{"tally::join_steps"}.fail(errc::invalid_argument, "an interval begins at chunk ",
                                      interval.first, " and the one before it ends at ", next);
    }
    next = interval.last;
    std::int32_t place = interval.place;
    backends::for_each_node(interval.first, interval.last, [&](interval_node node) {
      join_step step{place++, 0};
      while (!held.empty() && held.back().chunks == node.chunks &&
             held.back().first % (2 * node.chunks) == 0) {
        node = {held.back().first, 2 * node.chunks};
        held.pop_back();
        ++step.additions;
      }
      held.push_back(node);
      steps.push_back(step);
    });
  }
  if (!held.empty()) steps.back().additions += static_cast<std::int32_t>(held.size()) - 1;
  std::ranges::copy(steps, listed.resize(steps.size()));
}

std::size_t node_bytes(const interval_shape& shape) noexcept {
  return shape.fields * sum_bytes(shape);
}

void sum_nodes(const executor& where, const interval_shape& shape,
               std::span<const interval_field> fields, std::int64_t first, void* nodes) {
  const backends::default_environment environment;
  const check check{"tally::sum_nodes"};
  check_fields(check, shape, fields);
  const std::size_t size = fields.front().x.size;
  const auto n = static_cast<std::int64_t>(size);
  if (first < 0 || n > shape.total || first > shape.total - n) {
    check.fail(errc::invalid_argument, "the interval has ", n, " elements from ", first,
               " on, the whole vector has ", shape.total);
  }
  const auto is_border = [&](std::int64_t element) {
    return element % chunk_size == 0 || element == shape.total;
  };
  if (n == 0) return;
  if (!(is_border(first) && is_border(first + n))) {
    check.fail(errc::invalid_argument, "the interval has elements ", first, " to ", first + n,
               " of ", shape.total, "; it should begin and end at multiples of ", chunk_size);
  }
  if (where.backend() == nullptr) check.fail(errc::invalid_argument, "there is no executor");
  const std::int64_t first_chunk = first / chunk_size;
  const std::int64_t last_chunk = first_chunk + backends::count_chunks(n);
  const auto count = static_cast<std::size_t>(backends::count_nodes(first_chunk, last_chunk));
  const type number = part_of(shape.accumulator);
  check_memory_of(check, where, "nodes", nodes, number);
  check_vectors(check, where, fields,
                {nodes, count * node_bytes(shape) / size_of(number), 1, number});

  std::vector<interval_field> all;
  backends::for_each_node(first_chunk, last_chunk, [&](const interval_node& node) {
    const auto begin = static_cast<std::size_t>(node.first * chunk_size - first);
    const auto elements =
        std::min(size - begin, static_cast<std::size_t>(node.chunks * chunk_size));
    for (const interval_field& field : fields) {
      interval_field part{field.what, field.x.slice(begin, elements)};
      if (field.what == summand::product) part.y = field.y.slice(begin, elements);
      all.push_back(part);
    }
  });
  const bool at_once = shape.what == summand::product && !is_complex(shape.accumulator);
  if (at_once && all.size() > 1) {
    sum_products(where, shape, all, nodes);
  } else {  // a single node is a plain dot product, which launches more warps
    sum_each(where, shape, all, nodes);
  }
}

void join_nodes(const executor& where, const join_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::join_nodes"};
  check_shape(check, a.shape);
  check.conjugated(a.conjugated);
  if (where.backend() == nullptr) check.fail(errc::invalid_argument, "there is no executor");
  if (a.through != nullptr) {
    if (a.nodes_per_rank < 1) {
      check.fail(errc::invalid_argument, "with windows a rank has 1 node at least, not ",
                 a.nodes_per_rank);
    }
    check_windows(check, where, *a.through, a.shape.fields,
                  static_cast<std::size_t>(a.nodes_per_rank) * sum_bytes(a.shape));
  }
  const type number = part_of(a.shape.accumulator);
  check_memory_of(check, where, "results", a.results, number);
  if (!a.steps.empty() || a.through != nullptr) {
    check_memory_of(check, where, "nodes", a.nodes, number);
  }
  if (!a.steps.empty()) check_memory_of(check, where, "steps", a.steps.data(), type::int32);
  where.backend()->join_nodes(where, a);
}

void join_words(const executor& where, const join_words_arguments& a) {
  const backends::default_environment environment;
  const check check{"tally::join_words"};
  check.known_type("the exact sum", a.sum);
  check.known_type("result", a.result.element);
  const type part = part_of(a.result.element);
  if (exact_words(a.sum) == 0 || is_complex(a.result.element) != is_complex(a.sum) ||
      (part != type::float32 && part != type::float64) || (a.root && is_complex(a.sum))) {
    check.fail(errc::unsupported_type, "an exact sum of ", name(a.sum), " does not give ",
               name(a.result.element));
  }
  if (where.backend() == nullptr) check.fail(errc::invalid_argument, "there is no executor");
  if (a.through == nullptr) check.fail(errc::null_pointer, "there are no windows");
  check_windows(check, where, *a.through, a.count, exact_words(a.sum) * sizeof(std::int64_t));
  if (a.count == 0) return;
  check_memory_of(check, where, "words", a.words, type::int64);
  check_memory_of(check, where, "result", a.result.data, a.result.element);
  where.backend()->join_words(where, a);
}

}  // namespace tally
