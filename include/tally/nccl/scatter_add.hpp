// scatter_add over devices. See <tally/distributed/scatter_add.hpp>.
//
// Communication: an all-gather of the samples, padded to the largest number of a rank: 16 bytes for
// each (`float`: 12). Each device has all samples in memory then and adds those that belong to its
// elements, so this pays where there are few devices.
//
// Collective; waits for its work on the device. Errors: as for <tally/nccl/sums.hpp>.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/scatter_add.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/operations/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::nccl {

using distributed::scatter_add;

namespace detail {

/// Adds the samples of all ranks to z, whose first element has index `first`.
inline void add_all(const communicator& over, const executor& where, const gather_arguments& a,
                    std::int64_t first) {
  over.check_executor(where);
  check_samples(where, a);
  const std::vector<std::int64_t> counts = over.gathered(static_cast<std::int64_t>(a.x.size));
  const auto each = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  const std::size_t every = each * static_cast<std::size_t>(over.ranks());
  if (every == 0) return;

  const std::size_t size = size_of(a.x.element);
  const buffer memory(where, (each + every) * (2 * sizeof(std::int64_t)));
  std::byte* next = static_cast<std::byte*>(memory.get());
  const auto vector = [&](std::size_t count, type element) {
    const output_operand made = {next, count, 1, element};
    next += count * sizeof(std::int64_t);
    return made;
  };
  const output_operand own_indices = vector(each, type::int64),
                       indices = vector(every, type::int64), own_x = vector(each, a.x.element),
                       x = vector(every, a.x.element);
  const auto run = [&](elementwise what, const scalar& alpha, const operand& from,
                       const output_operand& to) {
    if (to.size > 0) transform(where, {what, alpha, {}, from, {}, to});
  };
  run(elementwise::fill, std::int64_t{-1}, {}, own_indices);
  run(elementwise::fill, 0, {}, own_x);
  run(elementwise::copy, {}, a.indices, own_indices.slice(0, a.x.size));
  run(elementwise::copy, {}, a.x, own_x.slice(0, a.x.size));
  {
    const current_device current(over.device());
    together([&] {
      check(ncclAllGather(own_indices.data, indices.data, each, ncclInt64, over.get(),
                          where.stream()),
            "ncclAllGather");
      check(ncclAllGather(own_x.data, x.data, each * size, ncclUint8, over.get(), where.stream()),
            "ncclAllGather");
    });
  }
  if (first > 0) {
    const buffer shift(where, every * sizeof(std::int64_t));
    const output_operand firsts = {shift.get(), every, 1, type::int64};
    run(elementwise::fill, first, {}, firsts);
    transform(where, {elementwise::sub, {}, {}, indices, firsts, indices});
    return gather_elements(where, {x, indices, a.z, true, true});
  }
  gather_elements(where, {x, indices, a.z, true, true});
}

template <element T, class C>
void transport::add_samples(const C& over, const executor& where, const gather_arguments& a) {
  if constexpr (distributed::layout<C>) {
    check_size(name, a.z, static_cast<std::size_t>(over.size()));
    add_all(over.over(), where, a, over.first());
  } else {
    add_all(over, where, a, 0);
  }
}

}  // namespace detail

}  // namespace tally::nccl
