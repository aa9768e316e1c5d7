#include "bench/device.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

class event {
 public:
  event() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~event() { cudaEventDestroy(event_); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  void record() { check(cudaEventRecord(event_, stream()), "cudaEventRecord"); }
  double seconds_since(const event& start) {
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class graph {
 public:
  graph(const launch& f, void* result, int launches) {
    check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    for (int i = 0; i < launches; ++i) f(stream(), result);
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream(), &captured), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&executable_, captured, 0);
    cudaGraphDestroy(captured);
    check(status, "cudaGraphInstantiate");
  }
  ~graph() { cudaGraphExecDestroy(executable_); }
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;

  void run() const { check(cudaGraphLaunch(executable_, stream()), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// Enough to hide a graph's start, few enough for slow ones.
int launches_for(const launch& f, void* result) {
  constexpr double seconds = 2e-3;
  event start, stop;
  f(stream(), result);
  start.record();
  f(stream(), result);
  stop.record();
  return static_cast<int>(std::clamp(seconds / stop.seconds_since(start), 1.0, 50.0));
}

/// Room for any computation's results.
void* result_memory() {
  static const device_memory memory(sizeof(std::complex<double>) << 20);
  return memory.data();
}

}  // namespace

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

std::string device_description() {
  cudaDeviceProp properties;
  int runtime = 0;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) +
         "." + std::to_string(properties.minor) + ", CUDA " + std::to_string(runtime / 1000) + "." +
         std::to_string(runtime % 1000 / 10);
}

int multiprocessors() {
  static const int count = [] {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0),
          "cudaDeviceGetAttribute");
    return value;
  }();
  return count;
}

device_memory::device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  memory_.reset(memory);
}

// Freed by the CUDA runtime that allocated: a library of peers has one of its own.
void device_memory::release::operator()(void* memory) const { cudaFree(memory); }

device_memory::device_memory(const tally::operand& host)
    : device_memory(host.size * size_of(host.element)) {
  check(cudaMemcpy(data(), host.data, host.size * size_of(host.element), cudaMemcpyHostToDevice),
        "cudaMemcpy");
}

void pinned_memory::release::operator()(void* memory) const { cudaFreeHost(memory); }

pinned_memory::pinned_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  memory_.reset(memory);
}

queue::queue() {
  cudaStream_t created = nullptr;
  check(cudaStreamCreateWithFlags(&created, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  stream_.reset(created);
}

cudaStream_t stream() {
  static const queue created;
  return created.get();
}

double seconds_of(const launch& f) {
  const int launches = launches_for(f, result_memory());
  const graph launched(f, result_memory(), launches);
  event start, stop;
  launched.run();
  start.record();
  launched.run();
  stop.record();
  return stop.seconds_since(start) / launches;
}

contender on_device(std::string name, std::string label, launch f, const workload& w) {
  contender c{.name = std::move(name), .label = std::move(label), .device_clock = true};
  const auto memory = [z = w.result_is_z() ? w.z : nullptr] { return z ? z : result_memory(); };
  c.compute = [f, memory, bytes = w.result_bytes()](void* result) {
    f(stream(), memory());
    check(cudaMemcpyAsync(result, memory(), bytes, cudaMemcpyDeviceToHost, stream()),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream()), "cudaStreamSynchronize");
  };
  // Chosen once: all repetitions must have the same number of iterations.
  c.loop = [f, memory, launches = std::make_shared<int>(0)](benchmark::State& state) {
    if (*launches == 0) *launches = launches_for(f, memory());
    const graph launched(f, memory(), *launches);
    event start, stop;
    while (state.KeepRunningBatch(*launches)) {
      launched.run();
      start.record();
      launched.run();
      stop.record();
      state.SetIterationTime(stop.seconds_since(start));
    }
  };
  return c;
}

}  // namespace bench
