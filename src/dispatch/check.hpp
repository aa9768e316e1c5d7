// The checks that public functions make of their arguments, once, before anything is written.
#pragma once

#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/operand.hpp>

#include "src/core/table.hpp"
#include "src/dispatch/columns.hpp"
#if TALLY_HAS_CUDA
#include "src/dispatch/process_memory.hpp"
#endif

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally {

/// Whether there can be memory in this process that not all backends reach. It takes a few ns; the
/// rest of `reach` and `locate` more.
inline bool memory_differs() noexcept {
#if TALLY_HAS_CUDA
  return backends::cuda::in_use();
#else
  return false;
#endif
}

/// Who can reach `pointer`; without CUDA in this process, the host.
backends::place locate(const void* pointer) noexcept;

/// Whether `pointer` is certainly the host's, told without asking CUDA, in some ns.
inline bool is_surely_on_host([[maybe_unused]] const void* pointer) noexcept {
#if TALLY_HAS_CUDA
  return !memory_differs() || process_memory::is_programs_own(pointer);
#else
  return true;
#endif
}

/// Whether the host reaches `pointer`. Asking CUDA takes 100 ns, more than a short call, so each
/// thread remembers pages where it does. Were such a page given back and the address then handed
/// out for device memory, a call would fault instead of throwing.
bool known_on_host(const void* pointer);
/// Says whether it reaches all of these.
bool known_on_host(std::span<const void* const> pointers);

/// Says whether a call with vectors at all of these runs on the host, as `automatic()` chooses.
/// What a thread remembers of pages does not count here, since a device may have got them since.
/// But where one vector is certainly in memory that no device reaches, that decides, and the others
/// are only checked, as for a call on `simd()`: so a call asks CUDA once as a rule.
bool are_on_host(std::span<const void* const> pointers);

/// More than there is memory for, and few enough that no count of bytes wraps. A vector has at most
/// so many elements, times its increment.
inline constexpr std::size_t most_elements = std::size_t{1} << 48;

/// Checks for one call; `function` begins every message: "tally::dot: x has 5 elements, y has 6".
/// Each check costs a comparison or two; the texts are made out of line.
class check {
 public:
  explicit check(std::string_view function) : function_(function) {}

  void known_type(const char* name, type element) const {
    if (!is_listed(element)) fail_type(name, element);
  }
  void same_size(const char* a_name, const operand& a, const char* b_name, const operand& b) const {
    if (a.size != b.size) {
      fail(errc::size_mismatch, a_name, " has ", a.size, " elements, ", b_name, " has ", b.size);
    }
  }
  /// One of an enumeration's values 0 ... last, of which there are so many `kinds`.
  template <class E>
  void enumerator(const char* name, E value, E last, const char* kinds) const {
    if (value > last) fail_enumerator(name, static_cast<int>(value), static_cast<int>(last), kinds);
  }
  void conjugated(conjugate value) const {
    enumerator("conjugated", value, conjugate::y, "choices");
  }
  /// Elements of a listed type, an increment that is not 0, a length and a reach that memory can
  /// have, and elements to point at.
  void vector(const char* name, const operand& v) const {
    known_type(name, v.element);
    if (!has_reach(v)) fail_reach(name, v);
    if (v.size > 0) pointer(name, v.data, v.element, v.size);
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
  /// What the host reads before the call returns.
  void read_on_host(const char* name, const operand& v) const {
    if (v.size > 0) on_host(name, v.data, "the host reads it");
  }
  /// Where a result goes: with `wait` it is returned, so that is the host's memory.
  void result(const executor& where, const output& result, bool wait) const {
    if (wait) {
      on_host("result", result.data, "the form that returns a value needs host memory");
    } else {
      reach(where, "result", result.data);
    }
  }

  /// What exact sums are added to: of T where no operand's elements, or their parts, are wider, two
  /// for each of n results where they are complex.
  void words(const output& result, bool is_parted, type widest_operand, std::size_t n = 1) const;

  /// That `asked`, which `name` has, is what sums over elements of these types are of: the rule's
  /// own type or the widest.
  void sum_type(const char* name, type asked, type rule, type widest, type x, type y) const {
    if (asked != rule && asked != widest) fail_sum_type(name, asked, rule, widest, x, y);
  }

  /// Whether `reach` and `result` could find anything.
  static bool is_needed(const executor& where) {
    return memory_differs() || &where.backend()->reaches != &backends::host_reaches;
  }

  template <class... Part>
  [[noreturn, gnu::cold, gnu::noinline]] void fail(errc code, const Part&... parts) const {
    std::string text(function_);
    text += ": ";
    (append(text, parts), ...);
    throw error(code, text);
  }

  /// Whether n elements, `step` apart, end within `most_elements` of where they begin; also n of 0
  /// and 1, so that n * step * 16, the most bytes that an element has, never overflows.
  static bool has_reach(std::size_t n, std::ptrdiff_t step) {
    if (n > most_elements) return false;  // a negative length, from C or Fortran
    std::ptrdiff_t reach;
    return !__builtin_mul_overflow(static_cast<std::ptrdiff_t>(n + (n == 0)), step, &reach) &&
           static_cast<std::size_t>(reach) + most_elements <= 2 * most_elements;
  }
  static bool has_reach(const operand& v) {
    return v.increment == 1 ? v.size <= most_elements
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
  /// As few digits as tell it from others.
  static void append(std::string& text, double number);

  std::string_view function_;
};

}  // namespace tally
