// Public gather and scatter.
#include <tally/error.hpp>
#include <tally/operations/gather.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

namespace tally {
namespace {

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
  // One index per element of the short vector.
  check.same_size("indices", a.indices, a.scatters ? "x" : "z", a.scatters ? a.x : operand(a.z));
  check.vector("x", a.x);
  check.vector("indices", a.indices);
  check.vector("z", a.z);
  if (a.indices.size == 0) return;
  const bool is_empty = a.x.size == 0 || a.z.size == 0;
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
  const check check{a.scatters ? "tally::scatter" : "tally::gather"};
  check_arguments(check, a);
  if (a.indices.size == 0) return;
  const executor chosen = where.backend() != nullptr ? where : choose(a.x);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", a.x);
    check.reach(chosen, "indices", a.indices);
    check.reach(chosen, "z", a.z);
  }
  chosen.backend()->gather(chosen, a);
}

}  // namespace tally
