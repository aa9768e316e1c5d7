// Elements of a vector at places that a list of indices names: z_i = x[indices_i], and the reverse,
// z[indices_i] = x_i (the Sparse BLAS's usga and ussc). So a rank packs what its neighbours need of
// a vector, and puts what it has got where it belongs.
//
// Elements are moved bit by bit, on every executor. (A bool is written as 0 or 1.)
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/refusal.hpp>
#include <tally/types.hpp>

#include <concepts>
#include <cstddef>

namespace tally {

/// What gather and scatter are asked for, their types erased. Elements of x and z have one type;
/// indices are adjacent and int32 or int64.
struct gather_arguments {
  operand x;         ///< what is read
  operand indices;   ///< into x, or for scatter into z
  output_operand z;  ///< what is written
};

/// `gather` and `scatter` with their types erased: what the templates below call.
/// @throws error, see the templates.
TALLY_EXPORT void gather_elements(const executor& where, const gather_arguments& arguments);
/// The reverse.
TALLY_EXPORT void scatter_elements(const executor& where, const gather_arguments& arguments);

namespace gathers {

/// `Indices` can be a list of indices: adjacent elements of a signed integer type of 32 or 64 bits.
template <class Indices>
concept index_list = vector_operand<Indices> && std::signed_integral<element_t<Indices>> &&
                     sizeof(element_t<Indices>) >= 4;

template <class X, class Indices, class Z>
concept movable = vector_operand<X> && index_list<Indices> && vector_output<Z> &&
                  std::same_as<element_t<X>, element_t<std::remove_cvref_t<Z>>>;

}  // namespace gathers

/// z_i = x[indices_i], i = 0 ... n-1 (Sparse BLAS usga). Doesn't block: on a device the call
/// returns once the work is queued on the executor's stream, and may be captured in a graph.
///
/// @param where   the executor.
/// @param x       a vector of any element type and length.
/// @param indices n adjacent numbers in [0, size of x), in any order; they may repeat. They are not
///                checked: another one reads memory that is no element of x.
/// @param z       n elements of the type of x; it shares no memory with x or indices.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment (also for an increment of
///               indices other than 1), misaligned, overlap, wrong_memory, device_failure.
template <class X, class Indices, class Z>
  requires gathers::movable<X, Indices, Z>
void gather(const executor& where, const X& x, const Indices& indices, Z&& z) {
  gather_elements(where, {as_operand(x), as_operand(indices), as_output(z)});
}

/// z[indices_i] = x_i, i = 0 ... n-1 (Sparse BLAS ussc); elements of z that no index names stay.
/// Doesn't block, as `gather`.
///
/// @param where   the executor.
/// @param x       n elements.
/// @param indices n adjacent numbers in [0, size of z), none of them twice. They are not checked.
/// @param z       a vector of the type of x, of any length.
/// @throws error as `gather`.
template <class X, class Indices, class Z>
  requires gathers::movable<X, Indices, Z>
void scatter(const executor& where, const X& x, const Indices& indices, Z&& z) {
  scatter_elements(where, {as_operand(x), as_operand(indices), as_output(z)});
}

// --- What is no operand ---------------------------------------------------------------------------

namespace gathers {

struct indices {
  template <class T>
  static constexpr bool is = index_list<T>;
  template <class T>
  static auto say() {
    static_assert(
        refusals::never<T>,
        "indices are a vector (memory with data() and size(), or a rank-1 Kokkos::View) of "
        "std::int32_t or std::int64_t");
  }
};

using arguments = refusals::arguments<refusals::vector, indices, refusals::output>;

}  // namespace gathers

/// Says what is no operand.
template <class... T>
  requires refusals::refused<gathers::arguments, T...>
auto gather(const T&...) {
  return refusals::refuse<gathers::arguments, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto gather(...) {
  static_assert(refusals::never<T...>,
                "gather(where, x, indices, z) begins with an executor, and z is of the type of x");
  return 0.0;
}

/// Says what is no operand.
template <class... T>
  requires refusals::refused<gathers::arguments, T...>
auto scatter(const T&...) {
  return refusals::refuse<gathers::arguments, T...>();
}

/// The message for a call whose arguments do not go together.
template <class... T>
auto scatter(...) {
  static_assert(refusals::never<T...>,
                "scatter(where, x, indices, z) begins with an executor, and z is of the type of "
                "x");
  return 0.0;
}

}  // namespace tally
