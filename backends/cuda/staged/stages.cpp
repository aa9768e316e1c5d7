#include "backends/cuda/staged/stages.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/cuda/runtime/device.hpp"

#include <tally/numerics/order.hpp>

#include <cstring>
#include <utility>

namespace tally::backends::cuda {
namespace {

using way = staged_vector::way;

// Evidence: tuning/host_data.md.

constexpr std::size_t default_stage_bytes = std::size_t{8} << 20;

constexpr int default_threads = 12;

/// Short vectors: bytes that a thread copies, or kernels read over the bus, at most.
constexpr std::size_t short_copied_bytes = std::size_t{256} << 10,
                      short_read_bytes = std::size_t{1} << 20;

/// Pinned vectors need no host memory, so their parts are this many buffers long: each copy has a
/// fixed cost.
constexpr std::size_t bus_buffers = 2;

/// First and last parts per buffer, where threads copy: nothing hides their copies.
constexpr std::size_t first_parts_per_buffer = 8;

/// Per copy of a thread.
constexpr std::size_t copy_block_bytes = std::size_t{32} << 10;

/// Alignment of vectors in a buffer, in bytes.
constexpr std::size_t alignment = 256;

constexpr std::size_t max_padding = order::chunk * 16;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

int default_thread_count() { return std::min(processors_of_this_thread(), default_threads); }

/// Returns the bytes that travel per element of all vectors.
std::size_t element_bytes(std::span<const staged_vector> vectors) {
  std::size_t bytes = 0;
  for (const staged_vector& v : vectors) {
    if (v.moves != way::none) bytes += size_of(v.host.element);
  }
  return bytes;
}

/// Offsets of a part's vectors in a buffer: those that threads gather first, for one copy.
class layout {
 public:
  layout(std::span<const staged_vector> vectors, std::size_t n) {
    const auto put = [&](auto&& is_next) {
      for (std::size_t j = 0; j < vectors.size(); ++j) {
        const staged_vector& v = vectors[j];
        if (v.moves == way::none || !is_next(v)) continue;
        offsets_[j] = end_;
        end_ += aligned(n * size_of(v.host.element));
      }
    };
    put([](const staged_vector& v) { return v.moves == way::threads && v.read; });
    gathered_ = end_;
    put([](const staged_vector& v) { return v.moves != way::threads || !v.read; });
  }

  std::size_t operator[](std::size_t j) const { return offsets_[j]; }
  std::size_t gathered() const { return gathered_; }

 private:
  std::array<std::size_t, max_staged_vectors> offsets_{};
  std::size_t end_ = 0, gathered_ = 0;
};

std::pair<place, place> ends_of(const operand& v) {
  const auto* const first = static_cast<const std::byte*>(v.data);
  const auto size = static_cast<std::ptrdiff_t>(size_of(v.element));
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(v.size - 1) * v.increment * size;
  return {locate(first + std::min<std::ptrdiff_t>(last, 0)),
          locate(first + std::max<std::ptrdiff_t>(last, 0) + size - 1)};
}

void ignore(cudaError_t status) {
  if (status != cudaSuccess) (void)cudaGetLastError();
}

}  // namespace

stages::stages(const executor& on, const workspace_options& options)
    : on_(on),
      bytes_(options.stage_bytes != 0 ? options.stage_bytes : default_stage_bytes),
      threads_(options.threads != 0 ? options.threads : default_thread_count()) {
  try {
    allocate();
  } catch (...) {
    free();
    throw;
  }
}

stages::~stages() { free(); }

void stages::allocate() {
  const current_device current(on_.device());
  const beside_captures mode;
  const std::size_t room = aligned(bytes_ + max_staged_vectors * (alignment + max_padding));
  const auto make_event = [](cudaEvent_t& event) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  };
  const auto make_stream = [](cudaStream_t& stream) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  };
  for (stage& s : all_) {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, room + result_bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "cudaHostAlloc");
    s.host = static_cast<std::byte*>(memory);
    s.result = s.host + room;
    check(cudaMalloc(&memory, bus_buffers * room), "cudaMalloc");
    s.device = static_cast<std::byte*>(memory);
    make_event(s.brought);
    make_event(s.worked);
    make_event(s.taken);
  }
  make_event(before_);
  make_stream(in_);
  make_stream(out_);
}

void stages::free() noexcept {
  try {
    const current_device current(on_.device());
    const beside_captures mode;
    const auto end_event = [](cudaEvent_t event) {
      if (event != nullptr) ignore(cudaEventDestroy(event));
    };
    for (const stage& s : all_) {
      if (s.host != nullptr) ignore(cudaFreeHost(s.host));
      if (s.device != nullptr) ignore(cudaFree(s.device));
      end_event(s.brought);
      end_event(s.worked);
      end_event(s.taken);
    }
    end_event(before_);
    for (const cudaStream_t stream : {in_, out_}) {
      if (stream != nullptr) ignore(cudaStreamDestroy(stream));
    }
  } catch (const error&) {  // The device's context and memory are gone.
  }
}

stages::drain::~drain() {
  if (!is_needed) return;
  all.threads_.finish();
  for (const cudaStream_t stream : {all.in_, all.on_.stream(), all.out_}) {
    ignore(cudaStreamSynchronize(stream));
  }
}

void stages::wait() const { check(cudaStreamSynchronize(on_.stream()), "cudaStreamSynchronize"); }

staged_vector stages::vector(const operand& v, bool read, bool written) const {
  staged_vector made{v, read, written};
  if (v.size == 0) return made;
  const auto [first, last] = ends_of(v);
  if (!first.host) return made;
  const bool is_all = first.device != place::none && last.device != place::none;
  made.is_shared = first.device != place::none || last.device != place::none;
  made.moves = is_all && v.increment == 1 ? way::bus : way::threads;
  return made;
}

bool stages::are_short(std::span<const staged_vector> vectors) const {
  std::size_t read = 0, copied = 0;
  for (const staged_vector& v : vectors) {
    const std::size_t bytes = v.host.size * size_of(v.host.element);
    if (v.moves != way::none) read += bytes;
    if (v.moves == way::threads) copied += bytes;
  }
  return read <= std::min(short_read_bytes, bytes_) && copied <= short_copied_bytes;
}

stages::parts stages::parts_of(std::span<const staged_vector> vectors) const {
  const std::size_t each = element_bytes(vectors);
  const auto is_on_bus = [](const staged_vector& v) {
    return v.moves != way::threads && !v.written;
  };
  const bool all_are = std::ranges::all_of(vectors, is_on_bus);
  const std::size_t max = std::bit_floor((all_are ? bus_buffers : 1) * bytes_ / each);
  if (all_are) return {max, max};
  return {std::min(max, std::max(order::chunk, max / first_parts_per_buffer)), max};
}

/// Waits if threads will read what work on the stream may still write.
void stages::wait_for_shared(std::span<const staged_vector> vectors) const {
  const auto is_read_by_threads = [](const staged_vector& v) {
    return v.moves == way::threads && v.read && v.is_shared;
  };
  if (std::ranges::any_of(vectors, is_read_by_threads)) wait();
}

void stages::gather_short(std::span<const staged_vector> vectors, padding ends,
                          staged_operands& here) {
  const bool pads = ends == padding::zeros && std::ranges::all_of(vectors, [](const auto& v) {
                      return v.moves == way::threads;
                    });
  wait_for_shared(vectors);
  std::byte* to = all_[0].host;
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    const staged_vector& v = vectors[j];
    here[j] = v.host;
    if (v.moves != way::threads) continue;
    const std::size_t n = v.host.size, size = size_of(v.host.element);
    const std::size_t length = pads ? (n + order::chunk - 1) / order::chunk * order::chunk : n;
    here[j] = {to, length, 1, v.host.element};
    if (v.read) copy_elements(v.host, {to, n, 1, v.host.element});
    if (length > n) std::memset(to + n * size, 0, (length - n) * size);
    to += aligned(length * size);
  }
}

void stages::scatter_short(std::span<const staged_vector> vectors, const staged_operands& here) {
  const auto is_written = [](const staged_vector& v) { return v.written; };
  if (std::ranges::none_of(vectors, is_written)) return;
  wait();
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    const staged_vector& v = vectors[j];
    if (!v.written || v.moves != way::threads) continue;
    copy_elements({here[j].data, v.host.size, 1, v.host.element}, as_output(v.host));
  }
}

void stages::copy_blocks::operator()(std::size_t i) const {
  const std::size_t k = i / of_each, begin = i % of_each * strip;
  const operand& v = vectors[chosen[k]].host;
  std::byte* const here = in->host + offsets[k] + begin * size_of(v.element);
  const operand there = v.slice(in->first + begin, std::min(strip, in->size - begin));
  const output_operand part{here, there.size, 1, there.element};
  gathers ? copy_elements(there, part) : copy_elements(part, as_output(there));
}

void stages::begin_copying(std::span<const staged_vector> vectors, const stage& s, bool gathers) {
  const layout at(vectors, s.size);
  copying_.vectors = vectors;
  copying_.in = &s;
  copying_.gathers = gathers;
  std::size_t some = 0, widest = 1;
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    const staged_vector& v = vectors[j];
    if (v.moves != way::threads || !(gathers ? v.read : v.written)) continue;
    copying_.chosen[some] = j;
    copying_.offsets[some++] = at[j];
    widest = std::max(widest, size_of(v.host.element));
  }
  copying_.strip = copy_block_bytes / widest;
  copying_.of_each = (s.size + copying_.strip - 1) / copying_.strip;
  threads_.begin(some * copying_.of_each, copying_);
}

void stages::begin_parts(std::span<const staged_vector> vectors) const {
  wait_for_shared(vectors);
  const auto is_pinned = [](const staged_vector& v) { return v.moves == way::bus; };
  if (std::ranges::none_of(vectors, is_pinned)) return;
  check(cudaEventRecord(before_, on_.stream()), "cudaEventRecord");
  check(cudaStreamWaitEvent(in_, before_, 0), "cudaStreamWaitEvent");
}

void stages::bring(std::span<const staged_vector> vectors, const stage& s,
                   staged_operands& here) const {
  const layout at(vectors, s.size);
  const auto copy = [&](std::byte* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, in_), "cudaMemcpyAsync");
  };
  if (at.gathered() > 0) copy(s.device, s.host, at.gathered());
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    const staged_vector& v = vectors[j];
    const operand part = v.host.slice(s.first, s.size);
    if (v.moves == way::none) {
      here[j] = part;
      continue;
    }
    here[j] = {s.device + at[j], s.size, 1, part.element};
    if (v.moves == way::bus && v.read) {
      copy(s.device + at[j], part.data, s.size * size_of(part.element));
    }
  }
  check(cudaEventRecord(s.brought, in_), "cudaEventRecord");
  check(cudaStreamWaitEvent(on_.stream(), s.brought, 0), "cudaStreamWaitEvent");
}

void stages::take_back(std::span<const staged_vector> vectors, const staged_operands& here,
                       const stage& s) const {
  check(cudaEventRecord(s.worked, on_.stream()), "cudaEventRecord");
  bool some = false;
  for (std::size_t j = 0; j < vectors.size(); ++j) {
    const staged_vector& v = vectors[j];
    if (!v.written || v.moves == way::none) continue;
    if (!some) check(cudaStreamWaitEvent(out_, s.worked, 0), "cudaStreamWaitEvent");
    some = true;
    const operand& from = here[j];
    void* const to = v.moves == way::bus
                         ? const_cast<void*>(v.host.slice(s.first, s.size).data)
                         : s.host + (static_cast<const std::byte*>(from.data) - s.device);
    check(
        cudaMemcpyAsync(to, from.data, from.size * size_of(from.element), cudaMemcpyDefault, out_),
        "cudaMemcpyAsync");
  }
  if (some) check(cudaEventRecord(s.taken, out_), "cudaEventRecord");
}

void stages::wait_for(std::span<const staged_vector> vectors, const stage& s) {
  const bool comes_back = std::ranges::any_of(
      vectors, [](const staged_vector& v) { return v.written && v.moves != way::none; });
  check(cudaEventSynchronize(comes_back ? s.taken : s.worked), "cudaEventSynchronize");
  if (!comes_back) return;
  begin_copying(vectors, s, false);
  threads_.finish();
}

}  // namespace tally::backends::cuda
