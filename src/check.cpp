#include "src/check.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tally {
namespace {

std::string describe(const backends::place& memory) {
  using backends::place;
  if (memory.device == place::none) return "host memory";
  const std::string devices = TALLY_HAS_CUDA ? "CUDA device" : "device";
  if (memory.device == place::every) return "memory shared by the host and " + devices + "s";
  return "the memory of " + devices + " " + std::to_string(memory.device);
}

}  // namespace

backends::place locate([[maybe_unused]] const void* pointer) noexcept {
#if TALLY_HAS_CUDA
  if (memory_differs()) return backends::cuda::locate(pointer);
#elif TALLY_HAS_KOKKOS
  if (memory_differs()) return backends::kokkos::locate(pointer);
#endif
  return {};
}

namespace {

/// Numbers of remembered pages, hashed because large vectors all start at multiples of some MiB.
using known_pages = std::array<std::uintptr_t, 64>;
thread_local constinit known_pages pages_of_thread{};

bool is_known(known_pages& pages, const void* pointer) {
  constexpr std::size_t page = 4096;
  const auto number = reinterpret_cast<std::uintptr_t>(pointer) / page;
  std::uintptr_t& remembered = pages[number * 0x9e3779b97f4a7c15u >> 58];
  if (remembered == number) return true;
  if (!is_surely_on_host(pointer) && !locate(pointer).host) return false;
  remembered = number;
  return true;
}

}  // namespace

bool known_on_host(const void* pointer) { return is_known(pages_of_thread, pointer); }

bool known_on_host(std::span<const void* const> pointers) {
  known_pages& pages = pages_of_thread;  // in a library, the thread's variable costs a call
  return std::ranges::all_of(pointers,
                             [&](const void* pointer) { return is_known(pages, pointer); });
}

bool are_on_host(std::span<const void* const> pointers) {
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (is_surely_on_host(pointers[i])) continue;
    const backends::place memory = locate(pointers[i]);
    if (!memory.host) return false;
    if (memory.device == backends::place::none) return known_on_host(pointers.subspan(i + 1));
  }
  return true;
}

void check::fail_type(const char* name, type element) const {
  fail(errc::unsupported_type, name, " has element type ", static_cast<int>(element),
       "; there are ", type_count);
}

void check::fail_enumerator(const char* name, int value, int last, const char* kinds) const {
  fail(errc::invalid_argument, name, " is ", value, "; there are ", last + 1, " ", kinds);
}

void check::fail_sum_type(const char* name, type asked, type rule, type widest, type x,
                          type y) const {
  const bool has_pair = x != y, has_choice = rule != widest;
  fail(errc::unsupported_type, name, " is ", tally::name(asked), "; ", tally::name(x),
       has_pair ? " and " : "", has_pair ? tally::name(y) : "", has_pair ? " give " : " gives ",
       tally::name(rule), has_choice ? " or " : "", has_choice ? tally::name(widest) : "");
}

void check::fail_reach(const char* name, const operand& v) const {
  if (v.increment == 0) fail(errc::zero_increment, name, " has increment 0");
  if (v.size > max_elements) {
    fail(errc::invalid_argument, name, " has ", v.size, " elements; there can be ", max_elements);
  }
  fail(errc::invalid_argument, name, " has ", v.size, " elements and increment ",
       std::int64_t{v.increment}, "; the elements times the increment can be ", max_elements);
}

void check::reach(const executor& where, const char* name, const void* pointer) const {
  if (where.backend()->is_on_host && known_on_host(pointer)) return;
  const backends::place memory = locate(pointer);
  if (!where.backend()->reaches(where, memory)) {
    fail(errc::wrong_memory, name, " is in ", describe(memory), ", which ", where.description(),
         " can't reach");
  }
}

void check::on_host(const char* name, const void* pointer, const char* why) const {
  if (known_on_host(pointer)) return;
  fail(errc::wrong_memory, name, " is in ", describe(locate(pointer)), "; ", why);
}

void check::append(std::string& text, double number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text.append(digits.data(), end);
}

void check::words(const output& result, bool is_parted, type widest_operand, std::size_t n) const {
  const type kind = is_parted ? type::complex64 : type::float32;
  const type narrowest = exact_sum_type(widest_operand, widest_operand, kind);
  const type widest = exact_sum_type(type::float64, type::float64, kind);
  const std::size_t words = exact_words(result.element);
  if (words == 0 || (result.element != narrowest && result.element != widest)) {
    fail(errc::unsupported_type, "the exact sum is of ", name(result.element), "; it can be of ",
         name(narrowest), narrowest == widest ? "" : " or ",
         narrowest == widest ? "" : name(widest));
  }
  pointer("words", result.data, type::int64, n * words);
}

}  // namespace tally
