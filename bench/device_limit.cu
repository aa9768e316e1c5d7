// The limits of the memory of the device: reading the operands' bytes, and copying as many.
#include "bench/device.hpp"
#include "bench/limit.hpp"

#include <algorithm>
#include <cstdint>

namespace bench {
namespace {

constexpr int threads = 256;

/// A block's part of the lines at a time: `loads` 16-byte loads in flight a thread.
template <int loads>
struct tile {
  static constexpr std::size_t size = std::size_t{threads} * loads;
  uint4 line[loads];

  static __device__ std::size_t index(std::size_t first, int k) {
    return first + static_cast<std::size_t>(k * threads) + threadIdx.x;
  }

  __device__ tile(const uint4* lines, std::size_t first, std::size_t n) {
#pragma unroll
    for (int k = 0; k < loads; ++k)
      line[k] = index(first, k) < n ? lines[index(first, k)] : uint4{};
  }
};

/// It writes, so that the loads are not left out, if the bitwise or of everything that a thread
/// read is 0, which random data does not give.
template <int loads>
__global__ void read(const uint4* x, std::size_t x_lines, const uint4* y, std::size_t y_lines,
                     unsigned* sink) {
  using part = tile<loads>;
  unsigned all = 0;
  const auto one = [&](const uint4* lines, std::size_t n) {
    for (std::size_t first = blockIdx.x * part::size; first < n; first += gridDim.x * part::size) {
      const part read(lines, first, n);
#pragma unroll
      for (const uint4& line : read.line) all |= line.x | line.y | line.z | line.w;
    }
  };
  one(x, x_lines);
  one(y, y_lines);
  if (all == 0) *sink = all;
}

/// One line a thread: of 2^31 bytes 4.27 TB/s on an H200, with 8 in flight 3.85.
__global__ void copy(const uint4* from, uint4* to, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

/// Calls f<loads>(blocks): many loads in flight where there is enough to read, else many threads.
template <class F>
void shape(std::size_t lines, F f) {
  const auto resident = static_cast<std::size_t>(multiprocessors()) * 8;  // blocks, at 2048 threads
  const auto blocks = [&](std::size_t loads) {
    return static_cast<unsigned>(
        std::clamp<std::size_t>((lines + threads * loads - 1) / (threads * loads), 1, resident));
  };
  if (lines <= resident * threads) {
    f(std::integral_constant<int, 1>{}, blocks(1));
  } else {
    f(std::integral_constant<int, 8>{}, blocks(8));
  }
}

}  // namespace

contenders device_limit(const workload& w) {
  const auto line_of = [](const void* address) {
    return reinterpret_cast<const uint4*>(reinterpret_cast<std::uintptr_t>(address) /
                                          sizeof(uint4) * sizeof(uint4));
  };
  const auto lines_of = [](const tally::operand& v) {
    return v.size * size_of(v.element) / sizeof(uint4);
  };
  const uint4 *const x = line_of(w.x.data), *const y = line_of(w.y_read().data);
  const std::size_t x_lines = lines_of(w.x), y_lines = lines_of(w.y_read());
  // Half of the bytes, read and written: x is the longer operand, in bytes, or as long. Of what
  // writes a vector only x, since there may be no more to read.
  const std::size_t copied_lines = writes(w.what) ? x_lines : w.bytes() / 2 / sizeof(uint4);
  const on_demand<device_memory> copied(
      [=] { return device_memory(copied_lines * sizeof(uint4)); });

  contenders list;
  if (!writes(w.what)) {
    list.push_back(on_device(
        "limit: read", "16-byte loads",
        [=](cudaStream_t stream, void* result) {
          shape(std::max(x_lines, y_lines), [&](auto loads, unsigned blocks) {
            read<loads><<<blocks, threads, 0, stream>>>(x, x_lines, y, y_lines,
                                                        static_cast<unsigned*>(result));
          });
        },
        w));
  }
  list.push_back(on_device(
      "limit: copy", writes(w.what) ? "of x" : "as many bytes, half of them written",
      [=](cudaStream_t stream, void*) {
        const auto blocks = static_cast<unsigned>((copied_lines + threads - 1) / threads);
        copy<<<blocks, threads, 0, stream>>>(x, static_cast<uint4*>(copied().data()), copied_lines);
      },
      w));
  list.back().bytes = 2 * copied_lines * sizeof(uint4);
  for (contender& c : list) c.compute = nullptr;  // no product
  return list;
}

}  // namespace bench
