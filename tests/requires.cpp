// `requires { tally::dot(x, y); }`: true for the arguments that a function takes, false, and no
// error, for one that is wrong in any place, missing or superfluous.
#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "views.hpp"

namespace {

/// An execution space and memory spaces shaped like Kokkos's, as the Views of `view_in`.
struct host_space {
  using execution_space = host_space;
  struct scratch_memory_space {};
  static const char* name() { return "Serial"; }
  int concurrency() const { return 1; }
};
struct host_memory {};
struct device_memory {};
template <class Memory>
struct view_in : views::view<double, 1> {
  using memory_space = Memory;
};

}  // namespace

template <class Memory>
struct Kokkos::SpaceAccessibility<host_space, Memory> {
  static constexpr bool accessible = std::is_same_v<Memory, host_memory>;
};

namespace {

/// Neither operand nor number nor function nor executor.
struct nothing {};

using number = double;
using reals = std::vector<double>&;
using integers = std::vector<int>&;
using constant = const std::vector<double>&;
using rows = tally::row_block<double>;
using matrix = tally::csr_view<double>;
using map = double (*)(double);
using sum = std::plus<>;

/// A call, by its name; whether it has a form without an executor, and one with a result last.
template <class Call, bool unplaced, class Result, class... T>
struct form {
  template <class... A>
  static constexpr bool takes = std::is_invocable_v<Call, A...>;

  /// The same with W for argument i.
  template <class W, std::size_t i, std::size_t... j>
  static constexpr bool takes_with(std::index_sequence<j...>) {
    return takes<const tally::executor&,
                 std::conditional_t<i == j, W, std::tuple_element_t<j, std::tuple<T...>>>...>;
  }
  template <class W>
  static constexpr bool takes_anywhere() {
    return []<std::size_t... i>(std::index_sequence<i...> all) {
      return (... || takes_with<W, i>(all));
    }(std::index_sequence_for<T...>());
  }
  template <std::size_t... i>
  static constexpr bool takes_fewer(std::index_sequence<i...>) {
    return takes<const tally::executor&, std::tuple_element_t<i, std::tuple<T...>>...>;
  }

  static void check(const char* name) {
    SCOPED_TRACE(name);
    EXPECT_TRUE((takes<const tally::executor&, T...>));
    EXPECT_TRUE((takes<tally::executor, T...>));
    EXPECT_EQ((takes<T...>), unplaced);
    EXPECT_FALSE(takes_anywhere<nothing>());
    EXPECT_FALSE(takes_anywhere<std::list<double>&>());
    EXPECT_FALSE(takes_anywhere<std::vector<std::string>&>());
    EXPECT_FALSE(takes_anywhere<tally::executor&>());
    EXPECT_FALSE((takes<nothing, T...>));
    EXPECT_FALSE((takes<T..., tally::executor>));
    EXPECT_FALSE((takes<const tally::executor&, T..., nothing>));
    EXPECT_FALSE(takes_fewer(std::make_index_sequence<sizeof...(T) - 1>()));
    if constexpr (!std::is_void_v<Result>) {
      EXPECT_TRUE((takes<const tally::executor&, T..., Result>));
      EXPECT_FALSE((takes<T..., Result>));
      EXPECT_FALSE((takes<const tally::executor&, T..., const char*>));
      EXPECT_FALSE((takes<const tally::executor&, T..., std::list<double>&>));
    }
  }
};

#define FORM(function, unplaced, result, ...)                                                   \
  form<decltype([](auto&&... t) -> decltype(tally::function(std::forward<decltype(t)>(t)...)) { \
         return tally::function(std::forward<decltype(t)>(t)...);                               \
       }),                                                                                      \
       unplaced, result, __VA_ARGS__>::check(#function)

TEST(Requires, Reductions) {
  FORM(dot, true, number*, reals, constant);
  FORM(sum, true, number*, constant);
  FORM(asum, true, number*, constant);
  FORM(nrm2, true, number*, constant);
  FORM(sum_of_squares, true, number*, constant);
  FORM(max_norm, true, number*, constant);
  FORM(weighted_sum_of_squares, true, number*, constant, constant);
  FORM(weighted_nrm2, true, number*, constant, constant);
  FORM(wrms_norm, true, number*, constant, constant);
  FORM(wrms_norm_mask, true, number*, constant, constant, integers);
  FORM(multi_dot, true, number*, rows, constant);
  FORM(sums, true, number*, rows);
  FORM(batched_dot, true, number*, rows, rows);
  FORM(min, true, tally::extremum<double>*, constant);
  FORM(max, true, tally::extremum<double>*, constant);
  FORM(minmax, true, tally::extrema<double>*, constant);
  FORM(iamax, true, std::int64_t*, constant);
  FORM(axpy_dot, true, number*, number, constant, reals, constant);
  FORM(waxpby_nrm2, true, number*, number, constant, number, constant, reals);
  FORM(multi_axpy_dot, true, number*, constant, rows, number, reals);
  FORM(transform_reduce, true, number*, constant, number, sum, map);
}

TEST(Requires, Vectors) {
  FORM(fill, true, void, number, reals);
  FORM(swap, false, void, reals, reals);
  FORM(copy, true, void, constant, reals);
  FORM(scal, true, void, number, reals);
  FORM(axpy, true, void, number, constant, reals);
  FORM(axpby, true, void, number, constant, number, reals);
  FORM(waxpby, true, void, number, constant, number, constant, reals);
  FORM(axpbypcz, true, void, number, constant, number, constant, number, reals);
  FORM(axypbz, true, void, number, constant, constant, number, reals);
  FORM(add, true, void, constant, constant, reals);
  FORM(sub, true, void, constant, constant, reals);
  FORM(mul, true, void, constant, constant, reals);
  FORM(relu, true, void, constant, reals);
  FORM(sigmoid, true, void, constant, reals);
  FORM(exp, true, void, constant, reals);
  FORM(inv, true, void, constant, reals);
  FORM(abs, true, void, constant, reals);
  FORM(sqrt, true, void, constant, reals);
  FORM(log, true, void, constant, reals);
  FORM(tanh, true, void, constant, reals);
  FORM(sign, true, void, constant, reals);
  FORM(scale, true, void, number, constant, reals);
  FORM(add_constant, true, void, constant, number, reals);
  FORM(clamp, true, void, constant, number, number, reals);
  FORM(pow, true, void, constant, int, reals);
  FORM(compare, true, void, constant, tally::comparison, number, reals);
  FORM(compare, true, void, constant, tally::comparison, constant, reals);
  FORM(div, true, void, constant, constant, reals);
  FORM(minimum, true, void, constant, constant, reals);
  FORM(maximum, true, void, constant, constant, reals);
  FORM(where, true, void, integers, constant, constant, reals);
  FORM(jacobi_step, true, void, constant, number, constant, constant, reals);
  FORM(multi_axpy, true, void, constant, rows, number, reals);
  FORM(inclusive_scan, true, void, constant, reals);
  FORM(exclusive_scan, true, void, constant, reals);
  FORM(gather, false, void, constant, integers, reals);
  FORM(scatter, false, void, constant, integers, reals);
  FORM(scatter_add, false, void, constant, integers, reals);
  FORM(transform, true, void, constant, reals, map);
}

TEST(Requires, HistogramsAndMatrices) {
  FORM(bincount, true, void, integers, integers);
  FORM(bincount, true, void, integers, constant, reals);
  FORM(histogram_even, true, void, constant, number, number, integers);
  FORM(histogram_even, true, void, constant, constant, number, number, reals);
  FORM(histogram_range, true, void, constant, constant, integers);
  FORM(histogram_range, true, void, constant, constant, constant, reals);
  FORM(gemv, true, void, rows, constant, reals);
  FORM(gemv, true, void, number, rows, constant, number, reals);
  FORM(spmv, true, void, matrix, constant, reals);
  FORM(spmv, false, void, tally::spmv_plan&, matrix, constant, reals);
  FORM(spmv, true, void, number, matrix, constant, number, reals);
  FORM(spmv, true, void, number, matrix, constant, number, constant, reals);
  FORM(spmm, true, void, matrix, rows, rows);
  FORM(spmm, true, void, number, matrix, rows, number, rows);
  FORM(validate, true, void, matrix);
  FORM(diagonal, true, void, matrix, reals);
  FORM(row_norms, true, void, matrix, tally::row_norm, reals);
  FORM(scale_rows, true, void, matrix, constant, reals);
  FORM(segmented_sum, true, void, integers, constant, reals);
  FORM(csr_from_coo, false, void, int, int, integers, integers, constant, integers, integers,
       reals);
}

TEST(Requires, MemoryThatAnExecutionSpaceAccesses) {
  const auto dot = [](auto&&... t) -> decltype(tally::dot(t...)) { return tally::dot(t...); };
  using dot_of = decltype(dot);
  using on_host = view_in<host_memory>&;
  using on_device = view_in<device_memory>&;
  EXPECT_TRUE((std::is_invocable_v<dot_of, host_space, on_host, on_host>));
  EXPECT_TRUE((std::is_invocable_v<dot_of, host_space, on_host, views::view<double, 1>>));
  EXPECT_FALSE((std::is_invocable_v<dot_of, host_space, on_host, on_device>));
  EXPECT_FALSE((std::is_invocable_v<dot_of, host_space, on_device, on_host, double*>));
  // Known at run time alone.
  EXPECT_TRUE((std::is_invocable_v<dot_of, tally::executor, on_device, on_device>));
  EXPECT_TRUE((std::is_invocable_v<dot_of, on_device, on_device>));

  const auto axpy = [](auto&&... t) -> decltype(tally::axpy(t...)) { tally::axpy(t...); };
  using axpy_of = decltype(axpy);
  EXPECT_TRUE((std::is_invocable_v<axpy_of, host_space, double, on_host, on_host>));
  EXPECT_FALSE((std::is_invocable_v<axpy_of, host_space, double, on_host, on_device>));
}

/// Places, plans and arguments of others' classes.
struct place : tally::executor {};
struct context {
  operator const tally::executor&() const;
};
struct plan : tally::spmv_plan {};
template <class Arguments>
struct erased : Arguments {};
enum size { three = 3 };

/// What refers to a function, so that calls are looked up where they are written.
#define CALL(function)                                                             \
  decltype([](auto&&... t) -> decltype(function(static_cast<decltype(t)>(t)...)) { \
    return function(static_cast<decltype(t)>(t)...);                               \
  })

template <class Where>
void check_place(const char* name) {
  SCOPED_TRACE(name);
  using validate = CALL(tally::validate);
  using dot = CALL(tally::dot);
  using axpy = CALL(tally::axpy);
  using csr_from_coo = CALL(tally::csr_from_coo);
  EXPECT_TRUE((std::is_invocable_v<validate, Where, matrix>));
  EXPECT_TRUE((std::is_invocable_v<validate, Where, erased<tally::csr_operand>&>));
  EXPECT_FALSE((std::is_invocable_v<validate, Where, tally::csr_matrix<double>&>));
  EXPECT_TRUE((std::is_invocable_v<dot, Where, reals, constant>));
  EXPECT_TRUE((std::is_invocable_v<dot, Where, erased<tally::dot_arguments>&>));
  EXPECT_FALSE((std::is_invocable_v<dot, reals, Where>));
  EXPECT_TRUE((std::is_invocable_v<CALL(tally::sums), Where, erased<tally::sums_arguments>&>));
  EXPECT_TRUE((std::is_invocable_v<axpy, Where, number, reals, reals>));
  EXPECT_FALSE((std::is_invocable_v<axpy, number, Where, reals, reals>));
  EXPECT_TRUE((std::is_invocable_v<csr_from_coo, Where, erased<tally::coo_arguments>&>));
  EXPECT_TRUE((std::is_invocable_v<csr_from_coo, Where, size, std::integral_constant<int, 3>,
                                   integers, integers, constant, integers, integers, reals>));
  EXPECT_TRUE((std::is_constructible_v<tally::spmv_plan, Where, erased<tally::csr_operand>&>));
  EXPECT_TRUE((std::is_constructible_v<tally::spmv_plan, Where, erased<tally::csr_operand>&,
                                       tally::spmv_options>));
}

TEST(Requires, ArgumentsThatConvert) {
  check_place<tally::executor>("executor");
  check_place<place&>("derived from executor");
  check_place<context>("converted to executor");
  check_place<std::reference_wrapper<const tally::executor>>("reference");
  FORM(spmv, false, void, plan&, matrix, constant, reals);
  FORM(spmv, false, void, std::reference_wrapper<tally::spmv_plan>, matrix, constant, reals);
  FORM(spmm, false, void, plan&, matrix, rows, rows);
  EXPECT_TRUE((std::is_constructible_v<plan, plan&> && std::is_constructible_v<plan, plan>));
  EXPECT_TRUE((std::is_constructible_v<tally::spmv_plan, plan&>));
  EXPECT_TRUE(
      (std::is_invocable_v<CALL(tally::csr_from_coo), size, size, integers, integers, constant>));
}

namespace beside_std {
using std::max, std::min, std::minmax, tally::max, tally::min, tally::minmax;
using least = CALL(min);
using greatest = CALL(max);
using both = CALL(minmax);
}  // namespace beside_std

TEST(Requires, FunctionsOfTheStandardLibrary) {
  using tally::float16;
  using set = tally::instruction_set;
  EXPECT_TRUE((std::is_same_v<std::invoke_result_t<beside_std::least, int&, int&>, const int&>));
  EXPECT_TRUE((std::is_invocable_v<beside_std::greatest, float16, float16>));
  EXPECT_TRUE((std::is_invocable_v<beside_std::greatest, set, set, std::less<>>));
  EXPECT_TRUE((std::is_invocable_v<beside_std::both, int&, int&>));
  EXPECT_FALSE((std::is_invocable_v<beside_std::least, std::list<double>&>));
  EXPECT_TRUE((std::is_invocable_v<beside_std::least, reals>));
}

/// Whether these make a T.
template <class T, class... A>
constexpr bool made_of = std::is_constructible_v<T, A...>;

TEST(Requires, TypesThatDoNotGoTogether) {
  const auto dot = [](auto&&... t) -> decltype(tally::dot(t...)) { return tally::dot(t...); };
  using dot_of = decltype(dot);
  using where = tally::executor;
  EXPECT_FALSE((std::is_invocable_v<dot_of, where, reals, reals, int*>));
  EXPECT_FALSE((std::is_invocable_v<dot_of, where, reals, reals, const double*>));
  EXPECT_FALSE((std::is_invocable_v<dot_of, where, reals, reals, tally::added_sums<float>>));
  EXPECT_TRUE((std::is_invocable_v<dot_of, where, reals, reals, tally::added_sums<double>>));
  EXPECT_TRUE((std::is_invocable_v<dot_of, where, reals, reals, double*, tally::exact_grade>));
  EXPECT_TRUE((std::is_invocable_v<dot_of, reals, reals, tally::conjugate>));
  EXPECT_FALSE((std::is_invocable_v<dot_of, std::vector<bool>&, reals>));

  const auto copy = [](auto&&... t) -> decltype(tally::copy(t...)) { tally::copy(t...); };
  using copy_of = decltype(copy);
  EXPECT_FALSE((std::is_invocable_v<copy_of, reals, constant>));
  EXPECT_FALSE((std::is_invocable_v<copy_of, reals, integers>));
  EXPECT_FALSE((std::is_invocable_v<copy_of, std::vector<std::complex<double>>&, reals>));

  EXPECT_TRUE((made_of<tally::spmv_plan, where, matrix> && made_of<tally::spmv_plan, matrix>));
  EXPECT_FALSE((made_of<tally::spmv_plan, tally::csr_matrix<double>&>));
  EXPECT_TRUE((made_of<matrix, int, int, integers, integers, reals>));
  EXPECT_FALSE((made_of<matrix, int, int, integers, integers, integers>));
}

}  // namespace
