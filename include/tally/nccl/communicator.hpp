// The devices of a call and the memory it needs.
#pragma once

#include <tally/nccl/windows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace tally::nccl {

namespace detail {

/// Outgrown buffers are kept: captured graphs may write there.
class room {
 public:
  room(const executor& where, std::size_t bytes, reach who = reach::kernels) : who_(who) {
    grow(where, bytes);
  }

  /// At least `bytes`. Growing discards the contents.
  std::byte* of(const executor& where, std::size_t bytes) {
    if (bytes > all_.back().bytes()) grow(where, std::bit_ceil(bytes));
    return static_cast<std::byte*>(all_.back().get());
  }
  std::size_t bytes() const noexcept { return all_.back().bytes(); }

 private:
  void grow(const executor& where, std::size_t bytes) {
    all_.reserve(all_.size() + 1);
    all_.emplace_back(where, bytes, who_);
  }

  reach who_;
  std::vector<buffer> all_;
};

}  // namespace detail

/// The caller's NCCL communicator with the memory of Tally's calls over it.
///
/// All ranks make the same calls in the same order, on streams that follow each other, one thread
/// of a rank at a time. Construction and destruction are collective. Destroy it after its calls
/// have ended on the device, before the NCCL communicator and its executor's stream. Destroyed by
/// an exception, it waits for no rank and leaks its peer buffer, since others may still write
/// there; after `ncclCommAbort` it may be leaked itself. Memory for `windows::max_sums` sums is
/// allocated at once; make a larger call once before capturing it.
///
/// If all devices reach each other's memory (up to `windows::most` on one host, NVLink or PCIe peer
/// access), the kernel that makes the results exchanges the sums, else NCCL does; the bits are the
/// same. TALLY_NCCL_WINDOWS=0 in the environment of all ranks selects NCCL.
class communicator {
 public:
  /// Collective; blocks.
  /// @param comm  NCCL's communicator, owned by the caller.
  /// @param where `cuda` on its device.
  /// @throws error invalid_argument for another executor or device; device_failure, out_of_memory.
  communicator(ncclComm_t comm, const executor& where)
      : comm_(comm),
        where_(checked(comm, where)),
        words_(where_, initial_word_bytes),
        nodes_(where_, initial_node_bytes),
        others_(where_, initial_node_bytes),
        pieces_(where_, initial_chunk_bytes),
        results_(where_, initial_result_bytes, reach::kernels_and_host) {
    const detail::current_device current(device());
    detail::check(ncclCommUserRank(comm, &rank_), "ncclCommUserRank");
    detail::check(ncclCommCount(comm, &ranks_), "ncclCommCount");
    detail::check(cudaMemset(words_.of(where_, 0), 0, words_.bytes()), "cudaMemset");
    detail::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const char* const chosen = std::getenv("TALLY_NCCL_WINDOWS");
    if (ranks_ > windows::most || (chosen != nullptr && std::string(chosen) == "0")) return;
    windows_.emplace(where_, rank_, ranks_, [&](const auto& mine) { return gathered(mine); });
  }
  ~communicator() {
    if (!windows_) return;
    if (std::uncaught_exceptions() > exceptions_) {  // the other ranks do not destroy theirs
      windows_->leave();
      return;
    }
    if (!windows_->spans_processes()) return;
    windows_->close();
    try {
      gathered(std::int64_t{0});  // no peer buffer is freed while in use
    } catch (const error&) {
    }
  }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  /// Rank of this device.
  int rank() const noexcept { return rank_; }
  /// Number of ranks.
  int ranks() const noexcept { return ranks_; }
  /// CUDA's device number in this process.
  int device() const noexcept { return where_.device(); }
  /// NCCL's communicator.
  ncclComm_t get() const noexcept { return comm_; }
  /// Peer buffers; null if NCCL carries sums.
  const windows* through() const noexcept { return windows_ ? windows_->get() : nullptr; }

  /// Gathers bytes in host memory on all ranks. Collective; blocks.
  void gather(const void* mine, void* all, std::size_t bytes) const {
    const detail::current_device current(device());
    const std::size_t ranks = static_cast<std::size_t>(ranks_);
    buffer room(where_, (ranks + 1) * bytes);
    auto* const own = static_cast<std::byte*>(room.get());
    copy_bytes(where_, mine, own, bytes);
    detail::check(ncclAllGather(own, own + bytes, bytes, ncclUint8, comm_, where_.stream()),
                  "ncclAllGather");
    copy_bytes(where_, own + bytes, all, ranks * bytes);
  }

  /// Returns all ranks' values. Collective; blocks.
  template <class T>
  std::vector<T> gathered(const T& mine) const {
    std::vector<T> all(static_cast<std::size_t>(ranks_));
    gather(&mine, all.data(), sizeof mine);
    return all;
  }

  /// @throws error invalid_argument unless the executor is on this device.
  void check_executor(const executor& where) const {
    if (where.name() == "cuda" && where.device() == device()) return;
    throw error(errc::invalid_argument,
                "tally::nccl: the executor is " + std::string(where.name()) + " on device " +
                    std::to_string(where.device()) + ", the communicator has device " +
                    std::to_string(device()));
  }

  /// Words of exact sums; zero between calls.
  std::int64_t* words(const executor& where, std::size_t count) const {
    const std::size_t bytes = count * sizeof(std::int64_t), had = words_.bytes();
    auto* const words = reinterpret_cast<std::int64_t*>(words_.of(where, bytes));
    if (bytes > had) {
      detail::check(cudaMemsetAsync(words, 0, words_.bytes(), where.stream()), "cudaMemsetAsync");
    }
    return words;
  }
  /// This rank's part of a message.
  std::byte* nodes(const executor& where, std::size_t bytes) const {
    return nodes_.of(where, bytes);
  }
  /// All ranks' parts.
  std::byte* others(const executor& where, std::size_t bytes) const {
    return others_.of(where, bytes);
  }
  /// Elements of cut chunks.
  std::byte* pieces(const executor& where, std::size_t bytes) const {
    return pieces_.of(where, bytes);
  }

  /// Results of a call, where kernels and the host reach them.
  void* results(const executor& where, std::size_t bytes) const {
    return results_.of(where, bytes);
  }

  /// Calls queue(results), waits, and copies results to the host.
  template <class Queue>
  void wait_for(const executor& where, void* to, std::size_t bytes, const Queue& queue) const {
    void* const made = results(where, bytes);
    queue(made);
    detail::check(cudaStreamSynchronize(where.stream()), "cudaStreamSynchronize");
    std::memcpy(to, made, bytes);
  }

 private:
  // For `windows::max_sums` sums, so that a first call may be captured.
  static constexpr std::size_t initial_word_bytes =
      windows::max_sums * exact_words(type::complex128) * sizeof(std::int64_t);
  static constexpr std::size_t initial_node_bytes = std::size_t{1} << 20;
  static constexpr std::size_t initial_chunk_bytes = 4 * windows::max_sums * order::chunk * 16;
  static constexpr std::size_t initial_result_bytes = 1024;

  static const executor& checked(ncclComm_t comm, const executor& where) {
    int device = -1;
    if (comm != nullptr) detail::check(ncclCommCuDevice(comm, &device), "ncclCommCuDevice");
    if (comm == nullptr || where.name() != "cuda" || where.device() != device) {
      throw error(errc::invalid_argument,
                  "tally::nccl::communicator: the executor is " + std::string(where.name()) +
                      " on device " + std::to_string(where.device()) +
                      ", NCCL's communicator has device " + std::to_string(device));
    }
    return where;
  }

  ncclComm_t comm_;
  executor where_;
  int rank_ = 0;
  int ranks_ = 1;
  mutable detail::room words_, nodes_, others_, pieces_, results_;
  std::optional<detail::peer_buffers> windows_;
  int exceptions_ = std::uncaught_exceptions();  ///< at construction
};

}  // namespace tally::nccl
