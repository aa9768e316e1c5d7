// Histograms over devices.
//
// Functions, bins and errors: <tally/operations/histogram.hpp>; no weights. Counts are integers
// (32-bit ones modulo 2^32), so the partition does not matter.
//
// Collective: bins, channels and types agree on all ranks; samples, possibly none, are each rank's
// own. Does not block, except that `bincount` without `outside` waits for this rank's keys. Other
// ranks are not notified of an error.
#pragma once

#include <tally/distributed/histogram.hpp>
#include <tally/nccl/layout.hpp>

#include <cstddef>
#include <optional>

namespace tally::nccl {

using distributed::bincount;
using distributed::histogram_even;
using distributed::histogram_range;

namespace detail {

/// At most two arrays of integers in the communicator's memory, added in place.
template <class C>
class counting {
 public:
  counting(const C& over, const executor& where, const histogram_arguments& /*asked*/)
      : over_(communicator_of(over)), where_(where) {
    over_.check_executor(where);
  }

  const executor& where() const noexcept { return where_; }

  output_operand make(std::size_t size, type element) {
    const std::size_t bytes = size * size_of(element);
    void* const memory = made_ == 0 ? over_.nodes(where_, bytes) : over_.pieces(where_, bytes);
    return all_[made_++] = {memory, size, 1, element};
  }

  void add(const std::optional<failure>& failed) const {
    throw_kept(failed);
    const current_device current(over_.device());
    together([&] {
      for (std::size_t i = 0; i < made_; ++i) {
        const output_operand& counts = all_[i];
        check(ncclAllReduce(counts.data, counts.data, counts.size,
                            counts.element == type::int32 ? ncclUint32 : ncclUint64, ncclSum,
                            over_.get(), where_.stream()),
              "ncclAllReduce");
      }
    });
  }

 private:
  const communicator& over_;
  const executor& where_;
  output_operand all_[2];
  std::size_t made_ = 0;
};

}  // namespace detail

}  // namespace tally::nccl
