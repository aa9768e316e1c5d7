// Public reductions.
#include <tally/error.hpp>
#include <tally/operations/extremum.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>

#include "backends/backend.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "backends/common/order/weighted_square.hpp"
#include "backends/common/types/tables.hpp"
#include "src/automatic.hpp"
#include "src/check.hpp"
#include "src/operands/pair_rules.hpp"
#include "src/operations/reduce.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally {
namespace {

/// Function names in the order of `reduction`.
constexpr std::array functions = {"tally::sum", "tally::asum", "tally::nrm2",
                                  "tally::sum_of_squares", "tally::max_norm"};

template <reduction what>
constexpr auto results_table = backends::table_over([]<class X>() {
  return reduce_results{type_of<detail::reduction_rule_t<what, X>>,
                        type_of<detail::reduction_widest_t<what, X>>};
});

constexpr std::array all_results = {results_table<reduction::sum>, results_table<reduction::asum>,
                                    results_table<reduction::nrm2>, results_table<reduction::asum>,
                                    results_table<reduction::asum>};

}  // namespace

const reduce_results& results_of(reduction what, type x) {
  return all_results[static_cast<std::size_t>(what)][x];
}

namespace {

check check_of(reduction what) { return check{functions[static_cast<std::size_t>(what)]}; }

[[gnu::noinline]] void check_arguments(const reduce_arguments& a) {
  check{"tally::reduce"}.enumerator("what", a.what, reduction::max_norm, "reductions");
  const check check = check_of(a.what);
  check.known_type("x", a.x.element);
  check.known_type("result", a.result.element);
  check.vector("x", a.x);
  if (a.what > reduction::nrm2 && is_complex(a.x.element)) {
    check.fail(errc::unsupported_type, "x is ", name(a.x.element), "; it can be real");
  }
  const reduce_results& allowed = results_of(a.what, a.x.element);
  if (a.result.words && a.what == reduction::max_norm) {
    check.fail(errc::invalid_argument, "the result is words; a maximum is no sum");
  }
  if (a.result.words) {
    return check.words(a.result, is_complex(allowed.rule), a.x.element);
  }
  check.sum_type("the result", a.result.element, allowed.rule, allowed.widest, a.x.element,
                 a.x.element);
  check.pointer("result", a.result.data, a.result.element);
}

/// See src/operations/dot.cpp.
bool plain(const reduce_arguments& a) {
  if (a.what > reduction::nrm2 || !is_listed(a.x.element)) return false;
  const reduce_results& allowed = results_of(a.what, a.x.element);
  return (a.result.element == allowed.rule || a.result.element == allowed.widest) &&
         !a.result.words && check::has_reach(a.x) && a.x.data != nullptr &&
         a.result.data != nullptr && check::is_aligned(a.x.data, a.x.element) &&
         check::is_aligned(a.result.data, a.result.element);
}

void check_reach(const executor& where, const reduce_arguments& a) {
  if (!check::is_needed(where)) return;
  const check check = check_of(a.what);
  check.reach(where, "x", a.x);
  check.result(where, a.result, a.options.wait);
}

template <class X>
auto magnitude(X value) {
  if constexpr (std::is_integral_v<X>) {
    const auto number = static_cast<std::uint64_t>(value);
    return value < X{} ? 0 - number : number;
  } else {
    return std::abs(static_cast<double>(value));
  }
}

/// The largest magnitude of n > 0 elements.
template <class X>
auto largest_magnitude(const executor& where, const operand& x) {
  if constexpr (!std::is_integral_v<X>) {
    if (where.backend()->is_on_host) {
      std::int64_t index = 0;
      backends::extremum(where, {x, extreme::iamax, &index, {.wait = true}});
      return magnitude(static_cast<const X*>(x.data)[index * x.increment]);
    }
  }
  extrema<X> found{};  // both are NaN, or none
  backends::extremum(where, {x, extreme::minmax, &found, {.wait = true}});
  return std::max(magnitude(found.min.value), magnitude(found.max.value));
}

void write_max_norm(const executor& where, const reduce_arguments& a) {
  std::array<std::byte, size_of(type::float64)> result = {};
  backends::with_type<real_types>(a.x.element, [&]<class X>() {
    const auto norm = a.x.size > 0 ? largest_magnitude<X>(where, a.x) : magnitude(X{});
    backends::with_type<type_list<std::int64_t, float, double>>(a.result.element, [&]<class R>() {
      const R value = backends::canonical(static_cast<R>(norm));
      std::memcpy(result.data(), &value, sizeof value);
    });
  });
  const std::size_t bytes = size_of(a.result.element);
  if (a.options.wait || where.backend()->is_on_host) {
    std::memcpy(a.result.data, result.data(), bytes);
  } else {
    where.backend()->copy_bytes(where, result.data(), a.result.data, bytes);
  }
}

void run(const executor& where, const reduce_arguments& a) {
  check_reach(where, a);
  if (a.what == reduction::max_norm) return write_max_norm(where, a);
  if (a.what == reduction::sum_of_squares) {
    const dot_arguments products{a.x, a.x, conjugate::none, a.result, a.options};
    return backends::is_exact(a.options, a.result)
               ? backends::exact(where, backends::exact_of(products))
               : backends::dot(where, products);
  }
  if (backends::is_exact(a.options, a.result)) {
    return backends::exact(where, backends::exact_of(a));
  }
  backends::reduce(where, a);
}

}  // namespace

void check_arguments(const executor& where, const reduce_arguments& a) {
  check_arguments(a);
  check_reach(where, a);
}

namespace {

check check_of(const weighted_norm_arguments& a) {
  constexpr const char* names[] = {"tally::weighted_sum_of_squares", "tally::weighted_nrm2",
                                   "tally::wrms_norm"};
  return check{a.mask ? "tally::wrms_norm_mask" : names[static_cast<std::size_t>(a.what)]};
}

void check_arguments(const weighted_norm_arguments& a) {
  check{"tally::reduce_weighted"}.enumerator("what", a.what, weighted_norm::root_mean, "norms");
  const check check = check_of(a);
  const auto real = [&](const char* name, const operand& v) {
    check.known_type(name, v.element);
    if (is_complex(v.element)) {
      check.fail(errc::unsupported_type, name, " is ", tally::name(v.element), "; it can be real");
    }
    check.same_size("x", a.x, name, v);
    check.vector(name, v);
  };
  real("x", a.x);
  real("w", a.w);
  if (a.mask) real("the mask", *a.mask);
  check.known_type("result", a.result.element);
  type rule = rules_of(a.x.element, a.w.element).rule;
  if (is_integer(rule)) rule = type::float64;
  if (a.result.words) return check.words(a.result, false, rule);
  check.sum_type("the result", a.result.element, rule, type::float64, a.x.element, a.w.element);
  check.pointer("result", a.result.data, a.result.element);
}

void check_reach(const executor& where, const weighted_norm_arguments& a) {
  if (!check::is_needed(where)) return;
  const check check = check_of(a);
  check.reach(where, "x", a.x);
  check.reach(where, "w", a.w);
  if (a.mask) check.reach(where, "the mask", *a.mask);
  check.result(where, a.result, a.options.wait);
}

}  // namespace

void check_arguments(const executor& where, const weighted_norm_arguments& a) {
  check_arguments(a);
  check_reach(where, a);
}

void reduce_weighted(const executor& anywhere, const weighted_norm_arguments& a) {
  const backends::default_environment environment;
  check_arguments(a);
  const operand& mask = a.mask ? *a.mask : a.x;
  const executor where = anywhere.backend() != nullptr ? anywhere : choose(a.x, a.w, mask);
  check_reach(where, a);
  if (backends::is_exact(a.options, a.result)) {
    return backends::exact(where, backends::exact_of(a));
  }
  backends::weighted(where, a);
}

void finish_weighted_norm(weighted_norm what, std::int64_t n, const output& sum) {
  const backends::default_environment environment;
  const check check{"tally::finish_weighted_norm"};
  check.enumerator("what", what, weighted_norm::root_mean, "norms");
  check.known_type("sum", sum.element);
  if (n < 0) check.fail(errc::invalid_argument, "there are ", n, " elements");
  check.sum_type("the sum", sum.element, type::float32, type::float64, type::float32,
                 type::float32);
  check.pointer("sum", sum.data, sum.element);
  check.read_on_host("sum", {sum.data, 1, 1, sum.element});
  backends::with_type<type_list<float, double>>(sum.element, [&]<class R>() {
    R& value = *static_cast<R*>(sum.data);
    value = backends::finish_weighted(value, what, static_cast<std::size_t>(n));
  });
}

void reduce(const executor& where, const reduce_arguments& a) {
  const backends::default_environment environment;
  if (!plain(a)) check_arguments(a);
  if (where.backend() != nullptr) return run(where, a);
  if (const executor* on_host = choose_on_host(a.x)) return run(*on_host, a);
  run(choose(a.x), a);
}

}  // namespace tally
