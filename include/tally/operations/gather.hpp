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
#include <cstddef>

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

/// Whether x, indices and z, of the type of x, are what gather and scatter take.
template <class X, class Indices, class Z>
constexpr bool is_gathered() {
  if constexpr (is_vector<X>() && is_output<Z>()) {
    constexpr bool same = std::same_as<element_t<X>, element_t<std::remove_cvref_t<Z>>>;
    static_assert(same, "z is of the type of x");
    constexpr bool are_indices = [] {
      if constexpr (!vector_operand<Indices>) {
        return false;
      } else {
        return std::signed_integral<element_t<Indices>> && sizeof(element_t<Indices>) >= 4;
      }
    }();
    static_assert(are_indices,
                  "indices are a vector (memory with data() and size(), or a rank-1 Kokkos::View) "
                  "of std::int32_t or std::int64_t");
    return same && are_indices;
  } else {
    return false;
  }
}

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
auto gather(const executor& where, const X& x, const Indices& indices, Z&& z) {
  if constexpr (detail::is_gathered<X, Indices, Z>()) {
    gather_elements(where, {as_operand(x), as_operand(indices), as_output(z)});
  }
}

/// No other form.
template <class... T>
auto gather(...) {
  static_assert(detail::never<T...>, "gather(where, x, indices, z) begins with an executor");
}

/// z[indices_i] = x_i, i = 0 ... n-1; other elements of z are unchanged. Doesn't block.
///
/// @param x      n elements.
/// @param indices n adjacent, distinct numbers in [0, size of z), unchecked.
/// @param z      elements of the type of x.
/// @throws error as `gather`.
template <class X, class Indices, class Z>
auto scatter(const executor& where, const X& x, const Indices& indices, Z&& z) {
  if constexpr (detail::is_gathered<X, Indices, Z>()) {
    gather_elements(where, {as_operand(x), as_operand(indices), as_output(z), true});
  }
}

/// No other form.
template <class... T>
auto scatter(...) {
  static_assert(detail::never<T...>, "scatter(where, x, indices, z) begins with an executor");
}

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
auto scatter_add(const executor& where, const X& x, const Indices& indices, Z&& z) {
  if constexpr (detail::is_gathered<X, Indices, Z>()) {
    constexpr bool is_real = float_or_double<element_t<X>>;
    static_assert(is_real, "scatter_add adds floats or doubles");
    if constexpr (is_real) {
      gather_elements(where, {as_operand(x), as_operand(indices), as_output(z), true, true});
    }
  }
}

/// No other form.
template <class... T>
auto scatter_add(...) {
  static_assert(detail::never<T...>, "scatter_add(where, x, indices, z) begins with an executor");
}

}  // namespace tally
