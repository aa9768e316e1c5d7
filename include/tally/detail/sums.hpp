// The forms of sums: returned, into a result, added to exact sums.
#pragma once

#include <tally/call_options.hpp>
#include <tally/detail/arguments.hpp>
#include <tally/numerics/exact_words.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/result.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tally::detail {

/// Types of a sum: its accumulator by rule and the widest on request.
template <class Rule, class Widest, bool any_double>
struct sum_types {
  using rule = Rule;
  using widest = Widest;
  static constexpr bool has_doubles = any_double;
};

template <class X, class Y>
using product_sum = sum_types<dot_result_t<X, Y>, dot_widest_t<X, Y>,
                              std::same_as<real_t<element_of_t<X>>, double> ||
                                  std::same_as<real_t<element_of_t<Y>>, double>>;

/// The accumulator R, or by rule.
template <class Sum, class R>
using sum_t = std::conditional_t<std::is_void_v<R>, typename Sum::rule, R>;

template <class Sum, class R>
concept summable = std::same_as<sum_t<Sum, R>, typename Sum::rule> ||
                   std::same_as<sum_t<Sum, R>, typename Sum::widest>;

/// Type of the exact sums that `add_to` names, or void.
template <class P>
struct added {
  using type = void;
};
template <class T>
struct added<added_sums<T>> {
  using type = T;
};
template <class T>
struct added<added_words<T>> {
  using type = T;
};
template <class P>
using added_t = typename added<std::remove_cvref_t<P>>::type;

template <class Sum, class R>
constexpr bool is_summable() {
  static_assert(summable<Sum, R>,
                "R, in which a function<R> sums, is no narrower than the sum's own type "
                "(tally::dot_result_t and so on): that, or double or std::complex<double>");
  return summable<Sum, R>;
}

template <class Sum, class P>
constexpr bool is_sum_result() {
  using T = added_t<P>;
  if constexpr (!std::is_void_v<T>) {
    constexpr bool holds = std::same_as<T, double> || !Sum::has_doubles;
    static_assert(holds, "an exact sum of float doesn't hold operands of double");
    return holds;
  } else if constexpr (result_place<P>) {
    using R = result_element_t<P>;
    static_assert(summable<Sum, R>,
                  "a result is of the sum's own type (tally::dot_result_t and so on), or double or "
                  "std::complex<double>");
    return summable<Sum, R>;
  } else {
    static_assert(result_place<P>,
                  "a result is a pointer or memory that is not const, or tally::add_to of exact "
                  "sums; after it there may be tally::exact");
    return false;
  }
}

/// `call(destination, options)`, blocking, in R.
template <class Sum, class R, class Call>
auto returned_sum(grade g, const Call& call) {
  if constexpr (is_summable<Sum, R>()) {
    sum_t<Sum, R> r;
    call(output{&r, type_of<decltype(r)>}, call_options{g, true});
    return r;
  } else {
    return 0.0;
  }
}
/// Results of one call, at most. A call refuses more, of which a vector throws another exception.
inline constexpr std::size_t max_sums = std::size_t{1} << 48;

/// The same for several sums.
template <class Sum, class R, class Call>
auto returned_sums(std::size_t count, grade g, const Call& call) {
  if constexpr (is_summable<Sum, R>()) {
    std::vector<sum_t<Sum, R>> r(count > max_sums ? 0 : count);
    call(output{r.data(), type_of<sum_t<Sum, R>>}, call_options{g, true});
    return r;
  } else {
    return 0.0;
  }
}

/// `call(destination, options)` into a result, or into exact sums, which block, or limbs.
template <class Sum, class P, class Call>
auto written_sums(const char* function, std::size_t count, P& to, grade g, const Call& call) {
  if constexpr (is_sum_result<Sum, P>()) {
    using T = added_t<P>;
    constexpr bool parted = is_complex_v<typename Sum::rule>;
    if constexpr (std::is_void_v<T>) {
      auto* const r = first_result(function, to, count);
      call(output{r, type_of<result_element_t<P>>}, call_options{g, false});
    } else if constexpr (std::same_as<std::remove_const_t<P>, added_words<T>>) {
      call(output{to.words, type_of_sum<T>(parted), true}, call_options{exact, false});
    } else {
      merge_into(function, to, count * (parted ? 2 : 1), [&](std::int64_t* words) {
        call(output{words, type_of_sum<T>(parted), true}, call_options{exact, true});
      });
    }
  }
}

}  // namespace tally::detail
