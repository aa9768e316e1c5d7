// Indexed copies (Sparse BLAS usga and ussc), such as a rank's packing of elements for its
// neighbours, bit by bit on every executor; a bool is written as 0 or 1. And indexed additions, as
// of particles to cells or of elements to nodes, in any order.
#pragma once

#include <tally/export.h>
#include <tally/detail/arguments.hpp>
#include <tally/executor.hpp>
#include <tally/numerics/rounding.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>

#include <concepts>
#include <cstdint>

namespace tally {

/// Arguments with types erased: x and z of one type, contiguous indices of int32 or int64.
struct gather_arguments {
  operand x;              ///< read
  operand indices;        ///< into x or z
  output_operand z;       ///< written
  bool scatters = false;  ///< whether indices are into z
  bool adds = false;      ///< whether x is added to z, of float32 or float64
};

/// `gather`, `scatter` or `scatter_add` with types erased, for the templates below.
TALLY_EXPORT void gather_elements(const executor& where, const gather_arguments& arguments);

namespace detail {

/// Calls of gather, scatter, and scatter_add.
template <bool adds = false>
struct gather_call : call<> {
  static constexpr bool needs_executor = true;

  template <class X, class Indices, class Z>
  static consteval wrong of() {
    constexpr wrong why = first_wrong<wrong_vector<X>, wrong_output<Z>>;
    if constexpr (why == wrong::nothing) {
      return first_wrong<unless(std::same_as<element_t<X>, element_t<Z>>,
                                wrong::the_vectors_are_of_one_type),
                         wrong_indices<Indices>,
                         unless(!adds || float_or_double<element_t<X>>,
                                wrong::scatter_add_adds_floats_or_doubles)>;
    } else {
      return why;
    }
  }
};

}  // namespace detail

/// z_i = x[indices_i], i = 0 ... n-1. Doesn't block, as `dot` into a result.
///
/// @param x      elements of any type.
/// @param indices n adjacent numbers in [0, size of x), which may repeat. Unchecked: others read
///               out of bounds.
/// @param z      n elements of the type of x; shares no memory with x or indices.
/// @throws error size_mismatch, null_pointer (with n > 0), zero_increment (also for indices with an
///               increment), misaligned, overlap, wrong_memory, device_failure.
template <class X, class Indices, class Z>
  requires detail::taken<detail::gather_call<>, X, Indices, Z>
void gather(const executor& where, const X& x, const Indices& indices, Z&& z) {
  gather_elements(where, {as_operand(x), as_operand(indices), as_output(z)});
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::gather_call<>, T...>>
  requires(detail::is_placed<T...> && detail::refused<why, T...>)
void gather(T&&...) = delete;  // where, x, indices, z

/// No form without an executor.
void gather(...) = delete;  // where, x, indices, z

/// z[indices_i] = x_i, i = 0 ... n-1; other elements of z are unchanged. Doesn't block.
///
/// @param x      n elements.
/// @param indices n adjacent, distinct numbers in [0, size of z), unchecked.
/// @param z      elements of the type of x.
/// @throws error as `gather`.
template <class X, class Indices, class Z>
  requires detail::taken<detail::gather_call<>, X, Indices, Z>
void scatter(const executor& where, const X& x, const Indices& indices, Z&& z) {
  gather_elements(where, {as_operand(x), as_operand(indices), as_output(z), true});
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::gather_call<>, T...>>
  requires(detail::is_placed<T...> && detail::refused<why, T...>)
void scatter(T&&...) = delete;  // where, x, indices, z

/// No form without an executor.
void scatter(...) = delete;  // where, x, indices, z

/// z_j becomes the sum of z_j and of all x_i with indices_i = j, rounded once, as with `exact`: the
/// bits don't depend on the order of x. (A fixed order would need the x_i sorted, which takes
/// longer.) Where the x_i are none, or add up to zero, z_j is unchanged, bit by bit. Doesn't block.
///
/// z_j is one term of its sum, so several calls round several times. A sum over calls is one of
/// limbs, by `bincount(where, indices, x, tally::add_to<double>(words, n))`; over ranks there is
/// <tally/mpi/scatter_add.hpp>.
///
/// @param x      n floats or doubles, at most 2^30 - 2.
/// @param indices n adjacent numbers, which may repeat; x_i is ignored unless in [0, size of z).
/// @param z      at most 2^31 - 1 adjacent elements of the type of x.
/// @throws error as `gather`, and unsupported_type, out_of_memory; invalid_argument for z with an
///               increment, or too many elements.
template <class X, class Indices, class Z>
  requires detail::taken<detail::gather_call<true>, X, Indices, Z>
void scatter_add(const executor& where, const X& x, const Indices& indices, Z&& z) {
  gather_elements(where, {as_operand(x), as_operand(indices), as_output(z), true, true});
}

/// Refused, by `why`.
template <class... T, detail::wrong why = detail::wrong_call<detail::gather_call<true>, T...>>
  requires(detail::is_placed<T...> && detail::refused<why, T...>)
void scatter_add(T&&...) = delete;  // where, x, indices, z

/// No form without an executor.
void scatter_add(...) = delete;  // where, x, indices, z

}  // namespace tally
