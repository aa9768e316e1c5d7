#include "backends/cuda/staged/copy_threads.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <system_error>

namespace tally::backends::cuda {
namespace {

/// Time of polling before sleep, longer than between a call's parts.
constexpr std::chrono::microseconds patience{200};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Blocks signals in this thread; threads started meanwhile never take any.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t all;
    sigfillset(&all);
    is_set_ = pthread_sigmask(SIG_SETMASK, &all, &before_) == 0;
  }
  ~blocked_signals() {
    if (is_set_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
  bool is_set_;
};

}  // namespace

int processors_of_this_thread() {
  cpu_set_t may;
  if (sched_getaffinity(0, sizeof may, &may) == 0) return std::max(CPU_COUNT(&may), 1);
  // The system has more processors than cpu_set_t.
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

copy_threads::copy_threads(int threads) {
  threads_.reserve(static_cast<std::size_t>(threads - 1));
  const blocked_signals while_they_start;
  try {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {  // as many as the system allows
  } catch (const std::bad_alloc&) {     // the same
  }
}

copy_threads::~copy_threads() {
  ended_ = true;
  turn_ += 2;
  turn_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void copy_threads::open(std::size_t count, copy_block_function* copy, const void* f) {
  copy_ = copy;
  f_ = f;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  if (count <= 1 || threads_.empty()) return;
  ++turn_;
  turn_.notify_all();
}

void copy_threads::finish() {
  run_copy_blocks();
  if (turn_ % 2 == 1) ++turn_;
  while (inside_ != 0) pause();
  count_ = 0;
}

void copy_threads::run_copy_blocks() {
  for (;;) {
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count_) return;
    copy_(f_, i);
  }
}

void copy_threads::serve() {
  for (std::uint64_t seen = 0;;) {
    seen = wait_for_next(seen);
    if (ended_) return;
    if (seen % 2 == 0) continue;
    ++inside_;
    if (turn_ == seen) run_copy_blocks();
    --inside_;
  }
}

std::uint64_t copy_threads::wait_for_next(std::uint64_t seen) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  do {
    for (int look = 0; look < 64; ++look) {
      if (const std::uint64_t now = turn_; now != seen) return now;
      pause();
    }
  } while (clock::now() - start < patience);
  turn_.wait(seen);
  return turn_;
}

}  // namespace tally::backends::cuda
