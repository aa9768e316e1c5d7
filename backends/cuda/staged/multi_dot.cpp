// Several dot products of host data, in groups of pairs with each shared vector once.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/order/tree.hpp"
#include "backends/common/types/tables.hpp"
#include "backends/cuda/staged/call.hpp"
#include "backends/cuda/staged/staged.hpp"

#include <tally/distributed/interval_sum.hpp>
#include <tally/numerics/order.hpp>

#include <cstdint>
#include <cstring>
#include <functional>

namespace tally::backends::cuda::staged {
namespace {

/// Pairs per group; each group brings a vector common to all once.
constexpr std::size_t max_pairs = 16;
static_assert(2 * max_pairs <= max_staged_vectors);
static_assert(max_pairs * 4 * sizeof(double) <= stages::result_bytes);

bool are_same(const operand& a, const operand& b) {
  return a.data == b.data && a.size == b.size && a.increment == b.increment;
}

class group {
 public:
  bool take(const call& c, const operand_pair& pair) {
    if (pairs_ == max_pairs || (pairs_ > 0 && pair.x.size != all_[0].host.size)) return false;
    const std::size_t before = count_;
    x_[pairs_] = place_of(c, pair.x);
    y_[pairs_] = place_of(c, pair.y);
    if (pairs_ > 0 && !fits(c)) {
      count_ = before;
      return false;
    }
    ++pairs_;
    return true;
  }

  std::size_t pairs() const { return pairs_; }
  std::span<const staged_vector> vectors() const { return {all_.data(), count_}; }
  operand_pair pair(const staged_operands& here, std::size_t j) const {
    return {here[x_[j]], here[y_[j]]};
  }

 private:
  std::size_t place_of(const call& c, const operand& v) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (all_[i].host.element == v.element && are_same(all_[i].host, v)) return i;
    }
    all_[count_] = c.through().vector(v);
    return count_++;
  }

  /// Whether at least a chunk of each vector goes at once.
  bool fits(const call& c) const {
    return c.through().are_short(vectors()) ||
           c.through().parts_of(vectors()).first >= order::chunk;
  }

  std::array<staged_vector, max_staged_vectors> all_;
  std::array<std::size_t, max_pairs> x_{}, y_{};
  std::size_t count_ = 0, pairs_ = 0;
};

/// Sums over a node of the tree.
template <class A>
struct sums_of_pairs {
  std::array<dot_sum<A>, max_pairs> of{};

  friend sums_of_pairs operator+(const sums_of_pairs& a, const sums_of_pairs& b) {
    sums_of_pairs both;
    for (std::size_t j = 0; j < max_pairs; ++j) both.of[j] = a.of[j] + b.of[j];
    return both;
  }
};

class group_products {
 public:
  group_products(const call& c, const multi_dot_arguments& a, const group& of, void* results)
      : c_(c), a_(a), group_(of), results_(results) {}

  void run() {
    if (c_.through().are_short(group_.vectors())) return run_short();
    if (is_exact(a_)) return add_to_words();
    if (a_.results.element == type::int64) return add_integers();
    with_type<type_list<float, double, std::complex<float>, std::complex<double>>>(
        a_.results.element, [&]<class A>() { join<A>(); });
  }

 private:
  void pair_up(const staged_operands& here) {
    for (std::size_t j = 0; j < group_.pairs(); ++j) pairs_[j] = group_.pair(here, j);
  }
  multi_dot_arguments asked(const output& results, call_options options) const {
    return {{{}, {}, {pairs_.data(), group_.pairs()}}, a_.conjugated, results, options};
  }
  template <class Work, class Retire>
  void run_parts(const Work& work, const Retire& retire) {
    const std::span<const staged_vector> vectors = group_.vectors();
    c_.through().run_parts(vectors, vectors[0].host.size, c_.through().parts_of(vectors), work,
                           retire);
  }

  void run_short() {
    call_options options = a_.options;
    options.wait = result_place(results_).on_host;
    c_.through().run_short(
        group_.vectors(), stages::padding::zeros, [&](const staged_operands& here) {
          pair_up(here);
          cuda::instance.multi_dot(
              c_.on(), asked({results_, a_.results.element, a_.results.words}, options));
        });
    if (!options.wait) c_.through().wait();
  }

  void add_to_words() {
    const output& to = a_.results;
    const operand_pair first = a_.pairs[0];
    const type sum =
        to.words ? to.element : exact_sum_type(first.x.element, first.y.element, to.element);
    const std::size_t each = exact_words(sum), bytes = group_.pairs() * each * sizeof(std::int64_t);
    auto* const words = static_cast<std::int64_t*>(c_.memory().words.of(bytes));
    check(cudaMemsetAsync(words, 0, bytes, c_.stream()), "cudaMemsetAsync");
    run_parts(
        [&](const staged_operands& here, std::size_t, void*) {
          pair_up(here);
          cuda::instance.multi_dot(
              c_.on(), asked({words, sum, true}, {.grade = tally::exact, .wait = false}));
        },
        [](const void*, std::size_t, std::size_t) {});
    if (!to.words) {
      const bool on_host = result_place(results_).on_host;
      cuda::instance.round_words(
          c_.on(), {words, sum, group_.pairs(), false, {results_, to.element}, on_host});
      if (!on_host) c_.through().wait();
      return;
    }
    for (std::size_t j = 0; j < group_.pairs(); ++j) {
      auto* const result = static_cast<std::int64_t*>(results_) + j * each;
      add_words(c_, words + j * each, {result, sum, true});
    }
  }

  void add_integers() {
    std::array<std::int64_t, max_pairs> sums{};
    run_parts(
        [&](const staged_operands& here, std::size_t, void* to) {
          pair_up(here);
          cuda::instance.multi_dot(c_.on(), asked({to, type::int64}, {.wait = false}));
        },
        [&](const void* from, std::size_t, std::size_t) {
          std::array<std::int64_t, max_pairs> some;
          std::memcpy(some.data(), from, group_.pairs() * sizeof some[0]);
          for (std::size_t j = 0; j < group_.pairs(); ++j) sums[j] = plus(sums[j], some[j]);
        });
    deliver(c_, sums.data(), group_.pairs() * sizeof sums[0], results_);
  }

  /// Sums parts as nodes; each pair has the numbers of a dot_sum<A>.
  template <class A>
  void join() {
    using R = real_t<A>;
    constexpr std::size_t numbers = sizeof(dot_sum<A>) / sizeof(R);
    // parts of at least a chunk, of at most 2^48 elements
    order::tree<sums_of_pairs<A>, order::add, 39> joined;
    interval_shape shape;
    shape.accumulator = type_of<A>;
    shape.fields = group_.pairs();
    shape.total = static_cast<std::int64_t>(group_.vectors()[0].host.size);
    const std::function<void()> nothing;
    run_parts(
        [&](const staged_operands& here, std::size_t, void* to) {
          std::array<interval_field, max_pairs> fields;
          for (std::size_t j = 0; j < group_.pairs(); ++j) {
            const operand_pair pair = group_.pair(here, j);
            fields[j] = {summand::product, pair.x, pair.y};
          }
          cuda::instance.sum_interval(
              c_.on(),
              {"multi_dot", shape, {fields.data(), group_.pairs()}, to, {}, false, nothing});
        },
        [&](const void* from, std::size_t, std::size_t leaves) {
          sums_of_pairs<A> node;
          std::memcpy(&node, from, group_.pairs() * numbers * sizeof(R));
          joined.add(node, leaves);
        });
    const sums_of_pairs<A> total = joined.total();
    std::array<A, max_pairs> made;
    for (std::size_t j = 0; j < group_.pairs(); ++j) made[j] = finish(total.of[j], a_.conjugated);
    deliver(c_, made.data(), group_.pairs() * sizeof(A), results_);
  }

  const call& c_;
  const multi_dot_arguments& a_;
  const group& group_;
  void* results_;
  std::array<operand_pair, max_pairs> pairs_;
};

}  // namespace

void backend::multi_dot(const executor& where, const multi_sum& a) const {
  if (a.values || a.update) return multi_dot_in_turn(where, a);
  const call c(*memory_);
  const std::size_t bytes = bytes_of(a.results);
  for (std::size_t first = 0; first < a.pairs.size();) {
    group some;
    while (first + some.pairs() < a.pairs.size() && some.take(c, a.pairs[first + some.pairs()])) {
    }
    group_products(c, a, some, static_cast<std::byte*>(a.results.data) + first * bytes).run();
    first += some.pairs();
  }
}

}  // namespace tally::backends::cuda::staged
