// Threads that copy host memory, and sleep between calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace tally::backends::cuda {

/// Processors of the calling thread, and of those that it starts.
int processors_of_this_thread();

class copy_threads {
 public:
  /// Starts threads - 1 threads, or as many as possible: the caller copies, too. They take no
  /// signals, which are for the program's own.
  explicit copy_threads(int threads);
  ~copy_threads();
  copy_threads(const copy_threads&) = delete;
  copy_threads& operator=(const copy_threads&) = delete;

  /// Begins to call copy(i), which must not throw, for each i below `count` on other threads.
  /// `copy` lives until `finish`. One caller at a time.
  template <class F>
  void begin(std::size_t count, const F& copy) {
    open(count, [](const void* f, std::size_t i) { (*static_cast<const F*>(f))(i); }, &copy);
  }

  /// Helps, and returns when all calls have.
  void finish();

  int count() const { return static_cast<int>(threads_.size()) + 1; }

 private:
  using copy_block_function = void(const void* f, std::size_t i);

  void open(std::size_t count, copy_block_function* copy, const void* f);
  void run_copy_blocks();
  void serve();
  std::uint64_t wait_for_next(std::uint64_t seen);

  // Work is open while `turn_` is odd. Whoever is inside may read it; whoever opens or closes it
  // waits until nobody is.
  copy_block_function* copy_ = nullptr;
  const void* f_ = nullptr;
  std::size_t count_ = 0;
  alignas(64) std::atomic<std::size_t> next_ = 0;
  alignas(64) std::atomic<std::uint64_t> turn_ = 0;
  alignas(64) std::atomic<int> inside_ = 0;
  std::atomic<bool> ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tally::backends::cuda
