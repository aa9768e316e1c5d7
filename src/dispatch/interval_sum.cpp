// The public sums over an interval: check their arguments once, ask the backend for the nodes, join
// and finish them on the host.
#include <tally/error.hpp>
#include <tally/interval_sum.hpp>
#include <tally/multi_dot.hpp>
#include <tally/order.hpp>
#include <tally/reduce.hpp>

#include "src/core/floating_point_environment.hpp"
#include "src/core/order/dot_sum.hpp"
#include "src/core/order/interval.hpp"
#include "src/core/order/reduce_sum.hpp"
#include "src/core/order/tree.hpp"
#include "src/core/table.hpp"
#include "src/core/types/typed_vector.hpp"
#include "src/dispatch/check.hpp"
#include "src/dispatch/overlap.hpp"
#include "src/dispatch/pair_rules.hpp"
#include "src/dispatch/reduce.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tally {
namespace {

using backends::interval_node;

constexpr auto chunk_size = static_cast<std::int64_t>(order::chunk);

/// Returns the type of a message's numbers, of any shape.
type number_of(const interval_shape& shape) {
  const bool single = shape.accumulator == type::float32 || shape.accumulator == type::complex64;
  return single ? type::float32 : type::float64;
}

/// Returns how many numbers a node has.
std::size_t numbers_of(const interval_shape& shape) { return shape.fields * shape.numbers(); }

// --- Checks ---------------------------------------------------------------------------------------

void check_shape(const check& check, const interval_shape& shape) {
  if (shape.what > summand::square) {
    check.fail(errc::invalid_argument, "what is ", static_cast<int>(shape.what),
               "; there are 4 kinds of terms");
  }
  check.known_type("the accumulator", shape.accumulator);
  if (part_of(shape.accumulator) != number_of(shape)) {
    check.fail(errc::unsupported_type, "the accumulator is ", name(shape.accumulator),
               "; it can be float32, float64, complex64 or complex128");
  }
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / 4;
  if (shape.fields == 0 || shape.fields > most) {
    check.fail(errc::invalid_argument, "there are ", shape.fields, " fields; there can be 1 to ",
               most);
  }
  if (shape.total < 0) {
    check.fail(errc::invalid_argument, "the whole vector has ", shape.total, " elements");
  }
}

/// Checks the address of a message.
operand check_message(const check& check, const interval_shape& shape, const void* message) {
  const operand words = {message, interval_bytes(shape) / sizeof(std::int64_t), 1, type::int64};
  check.pointer("the message", message, words.element, words.size);
  check.read_on_host("the message", words);
  return words;
}

/// Checks that a message is of this shape.
void check_head(const check& check, const interval_shape& shape, const interval_head& head) {
  if (static_cast<std::size_t>(head.numbers) == numbers_of(shape) &&
      head.element == number_of(shape) && head.first >= 0 && head.first <= head.last &&
      head.last <= backends::count_chunks(shape.total)) {
    return;
  }
  check.fail(errc::invalid_argument, "the message is not of this shape: it is that of chunks ",
             head.first, " to ", head.last, " with ", std::int64_t{head.numbers},
             " numbers a node");
}

/// Checks that the elements can be summed in the accumulator.
void check_accumulator(const check& check, const interval_shape& shape,
                       const interval_field& field) {
  const type x = field.x.element, y = field.y.element, asked = shape.accumulator;
  const auto expect = [&](const std::string& elements, type rule, type widest) {
    if (asked == rule || asked == widest) return;
    const bool has_two = rule != widest && !is_integer(rule);
    check.fail(errc::unsupported_type, "the accumulator is ", name(asked), "; ", elements, " give ",
               has_two ? name(rule) : "", has_two ? " or " : "", name(widest));
  };
  if (shape.what == summand::product) {
    const pair_rules& allowed = rules_of(x, y);
    expect(std::string(name(x)) + " and " + std::string(name(y)), allowed.rule, allowed.widest);
  } else {
    const reduce_results& allowed = results_of(reduction::sum, x);
    expect("terms of " + std::string(name(x)), allowed.rule, allowed.widest);
  }
}

void check_fields(const check& check, const interval_shape& shape,
                  std::span<const interval_field> fields, double scale) {
  if (fields.size() != shape.fields) {
    check.fail(errc::size_mismatch, "there are ", fields.size(), " fields, the shape has ",
               shape.fields);
  }
  if (scale != 1 && shape.what != summand::square) {
    check.fail(errc::invalid_argument, "only squares have a scale");
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
  }
  check_accumulator(check, shape, field0);
}

/// Checks that the executor reaches the operands, and that they share nothing with what is written.
void check_memory(const check& check, const executor& where, std::span<const interval_field> fields,
                  const char* written_name, const operand& written) {
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::string of_field = " of field " + std::to_string(f);
    const auto check_operand = [&](const char* letter, const operand& v) {
      if (v.size == 0) return;
      const std::string name = letter + of_field;
      if (check::is_needed(where)) check.reach(where, name.c_str(), v);
      check_apart(check, name.c_str(), v, written_name, written);
    };
    check_operand("x", fields[f].x);
    if (fields[f].what == summand::product) check_operand("y", fields[f].y);
  }
}

// --- Numbers of a field ---------------------------------------------------------------------------

/// Returns the numbers re (0) or im (1) of a vector; a real one has no im.
operand part(const operand& v, int which) {
  if (!is_complex(v.element)) return {v.data, which == 0 ? v.size : 0, v.increment, v.element};
  const type number = part_of(v.element);
  const auto offset = which * static_cast<std::ptrdiff_t>(size_of(number));
  return {static_cast<const char*>(v.data) + offset, v.size, 2 * v.increment, number};
}

/// Returns the two real vectors whose products number k of a field sums, in the order in which
/// backends have their types. They are empty where the number is +0.
operand_pair factors_of(const interval_field& field, std::size_t k) {
  if (field.what == summand::square) {
    const operand x = part(field.x, static_cast<int>(k));
    return {x, x};
  }
  // The numbers are rr, ii, ri and ir of a dot_sum.
  operand x = part(field.x, k == 1 || k == 3), y = part(field.y, k == 1 || k == 2);
  x.size = y.size = std::min(x.size, y.size);
  if (!in_order(x.element, y.element)) std::swap(x, y);
  return {x, y};
}

// --- Nodes ----------------------------------------------------------------------------------------

/// Is what sum_interval is asked for, checked.
struct interval_call {
  const executor& where;
  const interval_shape& shape;
  std::span<const interval_field> fields;
  std::int64_t first;  ///< the first element

  std::size_t size() const { return fields.front().x.size; }
  std::int64_t first_chunk() const { return first / chunk_size; }
  std::int64_t last_chunk() const {
    return first_chunk() + backends::count_chunks(static_cast<std::int64_t>(size()));
  }
  /// Calls f(v) for each node and each number, where v(x) returns the elements of x in that node.
  template <class F>
  void for_each_number(const F& f) const {
    backends::for_each_node(first_chunk(), last_chunk(), [&](const interval_node& node) {
      const auto begin = static_cast<std::size_t>(node.first * chunk_size - first);
      const auto n = std::min(size() - begin, static_cast<std::size_t>(node.chunks * chunk_size));
      const auto of_node = [&](const operand& v) { return v.size == 0 ? v : v.slice(begin, n); };
      for (const interval_field& field : fields) {
        for (std::size_t k = 0; k < shape.numbers(); ++k) f(field, k, of_node);
      }
    });
  }
};

/// Sums products, all nodes in one call.
void sum_products(const interval_call& call, void* numbers) {
  std::vector<operand_pair> pairs;
  call.for_each_number([&](const interval_field& field, std::size_t k, const auto& of_node) {
    const auto [x, y] = factors_of(field, k);
    pairs.push_back({of_node(x), of_node(y)});
  });
  if (pairs.empty()) return;
  call.where.backend()->multi_dot(
      call.where,
      {{{}, {}, pairs}, conjugate::none, {numbers, number_of(call.shape)}, {.wait = true}});
}

/// Sums values or magnitudes, each number of a node in a call.
void sum_values(const interval_call& call, void* numbers) {
  const type element = number_of(call.shape);
  const reduction what = call.shape.what == summand::value ? reduction::sum : reduction::asum;
  auto* to = static_cast<std::byte*>(numbers);
  call.for_each_number([&](const interval_field& field, std::size_t k, const auto& of_node) {
    call.where.backend()->reduce(
        call.where,
        {of_node(part(field.x, static_cast<int>(k))), what, {to, element}, {.wait = true}});
    to += size_of(element);
  });
}

// --- Terms ----------------------------------------------------------------------------------------

/// Returns the elements of a vector in host memory, which `memory` owns.
operand fetched(const executor& where, const operand& v, std::vector<std::byte>& memory) {
  memory.resize(v.size * size_of(v.element));
  if (v.size > 0) where.backend()->fetch(where, v, memory.data());
  return {memory.data(), v.size, 1, v.element};
}

/// Writes the terms of number k of a field that is in host memory.
template <class R>
void write_terms(const interval_field& field, std::size_t k, R scale, R* terms) {
  const auto at = [](const operand& v, std::size_t i) {
    return backends::typed::number_at<R>(v.data, static_cast<std::ptrdiff_t>(i) * v.increment,
                                         v.element);
  };
  if (field.what == summand::product) {
    const auto [x, y] = factors_of(field, k);
    if (x.size == 0) std::fill_n(terms, field.x.size, R{});
    for (std::size_t i = 0; i < x.size; ++i) terms[i] = at(x, i) * at(y, i);
    return;
  }
  const operand x = part(field.x, static_cast<int>(k));
  for (std::size_t i = 0; i < x.size; ++i) {
    const R number = at(x, i);
    terms[i] = field.what == summand::value       ? number
               : field.what == summand::magnitude ? std::abs(number)
                                                  : number * scale * (number * scale);
  }
}

/// Returns the sum of terms in host memory.
template <class R>
R sum_of_terms(const R* terms, std::size_t n) {
  static const executor host = simd();
  R sum{};
  host.backend()->reduce(
      host, {{terms, n, 1, type_of<R>}, reduction::sum, {&sum, type_of<R>}, {.wait = true}});
  return sum;
}

/// Sums squares of scaled elements, which come to the host in blocks.
template <class R>
void sum_scaled(const interval_call& call, R scale, R* numbers) {
  constexpr std::size_t chunks_of_block = 64, block = chunks_of_block * order::chunk;
  std::vector<std::byte> memory;
  std::vector<R> terms(std::min(block, call.size()));
  call.for_each_number([&](const interval_field& field, std::size_t k, const auto& of_node) {
    const operand x = of_node(field.x);
    backends::tree<R> sums;
    for (std::size_t i = 0; i < x.size; i += block) {  // a node has one block or a power of two
      const std::size_t n = std::min(block, x.size - i);
      write_terms<R>({field.what, fetched(call.where, x.slice(i, n), memory)}, k, scale,
                     terms.data());
      sums.add(sum_of_terms(terms.data(), n), chunks_of_block);
    }
    *numbers++ = sums.total();
  });
}

/// The arguments are right but for where they are.
void run(const check& check, const interval_call& call, const operand& message, double scale) {
  const interval_shape& shape = call.shape;
  check_memory(check, call.where, call.fields, "the message", message);
  auto& head = *static_cast<interval_head*>(const_cast<void*>(message.data));
  if (scale != 1) {
    backends::with_number(head.element, [&]<class R>() {
      sum_scaled(call, static_cast<R>(scale), backends::nodes_of<R>(head));
    });
  } else if (shape.what == summand::product || shape.what == summand::square) {
    sum_products(call, &head + 1);
  } else {
    sum_values(call, &head + 1);
  }
  if (call.size() > 0) head.first = call.first_chunk(), head.last = call.last_chunk();
}

/// Returns where these fields are summed.
executor chosen(const executor& where, const interval_field& field) {
  if (where.backend() != nullptr) return where;
  return field.what == summand::product ? choose(field.x, field.y) : choose(field.x);
}

// --- Results --------------------------------------------------------------------------------------

/// Makes the result of one field of its sums; R is their type.
template <class A, class R = real_t<A>>
void write_result(summand what, const std::array<R, 4>& sums, conjugate conjugated, R scale,
                  R* result) {
  using namespace backends;
  if (what == summand::product) {
    dot_sum<A> all;
    if constexpr (is_complex_v<A>) {
      all = {sums[0], sums[1], sums[2], sums[3]};
    } else {
      all = {sums[0]};
    }
    const complex_number<R> made = finish_parts(all, conjugated);
    result[0] = made.re;
    if (is_complex_v<A>) result[1] = made.im;
    return;
  }
  reduce_sum<A> all;
  if constexpr (is_complex_v<A>) {
    all = {sums[0], sums[1]};
  } else {
    all = {sums[0]};
  }
  if (what == summand::square) {
    *result = canonical(norm(combined(all), scale));
    return;
  }
  const bool is_value = what == summand::value;
  const complex_number<R> made = finish_parts(all, is_value ? reduction::sum : reduction::asum);
  result[0] = made.re;
  if (is_complex_v<A> && is_value) result[1] = made.im;
}

/// Returns the type of a field's result.
type result_of(const interval_shape& shape) {
  return shape.what == summand::product || shape.what == summand::value ? shape.accumulator
                                                                        : number_of(shape);
}

}  // namespace

std::size_t interval_bytes(const interval_shape& shape) noexcept {
  const auto nodes =
      static_cast<std::size_t>(backends::most_nodes(backends::count_chunks(shape.total)));
  const std::size_t bytes = nodes * numbers_of(shape) * size_of(number_of(shape));
  return sizeof(interval_head) + (bytes + 7) / 8 * 8;
}

void clear_interval(const interval_shape& shape, void* message) noexcept {
  *static_cast<interval_head*>(message) = {.numbers = static_cast<std::int32_t>(numbers_of(shape)),
                                           .element = number_of(shape)};
}

void sum_interval(const executor& where, const interval_shape& shape,
                  std::span<const interval_field> fields, std::int64_t first, void* message,
                  double scale) {
  const backends::default_environment environment;
  const check check{"tally::sum_interval"};
  const operand words = check_message(check, shape, message);
  clear_interval(shape, message);
  check_shape(check, shape);
  check_fields(check, shape, fields, scale);
  const auto n = static_cast<std::int64_t>(fields.front().x.size);
  if (first < 0 || n > shape.total || first > shape.total - n) {
    check.fail(errc::invalid_argument, "the interval has ", n, " elements from ", first,
               " on, the whole vector has ", shape.total);
  }
  const auto is_border = [&](std::int64_t element) {
    return element % chunk_size == 0 || element == shape.total;
  };
  if (n > 0 && !(is_border(first) && is_border(first + n))) {
    check.fail(errc::invalid_argument, "the interval has elements ", first, " to ", first + n,
               " of ", shape.total, "; it should begin and end at multiples of ", chunk_size);
  }
  run(check, {chosen(where, fields.front()), shape, fields, first}, words, scale);
}

void interval_terms(const executor& where, const interval_shape& shape,
                    std::span<const interval_field> fields, std::size_t stride, void* terms,
                    double scale) {
  const backends::default_environment environment;
  const check check{"tally::interval_terms"};
  check_shape(check, shape);
  check_fields(check, shape, fields, scale);
  const std::size_t n = fields.front().x.size;
  if (n >= order::chunk || stride < n) {
    check.fail(errc::invalid_argument, "there are ", n, " elements, with stride ", stride,
               "; there can be fewer than ", order::chunk, " and at most the stride");
  }
  if (n == 0) return;
  const type element = number_of(shape);
  const operand written = {terms, (numbers_of(shape) - 1) * stride + n, 1, element};
  check.vector("terms", written);
  check.read_on_host("terms", written);
  const executor on = chosen(where, fields.front());
  check_memory(check, on, fields, "terms", written);
  std::vector<std::byte> x_memory, y_memory;
  backends::with_number(element, [&]<class R>() {
    R* to = static_cast<R*>(terms);
    for (const interval_field& field : fields) {
      interval_field here = {field.what, fetched(on, field.x, x_memory)};
      if (field.what == summand::product) here.y = fetched(on, field.y, y_memory);
      for (std::size_t k = 0; k < shape.numbers(); ++k, to += stride) {
        write_terms(here, k, static_cast<R>(scale), to);
      }
    }
  });
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
  const operand read = {terms, (numbers_of(shape) - 1) * stride + n, 1, head.element};
  check.vector("terms", read);
  check.read_on_host("terms", read);
  if (head.first != head.last && head.last != chunk) head.gap = 1;
  if (head.gap != 0) return;
  backends::with_number(head.element, [&]<class R>() {
    backends::append_node<R>(head, {chunk, 1}, [&](std::int32_t i) {
      return sum_of_terms(static_cast<const R*>(terms) + static_cast<std::size_t>(i) * stride, n);
    });
  });
}

void append_interval(void* message, const void* next) noexcept {
  const backends::default_environment environment;
  backends::append(*static_cast<interval_head*>(message), *static_cast<const interval_head*>(next));
}

void finish_interval(const interval_shape& shape, const void* message, conjugate conjugated,
                     void* results, std::span<double> scales, double scale) {
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
  const bool may_leave_range = shape.what == summand::square && scale == 1;
  if (may_leave_range ? scales.size() != shape.fields : !scales.empty()) {
    check.fail(errc::size_mismatch, "there are ", scales.size(), " scales; there should be ",
               may_leave_range ? shape.fields : 0);
  }
  const type result = result_of(shape);
  check.pointer("results", results, result, shape.fields);
  check.read_on_host("results", {results, shape.fields, 1, result});
  using accumulators = type_list<float, double, std::complex<float>, std::complex<double>>;
  backends::with_type<accumulators>(shape.accumulator, [&]<class A>() {
    using R = real_t<A>;
    auto* to = static_cast<std::byte*>(results);
    for (std::size_t f = 0; f < shape.fields; ++f, to += size_of(result)) {
      std::array<R, 4> sums{};
      for (std::size_t k = 0; k < shape.numbers(); ++k) {
        sums[k] = backends::total_of<R>(head, static_cast<std::int32_t>(f * shape.numbers() + k));
      }
      if (may_leave_range) {
        const R next = backends::norm_scale(sums[0] + sums[1]);  // of real elements the second is 0
        scales[f] = next;
        if (next != 1) continue;
      }
      write_result<A>(shape.what, sums, conjugated, static_cast<R>(scale),
                      reinterpret_cast<R*>(to));
    }
  });
}

}  // namespace tally
