// Checks of a call's arguments at compile time: why a function doesn't take them.
//
// A public function has a template per form, constrained by its description in `detail`, a
// `..._call`; one more for calls without an executor; and a deleted one, which takes all other
// arguments and whose template argument `why` is the reason. So `requires { tally::dot(x, y); }` is
// false for operands that dot doesn't take, and a call with them is one error, which names the
// reason, with the function's forms in the line that the compiler shows.
#pragma once

#include <tally/detail/wrong.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/rows.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace Kokkos {
template <class Execution, class Memory>
struct SpaceAccessibility;
}

namespace tally::detail {

/// The first reason, if any.
template <wrong... why>
inline constexpr wrong first_wrong = [] {
  wrong first = wrong::nothing;
  (void)(... || (why != wrong::nothing && (first = why, true)));
  return first;
}();

constexpr wrong unless(bool valid, wrong why) { return valid ? wrong::nothing : why; }

/// Whether V is no vector to be read.
template <class V>
inline constexpr wrong wrong_vector = [] {
  using vector_type = std::remove_cvref_t<V>;
  if constexpr (vector_operand<vector_type>) {
    return wrong::nothing;
  } else if constexpr (vector<vector_type>) {
    return wrong::elements_are_of_no_element_type;
  } else {
    return wrong::an_operand_is_memory_with_data_and_size_or_a_view_of_rank_1;
  }
}();

/// The same of a vector that is written.
template <class V>
inline constexpr wrong wrong_output =
    first_wrong<wrong_vector<V>,
                unless(vector_output<V>, wrong::an_operand_that_is_written_is_not_const)>;

/// The same of real numbers.
template <class V>
inline constexpr wrong wrong_real_vector = [] {
  if constexpr (vector_operand<V>) {
    return unless(!is_complex_v<element_t<V>>, wrong::the_function_is_of_real_numbers);
  } else {
    return wrong_vector<V>;
  }
}();

template <class V>
inline constexpr wrong wrong_indices = [] {
  if constexpr (vector_operand<V>) {
    using index = element_t<V>;
    return unless(std::same_as<index, std::int32_t> || std::same_as<index, std::int64_t>,
                  wrong::indices_and_offsets_are_a_vector_of_int32_or_int64);
  } else {
    return wrong::indices_and_offsets_are_a_vector_of_int32_or_int64;
  }
}();

template <class S>
inline constexpr wrong wrong_factor = unless(element<S>, wrong::a_factor_is_of_no_element_type);

/// An executor, an instance of an execution space, or what else converts to an executor.
template <class T>
concept place =
    std::same_as<std::remove_cvref_t<T>, executor> || kokkos_space<std::remove_cvref_t<T>> ||
    (std::is_convertible_v<T, const executor&> && !vector<std::remove_cvref_t<T>>);

template <class... T>
inline constexpr bool is_placed = false;
template <class First, class... T>
inline constexpr bool is_placed<First, T...> = place<First>;

/// Whether T is an argument of calls, and no communicator: MPICH's is an int.
template <class T>
inline constexpr bool is_operand =
    vector<T> || rows_operand<T> || (element<T> && !std::same_as<T, int>);

/// A call over ranks, for functions of that name in another namespace.
template <class... T>
inline constexpr bool is_over_ranks = false;
template <class First, class Second, class... T>
inline constexpr bool is_over_ranks<First, Second, T...> =
    !is_placed<First> && is_placed<Second> && !is_operand<std::remove_cvref_t<First>>;

/// A View in memory that a Kokkos execution space can't access.
template <class Space, class V>
concept out_of_reach = requires {
  requires !bool(Kokkos::SpaceAccessibility<typename Space::execution_space,
                                            typename V::memory_space>::accessible);
};

/// What a `..._call` derives from. Its members `of<A...>()` say why a form doesn't take arguments
/// of these types, behind an executor and before options.
/// @tparam Options may come last, unless void
/// @tparam Erased  arguments with types erased
template <class Options = void, class Erased = void>
struct call {
  using options = Options;
  using erased = Erased;
  static constexpr bool needs_executor = false;
  /// Whether there are also `returned<A...>()`, which says why the form doesn't return its result,
  /// and `result<P, A...>()`, why it doesn't write it, with an executor, into a P.
  static constexpr bool has_results = false;
};

/// Why no form has arguments [first, first + sizeof...(i)) of All.
template <class Call, std::size_t first, class All, std::size_t... i>
consteval wrong wrong_operands(std::index_sequence<i...>) {
  if constexpr (requires { Call::template of<std::tuple_element_t<first + i, All>...>(); }) {
    return Call::template of<std::tuple_element_t<first + i, All>...>();
  } else {
    return wrong::arguments_are_of_no_form_of_the_function;
  }
}
/// Why their result isn't returned, or not written into argument `result`.
template <class Call, std::size_t result, std::size_t first, class All, std::size_t... i>
consteval wrong wrong_result(std::index_sequence<i...> operands) {
  constexpr wrong why = wrong_operands<Call, first, All>(operands);
  if constexpr (why != wrong::nothing) {
    return why;
  } else if constexpr (result == 0) {
    return Call::template returned<std::tuple_element_t<first + i, All>...>();
  } else {
    return Call::template result<std::tuple_element_t<result, All>,
                                 std::tuple_element_t<first + i, All>...>();
  }
}

/// A call with types erased.
template <class Call, class... T>
inline constexpr bool is_erased = false;
template <class Call, place Where, class Last>
inline constexpr bool is_erased<Call, Where, Last> =
    std::is_convertible_v<Last, typename Call::erased>;

/// Why a call is not taken, whatever the memory.
template <class Call, class... T>
inline constexpr wrong wrong_arguments = [] {
  using all = std::tuple<std::remove_reference_t<T>..., void>;
  constexpr wrong no_form = wrong::arguments_are_of_no_form_of_the_function;
  constexpr bool placed = is_placed<T...>;
  constexpr std::size_t first = placed ? 1 : 0, n = sizeof...(T) - first;
  using last =
      std::tuple_element_t<n == 0 ? sizeof...(T) : sizeof...(T) - 1, std::tuple<T..., void>>;
  constexpr std::size_t operands =
      n - (n > 0 && std::is_convertible_v<last, typename Call::options> ? 1 : 0);
  constexpr wrong why = wrong_operands<Call, first, all>(std::make_index_sequence<operands>());
  if constexpr (is_erased<Call, T...>) {
    return wrong::nothing;
  } else if constexpr ((Call::needs_executor && !placed) || (0 + ... + is_placed<T>) > first) {
    return no_form;
  } else if constexpr (why == no_form && Call::has_results && placed && operands > 0) {
    return wrong_result<Call, operands, 1, all>(std::make_index_sequence<operands - 1>());
  } else if constexpr (Call::has_results) {
    return wrong_result<Call, 0, first, all>(std::make_index_sequence<operands>());
  } else {
    return why;
  }
}();

/// Why a call is not taken.
template <class Call, class... T>
inline constexpr wrong wrong_call = wrong_arguments<Call, T...>;
template <class Call, class Space, class... T>
  requires kokkos_space<std::remove_cvref_t<Space>>
inline constexpr wrong wrong_call<Call, Space, T...> =
    first_wrong<wrong_arguments<Call, Space, T...>,
                unless(!(... || out_of_reach<std::remove_cvref_t<Space>, std::remove_cvref_t<T>>),
                       wrong::the_execution_space_cannot_access_the_views_memory)>;

/// Valid arguments behind an executor.
template <class Call, class... T>
concept taken = wrong_call<Call, const executor&, T...> == wrong::nothing &&
                !is_erased<Call, const executor&, T...>;

/// The same with a result, which is last.
template <class Call, class... T>
concept written = taken<Call, T...> &&
                  !std::is_convertible_v<std::tuple_element_t<sizeof...(T) - 1, std::tuple<T...>>,
                                         typename Call::options>;

/// A valid call without an executor, for `automatic()`.
template <class Call, class... T>
concept taken_unplaced = !is_placed<T...> && wrong_call<Call, T...> == wrong::nothing;

/// Arguments that are not all numbers: exp(x) of a half is <cmath>'s, not ours.
template <class... A>
concept has_vectors = !(... && element<std::remove_cvref_t<A>>);

/// A call that is an error.
template <wrong why, class... T>
concept refused = why != wrong::nothing && !is_over_ranks<T...>;

}  // namespace tally::detail
