// Copies between host memory and vectors of an executor, for messages of a transport that reads
// host memory alone.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/transform.hpp>

#include <cstddef>
#include <vector>

namespace tally::detail {

/// Copies elements of y's type from host memory.
inline void write_elements(const executor& where, const void* from, const output_operand& y) {
  const auto copy = [&](const void* there) {
    transform(where, {elementwise::copy, {}, {}, {there, y.size, 1, y.element}, {}, y});
  };
  if (where.reaches_host_memory()) return copy(from);
  const buffer memory(where, y.size * size_of(y.element));
  copy_bytes(where, from, memory.get(), memory.bytes());
  copy(memory.get());
}

/// Returns elements, converted to T.
template <element T>
std::vector<T> read_elements(const executor& where, const operand& v) {
  std::vector<T> all(v.size);
  const auto copy = [&](void* to) {
    transform(where, {elementwise::copy, {}, {}, v, {}, {to, v.size, 1, type_of<T>}});
  };
  if (all.empty()) return all;
  if (where.reaches_host_memory()) {
    copy(all.data());
  } else {
    const buffer memory(where, all.size() * sizeof(T));
    copy(memory.get());
    copy_bytes(where, memory.get(), all.data(), memory.bytes());
  }
  return all;
}

/// Numbers of host memory where an executor reads them: a copy, if it doesn't reach these.
class readable_elements {
 public:
  /// @param all must outlive this.
  template <element T>
  readable_elements(const executor& where, const std::vector<T>& all) : elements_(as_operand(all)) {
    if (where.reaches_host_memory() || all.empty()) return;
    memory_ = buffer(where, all.size() * sizeof(T));
    copy_bytes(where, all.data(), memory_.get(), memory_.bytes());
    elements_.data = memory_.get();
  }
  readable_elements(const readable_elements&) = delete;

  const operand& get() const noexcept { return elements_; }

 private:
  operand elements_;
  buffer memory_;
};

}  // namespace tally::detail
