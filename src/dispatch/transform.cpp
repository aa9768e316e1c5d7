// The public element-wise functions: check their arguments once, find the backend, call it.
#include <tally/error.hpp>
#include <tally/transform.hpp>

#include "src/core/floating_point_environment.hpp"
#include "src/core/table.hpp"
#include "src/dispatch/automatic.hpp"
#include "src/dispatch/check.hpp"
#include "src/dispatch/overlap.hpp"

#include <array>
#include <cstdint>

namespace tally {
namespace {

using transforms::computation_type;
using transforms::is_binary;

template <class X, class... Y>
constexpr bool as_of_dot(type_list<Y...>) {
  return (... && (computation_type(elementwise::add, type_of<X>, type_of<Y>) ==
                  type_of<dot_result_t<X, Y>>));
}
static_assert([]<class... X>(type_list<X...> types) {
  return (... && as_of_dot<X>(types));
}(element_types{}));

/// In the order of `elementwise`; and what the one that is written is called.
struct description {
  std::string_view function;
  const char* z;
};
constexpr std::array descriptions = {
    description{"tally::copy", "y"},    description{"tally::scal", "x"},
    description{"tally::axpy", "y"},    description{"tally::axpby", "y"},
    description{"tally::add", "z"},     description{"tally::sub", "z"},
    description{"tally::mul", "z"},     description{"tally::relu", "y"},
    description{"tally::sigmoid", "y"}, description{"tally::exp", "y"},
};

/// The type that y counts as: x's own where there is no y.
type y_type(const transform_arguments& a) { return is_binary(a.what) ? a.y.element : a.x.element; }

// --- Checks --------------------------------------------------------------------------------------

check check_of(elementwise what) {
  return check{descriptions[static_cast<std::size_t>(what)].function};
}

void check_factor(const check& check, const char* name, const scalar& s, type computation) {
  check.known_type(name, s.element);
  if (!transforms::multiplies(s.element, computation)) {
    check.fail(errc::unsupported_type, name, " is ", tally::name(s.element),
               "; the computation is in ", tally::name(computation));
  }
}

/// Throws what is wrong with them, if anything is.
void check_arguments(const transform_arguments& a) {
  if (static_cast<std::size_t>(a.what) >= descriptions.size()) {
    check{"tally::transform"}.fail(errc::invalid_argument, "what is ", static_cast<int>(a.what),
                                   "; there are ", descriptions.size(), " element-wise functions");
  }
  const check check = check_of(a.what);
  const char* const z = descriptions[static_cast<std::size_t>(a.what)].z;
  const bool binary = is_binary(a.what);
  check.known_type("x", a.x.element);
  if (binary) check.known_type("y", a.y.element);
  check.known_type(z, a.z.element);
  if (!transforms::takes(a.what, a.x.element)) {
    check.fail(errc::unsupported_type, "x is ", name(a.x.element));
  }
  if (!transforms::gives(a.what, a.x.element, y_type(a), a.z.element)) {
    check.fail(errc::unsupported_type, z, " is ", name(a.z.element),
               ", to which the result can't be converted; it is computed in ",
               name(computation_type(a.what, a.x.element, y_type(a))));
  }
  const type computation = computation_type(a.what, a.x.element, y_type(a));
  if (a.what >= elementwise::scal && a.what <= elementwise::axpby) {
    check_factor(check, "alpha", a.alpha, computation);
  }
  if (a.what == elementwise::axpby) check_factor(check, "beta", a.beta, computation);
  if (binary) check.same_size("x", a.x, "y", a.y);
  check.same_size("x", a.x, z, a.z);
  check.vector("x", a.x);
  if (binary) check.vector("y", a.y);
  check.vector(z, a.z);
  check_apart_or_same(check, "x", a.x, z, a.z);
  if (binary) check_apart_or_same(check, "y", a.y, z, a.z);
}

// --- To the backend ------------------------------------------------------------------------------

/// As the numbers that complex elements are.
template <class Vector>
Vector numbers_of(Vector v) {
  v.size *= 2;
  v.element = part_of(v.element);
  return v;
}

/// What backends see: fewer functions, and of them as few complex ones as may be.
transform_arguments reduced(transform_arguments a) {
  if (!is_binary(a.what)) a.y = {nullptr, 0, 1, a.x.element};
  if (a.what == elementwise::axpy || a.what == elementwise::add || a.what == elementwise::sub) {
    if (a.what != elementwise::axpy) a.alpha = 1;
    a.beta = a.what == elementwise::sub ? -1 : 1;
    a.what = elementwise::axpby;
  }
  if (!is_complex(a.x.element) || a.x.element != a.z.element) return a;
  if (a.what > elementwise::axpby || a.x.increment != 1 || a.z.increment != 1) return a;
  if (a.what != elementwise::copy && !a.alpha.is_real()) return a;
  if (a.what == elementwise::axpby) {
    if (!a.beta.is_real() || a.y.element != a.z.element || a.y.increment != 1) return a;
    a.y = numbers_of(a.y);
  }
  a.x = numbers_of(a.x);
  a.z = numbers_of(a.z);
  return a;
}

/// The arguments are right but for where they are.
void run(const executor& where, const transform_arguments& a) {
  if (check::is_needed(where)) {
    const check check = check_of(a.what);
    check.reach(where, "x", a.x);
    if (is_binary(a.what)) check.reach(where, "y", a.y);
    check.reach(where, descriptions[static_cast<std::size_t>(a.what)].z, a.z);
  }
  where.backend()->transform(where, reduced(a));
}

}  // namespace

void transform(const executor& where, const transform_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  if (a.x.size == 0) return;
  if (where.backend() != nullptr) return run(where, a);
  const bool binary = is_binary(a.what);
  if (const executor* on_host = binary ? choose_on_host(a.x, a.y, a.z) : choose_on_host(a.x, a.z)) {
    return run(*on_host, a);
  }
  run(binary ? choose(a.x, a.y, a.z) : choose(a.x, a.z), a);
}

}  // namespace tally
