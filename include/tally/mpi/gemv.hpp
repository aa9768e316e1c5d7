// Dense matrix times vector with terms over ranks. See <tally/distributed/gemv.hpp>.
#pragma once

#include <tally/distributed/gemv.hpp>
#include <tally/distributed/host_copies.hpp>
#include <tally/mpi/sums.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace tally::mpi {

using distributed::gemv;

namespace detail {

template <element Sum, class C>
void transport::multiply(const C& over, const executor& anywhere, const gemv_arguments& a,
                         grade_over<C> g) {
  const executor where = anywhere.name() == "automatic" ? choose(a.x, operand(a.y)) : anywhere;
  field_sums all = products_of(a, type_of<Sum>);
  std::vector<Sum> sums(all.fields.size());
  transport::sum(over, where, std::move(all), g, sums.data(), sums.size() * sizeof(Sum));
  std::optional<failure> failed;
  attempt(failed, [&] { update(name, where, a, readable_elements(where, sums).get()); });
  agree(communicator_of(over), failed);
}

}  // namespace detail

}  // namespace tally::mpi
