// Errors: one exception type with a code and a message.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>

#include <stdexcept>
#include <string>

namespace tally {

/// Kinds of failure; values of the C interface's status.
enum class errc : int {
  size_mismatch = 1,  ///< operands of different lengths
  null_pointer,       ///< null instead of elements or a result
  zero_increment,     ///< an increment of 0
  misaligned,         ///< a pointer not aligned to its element type
  unsupported_type,   ///< a result type that operands don't allow
  wrong_memory,       ///< memory out of the executor's reach
  missing_backend,    ///< a backend not in this build
  no_device,          ///< a backend unusable here (OpenMP after fork(), too)
  invalid_argument,   ///< any other value out of range
  out_of_memory,      ///< no scratch memory on a device or in Kokkos
  device_failure,     ///< a failed call of the device's runtime
  no_elements,        ///< an empty vector where an element is needed
  overlap,            ///< an output that shares memory with an input or output
  key_out_of_range,   ///< a key without a bin
  unreadable_file,    ///< an unreadable or ill-formed file
};

/// Thrown by Tally's functions, for wrong arguments before anything is written. Short host memory
/// is std::bad_alloc instead, on host executors also before.
class TALLY_EXPORT error : public std::runtime_error {
 public:
  /// An error with a message.
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// The kind of failure.
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

}  // namespace tally
