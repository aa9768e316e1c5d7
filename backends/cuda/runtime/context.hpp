// Objects kept per context, which end with it: after cudaDeviceReset the next call finds a new
// context (current_device), without any.
//
// Nothing here is destroyed; an ending thread's objects go to another. So a thread's end makes no
// CUDA call, which could end a capture elsewhere, and late threads and graphs find everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace tally::backends::cuda {

template <class T>
T& of_context(std::uint64_t context) {
  thread_local std::uint64_t last_context = 0;
  thread_local T* last = nullptr;
  if (last != nullptr && last_context == context) return *last;
  static std::mutex mutex;
  static auto& all = *new std::map<std::uint64_t, T>;
  const std::lock_guard lock(mutex);
  last = &all[context];
  last_context = context;
  return *last;
}

/// Objects that no thread has. `T::make` appends at least one to a list.
template <class T>
class spares {
 public:
  T* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      T::make(free_);
      made_ += free_.size();
    }
    free_.reserve(made_);  // so that give_back allocates nothing
    T* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(T* spare) {
    const std::lock_guard lock(mutex_);
    free_.push_back(spare);
  }

 private:
  std::mutex mutex_;
  std::vector<T*> free_;
  std::size_t made_ = 0;
};

/// Returns the calling thread's T; when the thread ends, another gets it.
template <class T>
T& of_thread(std::uint64_t context) {
  struct holder {
    std::uint64_t last_context = 0;
    T* last = nullptr;
    std::map<std::uint64_t, T*> own;
    ~holder() {
      for (const auto& [context, t] : own) {
        if (t != nullptr) of_context<spares<T>>(context).give_back(t);
      }
    }
  };
  thread_local holder held;
  if (held.last != nullptr && held.last_context == context) return *held.last;
  T*& own = held.own[context];
  if (own == nullptr) own = of_context<spares<T>>(context).take();
  held.last = own;
  held.last_context = context;
  return *own;
}

}  // namespace tally::backends::cuda
