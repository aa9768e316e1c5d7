// Extrema over devices: min, max, minmax, and iamax.
//
// Promise: value and index, in the layout, of the function of that name in <tally/extremum.hpp> for
// the whole vector in one process, on every rank.
//
// An all-gather of 48 bytes a rank for each end, and a search over these. Forms, errors and
// collectives: <tally/nccl/sums.hpp>.
#pragma once

#include <tally/detail/distributed/sums.hpp>
#include <tally/error.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/gather.hpp>
#include <tally/nccl/calls.hpp>
#include <tally/nccl/communicator.hpp>
#include <tally/nccl/layout.hpp>
#include <tally/nccl/reduction.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/result.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace tally::nccl {

namespace calls {

/// A rank's extremum, in device memory.
struct candidate {
  std::byte element[16];   ///< for iamax
  std::byte value[8];      ///< for min and max; with `index` an `extremum`
  std::int64_t index;      ///< local
  std::int64_t first;      ///< first element of this rank
  std::int64_t in_layout;  ///< index + first
};

static_assert(sizeof(candidate) == 48, "elements of any size lie a whole number apart");

class search {
 public:
  search(const layout& l, const executor& where, const operand& x)
      : layout_(l), over_(l.over()), where_(where), x_(x), current_(l.over().device()) {}

  /// min, max or both; results are adjacent.
  void queue_extrema(extreme what, void* results) const {
    const std::size_t ends = what == extreme::minmax ? 2 : 1;
    auto* const own = candidates(ends);
    auto* const found = scratch<std::byte>(ends * 16);
    if (layout_.size() > 0) {
      find_extremum(where_, {x_, what, found, {.wait = false}});
      for (std::size_t e = 0; e < ends; ++e) copy(own[e].value, found + 16 * e, 16);
    }
    gather(own, ends);
    for (std::size_t e = 0; e < ends; ++e) {
      const extreme end = what == extreme::minmax ? (e == 0 ? extreme::min : extreme::max) : what;
      const operand values = of_ranks(e, ends, offsetof(candidate, value), x_.element);
      find_extremum(where_, {values, end, found, {.wait = false}});
      auto* const to = static_cast<std::byte*>(results) + 16 * e;
      copy(to, found, 8);
      write_index(e, ends, found + 8, to + 8);
    }
  }

  /// Pre: a rank has an element.
  void queue_iamax(void* result) const {
    auto* const own = candidates(1);
    auto* const found = scratch<std::byte>(16);
    if (layout_.size() > 0) {
      find_extremum(where_, {x_, extreme::iamax, &own->index, {.wait = false}});
      gather_elements(where_,
                      {x_, {&own->index, 1, 1, type::int64}, {own->element, 1, 1, x_.element}});
    }
    gather(own, 1);
    const operand elements = of_ranks(0, 1, offsetof(candidate, element), x_.element);
    find_extremum(where_, {elements, extreme::iamax, found, {.wait = false}});
    write_index(0, 1, found, result);
  }

 private:
  candidate* candidates(std::size_t ends) const {
    auto* const own = reinterpret_cast<candidate*>(over_.nodes(where_, ends * sizeof(candidate)));
    if (layout_.size() == 0) {
      check(cudaMemsetAsync(own, 0, ends * sizeof(candidate), where_.stream()), "cudaMemsetAsync");
    }
    return own;
  }
  /// Returns `bytes` of memory, followed by room for compacted candidates.
  template <class T>
  T* scratch(std::size_t bytes) const {
    const auto ranks = static_cast<std::size_t>(over_.ranks());
    return reinterpret_cast<T*>(over_.pieces(where_, padded(bytes) + 32 * (ranks + 1)));
  }
  static std::size_t padded(std::size_t bytes) noexcept { return (bytes + 63) / 64 * 64; }

  void copy(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, where_.stream()), "cudaMemcpyAsync");
  }

  /// Completes and gathers the candidates.
  void gather(candidate* own, std::size_t ends) const {
    for (std::size_t e = 0; e < ends && layout_.size() > 0; ++e) {
      copy(&own[e].first, layout_.first_on_device(), sizeof own[e].first);
      const output to = {&own[e].in_layout, type::int64};
      reduce(where_, {{&own[e].index, 2, 1, type::int64}, reduction::sum, to, {.wait = false}});
    }
    const std::size_t bytes = ends * sizeof(candidate);
    std::byte* const all = over_.others(where_, bytes * static_cast<std::size_t>(over_.ranks()));
    check(ncclAllGather(own, all, bytes, ncclUint8, over_.get(), where_.stream()), "ncclAllGather");
  }

  /// Returns the members at `offset` of ranks with elements.
  operand of_ranks(std::size_t end, std::size_t ends, std::size_t offset, type element) const {
    const auto ranks = static_cast<std::size_t>(over_.ranks());
    const std::size_t bytes = ends * sizeof(candidate);
    const operand all = {over_.others(where_, bytes * ranks) + end * sizeof(candidate) + offset,
                         ranks, static_cast<std::ptrdiff_t>(bytes / size_of(element)), element};
    const operand some = layout_.ranks_with_elements();
    if (some.size == ranks) return all;
    const bool is_index = offset == offsetof(candidate, in_layout);
    std::byte* const copies = scratch<std::byte>(32) + 64 + (is_index ? 16 * (ranks + 1) : 0);
    gather_elements(where_, {all, some, {copies, some.size, 1, element}});
    return {copies, some.size, 1, element};
  }

  /// Writes the layout index of candidate `*place`.
  void write_index(std::size_t end, std::size_t ends, const void* place, void* result) const {
    const operand all = of_ranks(end, ends, offsetof(candidate, in_layout), type::int64);
    auto* const index = scratch<std::byte>(32) + 48;
    gather_elements(where_, {all, {place, 1, 1, type::int64}, {index, 1, 1, type::int64}});
    copy(result, index, sizeof(std::int64_t));
  }

  const layout& layout_;
  const communicator& over_;
  const executor& where_;
  operand x_;
  current_device current_;
};

inline void queue_extrema(const char* function, const layout& l, const executor& where,
                          const operand& x, extreme what, void* results) {
  check_result(results);
  distributed::check_size("tally::nccl", x, static_cast<std::size_t>(l.size()));
  l.over().check_executor(where);
  if (l.total() == 0) {
    throw error(errc::no_elements, std::string(function) + ": no rank has an element");
  }
  search(l, where, x).queue_extrema(what, results);
}

inline void queue_iamax(const layout& l, const executor& where, const operand& x, void* result) {
  check_result(result);
  distributed::check_size("tally::nccl", x, static_cast<std::size_t>(l.size()));
  l.over().check_executor(where);
  const current_device current(l.over().device());
  if (l.total() == 0) {  // -1 has all bits set
    check(cudaMemsetAsync(result, 0xff, sizeof(std::int64_t), where.stream()), "cudaMemsetAsync");
    return;
  }
  search(l, where, x).queue_iamax(result);
}

template <class R, extreme what, class X>
R found(const char* function, const layout& l, const executor& where, const X& x) {
  R result;
  l.over().wait_for(where, &result, sizeof result,
                    [&](void* to) { queue_extrema(function, l, where, as_operand(x), what, to); });
  return result;
}

}  // namespace calls

/// Smallest element of all ranks, at its lowest index in the layout.
///
/// @param l      layout of x.
/// @param where, x  this rank's executor and part, as for `tally::min`; may be empty unless all
///                  are.
/// @return       value and index, on all ranks. Blocks.
/// @throws error as `tally::min`; no_elements if no rank has one; size_mismatch.
template <ordered_operand X>
extremum<element_t<X>>(min)(const layout& l, const executor& where, const X& x) {
  return calls::found<extremum<element_t<X>>, extreme::min>("tally::nccl::min", l, where, x);
}
/// Non-blocking form, with a result argument.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> P>
void(min)(const layout& l, const executor& where, const X& x, P&& result) {
  calls::queue_extrema("tally::nccl::min", l, where, as_operand(x), extreme::min,
                       results::first("tally::nccl::min", result));
}

/// Largest element, at its lowest index; otherwise as `min`.
template <ordered_operand X>
extremum<element_t<X>>(max)(const layout& l, const executor& where, const X& x) {
  return calls::found<extremum<element_t<X>>, extreme::max>("tally::nccl::max", l, where, x);
}
/// Non-blocking form.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> P>
void(max)(const layout& l, const executor& where, const X& x, P&& result) {
  calls::queue_extrema("tally::nccl::max", l, where, as_operand(x), extreme::max,
                       results::first("tally::nccl::max", result));
}

/// `min` and `max` in one pass and one message.
template <ordered_operand X>
extrema<element_t<X>> minmax(const layout& l, const executor& where, const X& x) {
  return calls::found<extrema<element_t<X>>, extreme::minmax>("tally::nccl::minmax", l, where, x);
}
/// Non-blocking form.
template <ordered_operand X, result_place_of<extrema<element_t<X>>> P>
void minmax(const layout& l, const executor& where, const X& x, P&& result) {
  calls::queue_extrema("tally::nccl::minmax", l, where, as_operand(x), extreme::minmax,
                       results::first("tally::nccl::minmax", result));
}

/// Lowest index in the layout, from 0, of the element of largest magnitude; -1 if no rank has one.
/// Otherwise as `min`.
template <vector_operand X>
std::int64_t iamax(const layout& l, const executor& where, const X& x) {
  std::int64_t result = -1;
  l.over().wait_for(where, &result, sizeof result,
                    [&](void* to) { calls::queue_iamax(l, where, as_operand(x), to); });
  return result;
}
/// Non-blocking form.
template <vector_operand X, result_place_of<std::int64_t> P>
void iamax(const layout& l, const executor& where, const X& x, P&& result) {
  calls::queue_iamax(l, where, as_operand(x), results::first("tally::nccl::iamax", result));
}

}  // namespace tally::nccl
