// Dense matrix times vector with terms over devices. See <tally/distributed/gemv.hpp>.
#pragma once

#include <tally/distributed/gemv.hpp>
#include <tally/nccl/sums.hpp>

#include <cstddef>

namespace tally::nccl {

using distributed::gemv;

namespace detail {

template <element Sum, class C>
void transport::multiply(const C& over, const executor& where, const gemv_arguments& a,
                         grade_over<C> g) {
  const field_sums all = products_of(a, type_of<Sum>);
  const std::size_t rows = all.fields.size();
  void* const sums = communicator_of(over).results(where, rows * sizeof(Sum));
  queue(over, where, all, g, sums);
  update(name, where, a, {sums, rows, 1, type_of<Sum>});
}

}  // namespace detail

}  // namespace tally::nccl
