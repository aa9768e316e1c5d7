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

/// Why sums aren't of R, or don't go into a P.
template <class Sum, class R>
inline constexpr wrong wrong_sum =
    unless(summable<Sum, R>, wrong::the_type_asked_for_is_no_narrower_than_the_sums_own);
template <class Sum, class P>
inline constexpr wrong wrong_sum_result = [] {
  using T = added_t<P>;
  if constexpr (!std::is_void_v<T>) {
    return unless(std::same_as<T, double> || !Sum::has_doubles,
                  wrong::an_exact_sum_of_float_does_not_hold_doubles);
  } else if constexpr (result_place<P>) {
    return unless(summable<Sum, result_element_t<P>>,
                  wrong::a_result_is_of_the_sums_own_type_or_double);
  } else {
    return wrong::a_result_is_a_pointer_or_memory_that_is_not_const;
  }
}();

/// Calls of a function that sums, in R: `Call::sum<A...>` are the types of its sum.
template <class Call, class R, class Options, class Erased = void>
struct sum_call : call<Options, Erased> {  // NOLINT(bugprone-crtp-*): never an object
  static constexpr bool has_results = true;

  template <class... A>
  static consteval wrong returned() {
    return wrong_sum<typename Call::template sum<A...>, R>;
  }
  template <class P, class... A>
  static consteval wrong result() {
    return wrong_sum_result<typename Call::template sum<A...>, P>;
  }
};

/// `call(destination, options)`, blocking, in R.
template <class Sum, class R, class Call>
auto returned_sum(grade g, const Call& call) {
  sum_t<Sum, R> r;
  call(output{&r, type_of<decltype(r)>}, call_options{g, true});
  return r;
}
/// Results of one call, at most. A call refuses more, of which a vector throws another exception.
inline constexpr std::size_t max_sums = std::size_t{1} << 48;

/// The same for several sums.
template <class Sum, class R, class Call>
auto returned_sums(std::size_t count, grade g, const Call& call) {
  std::vector<sum_t<Sum, R>> r(count > max_sums ? 0 : count);
  call(output{r.data(), type_of<sum_t<Sum, R>>}, call_options{g, true});
  return r;
}

/// `call(destination, options)` into a result, or into exact sums, which block, or limbs.
template <class Sum, class P, class Call>
void written_sums(const char* function, std::size_t count, P& to, grade g, const Call& call) {
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

}  // namespace tally::detail
