#include "backends/simd/instruction_set.hpp"

#include "backends/simd/targets.hpp"

#include <tally/error.hpp>

#include <algorithm>
#include <string>

namespace tally::backends::simd {

const std::vector<instruction_set>& instruction_sets() {
  static const std::vector<instruction_set> sets = [] {
    std::vector<instruction_set> usable;
    // One bit a target, the lowest the widest.
    for (std::int64_t left = HWY_SUPPORTED_TARGETS & HWY_TARGETS; left != 0; left &= left - 1) {
      usable.push_back(set_of(left & -left));
    }
    std::ranges::sort(usable);
    // NEON is there with and without AES. (clang 14 can't compile g++ 12's std::ranges::unique.)
    usable.erase(std::unique(usable.begin(), usable.end()), usable.end());
    return usable;
  }();
  return sets;
}

instruction_set resolve(instruction_set set) {
  static const instruction_set best = instruction_sets().back();
  if (set == instruction_set::best) return best;
  const auto& sets = instruction_sets();
  if (std::ranges::find(sets, set) == sets.end()) {
    std::string text = "tally::simd: " + std::string(name(set)) +
                       " isn't built in or isn't an instruction set of this processor; there is";
    for (const instruction_set here : sets)
      text += (here == sets.front() ? " " : ", ") + std::string(name(here));
    throw error(errc::no_device, text);
  }
  return set;
}

}  // namespace tally::backends::simd
