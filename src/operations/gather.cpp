// Public gather, scatter and scatter_add.
#include <tally/error.hpp>
#include <tally/operations/gather.hpp>
#include <tally/operations/histogram.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/histogram/weights.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

namespace tally {
namespace {

void check_added(const check& check, const gather_arguments& a) {
  if (a.x.element != type::float32 && a.x.element != type::float64) {
    check.fail(errc::unsupported_type, "x is ", name(a.x.element),
               "; float32 and float64 are added");
  }
  if (a.z.increment != 1) {
    check.fail(a.z.increment == 0 ? errc::zero_increment : errc::invalid_argument,
               "z has increment ", std::int64_t{a.z.increment}, "; it must be 1");
  }
  if (a.x.size > backends::max_weights || a.z.size > backends::max_counts) {
    check.fail(errc::invalid_argument, "x has ", a.x.size, " elements, z ", a.z.size,
               "; there can be ", backends::max_weights, " and ", backends::max_counts);
  }
}

void check_arguments(const check& check, const gather_arguments& a) {
  check.known_type("x", a.x.element);
  check.known_type("z", a.z.element);
  if (a.x.element != a.z.element) {
    check.fail(errc::unsupported_type, "x is ", name(a.x.element), ", z is ", name(a.z.element));
  }
  if (a.indices.element != type::int32 && a.indices.element != type::int64) {
    check.known_type("indices", a.indices.element);
    check.fail(errc::unsupported_type, "the indices are ", name(a.indices.element),
               "; they can be int32 or int64");
  }
  if (a.indices.increment != 1) {
    check.fail(a.indices.increment == 0 ? errc::zero_increment : errc::invalid_argument,
               "the indices have increment ", std::int64_t{a.indices.increment}, "; it must be 1");
  }
  if (a.adds) check_added(check, a);
  // One index per element of the short vector.
  const bool scatters = a.scatters || a.adds;
  check.same_size("indices", a.indices, scatters ? "x" : "z", scatters ? a.x : operand(a.z));
  check.vector("x", a.x);
  check.vector("indices", a.indices);
  check.vector("z", a.z);
  if (a.indices.size == 0) return;
  const bool is_empty = a.x.size == 0 || (a.z.size == 0 && !a.adds);
  if (is_empty) {
    check.fail(errc::size_mismatch, "there are ", a.indices.size, " indices, ",
               a.x.size == 0 ? "x" : "z", " has 0 elements");
  }
  check_apart(check, "x", a.x, "z", a.z);
  check_apart(check, "indices", a.indices, "z", a.z);
}

}  // namespace

void gather_elements(const executor& where, const gather_arguments& a) {
  const backends::default_environment environment;
  const check check{a.adds       ? "tally::scatter_add"
                    : a.scatters ? "tally::scatter"
                                 : "tally::gather"};
  check_arguments(check, a);
  if (a.indices.size == 0 || a.z.size == 0) return;
  const executor chosen = where.backend() != nullptr ? where : choose(a.x);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", a.x);
    check.reach(chosen, "indices", a.indices);
    check.reach(chosen, "z", a.z);
  }
  if (!a.adds) return backends::gather(chosen, a);
  histogram_arguments sums;
  sums.x = a.indices;
  sums.weighted = true;
  sums.weights = a.x;
  sums.counts = a.z;
  sums.options.add = true;
  sums.scatters = true;
  backends::histogram(chosen, sums);
}

}  // namespace tally
