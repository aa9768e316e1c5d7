// Public sums over an interval: nodes from the backend, joined and finished on the host.
#include <tally/distributed/interval_sum.hpp>
#include <tally/error.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/interval.hpp"
#include "backends/common/order/reduce_sum.hpp"
#include "src/check.hpp"
#include "src/distributed/interval_sum.hpp"
#include "src/operands/overlap.hpp"
#include "src/operations/pair_rules.hpp"
#include "src/operations/reduce.hpp"

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

type number_of(const interval_shape& shape) {
  const bool single = shape.accumulator == type::float32 || shape.accumulator == type::complex64;
  return single ? type::float32 : type::float64;
}

std::size_t numbers_of(const interval_shape& shape) { return shape.fields * shape.numbers(); }

// --- Checks ---------------------------------------------------------------------------------------

}  // namespace

void check_shape(const check& check, const interval_shape& shape) {
  check.enumerator("what", shape.what, summand::square, "kinds of terms");
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

namespace {

operand check_message(const check& check, const interval_shape& shape, const void* message) {
  const operand words = {message, interval_bytes(shape) / sizeof(std::int64_t), 1, type::int64};
  check.pointer("the message", message, words.element, words.size);
  check.read_on_host("the message", words);
  return words;
}

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

}  // namespace

void check_fields(const check& check, const interval_shape& shape,
                  std::span<const interval_field> fields, double scale) {
  check_shape(check, shape);
  if (fields.size() != shape.fields) {
    check.fail(errc::size_mismatch, "there are ", fields.size(), " fields, the shape has ",
               shape.fields);
  }
  if (scale != 1) {
    if (shape.what != summand::square) {
      check.fail(errc::invalid_argument, "only squares have a scale");
    }
    backends::with_component_type(number_of(shape), [&]<class R>() {
      using range = backends::norm_range<R>;
      if (scale == range::up || scale == range::down) return;
      check.fail(errc::invalid_argument, "the scale is ", scale, "; it can be 1, ",
                 double{range::up}, " or ", double{range::down});
    });
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

namespace {

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
  }
}

void check_apart(const check& check, std::span<const interval_field> fields,
                 const char* written_name, const operand& written) {
  for_each_vector(fields, [&](const char* name, const operand& v) {
    check_apart(check, name, v, written_name, written);
  });
}

// --- Nodes and terms ------------------------------------------------------------------------------

interval_field slice(const interval_field& field, std::size_t begin, std::size_t n) {
  interval_field part = {field.what, field.x.slice(begin, n), {}};
  if (field.what == summand::product) part.y = field.y.slice(begin, n);
  return part;
}

executor chosen(const executor& where, const interval_field& field) {
  if (where.backend() != nullptr) return where;
  return field.what == summand::product ? choose(field.x, field.y) : choose(field.x);
}

/// Writes a part's sums and terms and returns its message's head. `function` is the public name.
/// Pre: valid arguments, memory unchecked.
interval_head run(const check& check, const char* function, const interval_shape& shape,
                  const interval_borders& borders, const executor& anywhere,
                  const interval_part& part) {
  const executor where = chosen(anywhere, part.fields.front());
  const std::size_t head = borders.head_size(), whole = borders.whole_size(),
                    tail = borders.tail_size(), numbers = numbers_of(shape);
  const type element = number_of(shape);
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
    check_apart(check, part.fields, name, all);
  };
  const auto size_of_terms = [&](std::size_t n, std::size_t stride) {
    return n == 0 ? 0 : (numbers - 1) * stride + n;
  };
  check_written("nodes", part.nodes,
                static_cast<std::size_t>(backends::count_nodes(first, last)) * numbers);
  check_written("head", part.head, size_of_terms(head, part.head_stride));
  check_written("tail", part.tail, size_of_terms(tail, part.tail_stride));

  std::vector<interval_field> nodes;
  backends::for_each_node(first, last, [&](const interval_node& node) {
    const auto begin = static_cast<std::size_t>(node.first * chunk_size - borders.whole);
    const auto n = std::min(whole - begin, static_cast<std::size_t>(node.chunks * chunk_size));
    for (const interval_field& field : part.fields) nodes.push_back(slice(field, head + begin, n));
  });
  std::vector<backends::terms_destination> terms;
  const auto place_terms = [&](std::size_t begin, std::size_t n, void* to, std::size_t stride) {
    if (n == 0) return;
    const std::size_t bytes = shape.numbers() * stride * size_of(element);
    for (std::size_t f = 0; f < part.fields.size(); ++f) {
      terms.push_back(
          {slice(part.fields[f], begin, n), static_cast<std::byte*>(to) + f * bytes, stride});
    }
  };
  place_terms(0, head, part.head, part.head_stride);
  place_terms(head + whole, tail, part.tail, part.tail_stride);
  if (!nodes.empty() || !terms.empty()) {
    where.backend()->sum_interval(where, {function, shape, nodes, part.nodes, terms, part.scale,
                                          part.wait, part.when_terms_are_there});
  } else if (part.wait && part.when_terms_are_there) {
    part.when_terms_are_there();
  }
  interval_head made;
  clear_interval(shape, &made);
  if (!nodes.empty()) made.first = first, made.last = last;
  return made;
}

/// Terms are in host memory.
template <class R>
R sum_of_terms(const R* terms, std::size_t n) {
  static const executor host = simd();
  R sum{};
  host.backend()->reduce(
      host, {{terms, n, 1, type_of<R>}, reduction::sum, {&sum, type_of<R>}, {.wait = true}});
  return sum;
}

// --- Results --------------------------------------------------------------------------------------

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

type result_of(const interval_shape& shape) {
  return shape.what == summand::product || shape.what == summand::value ? shape.accumulator
                                                                        : number_of(shape);
}

}  // namespace

std::size_t interval_bytes(const interval_shape& shape) noexcept {
  const auto nodes =
      static_cast<std::size_t>(backends::max_nodes(backends::count_chunks(shape.total)));
  const std::size_t bytes = nodes * numbers_of(shape) * size_of(number_of(shape));
  return sizeof(interval_head) + (bytes + 7) / 8 * 8;
}

void clear_interval(const interval_shape& shape, void* message) noexcept {
  *static_cast<interval_head*>(message) = {.numbers = static_cast<std::int32_t>(numbers_of(shape)),
                                           .element = number_of(shape)};
}

interval_head sum_part(const executor& where, const interval_shape& shape,
                       const interval_part& part) {
  const backends::default_environment environment;
  const check check{"tally::sum_part"};
  check_fields(check, shape, part.fields, part.scale);
  const interval_borders borders = check_borders(check, shape, part.fields, part.first);
  const auto check_stride = [&](const char* name, std::size_t n, std::size_t stride) {
    if (stride >= n) return;
    check.fail(errc::invalid_argument, name, " has ", n, " terms, with stride ", stride,
               "; there can be at most the stride");
  };
  check_stride("head", borders.head_size(), part.head_stride);
  check_stride("tail", borders.tail_size(), part.tail_stride);
  return run(check, "sum_part", shape, borders, where, part);
}

void sum_interval(const executor& where, const interval_shape& shape,
                  std::span<const interval_field> fields, std::int64_t first, void* message,
                  double scale) {
  const backends::default_environment environment;
  const check check{"tally::sum_interval"};
  const operand words = check_message(check, shape, message);
  clear_interval(shape, message);
  check_fields(check, shape, fields, scale);
  const interval_borders borders = check_borders(check, shape, fields, first);
  if (borders.whole_size() < fields.front().x.size) {
    check.fail(errc::invalid_argument, "the interval has elements ", borders.begin, " to ",
               borders.end, " of ", shape.total, "; it should begin and end at multiples of ",
               chunk_size);
  }
  check_apart(check, fields, "the message", words);
  auto& head = *static_cast<interval_head*>(message);
  head = run(check, "sum_interval", shape, borders, where,
             {.fields = fields, .first = first, .nodes = &head + 1, .scale = scale});
}

void interval_terms(const executor& where, const interval_shape& shape,
                    std::span<const interval_field> fields, std::size_t stride, void* terms,
                    double scale) {
  const backends::default_environment environment;
  const check check{"tally::interval_terms"};
  check_fields(check, shape, fields, scale);
  const std::size_t n = fields.front().x.size;
  if (n >= order::chunk || stride < n) {
    check.fail(errc::invalid_argument, "there are ", n, " elements, with stride ", stride,
               "; there can be fewer than ", order::chunk, " and at most the stride");
  }
  if (n == 0) return;
  const operand written = {terms, (numbers_of(shape) - 1) * stride + n, 1, number_of(shape)};
  check.vector("terms", written);
  check.read_on_host("terms", written);
  check_apart(check, fields, "terms", written);
  const auto end = static_cast<std::int64_t>(n);
  run(check, "interval_terms", shape, {0, end, end, end}, where,
      {.fields = fields, .head = terms, .head_stride = stride, .scale = scale});
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
  backends::with_component_type(head.element, [&]<class R>() {
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
  check.conjugated(conjugated);
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
        const R next =
            backends::norm_scale(sums[0] + sums[1]);  // the second is 0 for real elements
        scales[f] = next;
        if (next != 1) continue;
      }
      write_result<A>(shape.what, sums, conjugated, static_cast<R>(scale),
                      reinterpret_cast<R*>(to));
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
    if (field.what == summand::product) {
      add(dot_arguments{field.x, field.y, conjugated, to, options});
    } else {
      const reduction what = field.what == summand::value       ? reduction::sum
                             : field.what == summand::magnitude ? reduction::asum
                                                                : reduction::nrm2;
      add(reduce_arguments{field.x, what, to, options});
    }
  }
  where.backend()->multi_exact(where, all);
}

}  // namespace tally
