// Errors: one exception type with a code, and a text that says what was wrong in numbers.
#pragma once

#include <tally/export.h>
#include <tally/cxx20.hpp>

#include <stdexcept>
#include <string>

namespace tally {

/// What went wrong. The values are those of the C interface's status.
enum class errc : int {
  size_mismatch = 1,  ///< operands of different lengths
  null_pointer,       ///< a null pointer where elements or a result are expected
  zero_increment,     ///< an increment of 0
  misaligned,         ///< a pointer that is not a multiple of its element's alignment
  unsupported_type,   ///< a result type that the operands' types don't allow
  wrong_memory,       ///< memory that the executor can't reach
  missing_backend,    ///< a backend that this build lacks
  no_device,          ///< a backend that is built in and can't run here (also OpenMP after fork())
  invalid_argument,   ///< any other value out of range
  out_of_memory,      ///< scratch memory of a device, or of Kokkos, could not be had
  device_failure,     ///< a call of the device's runtime failed
  no_elements,        ///< an empty vector where at least one element is needed
  overlap,            ///< an output that shares some memory with an input or another output
  key_out_of_range,   ///< a key that has no bin
  unreadable_file,    ///< a file that can't be read, or isn't what it should be
};

/// Thrown by the functions of Tally; for wrong arguments, before anything is written. Where the
/// host's memory is short they throw std::bad_alloc instead (the C interface returns
/// TALLY_OUT_OF_MEMORY), and on a host's executor nothing is written then either.
class TALLY_EXPORT error : public std::runtime_error {
 public:
  /// With a text for people.
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  /// What went wrong, for programs.
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

}  // namespace tally
