#include "bindings/blas/settings.hpp"

#include <tally/error.hpp>

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

namespace tally::blas {
namespace {

/// A variable's value; empty where it is not set.
std::string_view value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

executor executor_of(std::string_view value) {
  constexpr std::string_view threads = "openmp:";
  if (!value.starts_with(threads)) {
    if (value == "cuda") {
      throw error(errc::invalid_argument,
                  "operands lie in host memory, whose copy to a device takes longer than the call");
    }
    return executor_named(value);
  }
  value.remove_prefix(threads.size());
  int number = 0;
  const auto [end, problem] = std::from_chars(value.begin(), value.end(), number);
  if (problem != std::errc() || end != value.end() || number < 1) {
    throw error(errc::invalid_argument, "openmp:4 has 4 threads");
  }
  return openmp({.threads = number});
}

/// Stops, with the variable and its value.
[[noreturn]] void stop_at(const char* name, std::string_view value, const char* message) {
  stop((std::string(name) + "=" + std::string(value)).c_str(), message);
}

}  // namespace

settings::settings() {
  const std::string_view where = value_of("TALLY_BLAS_EXECUTOR");
  try {
    if (!where.empty() && where != "automatic") {
      few = many = executor_of(where);
    } else {
      // Host memory in any process: `automatic()` may find managed memory, and queue updates of it.
      many_from = one_thread.level_one()->max_bytes;
      many = openmp();
    }
  } catch (const error& failure) {
    const bool is_absent = failure.code() == errc::missing_backend && where.empty();
    if (failure.code() != errc::no_device && !is_absent) {
      stop_at("TALLY_BLAS_EXECUTOR", where, failure.what());
    }
  }

  const std::string_view name = value_of("TALLY_BLAS_GRADE");
  if (name == "exact") {
    grade = exact;
  } else if (!name.empty() && name != "default") {
    stop_at("TALLY_BLAS_GRADE", name, "the grades are default and exact");
  }

  const std::string_view choice = value_of("TALLY_BLAS_VERBOSE");
  verbose = choice == "1";
  if (!verbose && !choice.empty() && choice != "0") {
    stop_at("TALLY_BLAS_VERBOSE", choice, "the choices are 0 and 1");
  }

  const detail::level_one_kernels* const kernels = few.level_one();
  if (kernels != nullptr && kernels->are_here == nullptr && !verbose && !grade.is_exact()) {
    usual_kernels.store(kernels, std::memory_order_release);
  }
}

void stop(const char* subject, const char* message) noexcept {
  std::fprintf(stderr, "tally_blas: %s: %s\n", subject, message);
  std::abort();
}

next after_failure(routine failed) noexcept {
  const char* const name = routine_names[static_cast<int>(failed)];
  try {
    throw;
  } catch (const error& failure) {
    if (failure.code() == errc::no_device) return next::on_one_thread;
    if (failure.code() == errc::overlap) return next::element_by_element;
    stop(name, failure.what());
  } catch (const std::exception& failure) {
    stop(name, failure.what());
  } catch (...) {
    stop(name, "an unknown exception");
  }
}

// --- Counts ---------------------------------------------------------------------------------------

namespace {

using counter = std::atomic<std::uint64_t>;

/// Calls from one library or program.
struct caller_counts {
  std::atomic<const void*> base = nullptr;  ///< where it is loaded; null: a free place
  char name[256];                           ///< written once, by whoever took the place
  struct {
    counter calls, elements;
  } of[std::size(routine_names)];
};

constexpr const char* size_names[] = {"10", "100", "10^3", "10^4", "10^5", "10^6", "more"};

/// No locks and no memory: a fork may happen at any time.
struct all_counts {
  std::array<caller_counts, 64> callers;
  counter by_size[std::size(size_names)];

  /// Prints them at the program's end.
  ~all_counts() {
    if (callers.front().base.load() == nullptr) return;  // no call, which alone reads settings
    for (const caller_counts& caller : callers) {
      if (caller.base.load() == nullptr) break;
      std::string line = std::string("tally_blas: ") + caller.name + ":";
      const char* separator = " ";
      for (std::size_t i = 0; i < std::size(routine_names); ++i) {
        const auto calls = caller.of[i].calls.load();
        if (calls == 0) continue;
        line += separator + std::string(routine_names[i]) + " " + std::to_string(calls) + " (" +
                std::to_string(caller.of[i].elements.load()) + " elements)";
        separator = ", ";
      }
      std::fprintf(stderr, "%s\n", line.c_str());
    }
    std::string line = "tally_blas: calls of up to";
    const char* separator = " ";
    for (std::size_t i = 0; i < std::size(size_names); ++i) {
      line += separator + std::string(size_names[i]) + ": " + std::to_string(by_size[i].load());
      separator = ", ";
    }
    std::fprintf(stderr, "%s elements\n", line.c_str());
  }
};
all_counts counts;

}  // namespace

void count(routine called, std::ptrdiff_t elements, const void* caller) noexcept {
  const std::uint64_t n = elements > 0 ? static_cast<std::uint64_t>(elements) : 0;
  std::size_t size = 0;
  for (std::uint64_t limit = 10; limit < n && size + 1 < std::size(size_names); limit *= 10) ++size;
  ++counts.by_size[size];

  Dl_info found;
  const bool is_found = dladdr(caller, &found) != 0;
  const void* const base = is_found ? found.dli_fbase : &counts;
  for (caller_counts& each : counts.callers) {
    const void* holder = nullptr;
    if (each.base.compare_exchange_strong(holder, base)) {
      std::snprintf(each.name, sizeof each.name, "%s", is_found ? found.dli_fname : "unknown code");
    } else if (holder != base) {
      continue;
    }
    ++each.of[static_cast<int>(called)].calls;
    each.of[static_cast<int>(called)].elements += n;
    return;
  }
}

}  // namespace tally::blas
