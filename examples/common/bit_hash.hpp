// A hash of the bits of numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace example {

/// FNV-1a, a double at a time.
class bit_hash {
 public:
  void add(double value) {
    value_ = (value_ ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3;
  }
  void add(std::span<const double> values) {
    for (const double v : values) add(v);
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace example
