// Exchange of sums between the blocks of several devices through peer buffers, `windows`
// (<tally/distributed/joined_sum.hpp>): each stores its payloads as tagged words into all others'
// and polls its own.
//
// A buffer begins with a number per sum: how often that was exchanged. It is the words' tag, so
// words need no clearing, and a graph may be launched again. Behind lie two places per sum, used in
// turn. Two suffice: whoever stores the words of call n + 2 has seen the others' of n + 1, stored
// after they had read those of n; so every block waits for a word of each device. A tag returns
// after 2^32 calls, its words long overwritten; 0, the tag of unwritten words, is none.
#pragma once

#include "backends/cuda/device/ptx.cuh"
#include "backends/cuda/device/words.hpp"
#include "backends/cuda/joined/job.hpp"

namespace tally::backends::cuda {

/// One exchange, by all threads of a block; none without windows.
class exchange {
 public:
  __device__ exchange(const windows& w, unsigned sum) : windows_(w), sum_(sum) {
    if (w.ranks == 0) return;
    number_ = w.of[w.rank] + sum;
    // Through L2, as in `elements` (device/kernel.cuh).
    tag_ = static_cast<std::uint32_t>(__ldcg(reinterpret_cast<unsigned long long*>(number_))) + 1;
    if (tag_ == 0) tag_ = 2;  // even, as 0 is: places keep taking turns
  }

  /// Stores payload i for all other ranks.
  __device__ void store(unsigned i, std::uint32_t payload) const {
    const std::uint64_t word = make_word(payload, tag_);
    for (int r = 0; r < windows_.ranks; ++r) {
      if (r != windows_.rank) ptx::store_to_device(place(r, windows_.rank) + i, word);
    }
  }
  __device__ std::uint32_t wait(int rank, unsigned i) const {
    const std::uint64_t* const from = place(windows_.rank, rank) + i;
    std::uint64_t word;
    do {
      word = ptx::load_of_device(from);
    } while (tag_of(word) != tag_);
    return static_cast<std::uint32_t>(word);
  }
  /// Pre: all threads have what they waited for.
  __device__ void end() const {
    __syncthreads();
    if (threadIdx.x == 0) *number_ = tag_;
  }

 private:
  /// Returns rank `from`'s words in rank `window`'s buffer.
  __device__ std::uint64_t* place(int window, int from) const {
    constexpr auto words = static_cast<unsigned>(windows::max_numbers_bytes / 4);
    const unsigned turn = 2 * sum_ + (tag_ & 1);
    return windows_.of[window] + windows::max_sums +
           static_cast<std::size_t>(turn * windows_.ranks + from) * words;
  }

  const windows& windows_;
  std::uint64_t* number_ = nullptr;
  unsigned sum_;
  std::uint32_t tag_ = 0;
};

}  // namespace tally::backends::cuda
