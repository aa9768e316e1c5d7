// Extreme elements of host data: one per part, compared on the host.
#include "backends/cuda/cuda.hpp"

#include "backends/cuda/runtime/device.hpp"
#include "backends/cuda/staged/call.hpp"
#include "backends/cuda/staged/staged.hpp"
#include "backends/serial/serial.hpp"

#include <cstdint>
#include <cstring>

namespace tally::backends::cuda::staged {
namespace {

/// 64-bit numbers in a result: value and index for min and max, twice for minmax; an index for
/// iamax.
constexpr std::size_t max_numbers = 4;

class best_element {
 public:
  best_element(const operand& x, extreme what) : x_(x), what_(what) {}

  /// Takes an element behind all before.
  void take(std::int64_t index) {
    if (index < 0) return;
    if (index_ < 0 || is_better(index)) index_ = index;
  }

  /// Returns the end.
  std::int64_t* write(std::int64_t* to) const {
    if (what_ == extreme::iamax) {
      *to = index_;
      return to + 1;
    }
    serial::instance.extremum(serial_, {element(index_), what_, to});
    to[1] = index_;
    return to + 2;
  }

 private:
  operand element(std::int64_t index) const { return x_.slice(static_cast<std::size_t>(index), 1); }

  bool is_better(std::int64_t index) const {
    const std::size_t size = size_of(x_.element);
    alignas(16) std::byte both[32];
    std::memcpy(both, element(index_).data, size);
    std::memcpy(both + size, element(index).data, size);
    std::int64_t found[2];
    serial::instance.extremum(serial_, {{both, 2, 1, x_.element}, what_, found});
    return found[what_ == extreme::iamax ? 0 : 1] == 1;
  }

  operand x_;
  extreme what_;
  std::int64_t index_ = -1;
  executor serial_ = tally::serial();
};

}  // namespace

void backend::extremum(const executor&, const extremum_arguments& a) const {
  const call c(*memory_);
  const std::array vectors = {c.through().vector(a.x)};
  const auto run = [&](const operand& x, void* result, bool wait) {
    cuda::instance.extremum(c.on(), {x, a.what, result, {.wait = wait}});
  };
  if (c.through().are_short(vectors)) {
    const bool wait = locate(a.result).host;
    c.through().run_short(vectors, stages::padding::none,
                          [&](const staged_operands& here) { run(here[0], a.result, wait); });
    if (!wait) c.through().wait();
    return;
  }
  const bool is_both = a.what == extreme::minmax;
  best_element best(a.x, is_both ? extreme::min : a.what), most(a.x, extreme::max);
  c.through().run_parts(
      vectors, a.x.size, c.through().parts_of(vectors),
      [&](const staged_operands& here, std::size_t, void* result) { run(here[0], result, false); },
      [&](const void* result, std::size_t first, std::size_t) {
        std::int64_t found[max_numbers];
        std::memcpy(found, result, sizeof found);
        const auto index = [&](std::size_t i) {
          return found[i] + static_cast<std::int64_t>(first);
        };
        best.take(index(a.what == extreme::iamax ? 0 : 1));
        if (is_both) most.take(index(3));
      });
  std::int64_t made[max_numbers];
  std::int64_t* const behind = best.write(made);
  const std::int64_t* const end = is_both ? most.write(behind) : behind;
  deliver(c, made, static_cast<std::size_t>(end - made) * sizeof made[0], a.result);
}

}  // namespace tally::backends::cuda::staged
