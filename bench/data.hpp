// The data of a run: fresh random vectors, and what their product really is.
#pragma once

#include "bench/workload.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace bench {

/// Host memory, `offset` bytes past a page's border, with n random elements: uniform in [-1, 1),
/// complex parts too, `bool` either value. The same for a seed, however many threads fill it.
class host_vector {
 public:
  host_vector() = default;
  host_vector(tally::type element, std::size_t n, std::uint64_t seed, std::size_t offset);

  tally::operand first(std::size_t n) const {
    return {static_cast<char*>(memory_.get()) + offset_, n, 1, element_};
  }
  std::size_t size() const { return size_; }

 private:
  struct release {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, release> memory_;
  std::size_t size_ = 0;
  std::size_t offset_ = 0;
  tally::type element_ = tally::type::float64;
};

/// A product as it would be with twice the digits of a double: products split without error by fma,
/// sums by two-sum, and the parts left over summed beside.
struct reference {
  struct part {
    double sum = 0;
    double rest = 0;
  };
  part real, imaginary;
  double magnitude = 0;  ///< sum |x_i| |y_i|, which errors are taken relative to

  /// |result - this| / magnitude, the result of type `element`.
  double error_of(const void* result, tally::type element) const;
};

/// For operands in host memory.
reference reference_of(const workload& w);

}  // namespace bench
