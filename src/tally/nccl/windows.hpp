// Windows: memory of a device that the other devices of a communicator write, where they can.
#pragma once

#include <tally/buffer.hpp>
#include <tally/executor.hpp>
#include <tally/joined_sum.hpp>
#include <tally/nccl/calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tally::nccl::calls {

/// What ranks tell each other of their windows.
struct window_card {
  std::uint64_t host = 0;           ///< of the running kernel
  std::uint64_t process = 0;        ///< a number that no other process has
  std::uint64_t* window = nullptr;  ///< the address in that process
  int device = -1;                  ///< its number there
  int usable = 0;                   ///< whether the rank has a window
  cudaIpcMemHandle_t handle{};      ///< for other processes
};

/// A number of the host, the same for all its processes.
inline std::uint64_t host_number() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  return text.empty() ? 0 : std::hash<std::string>()(text);
}

/// A number of this process.
inline std::uint64_t process_number() {
  static const std::uint64_t number = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return number;
}

/// The windows of all ranks, where each device reaches the memory of all others: peers of one
/// process, or of processes of one host.
class shared_windows {
 public:
  /// Exchanges cards by `gather(mine, all)`, and whether all ranks could open all windows by
  /// `agree`. Collective; there are no more ranks than `windows::most`.
  template <class Gather, class Agree>
  shared_windows(const executor& where, int rank, int ranks, const Gather& gather,
                 const Agree& agree)
      : device_(where.device()), memory_(where, windows::bytes(ranks)) {
    check(cudaMemset(memory_.get(), 0, memory_.bytes()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    window_card mine;
    mine.host = host_number();
    mine.process = process_number();
    mine.window = static_cast<std::uint64_t*>(memory_.get());
    mine.device = device_;
    mine.usable = mine.host != 0 && succeeds(cudaIpcGetMemHandle(&mine.handle, memory_.get()));
    std::vector<window_card> all(static_cast<std::size_t>(ranks));
    gather(mine, all);
    windows_.rank = rank;
    windows_.ranks = ranks;
    bool opened = true;
    for (int r = 0; r < ranks && opened; ++r) {
      opened = open(mine, all[static_cast<std::size_t>(r)], r, windows_.of[r]);
    }
    spans_processes_ = std::any_of(all.begin(), all.end(), [&](const window_card& other) {
      return other.process != mine.process;
    });
    usable_ = agree(opened);
  }
  ~shared_windows() { close(); }
  shared_windows(const shared_windows&) = delete;
  shared_windows& operator=(const shared_windows&) = delete;

  /// Leaves the windows of other processes.
  void close() noexcept {
    int before = 0;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(device_);
    for (void* memory : imported_) (void)cudaIpcCloseMemHandle(memory);
    imported_.clear();
    (void)cudaSetDevice(before);
  }

  /// Leaves everything as it is to the end of the process, for other ranks may still store here.
  void leave() noexcept {
    imported_.clear();
    (void)new (std::nothrow) buffer(std::move(memory_));
  }

  /// Whether ranks are in several processes: then they leave windows together.
  bool spans_processes() const noexcept { return spans_processes_; }
  /// The windows; null where a rank does not reach all.
  const windows* get() const noexcept { return usable_ ? &windows_ : nullptr; }

 private:
  static bool succeeds(cudaError_t status) {
    if (status != cudaSuccess) (void)cudaGetLastError();
    return status == cudaSuccess;
  }

  bool open(const window_card& mine, const window_card& other, int rank, std::uint64_t*& window) {
    if (rank == windows_.rank) {
      window = mine.window;
      return true;
    }
    if (other.host != mine.host || other.usable == 0) return false;
    if (other.process != mine.process) {
      void* memory = nullptr;
      if (!succeeds(cudaIpcOpenMemHandle(&memory, other.handle, cudaIpcMemLazyEnablePeerAccess))) {
        return false;
      }
      imported_.push_back(memory);
      window = static_cast<std::uint64_t*>(memory);
      return true;
    }
    int reaches = 0;
    if (!succeeds(cudaDeviceCanAccessPeer(&reaches, device_, other.device)) || reaches == 0) {
      return false;
    }
    const cudaError_t status = cudaDeviceEnablePeerAccess(other.device, 0);
    if (!succeeds(status) && status != cudaErrorPeerAccessAlreadyEnabled) return false;
    window = other.window;
    return true;
  }

  int device_;
  buffer memory_;
  windows windows_;
  std::vector<void*> imported_;
  bool spans_processes_ = false;
  bool usable_ = false;
};

}  // namespace tally::nccl::calls
