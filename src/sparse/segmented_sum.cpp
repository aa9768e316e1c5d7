// Public `segmented_sum`: rows of a matrix whose terms are the values alone.
#include <tally/error.hpp>
#include <tally/sparse/segmented_sum.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/sparse/csr.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operands/pair_rules.hpp"

#include <cstdint>

namespace tally {
namespace {

constexpr check check_of{"tally::segmented_sum"};

void check_contiguous(const char* name, const operand& v) {
  if (v.increment == 1) return;
  check_of.fail(v.increment == 0 ? errc::zero_increment : errc::invalid_argument, name,
                " has increment ", std::int64_t{v.increment}, "; it must be 1");
}

void check_arguments(const segmented_sum_arguments& a) {
  if (a.options.wait) {
    check_of.fail(errc::invalid_argument, "options.wait is set; there is no form that waits");
  }
  const operand& offsets = a.offsets;
  check_of.known_type("offsets", offsets.element);
  check_of.known_type("x", a.x.element);
  check_of.known_type("results", a.results.element);
  if (offsets.element != type::int32 && offsets.element != type::int64) {
    check_of.fail(errc::unsupported_type, "offsets is ", name(offsets.element),
                  "; it may be int32 or int64");
  }
  const pair_rules& rules = rules_of(a.x.element, a.x.element);
  check_of.sum_type("results", a.results.element, rules.rule,
                    is_integer(a.x.element) ? rules.rule : rules.widest, a.x.element, a.x.element);
  check_contiguous("offsets", offsets);
  check_contiguous("x", a.x);
  check_of.vector("offsets", offsets);
  check_of.vector("x", a.x);
  check_of.vector("results", a.results);
  if (offsets.size != a.results.size + 1) {
    check_of.fail(errc::size_mismatch, "offsets has ", offsets.size, " elements; ", a.results.size,
                  " results need ", a.results.size + 1);
  }
  check_of.offsets("offsets", offsets.element, "x", a.x.size);
  check_apart(check_of, "x", a.x, "results", a.results);
  check_apart(check_of, "offsets", offsets, "results", a.results);
}

/// Pre: host-accessible.
void check_ends(const segmented_sum_arguments& a) {
  const backends::index_vector offsets(a.offsets);
  const std::size_t segments = a.results.size;
  if (offsets[0] != 0) {
    check_of.fail(errc::invalid_argument, "offsets[0] is ", offsets[0], "; it must be 0");
  }
  if (offsets[segments] != static_cast<std::int64_t>(a.x.size)) {
    check_of.fail(errc::invalid_argument, "offsets[", segments, "] is ", offsets[segments],
                  "; x has ", a.x.size, " elements");
  }
}

void run(const executor& where, const segmented_sum_arguments& a) {
  const bool may_differ = check::is_needed(where);
  if (may_differ) {
    check_of.reach(where, "offsets", a.offsets);
    check_of.reach(where, "x", a.x);
    check_of.reach(where, "results", a.results);
  }
  if (!may_differ || where.backend()->is_on_host) check_ends(a);
  if (a.results.size == 0) return;
  backends::csr_product product;
  product.a.rows = a.results.size;
  product.a.row_offsets = a.offsets;
  product.a.column_indices = {nullptr, a.x.size, 1, type::int32};
  product.a.values = a.x;
  product.x = {nullptr, 0, 1, part_of(a.results.element)};
  product.y = a.results;
  product.options = a.options;
  backends::spmv(where, product);
}

}  // namespace

void segmented_sum(const executor& where, const segmented_sum_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  run(where.backend() != nullptr ? where : choose(a.x, a.offsets, a.results), a);
}

}  // namespace tally
