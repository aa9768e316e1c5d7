#include "backends/cuda/runtime/kept_memory.hpp"

#include "backends/cuda/runtime/context.hpp"
#include "backends/cuda/runtime/launch.hpp"

#include <algorithm>
#include <mutex>

namespace tally::backends::cuda {
namespace {

/// Returns a stream's number: not 0 and, unlike a handle, never reused.
std::uint64_t number_of(cudaStream_t stream) {
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "cudaStreamGetId");
  return std::uint64_t{id} + 1;
}

class free_blocks {
 public:
  using blocks = kept_memory::blocks;

  free_blocks() {
    const beside_captures mode;
    std::size_t left = 0, all = 0;
    check(cudaMemGetInfo(&left, &all), "cudaMemGetInfo");
    max_bytes_ = std::max(max_bytes_, all / 64);
  }

  /// Takes the smallest block that fits and is not much too large.
  blocks take(std::size_t bytes, std::uint64_t user) {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->bytes < bytes || it->bytes > 2 * bytes || (it->user != 0 && it->user != user))
        continue;
      if (best == free_.end() || it->bytes < best->bytes) best = it;
    }
    blocks taken;
    if (best == free_.end()) return taken;
    bytes_ -= best->bytes;
    taken.splice(taken.end(), free_, best);
    return taken;
  }

  /// Keeps blocks, within limits; frees the oldest first.
  void give(blocks& given) {
    blocks freed;  // freed after the lock
    const std::lock_guard lock(mutex_);
    for (const auto& block : given) bytes_ += block.bytes;
    free_.splice(free_.end(), given);
    while (bytes_ > max_bytes_ || free_.size() > max_blocks) {
      bytes_ -= free_.front().bytes;
      freed.splice(freed.end(), free_, free_.begin());
    }
  }

  void clear() {
    blocks freed;
    const std::lock_guard lock(mutex_);
    freed.swap(free_);
    bytes_ = 0;
  }

 private:
  static constexpr std::size_t max_blocks = 64;

  std::mutex mutex_;
  std::size_t max_bytes_ = std::size_t{128} << 20;
  blocks free_;  // in order of return
  std::size_t bytes_ = 0;
};

}  // namespace

void* kept_memory::take(std::size_t bytes, const current_device& current, cudaStream_t stream) {
  constexpr std::size_t unit = 4096;
  bytes = (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit;
  context_ = current.context();
  auto& free = of_context<free_blocks>(context_);
  blocks taken = free.take(bytes, number_of(stream));
  if (taken.empty()) {
    block& made = taken.emplace_back();
    made.bytes = bytes;
    made.memory = std::make_unique<device_memory>();
    try {
      made.memory->allocate(bytes);
    } catch (const error& e) {
      if (e.code() != errc::out_of_memory) throw;
      free.clear();
      made.memory->allocate(bytes);
    }
  }
  taken.back().user = number_of(stream);  // even if the plan fails
  blocks_.splice(blocks_.end(), taken);
  return blocks_.back().memory->get();
}

void kept_memory::give_back(const void* taken) {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const block& own) { return own.memory->get() == taken; });
  blocks given;
  given.splice(given.end(), blocks_, found);
  given.front().user = 0;
  of_context<free_blocks>(context_).give(given);
}

void kept_memory::used_on(cudaStream_t stream) const {
  std::uint64_t known = user_.load(std::memory_order_relaxed);
  if (blocks_.empty() || known == many) return;
  const std::uint64_t user = is_captured(stream, false, "spmv") ? many : number_of(stream);
  if (known == user) return;
  if (known != 0 || !user_.compare_exchange_strong(known, user)) {
    if (known != user) user_.store(many);
  }
}

kept_memory::~kept_memory() {
  const std::uint64_t user = user_.load();
  if (blocks_.empty() || user == many) return;  // cudaFree waits for all users
  for (block& own : blocks_) {
    if (user != 0) own.user = user;
  }
  of_context<free_blocks>(context_).give(blocks_);
}

}  // namespace tally::backends::cuda
