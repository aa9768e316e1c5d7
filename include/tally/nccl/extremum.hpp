// Extrema over devices: min, max, minmax, and iamax.
//
// Promise: <tally/distributed/extremum.hpp>. An all-gather of 48 bytes a rank for each end, and a
// search over these. Forms, errors and collectives: <tally/nccl/sums.hpp>.
#pragma once

#include <tally/distributed/extremum.hpp>
#include <tally/nccl/reduction.hpp>
#include <tally/operations/gather.hpp>

#include <cstddef>
#include <cstdint>

namespace tally::nccl {

using distributed::iamax;
using distributed::max;
using distributed::max_norm;
using distributed::min;
using distributed::minmax;

namespace detail {

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
      : layout_(l), over_(l.over()), where_(where), x_(x) {}

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
};

inline void queue_search(const layout& l, const executor& where, const operand& x, extreme what,
                         void* result) {
  check_result(result);
  l.over().check_executor(where);
  check_search(l, x, what);
  const current_device current(l.over().device());
  if (l.total() == 0) {  // -1 has all bits set
    check(cudaMemsetAsync(result, 0xff, sizeof(std::int64_t), where.stream()), "cudaMemsetAsync");
  } else if (what == extreme::iamax) {
    search(l, where, x).queue_iamax(result);
  } else {
    search(l, where, x).queue_extrema(what, result);
  }
}

inline void transport::find(const layout& l, const executor& where, const operand& x, extreme what,
                            void* results, std::size_t bytes) {
  l.over().wait_for(where, results, bytes, [&](void* to) { queue_search(l, where, x, what, to); });
}

}  // namespace detail

/// Non-blocking form, with a result argument.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> P>
void(min)(const layout& l, const executor& where, const X& x, P&& result) {
  detail::queue_search(l, where, as_operand(x), extreme::min,
                       detail::first_result("tally::nccl::min", result));
}

/// Non-blocking form.
template <ordered_operand X, result_place_of<extremum<element_t<X>>> P>
void(max)(const layout& l, const executor& where, const X& x, P&& result) {
  detail::queue_search(l, where, as_operand(x), extreme::max,
                       detail::first_result("tally::nccl::max", result));
}

/// Non-blocking form.
template <ordered_operand X, result_place_of<extrema<element_t<X>>> P>
void minmax(const layout& l, const executor& where, const X& x, P&& result) {
  detail::queue_search(l, where, as_operand(x), extreme::minmax,
                       detail::first_result("tally::nccl::minmax", result));
}

/// Non-blocking form.
template <vector_operand X, result_place_of<std::int64_t> P>
void iamax(const layout& l, const executor& where, const X& x, P&& result) {
  detail::queue_search(l, where, as_operand(x), extreme::iamax,
                       detail::first_result("tally::nccl::iamax", result));
}

}  // namespace tally::nccl
