// Argument checks of public functions.
#pragma once

#include <tally/error.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operations/dot.hpp>

#include "backends/backends.hpp"
#include "src/process_memory.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally {

/// Whether some memory of this process may not be accessible to all backends.
inline bool memory_differs() noexcept {
#if TALLY_HAS_CUDA
  return backends::cuda::in_use();
#elif TALLY_HAS_KOKKOS
  return backends::kokkos::in_use();
#else
  return false;
#endif
}

/// Who can access `pointer`; without a device in use in this process, the host.
backends::place locate(const void* pointer) noexcept;

/// Whether `pointer` is certainly the host's, without a query of the device's runtime.
inline bool is_surely_on_host(const void* pointer) noexcept {
  return !memory_differs() || process_memory::is_programs_own(pointer);
}

/// Whether the host can access `pointer`. Threads remember pages, because a query of a device is
/// slower than a short call (tuning/short_calls.md: known_on_host). If a page's address is reused
/// for device memory, a call faults instead of throwing.
bool known_on_host(const void* pointer);
bool known_on_host(std::span<const void* const> pointers);

/// Whether `automatic()` runs a call with these vectors on the host. Remembered pages do not count,
/// as a device may have them by now. One vector certainly out of devices' reach decides; the others
/// are only checked: usually one query.
bool are_on_host(std::span<const void* const> pointers);

/// Maximum number of elements, times the increment: more than memory holds, and byte counts cannot
/// wrap.
inline constexpr std::size_t max_elements = std::size_t{1} << 48;
/// Maximum of int32.
inline constexpr std::size_t max_int32 = (std::size_t{1} << 31) - 1;

/// `function` begins every message: "tally::dot: x has 5 elements, y has 6". Texts are made out of
/// line.
class check {
 public:
  constexpr explicit check(std::string_view function) : function_(function) {}

  void known_type(const char* name, type element) const {
    if (!is_listed(element)) fail_type(name, element);
  }
  void same_size(const char* a_name, const operand& a, const char* b_name, const operand& b) const {
    if (a.size != b.size) {
      fail(errc::size_mismatch, a_name, " has ", a.size, " elements, ", b_name, " has ", b.size);
    }
  }
  /// Checks that `value` is one of 0 ... `last`; `kinds` names them in messages.
  template <class E>
  void enumerator(const char* name, E value, E last, const char* kinds) const {
    if (value > last) fail_enumerator(name, static_cast<int>(value), static_cast<int>(last), kinds);
  }
  void conjugated(conjugate value) const {
    enumerator("conjugated", value, conjugate::y, "choices");
  }
  /// Listed type, nonzero increment, plausible size and reach, non-null and aligned data.
  void vector(const char* name, const operand& v) const {
    known_type(name, v.element);
    if (!has_reach(v)) fail_reach(name, v);
    if (v.size > 0) pointer(name, v.data, v.element, v.size);
  }
  /// Checks that offsets of type `element` can count n elements.
  void offsets(const char* name, type element, const char* counted, std::size_t n) const {
    if (element == type::int32 && n > max_int32) {
      fail(errc::invalid_argument, counted, " has ", n, " elements, and ", name,
           " is int32, which ends at ", max_int32);
    }
  }
  /// Plausible number of rows and distances between them.
  void shape(const char* name, const operand_rows& v) const {
    if (v.rows > max_elements) {  // negative, from C or Fortran
      fail(errc::invalid_argument, name, " has ", v.rows, " rows; there can be ", max_elements);
    }
    const bool is_one = v.is_one_block();
    const std::size_t rows = is_one ? v.rows : v.rows_per_block;
    if (!has_reach(rows, v.leading_dimension)) {
      fail(errc::invalid_argument, name, " has ", rows, " rows and leading dimension ",
           std::int64_t{v.leading_dimension}, "; the rows times the leading dimension can be ",
           max_elements);
    }
    const std::size_t blocks = is_one ? 1 : (v.rows - 1) / rows + 1;
    if (!has_reach(blocks, is_one ? 0 : v.block_stride)) {
      fail(errc::invalid_argument, name, " has ", blocks, " blocks, ", std::int64_t{v.block_stride},
           " elements apart; the blocks times that can be ", max_elements);
    }
  }
  void pointer(const char* name, const void* pointer, type element, std::size_t n = 1) const {
    if (pointer == nullptr) {
      fail(errc::null_pointer, name, " is null and should point at ", n,
           n == 1 ? " element" : " elements");
    }
    if (!is_aligned(pointer, element)) {
      fail(errc::misaligned, name, " is not a multiple of ", alignment_of(element),
           " bytes, the alignment of ", tally::name(element));
    }
  }
  void reach(const executor& where, const char* name, const operand& v) const {
    if (v.size > 0) reach(where, name, v.data);
  }
  void reach(const executor& where, const char* name, const void* pointer) const;
  /// Checks that the host can read a vector.
  void read_on_host(const char* name, const operand& v) const {
    if (v.size > 0) on_host(name, v.data, "the host reads it");
  }
  /// Checks that the result is in host memory with `wait`, else where the executor can write.
  void result(const executor& where, const output& result, bool wait) const {
    if (wait) {
      on_host("result", result.data, "the form that returns a value needs host memory");
    } else {
      reach(where, "result", result.data);
    }
  }

  /// Checks words of n exact sums, no narrower than `widest_operand`; two sums per result if
  /// `is_parted`.
  void words(const output& result, bool is_parted, type widest_operand, std::size_t n = 1) const;

  /// Checks that `asked` is `rule` or `widest`.
  void sum_type(const char* name, type asked, type rule, type widest, type x, type y) const {
    if (asked != rule && asked != widest) fail_sum_type(name, asked, rule, widest, x, y);
  }

  /// Whether `reach` and `result` can fail.
  static bool is_needed(const executor& where) {
    return memory_differs() || !where.backend()->is_on_host;
  }

  template <class... Part>
  [[noreturn, gnu::cold, gnu::noinline]] void fail(errc code, const Part&... parts) const {
    std::string text(function_);
    text += ": ";
    (append(text, parts), ...);
    throw error(code, text);
  }

  /// Whether n elements, `step` apart, stay within `max_elements`, also for n = 0 and 1, so that n
  /// * step * 16, the largest element size, never overflows.
  static bool has_reach(std::size_t n, std::ptrdiff_t step) {
    if (n > max_elements) return false;  // negative, from C or Fortran
    std::ptrdiff_t reach;
    return !__builtin_mul_overflow(static_cast<std::ptrdiff_t>(n + (n == 0)), step, &reach) &&
           static_cast<std::size_t>(reach) + max_elements <= 2 * max_elements;
  }
  static bool has_reach(const operand& v) {
    return v.increment == 1 ? v.size <= max_elements
                            : v.increment != 0 && has_reach(v.size, v.increment);
  }
  static bool is_aligned(const void* pointer, type element) {
    return (reinterpret_cast<std::uintptr_t>(pointer) & (alignment_of(element) - 1)) == 0;
  }

 private:
  void on_host(const char* name, const void* pointer, const char* why) const;
  [[noreturn]] void fail_type(const char* name, type element) const;
  [[noreturn]] void fail_enumerator(const char* name, int value, int last, const char* kinds) const;
  [[noreturn]] void fail_sum_type(const char* name, type asked, type rule, type widest, type x,
                                  type y) const;
  [[noreturn]] void fail_reach(const char* name, const operand& v) const;
  static void append(std::string& text, std::string_view part) { text += part; }
  static void append(std::string& text, std::size_t number) { text += std::to_string(number); }
  static void append(std::string& text, int number) { text += std::to_string(number); }
  static void append(std::string& text, std::int64_t number) { text += std::to_string(number); }
  /// Shortest decimal that round-trips.
  static void append(std::string& text, double number);

  std::string_view function_;
};

}  // namespace tally
