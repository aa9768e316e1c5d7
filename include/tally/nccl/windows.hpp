// Peer buffers: device memory that the other devices of a communicator write directly.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/joined_sum.hpp>
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

namespace tally::nccl::detail {

/// A rank's peer buffer as other ranks see it.
struct window_card {
  std::uint64_t host = 0;           ///< boot id
  std::uint64_t process = 0;        ///< unique per process
  std::uint64_t* window = nullptr;  ///< in that process
  int device = -1;
  int usable = 0;
  cudaIpcMemHandle_t handle{};  ///< for other processes
};

/// Hash of the boot id, common to the host's processes; 0 if unknown.
inline std::uint64_t host_number() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  return text.empty() ? 0 : std::hash<std::string>()(text);
}

inline std::uint64_t process_number() {
  static const std::uint64_t number = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return number;
}

/// Peer buffers of all ranks, if every device reaches all, in one or several processes of a host.
class peer_buffers {
 public:
  /// `gathered(mine)` returns all ranks' values. Collective. At most `windows::most` ranks.
  template <class Gathered>
  peer_buffers(const executor& where, int rank, int ranks, const Gathered& gathered)
      : device_(where.device()), memory_(where, windows::bytes(ranks)) {
    check(cudaMemset(memory_.get(), 0, memory_.bytes()), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    window_card mine;
    mine.host = host_number();
    mine.process = process_number();
    mine.window = static_cast<std::uint64_t*>(memory_.get());
    mine.device = device_;
    mine.usable = mine.host != 0 && succeeds(cudaIpcGetMemHandle(&mine.handle, memory_.get()));
    const std::vector<window_card> all = gathered(mine);
    windows_.rank = rank;
    windows_.ranks = ranks;
    bool opened = true;
    for (int r = 0; r < ranks && opened; ++r) {
      opened = open(mine, all[static_cast<std::size_t>(r)], r, windows_.of[r]);
    }
    spans_processes_ = std::any_of(all.begin(), all.end(), [&](const window_card& other) {
      return other.process != mine.process;
    });
    const std::vector<std::int64_t> each = gathered(std::int64_t{opened});
    usable_ = std::find(each.begin(), each.end(), 0) == each.end();
  }
  ~peer_buffers() { close(); }
  peer_buffers(const peer_buffers&) = delete;
  peer_buffers& operator=(const peer_buffers&) = delete;

  /// Unmaps the buffers of other processes.
  void close() noexcept {
    int before = 0;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(device_);
    for (void* memory : imported_) (void)cudaIpcCloseMemHandle(memory);
    imported_.clear();
    (void)cudaSetDevice(before);
  }

  /// Leaks everything: other ranks may still store here.
  void leave() noexcept {
    imported_.clear();
    (void)new (std::nothrow) buffer(std::move(memory_));
  }

  /// Several processes must unmap together.
  bool spans_processes() const noexcept { return spans_processes_; }
  /// Null unless every rank reaches all.
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

}  // namespace tally::nccl::detail
