// Public sums over devices.
#include <tally/distributed/joined_sum.hpp>
#include <tally/error.hpp>
#include <tally/numerics/exact_words.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/interval.hpp"
#include "backends/common/order/node_sum.hpp"
#include "src/check.hpp"
#include "src/distributed/interval_sum.hpp"

#include <algorithm>
#include <vector>

namespace tally {
namespace {

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
  std::vector<backends::interval_node> held;
  std::int64_t next = 0;
  for (const node_interval& interval : intervals) {
    if (interval.first >= interval.last) continue;
    if (interval.first != next) {
      check{"tally::join_steps"}.fail(errc::invalid_argument, "an interval begins at chunk ",
                                      interval.first, " and the one before it ends at ", next);
    }
    next = interval.last;
    std::int32_t place = interval.place;
    backends::for_each_node(interval.first, interval.last, [&](backends::interval_node node) {
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
                  static_cast<std::size_t>(a.nodes_per_rank) *
                      backends::node_sum_bytes(a.shape.what, a.shape.accumulator));
  }
  const type number = part_of(a.shape.accumulator);
  check_memory_of(check, where, "results", a.results, number);
  if (!a.steps.empty() || a.through != nullptr) {
    check_memory_of(check, where, "nodes", a.nodes, number);
  }
  if (!a.steps.empty()) check_memory_of(check, where, "steps", a.steps.data(), type::int32);
  backends::join_nodes(where, a);
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
  backends::join_words(where, a);
}

}  // namespace tally
