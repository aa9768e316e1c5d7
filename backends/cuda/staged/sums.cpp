// Sums of host data: each part is a node of the order's tree, or is added to limbs of an exact sum.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/node_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/cuda/runtime/device.hpp"
#include "backends/cuda/staged/call.hpp"
#include "backends/cuda/staged/staged.hpp"
#include "backends/serial/serial.hpp"

#include <tally/numerics/exact_sum.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

namespace tally::backends::cuda::staged {
namespace {

/// x, for products y, which may be x, and maybe a mask.
struct summed_vectors {
  summed_vectors(const call& c, const operand& x, const operand& y, bool has_y,
                 const std::optional<operand>& mask = {}) {
    all[0] = c.through().vector(x);
    is_square = has_y && x.data == y.data && x.increment == y.increment && x.element == y.element;
    if (has_y && !is_square) all[count++] = c.through().vector(y);
    is_masked = mask.has_value();
    if (is_masked) all[count++] = c.through().vector(*mask);
  }
  std::span<const staged_vector> get() const { return {all.data(), count}; }
  const operand& x(const staged_operands& here) const { return here[0]; }
  const operand& y(const staged_operands& here) const { return here[is_square ? 0 : 1]; }
  std::optional<operand> mask(const staged_operands& here) const {
    return is_masked ? std::optional(here[count - 1]) : std::nullopt;
  }

  std::array<staged_vector, 3> all;
  std::size_t count = 1;
  bool is_square;
  bool is_masked;
};

/// Calls `run(here, options)` on short vectors, and waits for the result. `norm`: a mean is over
/// the vectors' own length.
template <class Run>
void run_short(const call& c, std::span<const staged_vector> vectors, call_options options,
               const void* result, const Run& run, weighted_norm norm = weighted_norm::squares) {
  using enum stages::padding;
  options.wait = result_place(result).on_host;
  c.through().run_short(vectors, norm == weighted_norm::root_mean ? none : zeros,
                        [&](const staged_operands& here) { run(here, options); });
  if (!options.wait) c.through().wait();
}

/// Sums parts as nodes, and joins and finishes them on the host; `what` and `accumulator` are a
/// node's. `norm`, if any: of squared products.
void sum_nodes(const call& c, const summed_vectors& v, summand what, type accumulator,
               conjugate conjugated, const output& result,
               const std::optional<weighted_norm>& norm = {}) {
  const std::size_t n = v.all[0].host.size;
  with_node(what, accumulator, [&]<summand terms, class A>() {
    using Sum = node_sum<terms, A>;
    using R = real_t<A>;
    order::tree<Sum> joined;
    const interval_shape shape{terms, accumulator, 1, static_cast<std::int64_t>(n)};
    const std::function<void()> nothing;
    c.through().run_parts(
        v.get(), n, c.through().parts_of(v.get()),
        [&](const staged_operands& here, std::size_t, void* sum) {
          interval_field node{terms, v.x(here)};
          if (terms == summand::product) node.y = v.y(here);
          node.squared = norm.has_value();
          node.mask = v.mask(here);
          cuda::instance.sum_interval(c.on(),
                                      {"sum_part", shape, {&node, 1}, sum, {}, false, nothing});
        },
        [&](const void* sum, std::size_t, std::size_t leaves) {
          Sum node;
          std::memcpy(&node, sum, sizeof node);
          joined.add(node, leaves);
        });
    const complex_number<R> made = finish_node<terms, A>(joined.total(), conjugated);
    const R parts[] = {norm ? finish_weighted(made.re, *norm, n) : made.re, made.im};
    deliver(c, parts, sizeof(R) * result_parts<terms, A>, result.data);
  });
}

/// Adds up parts' results modulo 2^64; `run(here, to)` queues a part.
template <class Run>
void add_integers(const call& c, const summed_vectors& v, void* result, const Run& run) {
  std::int64_t sum = 0;
  c.through().run_parts(
      v.get(), v.all[0].host.size, c.through().parts_of(v.get()),
      [&](const staged_operands& here, std::size_t, void* to) {
        run(here, output{to, type::int64}, call_options{.wait = false});
      },
      [&](const void* from, std::size_t, std::size_t) {
        std::int64_t some;
        std::memcpy(&some, from, sizeof some);
        sum = plus(sum, some);
      });
  deliver(c, &sum, sizeof sum, result);
}

}  // namespace

void add_words(const call& c, const std::int64_t* from, const output& to) {
  std::array<std::int64_t, 2 * exact_words(type::float64)> made, sum;
  const std::size_t words = exact_words(to.element), bytes = words * sizeof made[0];
  cuda::instance.copy_bytes(c.on(), from, made.data(), bytes);
  cuda::instance.copy_bytes(c.on(), to.data, sum.data(), bytes);
  with_type<type_list<float, double>>(part_of(to.element), [&]<class T>() {
    constexpr std::size_t each = exact_words(type_of<T>);
    for (std::size_t first = 0; first < words; first += each) {
      exact_sum<T>::from_words(&made[first]).to_words(&made[first]);
    }
  });
  for (std::size_t i = 0; i < words; ++i) sum[i] = plus(sum[i], made[i]);
  deliver(c, sum.data(), bytes, to.data);
}

void backend::dot(const executor&, const dot_arguments& a) const {
  const call c(*memory_);
  const summed_vectors v(c, a.x, a.y, true);
  const auto run = [&](const staged_operands& here, const output& result, call_options options) {
    cuda::instance.dot(c.on(), {v.x(here), v.y(here), a.conjugated, result, options});
  };
  if (c.through().are_short(v.get())) {
    return run_short(c, v.get(), a.options, a.result.data,
                     [&](const auto& here, call_options o) { run(here, a.result, o); });
  }
  if (a.result.element == type::int64) return add_integers(c, v, a.result.data, run);
  sum_nodes(c, v, summand::product, a.result.element, a.conjugated, a.result);
}

void backend::reduce(const executor&, const reduce_arguments& a) const {
  const call c(*memory_);
  const summed_vectors v(c, a.x, {}, false);
  const auto run = [&](const staged_operands& here, const output& result, call_options options) {
    cuda::instance.reduce(c.on(), {v.x(here), a.what, result, options});
  };
  if (c.through().are_short(v.get())) {
    return run_short(c, v.get(), a.options, a.result.data,
                     [&](const auto& here, call_options o) { run(here, a.result, o); });
  }
  if (a.result.element == type::int64) return add_integers(c, v, a.result.data, run);
  constexpr summand terms[] = {summand::value, summand::magnitude, summand::square};
  sum_nodes(c, v, terms[static_cast<std::size_t>(a.what)], accumulator_of(a), conjugate::none,
            a.result);
}

void backend::weighted(const executor&, const weighted_norm_arguments& a) const {
  const call c(*memory_);
  const summed_vectors v(c, a.x, a.w, true, a.mask);
  if (!c.through().are_short(v.get())) {
    return sum_nodes(c, v, summand::product, a.result.element, conjugate::none, a.result, a.what);
  }
  run_short(
      c, v.get(), a.options, a.result.data,
      [&](const staged_operands& here, const call_options& options) {
        cuda::instance.weighted(c.on(),
                                {v.x(here), v.y(here), v.mask(here), a.what, a.result, options});
      },
      a.what);
}

void backend::exact(const executor&, const exact_arguments& a) const {
  const call c(*memory_);
  const bool has_y = a.has_y();
  const summed_vectors v(c, a.x, a.y, has_y, a.mask);
  const auto run = [&](const staged_operands& here, const output& result, call_options options) {
    exact_arguments part = a;
    part.x = v.x(here);
    if (has_y) part.y = v.y(here);
    part.mask = v.mask(here);
    part.result = result;
    part.options = options;
    cuda::instance.exact(c.on(), part);
  };
  if (c.through().are_short(v.get())) {
    return run_short(
        c, v.get(), a.options, a.result.data,
        [&](const auto& here, call_options o) { run(here, a.result, o); }, a.norm);
  }
  const type y_type = has_y ? a.y.element : a.x.element;
  const bool own_sum = a.result.words || a.term == exact_term::weighted;
  const type sum =
      own_sum ? a.result.element : exact_sum_type(a.x.element, y_type, a.result.element);
  const std::size_t bytes = exact_words(sum) * sizeof(std::int64_t);
  auto* const words = static_cast<std::int64_t*>(c.memory().words.of(bytes));
  check(cudaMemsetAsync(words, 0, bytes, c.stream()), "cudaMemsetAsync");
  c.through().run_parts(
      v.get(), a.x.size, c.through().parts_of(v.get()),
      [&](const staged_operands& here, std::size_t, void*) {
        run(here, {words, sum, true}, {.grade = tally::exact, .wait = false});
      },
      [](const void*, std::size_t, std::size_t) {});
  if (a.result.words) return add_words(c, words, a.result);
  const bool on_host = result_place(a.result.data).on_host;
  if (a.divisor() > 0) {
    with_type<type_list<float, double>>(a.result.element, [&]<class R>() {
      R result;
      cuda::instance.round_words(c.on(), {words, sum, 1, false, {&result, type_of<R>}, true});
      result = root_of_mean(result, a.divisor());
      deliver(c, &result, sizeof result, a.result.data);
    });
    return;
  }
  cuda::instance.round_words(c.on(), {words, sum, 1, a.is_root(), a.result, on_host});
  if (!on_host) c.through().wait();
}

void backend::round_words(const executor& where, const round_arguments& a) const {
  const call c(*memory_);
  const bool result_here = locate(a.result.data).host;
  round_arguments asked = a;
  if (!locate(a.words).host) {
    asked.wait = result_here;
    cuda::instance.round_words(c.on(), asked);
    if (!result_here) c.through().wait();
    return;
  }
  c.through().wait();  // Work on the stream may still write the words, or the result.
  if (result_here) return serial::instance.round_words(where, a);
  std::vector<std::byte> made(a.count * size_of(a.result.element));
  asked.result.data = made.data();
  serial::instance.round_words(where, asked);
  deliver(c, made.data(), made.size(), a.result.data);
}

}  // namespace tally::backends::cuda::staged
