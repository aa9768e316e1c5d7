#include "backends/openmp/threads/threads.hpp"

#include <tally/error.hpp>

#include <omp.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>

namespace tally::backends::openmp {
namespace {

// A fork counts if the process has several threads then, or an unknown number: OpenMP can't be
// asked for its threads, which outlive parallel regions.
std::atomic<bool> had_threads_at_fork = false, lost_threads = false;
std::atomic<void (*)()> called_when_lost = nullptr;

void before_fork() {
  struct stat tasks;  // nlink of a directory: two, plus one per thread here
  had_threads_at_fork = stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3;
}
void in_child() {
  if (!had_threads_at_fork) return;
  lost_threads = true;
  if (auto* const f = called_when_lost.load()) f();
}

// At load time: a program may fork before its first call.
[[maybe_unused]] const int registered = pthread_atfork(before_fork, nullptr, in_child);

}  // namespace

bool usable() noexcept { return !lost_threads.load(std::memory_order_relaxed); }

void when_lost(void (*f)()) noexcept { called_when_lost = f; }

void require_usable() {
  if (usable()) return;
  throw error(errc::no_device,
              "tally::openmp: this process is a fork of one that had several threads, and OpenMP "
              "would wait for them; tally::simd() can be used");
}

int default_threads() noexcept {
  if (!usable() || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  return std::min(omp_get_max_threads(), openmp_options::max_threads);
}

int max_threads_of(const executor& where) noexcept {
  return where.threads() > 0 ? where.threads() : default_threads();
}

int threads_of(const executor& where) {
  require_usable();
  return max_threads_of(where);
}

}  // namespace tally::backends::openmp
