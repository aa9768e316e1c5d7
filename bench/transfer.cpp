// The lane from the host's memory: both operands are copied to the device and multiplied there,
// from pageable and from pinned memory, whole and in parts that overlap. All buffers are reused.
#include "bench/device.hpp"
#include "bench/lane.hpp"

#include <tally/tally.hpp>

#include <array>
#include <cstring>

namespace bench {
namespace {

/// Parts of 2 MiB of doubles are long enough for the bus's full speed. A power of two of chunks, so
/// that each is a node of the tree of the order contract: added up as a tree, the parts give the
/// bits of the whole.
constexpr std::size_t part = std::size_t{1} << 18;
static_assert(part % tally::order::chunk == 0);

std::vector<std::size_t> sizes(const types& t, bool full) {
  if (t != types_of(pair<double, double>{})) return {};
  if (!full) return {1 << 20, 1 << 26};
  return {1 << 20, 1 << 22, 1 << 24, 1 << 26};
}

using T = double;

/// The buffers for one size.
struct buffers {
  std::size_t n;
  device_memory device_x{n * sizeof(T)}, device_y{n * sizeof(T)};
  pinned_memory pinned_x{n * sizeof(T)}, pinned_y{n * sizeof(T)};
  pinned_memory sums{(n + part - 1) / part * sizeof(T)};
  /// What the parts go through in turn.
  struct way {
    queue stream;
    pinned_memory stage_x{part * sizeof(T)}, stage_y{part * sizeof(T)};
  };
  std::array<way, 2> ways{};

  explicit buffers(const workload& w) : n(w.size()) {
    std::memcpy(pinned_x.data(), w.x.data, n * sizeof(T));
    std::memcpy(pinned_y.data(), w.y.data, n * sizeof(T));
  }
};

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t s) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, s), "cudaMemcpyAsync");
}

/// Everything on one stream.
T whole(const buffers& b, const void* x, const void* y) {
  const cudaStream_t s = b.ways[0].stream.get();
  copy(b.device_x.data(), x, b.n * sizeof(T), s);
  copy(b.device_y.data(), y, b.n * sizeof(T), s);
  return tally::dot(tally::cuda({.stream = s}),
                    std::span(static_cast<const T*>(b.device_x.data()), b.n),
                    std::span(static_cast<const T*>(b.device_y.data()), b.n));
}

/// The sums of the parts, added as the order contract's tree.
T added(T* sums, std::size_t n) {
  for (; n > 1; n = (n + 1) / 2) {
    for (std::size_t j = 0; j < n / 2; ++j) sums[j] = sums[2 * j] + sums[2 * j + 1];
    if (n % 2 == 1) sums[n / 2] = sums[n - 1];
  }
  return sums[0];
}

/// Parts on two streams in turn, so that one is copied while another is multiplied. `staged`:
/// through pinned memory, which the processor fills while the last part travels.
T in_parts(const buffers& b, const T* x, const T* y, bool staged) {
  auto* const device_x = static_cast<T*>(b.device_x.data());
  auto* const device_y = static_cast<T*>(b.device_y.data());
  auto* const sums = static_cast<T*>(b.sums.data());
  std::size_t parts = 0;
  for (std::size_t first = 0; first < b.n; first += part, ++parts) {
    const std::size_t count = std::min(part, b.n - first), bytes = count * sizeof(T);
    const buffers::way& way = b.ways[parts % b.ways.size()];
    const cudaStream_t s = way.stream.get();
    const void* from_x = x + first;
    const void* from_y = y + first;
    if (staged) {
      check(cudaStreamSynchronize(s), "cudaStreamSynchronize");  // its stages are free again
      from_x = std::memcpy(way.stage_x.data(), from_x, bytes);
      from_y = std::memcpy(way.stage_y.data(), from_y, bytes);
    }
    copy(device_x + first, from_x, bytes, s);
    copy(device_y + first, from_y, bytes, s);
    tally::dot(tally::cuda({.stream = s}), std::span<const T>(device_x + first, count),
               std::span<const T>(device_y + first, count), sums + parts);
  }
  for (const auto& way : b.ways)
    check(cudaStreamSynchronize(way.stream.get()), "cudaStreamSynchronize");
  return added(sums, parts);
}

contenders ways(const workload& w, bool) {
  contenders list;
  visit(w, [&]<class X, class Y>(std::span<const X> x_span, std::span<const Y> y_span, auto) {
    if constexpr (std::is_same_v<X, T> && std::is_same_v<Y, T>) {
      const T* const x = x_span.data();
      const T* const y = y_span.data();
      const on_demand<buffers> b([w] { return buffers(w); });
      const auto pinned = [](const pinned_memory& m) { return static_cast<const T*>(m.data()); };
      list.push_back(on_host("limit: pinned copy", "both operands, no product", w, [=] {
        const cudaStream_t s = b().ways[0].stream.get();
        copy(b().device_x.data(), b().pinned_x.data(), w.size() * sizeof(T), s);
        copy(b().device_y.data(), b().pinned_y.data(), w.size() * sizeof(T), s);
        check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
        return T{};
      }));
      list.back().compute = nullptr;  // no product
      list.push_back(on_host("tally::cuda, pageable", "", w, [=] { return whole(b(), x, y); }));
      list.push_back(on_host("tally::cuda, pageable, staged and overlapped", "", w,
                             [=] { return in_parts(b(), x, y, true); }));
      list.push_back(on_host("tally::cuda, pinned", "", w,
                             [=] { return whole(b(), b().pinned_x.data(), b().pinned_y.data()); }));
      list.push_back(on_host("tally::cuda, pinned, overlapped", "", w, [=] {
        return in_parts(b(), pinned(b().pinned_x), pinned(b().pinned_y), false);
      }));
    }
  });
  return list;
}

}  // namespace

const lane transfer = {.name = "transfer", .sizes = sizes, .ways = ways};

}  // namespace bench
