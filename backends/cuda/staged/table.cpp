#include "backends/cuda/cuda.hpp"

#include "backends/common/elementwise/two_calls.hpp"
#include "backends/cuda/runtime/device.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/staged/staged.hpp"
#include "backends/serial/serial.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace tally::backends::cuda {
namespace staged {
namespace {

template <std::size_t n>
struct function_name {
  char text[n];
  constexpr function_name(const char (&given)[n]) { std::copy_n(given, n, text); }
};

/// Function for operations that workspaces don't support.
template <class Row, function_name name>
struct refused;
template <class Result, class... Argument, function_name name>
struct refused<Result(Argument...), name> {
  [[noreturn]] static Result row(Argument...) {
    throw error(errc::invalid_argument,
                "tally::" + std::string(name.text) +
                    ": a workspace does not stage it; call it with the executor that the workspace "
                    "was made on, and operands where that reaches them");
  }
};

/// One call: no other thread's comes between the update and the sum.
template <class Sum>
void fused(const executor& where, const transform_arguments& update, type computation,
           const Sum& sum) {
  const call c(where);
  fused_in_two_calls(where, update, computation, sum);
}

struct column : backend {
  explicit column(const backend& rows, const executor& on, const workspace_options& options)
      : backend(rows), memory{{on, options}, {}, {}, {}} {}
  mutable workspace_memory memory;
};

workspace_memory& memory_of(const executor& where) {
  return static_cast<const column&>(*where.backend()).memory;
}

const executor& below(const executor& where) { return memory_of(where).through.on(); }

std::string describe(const executor& where) {
  const stages& through = memory_of(where).through;
  return through.on().description() + ", " + std::to_string(stages::count) + " stages of " +
         std::to_string(through.bytes()) + " bytes, " + std::to_string(through.threads()) +
         (through.threads() == 1 ? " thread" : " threads");
}

bool reaches(const executor& where, const place& memory) {
  return memory.host || memory.device == where.device();
}

void* allocate(const executor& where, std::size_t bytes, reach who) {
  return cuda::allocate(below(where), bytes, who);
}
void deallocate(const executor& where, void* memory, reach who) noexcept {
  cuda::deallocate(below(where), memory, who);
}
void copy_bytes(const executor& where, const void* from, void* to, std::size_t bytes) {
  cuda::copy_bytes(below(where), from, to, bytes);
}
void pin(const executor& where, void* memory, std::size_t bytes) {
  cuda::pin(below(where), memory, bytes);
}
void unpin(const executor& where, void* memory) { cuda::unpin(below(where), memory); }
std::shared_ptr<const backend> make_staged(const executor& where,
                                           const workspace_options& options) {
  return cuda::make_staged(below(where), options);
}

const backend rows = {
    .name = "workspace",
    .describe = describe,
    .make = refused<make_operation, "workspace">::row,
    .reaches = reaches,
    .allocate = allocate,
    .deallocate = deallocate,
    .copy_bytes = copy_bytes,
    .pin = pin,
    .unpin = unpin,
    .make_staged = make_staged,
    .dot = dot,
    .multi_dot = multi_dot,
    .reduce = reduce,
    .sum_interval = refused<sum_interval_operation, "sum_interval">::row,
    .sum_node = refused<sum_node_operation, "sum_nodes">::row,
    .join_nodes = refused<join_nodes_operation, "join_nodes">::row,
    .join_words = refused<join_words_operation, "join_words">::row,
    .exact = exact,
    .exact_sums = exact_sums,
    .round_words = round_words,
    .transform = transform,
    .fused_dot = fused,
    .fused_nrm2 = fused,
    .fill = fill,
    .swap = swap,
    .gather = refused<gather_operation, "gather">::row,
    .scatter = refused<gather_operation, "scatter">::row,
    .for_each_part = refused<for_each_part_operation, "transform">::row,
    .extremum = extremum,
    .histogram = histogram,
    .spmv = refused<spmv_operation, "spmv">::row,
    .analyse = refused<analyse_operation, "spmv_plan">::row,
    .transpose = refused<transpose_operation, "spmv">::row,
    .find_defect = refused<find_defect_operation, "validate">::row,
};

}  // namespace

void* grown_memory::of(std::size_t bytes) {
  if (bytes_ < bytes) {
    free();
    check(cudaGetDevice(&device_), "cudaGetDevice");
    check(cudaMalloc(&memory_, bytes), "cudaMalloc");
    bytes_ = bytes;
  }
  return memory_;
}

void grown_memory::free() noexcept {
  if (memory_ == nullptr) return;
  try {
    const current_device current(device_);
    const beside_captures mode;
    if (cudaFree(memory_) != cudaSuccess) (void)cudaGetLastError();
  } catch (const error&) {  // The device's context and memory are gone.
  }
  memory_ = nullptr;
  bytes_ = 0;
}

call::call(const executor& where)
    : memory_(memory_of(where)), lock_(memory_.in_use), current_(where.device()) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream(), &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone) {
    throw error(errc::invalid_argument,
                "tally::workspace: the stream is being captured, and a call through a workspace "
                "waits for it");
  }
}

result_place::result_place(const void* result) : on_host(locate(result).host) {}

void deliver(const call& c, const void* made, std::size_t bytes, void* to) {
  if (result_place(to).on_host) {
    std::memcpy(to, made, bytes);
  } else {
    cuda::copy_bytes(c.on(), made, to, bytes);
  }
}

}  // namespace staged

std::shared_ptr<const backend> make_staged(const executor& where,
                                           const workspace_options& options) {
  return std::make_shared<staged::column>(staged::rows, where, options);
}

}  // namespace tally::backends::cuda
