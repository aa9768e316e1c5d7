// Public sums over an interval: nodes from the backend, joined and finished on the host.
#include <tally/distributed/interval_sum.hpp>
#include <tally/error.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/interval.hpp"
#include "backends/common/order/node_sum.hpp"
#include "src/check.hpp"
#include "src/distributed/interval_sum.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"
#include "src/operations/reduce.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tally {
namespace {

using backends::interval_node;

constexpr auto chunk_size = static_cast<std::int64_t>(order::chunk);

// --- Checks ---------------------------------------------------------------------------------------

}  // namespace

void check_shape(const check& check, const interval_shape& shape) {
  check.enumerator("what", shape.what, summand::square, "kinds of terms");
  check.known_type("the accumulator", shape.accumulator);
  if (backends::node_sum_bytes(shape.what, shape.accumulator) == 0) {
    check.fail(errc::unsupported_type, "the accumulator is ", name(shape.accumulator),
               "; it can be float32, float64, complex64 or complex128");
  }
  constexpr std::size_t max_fields = std::numeric_limits<std::int32_t>::max() / 4;
  if (shape.fields == 0 || shape.fields > max_fields) {
    check.fail(errc::invalid_argument, "there are ", shape.fields, " fields; there can be 1 to ",
               max_fields);
  }
  if (shape.total < 0) {
    check.fail(errc::invalid_argument, "the whole vector has ", shape.total, " elements");
  }
}

namespace {

operand check_message(const check& check, const interval_shape& shape, const void* message) {
  const operand words = {message, interval_bytes(shape) / sizeof(std::int64_t), 1, type::int64};
  check.pointer("the message", message, words.element, words.size);
  check.read_on_host("the message", words);
  return words;
}

bool are_alike(const interval_head& a, const interval_head& b) {
  return a.fields == b.fields && a.accumulator == b.accumulator && a.what == b.what;
}

void check_head(const check& check, const interval_shape& shape, const interval_head& head) {
  interval_head expected;
  clear_interval(shape, &expected);
  if (are_alike(head, expected) && head.first >= 0 && head.first <= head.last &&
      head.last <= backends::count_chunks(shape.total)) {
    return;
  }
  check.fail(errc::invalid_argument, "the message is not of this shape: it is that of chunks ",
             head.first, " to ", head.last, ", of ", std::int64_t{head.fields}, " fields in ",
             name(head.accumulator));
}

void check_accumulator(const check& check, const interval_shape& shape,
                       const interval_field& field) {
  const auto expect = [&](type rule, type widest, type x, type y) {
    if (is_integer(rule)) rule = widest;  // nodes are floating-point
    check.sum_type("the accumulator", shape.accumulator, rule, widest, x, y);
  };
  const type x = field.x.element, y = field.y.element;
  if (shape.what == summand::product) {
    const pair_rules& allowed = rules_of(x, y);
    expect(allowed.rule, allowed.widest, x, y);
  } else {
    const reduce_results& allowed = results_of(reduction::sum, x);
    expect(allowed.rule, allowed.widest, x, x);
  }
}

void check_fields(const check& check, const interval_shape& shape,
                  std::span<const interval_field> fields) {
  check_shape(check, shape);
  if (fields.size() != shape.fields) {
    check.fail(errc::size_mismatch, "there are ", fields.size(), " fields, the shape has ",
               shape.fields);
  }
  const bool has_y = shape.what == summand::product;
  const interval_field& field0 = fields.front();
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const interval_field& field = fields[f];
    const std::string of_field = " of field " + std::to_string(f);
    if (field.what != shape.what) {
      check.fail(errc::invalid_argument, "field ", f, " has other terms than the shape");
    }
    const auto check_operand = [&](const char* letter, const operand& v, const operand& v0) {
      const std::string name = letter + of_field;
      check.known_type(name.c_str(), v.element);
      if (v.element != v0.element) {
        check.fail(errc::unsupported_type, name, " is ", tally::name(v.element),
                   ", of field 0 it is ", tally::name(v0.element));
      }
      if (v.size != field0.x.size) {
        check.fail(errc::size_mismatch, name, " has ", v.size, " elements, x of field 0 has ",
                   field0.x.size);
      }
      check.vector(name.c_str(), v);
    };
    check_operand("x", field.x, field0.x);
    if (has_y) check_operand("y", field.y, field0.y);
    const bool real_products = has_y && !is_complex(shape.accumulator);
    if (field.squared != field0.squared || (field.squared && !real_products)) {
      check.fail(errc::invalid_argument, "field ", f,
                 " differs in being squared, or has no products of real numbers");
    }
    if (!field.mask) continue;
    check_operand("mask", *field.mask, *field.mask);
    if (!field.squared || is_complex(field.mask->element)) {
      check.fail(errc::invalid_argument, "field ", f,
                 " has a mask; only squared products have one, of real numbers");
    }
  }
  check_accumulator(check, shape, field0);
}

interval_borders check_borders(const check& check, const interval_shape& shape,
                               std::span<const interval_field> fields, std::int64_t first) {
  const auto n = static_cast<std::int64_t>(fields.front().x.size);
  if (first < 0 || n > shape.total || first > shape.total - n) {
    check.fail(errc::invalid_argument, "the interval has ", n, " elements from ", first,
               " on, the whole vector has ", shape.total);
  }
  return borders_of_part(shape.total, first, first + n);
}

template <class F>
void for_each_vector(std::span<const interval_field> fields, const F& f) {
  for (std::size_t j = 0; j < fields.size(); ++j) {
    const std::string of_field = " of field " + std::to_string(j);
    const auto call = [&](const char* letter, const operand& v) {
      const std::string name = letter + of_field;
      if (v.size > 0) f(name.c_str(), v);
    };
    call("x", fields[j].x);
    if (fields[j].what == summand::product) call("y", fields[j].y);
    if (const std::optional<operand>& mask = fields[j].mask) call("the mask", *mask);
  }
}

// --- Nodes and terms ------------------------------------------------------------------------------

executor chosen(const executor& where, const interval_field& field) {
  if (where.backend() != nullptr) return where;
  return field.what == summand::product ? choose(field.x, field.y) : choose(field.x);
}

/// Appends the next node, a sum per field, merging with left siblings.
template <class Sum>
void append_node(interval_head& head, const interval_node& next, const Sum* sums) {
  if (head.first == head.last) head.first = head.last = next.first;
  const std::int64_t held = backends::count_nodes(head.first, head.last);
  const std::int64_t additions = held + 1 - backends::count_nodes(head.first, next.last());
  Sum* node = reinterpret_cast<Sum*>(&head + 1) + (held - (additions > 0)) * head.fields;
  for (std::int32_t f = 0; f < head.fields; ++f) {
    node[f] = additions > 0 ? node[f] + sums[f] : sums[f];
  }
  for (std::int64_t k = 1; k < additions; ++k) {
    node -= head.fields;
    for (std::int32_t f = 0; f < head.fields; ++f) node[f] = node[f] + node[head.fields + f];
  }
  head.last = next.last();
}

/// Field f's sum over the whole vector: nodes added from the last, as in the tree.
template <class Sum>
Sum total_of(const interval_head& head, std::size_t f) {
  const auto* const nodes = reinterpret_cast<const Sum*>(&head + 1);
  const auto fields = static_cast<std::size_t>(head.fields);
  auto k = static_cast<std::size_t>(backends::count_nodes(head.first, head.last));
  if (k == 0) return Sum{};
  Sum sum = nodes[--k * fields + f];
  while (k > 0) sum = nodes[--k * fields + f] + sum;
  return sum;
}

type result_of(const interval_shape& shape) {
  return shape.what == summand::product || shape.what == summand::value
             ? shape.accumulator
             : part_of(shape.accumulator);
}

}  // namespace

std::size_t node_bytes(const interval_shape& shape) noexcept {
  return shape.fields * backends::node_sum_bytes(shape.what, shape.accumulator);
}

std::size_t interval_bytes(const interval_shape& shape) noexcept {
  const auto nodes =
      static_cast<std::size_t>(backends::max_nodes(backends::count_chunks(shape.total)));
  return sizeof(interval_head) + (nodes * node_bytes(shape) + 7) / 8 * 8;
}

void clear_interval(const interval_shape& shape, void* message) noexcept {
  *static_cast<interval_head*>(message) = {.fields = static_cast<std::int32_t>(shape.fields),
                                           .accumulator = shape.accumulator,
                                           .what = shape.what};
}

interval_head sum_part(const executor& anywhere, const interval_shape& shape,
                       const interval_part& part) {
  const backends::default_environment environment;
  const check check{"tally::sum_part"};
  check_fields(check, shape, part.fields);
  const interval_borders borders = check_borders(check, shape, part.fields, part.first);
  const auto check_stride = [&](const char* name, std::size_t n, std::size_t stride) {
    if (stride >= n) return;
    check.fail(errc::invalid_argument, name, " has ", n, " terms, with stride ", stride,
               "; there can be at most the stride");
  };
  check_stride("head", borders.head_size(), part.head_stride);
  check_stride("tail", borders.tail_size(), part.tail_stride);
  const executor where = chosen(anywhere, part.fields.front());
  const std::size_t head = borders.head_size(), whole = borders.whole_size(),
                    tail = borders.tail_size(), numbers = shape.fields * shape.numbers();
  const type element = part_of(shape.accumulator);
  const std::int64_t first = backends::count_chunks(borders.whole),
                     last = first + backends::count_chunks(borders.tail - borders.whole);

  if (check::is_needed(where)) {
    for_each_vector(part.fields,
                    [&](const char* name, const operand& v) { check.reach(where, name, v); });
  }
  const auto check_written = [&](const char* name, void* to, std::size_t size) {
    const operand all = {to, size, 1, element};
    if (size == 0) return;
    check.vector(name, all);
    if (part.wait) {
      check.read_on_host(name, all);
    } else if (check::is_needed(where)) {
      check.reach(where, name, all);
    }
    for_each_vector(part.fields, [&](const char* vector, const operand& v) {
      check_apart(check, vector, v, name, all);
    });
  };
  const auto size_of_terms = [&](std::size_t n, std::size_t stride) {
    return n == 0 ? 0 : (numbers - 1) * stride + n;
  };
  check_written("nodes", part.nodes,
                static_cast<std::size_t>(backends::count_nodes(first, last)) * node_bytes(shape) /
                    size_of(element));
  check_written("head", part.head, size_of_terms(head, part.head_stride));
  check_written("tail", part.tail, size_of_terms(tail, part.tail_stride));

  std::vector<interval_field> nodes;
  backends::for_each_node(first, last, [&](const interval_node& node) {
    const auto begin = static_cast<std::size_t>(node.first * chunk_size - borders.whole);
    const auto n = std::min(whole - begin, static_cast<std::size_t>(node.chunks * chunk_size));
    for (const interval_field& field : part.fields) nodes.push_back(field.slice(head + begin, n));
  });
  std::vector<backends::terms_destination> terms;
  const auto place_terms = [&](std::size_t begin, std::size_t n, void* to, std::size_t stride) {
    if (n == 0) return;
    const std::size_t bytes = shape.numbers() * stride * size_of(element);
    for (std::size_t f = 0; f < part.fields.size(); ++f) {
      terms.push_back(
          {part.fields[f].slice(begin, n), static_cast<std::byte*>(to) + f * bytes, stride});
    }
  };
  place_terms(0, head, part.head, part.head_stride);
  place_terms(head + whole, tail, part.tail, part.tail_stride);
  std::function<void()> then;
  if (part.when_terms_are_there != nullptr) then = [&] { part.when_terms_are_there(part.context); };
  if (!nodes.empty() || !terms.empty()) {
    backends::sum_interval(where, {"sum_part", shape, nodes, part.nodes, terms, part.wait, then});
  } else if (part.wait && then) {
    then();
  }
  interval_head made;
  clear_interval(shape, &made);
  if (!nodes.empty()) made.first = first, made.last = last;
  return made;
}

void append_chunk(const interval_shape& shape, std::int64_t chunk, std::size_t n,
                  std::size_t stride, const void* terms, void* message) {
  const backends::default_environment environment;
  const check check{"tally::append_chunk"};
  check_shape(check, shape);
  check_message(check, shape, message);
  auto& head = *static_cast<interval_head*>(message);
  check_head(check, shape, head);
  if (chunk < 0 || chunk >= backends::count_chunks(shape.total)) {
    check.fail(errc::invalid_argument, "there is no chunk ", chunk, " of ", shape.total,
               " elements");
  }
  const auto has = static_cast<std::size_t>(std::min(chunk_size, shape.total - chunk * chunk_size));
  if (n != has || stride < n) {
    check.fail(errc::invalid_argument, "there are ", n, " terms, with stride ", stride, "; chunk ",
               chunk, " has ", has);
  }
  const type number = part_of(shape.accumulator);
  const std::size_t numbers = shape.fields * shape.numbers();
  const operand read = {terms, (numbers - 1) * stride + n, 1, number};
  check.vector("terms", read);
  check.read_on_host("terms", read);
  if (head.first != head.last && head.last != chunk) head.gap = 1;
  if (head.gap != 0) return;
  // A node of each number, of which fields' nodes consist.
  static const executor host = simd();
  const summand what = shape.what == summand::square ? summand::square : summand::value;
  const interval_shape by_numbers = {what, number, numbers, shape.total};
  std::vector<interval_field> each;
  for (std::size_t k = 0; k < numbers; ++k) {
    each.push_back({what, read.slice(k * stride, n)});
  }
  std::vector<std::max_align_t> sums(node_bytes(shape) / sizeof(std::max_align_t) + 1);
  backends::sum_interval(host, {"append_chunk", by_numbers, each, sums.data(), {}, true, {}});
  backends::with_node(shape.what, shape.accumulator, [&]<summand of, class A>() {
    using Sum = backends::node_sum<of, A>;
    append_node(head, {chunk, 1}, reinterpret_cast<const Sum*>(sums.data()));
  });
}

void append_interval(void* message, const void* next) noexcept {
  const backends::default_environment environment;
  auto& head = *static_cast<interval_head*>(message);
  const auto& other = *static_cast<const interval_head*>(next);
  if (other.failed != 0 && (head.failed == 0 || other.failed < head.failed)) {
    head.failed = other.failed;
  }
  const bool empty = other.first == other.last;
  const bool adjacent = head.first == head.last || head.last == other.first;
  if (other.gap != 0 || !are_alike(head, other) || (!empty && !adjacent)) head.gap = 1;
  if (head.gap != 0 || empty) return;
  backends::with_node(head.what, head.accumulator, [&]<summand what, class A>() {
    const auto* from = reinterpret_cast<const backends::node_sum<what, A>*>(&other + 1);
    backends::for_each_node(other.first, other.last, [&](const interval_node& node) {
      append_node(head, node, from);
      from += other.fields;
    });
  });
}

void finish_interval(const interval_shape& shape, const void* message, conjugate conjugated,
                     void* results) {
  const backends::default_environment environment;
  const check check{"tally::finish_interval"};
  check_shape(check, shape);
  check_message(check, shape, message);
  const auto& head = *static_cast<const interval_head*>(message);
  check_head(check, shape, head);
  const std::int64_t chunks = backends::count_chunks(shape.total);
  if (head.gap != 0 || head.last - head.first != chunks) {
    check.fail(errc::invalid_argument, "the message is that of chunks ", head.first, " to ",
               head.last, head.gap != 0 ? ", with a gap," : "", " of ", chunks);
  }
  check.conjugated(conjugated);
  const type result = result_of(shape);
  check.pointer("results", results, result, shape.fields);
  check.read_on_host("results", {results, shape.fields, 1, result});
  backends::with_node(shape.what, shape.accumulator, [&]<summand what, class A>() {
    auto* to = static_cast<real_t<A>*>(results);
    for (std::size_t f = 0; f < shape.fields; ++f) {
      const auto total = total_of<backends::node_sum<what, A>>(head, f);
      const auto made = backends::finish_node<what, A>(total, conjugated);
      *to++ = made.re;
      if (backends::result_parts<what, A> == 2) *to++ = made.im;
    }
  });
}

void add_exact_sums(const executor& anywhere, std::span<const interval_field> fields,
                    conjugate conjugated, type sum, std::int64_t* words) {
  const backends::default_environment environment;
  if (fields.empty()) return;
  const check check{"tally::add_exact_sums"};
  for (const interval_field& field : fields) {
    check.enumerator("what", field.what, summand::square, "kinds of terms");
  }
  const executor where = chosen(anywhere, fields.front());
  const call_options options = {.grade = exact, .wait = true};
  std::vector<backends::exact_arguments> all;
  for (const interval_field& field : fields) {
    const output to = {words + all.size() * exact_words(sum), sum, true};
    const auto add = [&](const auto& arguments) {
      check_arguments(where, arguments);
      all.push_back(backends::exact_of(arguments));
    };
    if (field.squared) {
      add(weighted_norm_arguments{field.x, field.y, field.mask, weighted_norm::squares, to,
                                  options});
    } else if (field.what == summand::product) {
      add(dot_arguments{field.x, field.y, conjugated, to, options});
    } else {
      const reduction what = field.what == summand::value       ? reduction::sum
                             : field.what == summand::magnitude ? reduction::asum
                                                                : reduction::nrm2;
      add(reduce_arguments{field.x, what, to, options});
    }
  }
  backends::multi_exact(where, all);
}

}  // namespace tally
