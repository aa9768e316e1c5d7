// Public element-wise functions.
#include <tally/error.hpp>
#include <tally/operations/transform.hpp>

#include "backends/backend.hpp"
#include "backends/common/elementwise/moves.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"
#include "src/operations/transform.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace tally {
namespace {

using detail::computation_type;
using detail::is_binary;
using detail::is_ternary;

template <class X, class... Y>
constexpr bool as_of_dot(type_list<Y...>) {
  return (... && (computation_type(elementwise::add, type_of<X>, type_of<Y>) ==
                  type_of<dot_result_t<X, Y>>));
}
static_assert([]<class... X>(type_list<X...> types) {
  return (... && as_of_dot<X>(types));
}(element_types{}));

/// The type of x; for fill, of the value.
type x_type(const transform_arguments& a) {
  return a.what == elementwise::fill ? a.alpha.element : a.x.element;
}
/// The type of y; without y, of x.
type y_type(const transform_arguments& a) { return is_binary(a.what) ? a.y.element : x_type(a); }

type computation_of(const transform_arguments& a) {
  return computation_type(a.what, x_type(a), y_type(a), a.z.element, a.w.element);
}

// --- Checks --------------------------------------------------------------------------------------

check check_of(elementwise what) { return check{detail::description_of(what).function}; }

void check_factor(const check& check, const char* name, const scalar& s, type computation) {
  check.known_type(name, s.element);
  if (!detail::multiplies(s.element, computation)) {
    check.fail(errc::unsupported_type, name, " is ", tally::name(s.element),
               "; the computation is in ", tally::name(computation));
  }
}

}  // namespace

namespace {

/// Range of pow's exponent.
std::pair<std::int64_t, std::int64_t> exponents(type computation) {
  return {is_integer(computation) ? 0 : -detail::max_exponent, detail::max_exponent};
}
/// Range of `detail::code_of`.
constexpr std::pair<std::int64_t, std::int64_t> comparisons = {0, 15};

bool is_integer_of(std::pair<std::int64_t, std::int64_t> range, const scalar& s) {
  return is_integer(s.element) && s.integer >= range.first && s.integer <= range.second;
}

/// Whether a factor that must be an integer is a valid one.
bool has_integers(const transform_arguments& a, type computation) {
  if (a.what == elementwise::pow) return is_integer_of(exponents(computation), a.alpha);
  return !detail::is_comparison(a.what) || is_integer_of(comparisons, a.alpha);
}

void check_integers(const check& check, const transform_arguments& a, type computation) {
  if (has_integers(a, computation)) return;
  if (detail::is_comparison(a.what)) {
    check.fail(errc::invalid_argument, "comparison is none of the enumerators");
  }
  if (!is_integer(a.alpha.element)) {
    check.fail(errc::unsupported_type, "the exponent is ", name(a.alpha.element));
  }
  const auto [lowest, highest] = exponents(computation);
  check.fail(errc::invalid_argument, "the exponent is ", a.alpha.integer, "; it can be ", lowest,
             " to ", highest, " in ", name(computation));
}

/// Calls f(name, input) for each input.
template <class F>
void for_each_input(const transform_arguments& a, const F& f) {
  const auto& names = detail::description_of(a.what).names;
  const operand* const all[] = {&a.x, &a.y, &a.w};
  for (int i = 0; i < detail::inputs(a.what); ++i) f(names[i], *all[i]);
}

}  // namespace

void check_arguments(const check& check, const transform_arguments& a) {
  const detail::description& about = detail::description_of(a.what);
  const char* const z = about.output;
  if (a.what == elementwise::fill) check.known_type("value", x_type(a));
  for_each_input(a, [&](const char* name, const operand& v) { check.known_type(name, v.element); });
  check.known_type(z, a.z.element);
  const type computation = computation_of(a);
  if (!detail::takes(a.what, computation)) {
    if (!is_binary(a.what)) check.fail(errc::unsupported_type, "x is ", name(a.x.element));
    check.fail(errc::unsupported_type, about.names[0], " is ", name(a.x.element), ", ",
               about.names[1], " is ", name(a.y.element), "; the computation is in ",
               name(computation));
  }
  if (a.what == elementwise::where && !detail::is_mask(a.x.element, computation)) {
    check.fail(errc::unsupported_type, "mask is ", name(a.x.element), "; the computation is in ",
               name(computation));
  }
  if (!detail::writes(a.what, x_type(a), computation, a.z.element)) {
    check.fail(errc::unsupported_type, z, " is ", name(a.z.element),
               ", to which the result can't be converted; it is computed in ", name(computation));
  }
  const scalar* const factors[] = {&a.alpha, &a.beta, &a.gamma};
  for (int i = 0; i < about.factors; ++i) {
    check_factor(check, about.factor_names[i], *factors[i], computation);
  }
  check_integers(check, a, computation);
  if (is_binary(a.what)) check.same_size(about.names[0], a.x, about.names[1], a.y);
  if (is_ternary(a.what)) check.same_size(about.names[0], a.x, about.names[2], a.w);
  if (a.what != elementwise::fill) check.same_size(about.names[0], a.x, z, a.z);
  for_each_input(a, [&](const char* name, const operand& v) { check.vector(name, v); });
  check.vector(z, a.z);
  for_each_input(
      a, [&](const char* name, const operand& v) { check_apart_or_same(check, name, v, z, a.z); });
}

void check_reach(const check& check, const executor& where, const transform_arguments& a) {
  for_each_input(a, [&](const char* name, const operand& v) { check.reach(where, name, v); });
  check.reach(where, detail::description_of(a.what).output, a.z);
}

namespace {

void check_arguments(const transform_arguments& a) {
  check{"tally::transform"}.enumerator("what", a.what, last_elementwise, "element-wise functions");
  check_arguments(check_of(a.what), a);
}

// --- To the backend ------------------------------------------------------------------------------

/// Whether complex vectors may be processed as real: no complex factors or products of elements.
bool are_numbers(const transform_arguments& a) {
  const auto fits = [&](const auto& v) { return v.element == a.z.element && v.increment == 1; };
  if (!is_complex(a.z.element) || !fits(a.z) || !fits(a.x)) return false;
  const int factors = detail::factors(a.what);
  if ((factors > 0 && !a.alpha.is_real()) || (factors > 1 && !a.beta.is_real()) ||
      (factors > 2 && !a.gamma.is_real())) {
    return false;
  }
  return a.what == elementwise::copy || a.what == elementwise::scal ||
         ((a.what == elementwise::axpby || a.what == elementwise::axpbypcz) && fits(a.y));
}

/// Replaces functions by more general or cheaper ones. Copies by members: a whole copy would stall
/// on the caller's recent smaller stores (tuning/short_calls.md: with_fewer_functions).
transform_arguments with_fewer_functions(const transform_arguments& given) {
  // all members, or it does not compile
  const auto& [what, alpha, beta, x, y, z, gamma, w] = given;
  transform_arguments a{what, alpha, beta, x, y, z, gamma, w};
  switch (a.what) {
    case elementwise::axpy:
      a.beta = 1;
      a.what = elementwise::axpby;
      break;
    case elementwise::add:
    case elementwise::sub:
      a.alpha = 1;
      a.beta = a.what == elementwise::sub ? -1 : 1;
      a.what = elementwise::axpby;
      break;
    case elementwise::axpby:
      if (a.beta.is_zero()) a.what = elementwise::scal;
      break;
    case elementwise::waxpby:
      a.what = elementwise::axpby;
      break;
    case elementwise::scale:
      a.what = elementwise::scal;
      break;
    case elementwise::mul:
      a.alpha = 1;
      break;
    case elementwise::axpbypcz:
      if (a.gamma.is_zero()) a.what = elementwise::axpby;
      break;
    case elementwise::axypbz:
      if (a.beta.is_zero()) a.what = elementwise::mul;
      break;
    default:
      break;
  }
  if (!is_binary(a.what)) a.y = {nullptr, 0, 1, a.x.element};
  return a;
}

}  // namespace

reduced_transform reduced(const transform_arguments& a) {
  reduced_transform r{with_fewer_functions(a), computation_of(a)};
  transform_arguments& fewer = r.arguments;
  if (are_numbers(fewer)) {
    fewer.x = numbers_of(fewer.x);
    if (is_binary(fewer.what)) fewer.y = numbers_of(fewer.y);
    fewer.z = numbers_of(fewer.z);
    r.computation = part_of(r.computation);
  }
  return r;
}

namespace {

/// Pre: valid arguments, memory unchecked.
void run(const executor& where, const transform_arguments& a) {
  if (check::is_needed(where)) check_reach(check_of(a.what), where, a);
  if (a.what == elementwise::fill) {
    return backends::fill(where, backends::bytes_of(a.alpha, a.z.element), a.z);
  }
  const auto [arguments, computation] = reduced(a);
  backends::transform(where, arguments, computation);
}

/// `detail::run_short`, for vectors of T and real factors.
template <class T>
bool run_short(const executor& where, const transform_arguments& a) {
  if (a.what > last_elementwise || !is_real(a.alpha.element) || !is_real(a.beta.element) ||
      !is_real(a.gamma.element) || !has_integers(a, type_of<T>)) {
    return false;
  }
  const auto is_plain = [](const operand& v) {
    return v.element == type_of<T> && v.increment == 1;
  };
  const auto in = [](const operand& v) { return std::span(static_cast<const T*>(v.data), v.size); };
  const T factors[3] = {a.alpha.as<T>(), a.beta.as<T>(), a.gamma.as<T>()};
  // `reduced` keeps a function whose factor only rounding makes 0.
  if ((factors[1] == 0 && !a.beta.is_zero()) || (factors[2] == 0 && !a.gamma.is_zero())) {
    return false;
  }
  std::span z(static_cast<T*>(a.z.data), a.z.size);
  switch (detail::inputs(a.what)) {
    case 0:
      return detail::run_short(where, a.what, factors, z);
    case 1:
      return is_plain(a.x) && detail::run_short(where, a.what, factors, z, in(a.x));
    case 2:
      return is_plain(a.x) && is_plain(a.y) &&
             detail::run_short(where, a.what, factors, z, in(a.x), in(a.y));
    default:
      return is_plain(a.x) && is_plain(a.y) && is_plain(a.w) &&
             detail::run_short(where, a.what, factors, z, in(a.x), in(a.y), in(a.w));
  }
}

/// The same for vectors of any type.
bool run_short(const executor& where, const transform_arguments& a) {
  if (where.level_one() == nullptr || a.z.increment != 1) return false;
  if (a.z.element == type::float64) return run_short<double>(where, a);
  return a.z.element == type::float32 && run_short<float>(where, a);
}

}  // namespace

void transform(const executor& where, const transform_arguments& a) {
  const backends::default_environment environment;
  if (run_short(where, a)) return;
  check_arguments(a);
  if (a.z.size == 0) return;
  if (where.backend() != nullptr) return run(where, a);
  const auto with_vectors = [&](const auto& f) {
    const operand z = a.z;
    if (is_ternary(a.what)) return f(a.x, a.y, a.w, z);
    if (is_binary(a.what)) return f(a.x, a.y, z);
    return a.what == elementwise::fill ? f(z) : f(a.x, z);
  };
  const executor* const on_host =
      with_vectors([](const auto&... v) { return choose_on_host(v...); });
  if (on_host != nullptr) return run(*on_host, a);
  run(with_vectors([](const auto&... v) { return choose(v...); }), a);
}

void swap_elements(const executor& where, const output_operand& x, const output_operand& y) {
  const backends::default_environment environment;
  const check check{"tally::swap"};
  check.known_type("x", x.element);
  check.known_type("y", y.element);
  if (x.element != y.element) {
    check.fail(errc::unsupported_type, "x is ", name(x.element), ", y is ", name(y.element));
  }
  check.same_size("x", x, "y", y);
  check.vector("x", x);
  check.vector("y", y);
  check_apart(check, "x", x, "y", y);
  if (x.size == 0) return;
  const executor chosen = where.backend() != nullptr ? where : choose(x, y);
  if (check::is_needed(chosen)) {
    check.reach(chosen, "x", x);
    check.reach(chosen, "y", y);
  }
  backends::swap(chosen, x, y);
}

}  // namespace tally
