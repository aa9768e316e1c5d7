// scatter_add over ranks: y[index] += x of the samples of all ranks, as of particles to cells.
// Communication and errors: <tally/mpi/scatter_add.hpp> and <tally/nccl/scatter_add.hpp>.
//
// Promise: the bits of `tally::scatter_add` (<tally/operations/gather.hpp>) of all samples in one
// process: each element's sum, with its old value, is exact until rounded once. So neither the
// samples' order nor the ranks that have them matter, nor those that have y.
//
// Two forms. Over a layout y is distributed, and an index is one of the whole vector: a particle
// may add to a cell of any rank, as with PETSc's VecSetValues and ADD_VALUES, and no ghost cells
// are needed. Over a communicator y is replicated: each rank has all elements, with equal bits
// before the call and after it.
#pragma once

#include <tally/distributed/transport.hpp>
#include <tally/operations/gather.hpp>

namespace tally::detail {

/// Checks all but where z lies, by calls without elements and without samples.
inline void check_samples(const executor& where, const gather_arguments& a) {
  gather_arguments samples = a, elements = a;
  samples.z.size = 0;
  elements.x.size = elements.indices.size = 0;
  gather_elements(where, samples);
  gather_elements(where, elements);
}

}  // namespace tally::detail

namespace tally::distributed {

/// z_j becomes the sum of z_j and of all x_i with indices_i = j of all ranks, rounded once.
///
/// @param over     a layout of z, or a communicator: then each rank has all of z, equal before and
///                 after.
/// @param where    this rank's executor.
/// @param x        this rank's samples, floats or doubles, in any number; at most 2^30 - 2 of all
///                 ranks are added to a rank's z.
/// @param indices  as many, adjacent, of int32 or int64, into the whole vector; x_i is ignored
///                 unless it is one of these.
/// @param z        adjacent elements of the type of x: this rank's, or all.
template <ranks C, class X, class Indices, class Z>
  requires detail::taken<detail::gather_call<true>, X, Indices, Z>
void scatter_add(const C& over, const executor& where, const X& x, const Indices& indices, Z&& z) {
  detail::transport<C>::template add_samples<element_t<X>>(
      over, where, {as_operand(x), as_operand(indices), as_output(z), true, true});
}

}  // namespace tally::distributed
