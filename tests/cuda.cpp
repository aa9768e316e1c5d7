// State that the CUDA backend keeps between calls and leaves behind: under capture, at the end of
// threads, after others' errors, after invalid matrices.
#if TALLY_HAS_CUDA

#include "tests/data.hpp"
#include "tests/golden.hpp"
#include "tests/matrices.hpp"
#include "tests/operations.hpp"

#include <tally/tally.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <future>
#include <map>
#include <span>
#include <string_view>
#include <thread>

namespace {

using data::check_cuda;
using data::device_vector;

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!data::has_cuda_device()) GTEST_SKIP() << "no CUDA device";
  }
};

/// Captures a stream; any thread's unsafe call ends the capture.
class global_capture {
 public:
  global_capture() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  }
  ~global_capture() {
    if (!ended_) end();
    cudaStreamDestroy(stream_);
  }
  bool is_valid() const {
    cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(stream_, &status) == cudaSuccess &&
           status == cudaStreamCaptureStatusActive;
  }
  cudaError_t end() {
    ended_ = true;
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    return status;
  }

 private:
  cudaStream_t stream_ = nullptr;
  bool ended_ = false;
};

/// More results than the pinned result buffer holds.
void return_many(const tally::executor& where, const device_vector<double>& x) {
  const auto all = x.span();
  const std::size_t n = all.size() / 100;
  EXPECT_EQ(tally::multi_dot(where, tally::rows(all.data(), 100, n), all.first(n)).size(), 100u);
}

// An ending thread hands on its memory: freeing would end the capture.
TEST_F(Cuda, AThreadThatEndsLeavesCapturesAlone) {
  const tally::executor where = tally::cuda();
  const operations::prepared_list all(20'000, where);
  check_cuda(cudaDeviceSynchronize());
  const device_vector<double> x(golden::doubles(100'000, 1));
  std::promise<void> ran, may_end;
  std::thread other([&] {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].run();
    return_many(where, x);
    check_cuda(cudaDeviceSynchronize());
    ran.set_value();
    may_end.get_future().wait();
  });
  ran.get_future().wait();
  global_capture capture;
  may_end.set_value();
  other.join();
  EXPECT_TRUE(capture.is_valid());
  EXPECT_EQ(capture.end(), cudaSuccess);
}

// Also first calls of a thread and of a stream, which allocate.
TEST_F(Cuda, EveryOperationRunsBesideACapture) {
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  const operations::prepared_list all(20'000, where);
  check_cuda(cudaDeviceSynchronize());
  const device_vector<double> x(golden::doubles(100'000, 1));
  for (std::size_t i = 0; i <= all.size(); ++i) {
    const std::string name = i < all.size() ? all.name(i) : "multi_dot returned";
    global_capture capture;
    std::thread([&] {
      try {
        i < all.size() ? all[i].run() : return_many(where, x);
      } catch (const tally::error& e) {
        ADD_FAILURE() << name << ": " << e.what();
      }
    }).join();
    EXPECT_EQ(capture.end(), cudaSuccess) << name;
  }
  check_cuda(cudaDeviceSynchronize());
  check_cuda(cudaStreamDestroy(stream));
}

/// Whether an operation of the list waits, so that it can't be captured: one that returns its
/// result or adds to words in host memory, is the largest of several, checks keys or a matrix, or
/// analyses, transposes or assembles one.
bool waits(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  return has("_returned") || has("_added") || name.starts_with("interval_") ||
         (name.starts_with("bincount") && !has("_outside")) || name.starts_with("validate") ||
         has("_plan") || name.starts_with("spmv_transpose") || name.starts_with("max_norm") ||
         name.starts_with("csr_from_coo") || name.starts_with("row_norms");
}

/// Queues copies of an operation's inputs, and of its outputs before the call. Edges in host memory
/// are the call's.
void put(const operations::operation& from, const operations::arguments& to, cudaStream_t stream) {
  const auto copy = [&](const std::vector<std::byte>& bytes, std::span<std::byte> memory) {
    ASSERT_EQ(bytes.size(), memory.size());
    check_cuda(
        cudaMemcpyAsync(memory.data(), bytes.data(), bytes.size(), cudaMemcpyDefault, stream));
  };
  for (std::size_t k = 0; k < from.inputs.size(); ++k) {
    if (!from.inputs[k].in_host_memory) copy(from.inputs[k].bytes, to.inputs[k]);
  }
  for (std::size_t k = 0; k < from.outputs.size(); ++k) copy(from.outputs[k], to.outputs[k]);
}

/// Captures a call; returns its graph, or null if it throws since it would wait.
cudaGraphExec_t capture(operations::prepared& call, const std::string& name, cudaStream_t stream) {
  bool refused = false;
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    call.run();
  } catch (const tally::error& e) {
    refused = true;
    EXPECT_EQ(e.code(), tally::errc::invalid_argument) << name << ": " << e.what();
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  EXPECT_EQ(ended, cudaSuccess) << name << ": " << cudaGetErrorString(ended);
  EXPECT_EQ(refused, waits(name)) << name;
  if (graph == nullptr) return nullptr;
  if (!refused) check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  check_cuda(cudaGraphDestroy(graph));
  return executable;
}

// Replays see the data of their time; calls between them take memory that a call in the capture
// gave back.
TEST_F(Cuda, EveryOperationThatDoesNotWaitIsCaptured) {
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  for (const std::size_t n : {std::size_t{100}, std::size_t{20'000}}) {
    const operations::list plain(n), others(n, operations::values::descending);
    auto other = others.begin();
    for (const operations::operation& each : plain) {
      const operations::operation* const data[] = {&each, &*other++};
      if (!operations::runs(each, where)) continue;
      operations::prepared call(each, where);
      const cudaGraphExec_t graph = capture(call, each.name, stream);
      if (graph == nullptr) continue;
      for (const operations::operation* const from : data) {
        operations::prepared reference(*from, tally::serial());
        reference.run();
        const std::vector<std::byte> want = reference.results();
        for (const bool replays : {true, false}) {
          put(*from, call.operands(), stream);
          replays ? check_cuda(cudaGraphLaunch(graph, stream)) : call.run();
          check_cuda(cudaStreamSynchronize(stream));
          EXPECT_TRUE(call.results() == want)
              << each.name << " of " << n << (from == &each ? " plain" : " descending")
              << (replays ? " elements, replayed" : " elements, called");
        }
      }
      check_cuda(cudaGraphExecDestroy(graph));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  check_cuda(cudaStreamDestroy(stream));
}

TEST_F(Cuda, AnEarlierErrorIsLeftForItsOwner) {
  const tally::executor where = tally::cuda();
  const operations::prepared_list all(20'000, where);
  check_cuda(cudaDeviceSynchronize());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].run();  // loading a kernel drops an earlier error
    (void)cudaGetLastError();
    ASSERT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
    EXPECT_NO_THROW(all[i].run()) << all.name(i);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << all.name(i);
  }
  check_cuda(cudaDeviceSynchronize());
}

// Concurrent branches of a graph must not share scratch memory.
TEST_F(Cuda, BranchesOfAGraphRunSideBySide) {
  constexpr std::size_t branches = 6, n = 1'000'000;
  const auto x = golden::doubles(n, 1), y = golden::doubles(n, 2);
  const device_vector<double> dx(x), dy(y), results(std::vector<double>(2 * branches));
  const matrices::pattern p =
      matrices::rows_of({3, 9000, 0, 2000, 17, 128, 129, 50000, 1}, 3000, 1);
  const auto values = golden::doubles(p.nonzeros(), 3), v = golden::doubles(p.columns, 4);
  const device_vector<std::int32_t> offsets(p.row_offsets), columns(p.column_indices);
  const device_vector<double> device_values(values), device_v(v);
  const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), device_values.span()};
  std::vector<std::unique_ptr<device_vector<double>>> products;
  for (std::size_t b = 0; b < branches; ++b) {
    products.push_back(std::make_unique<device_vector<double>>(std::vector<double>(p.rows)));
  }
  cudaStream_t streams[branches];
  cudaEvent_t fork, joined[branches];
  for (auto& s : streams) check_cuda(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  check_cuda(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  check_cuda(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  check_cuda(cudaEventRecord(fork, streams[0]));
  for (std::size_t b = 0; b < branches; ++b) {
    if (b > 0) check_cuda(cudaStreamWaitEvent(streams[b], fork, 0));
    const tally::executor where = tally::cuda({.stream = streams[b]});
    for (int turn = 0; turn < 3; ++turn) {
      tally::dot(where, dx.span().subspan(b), dy.span().subspan(b), results.span().data() + 2 * b);
      tally::dot(where, dx.span().subspan(b), dy.span().subspan(b),
                 results.span().data() + 2 * b + 1, tally::exact);
      tally::spmv(where, a, device_v.span(), products[b]->span());
    }
    check_cuda(cudaEventCreateWithFlags(&joined[b], cudaEventDisableTiming));
    if (b > 0) {
      check_cuda(cudaEventRecord(joined[b], streams[b]));
      check_cuda(cudaStreamWaitEvent(streams[0], joined[b], 0));
    }
  }
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check_cuda(cudaStreamEndCapture(streams[0], &graph));
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  check_cuda(cudaGraphDestroy(graph));
  std::vector<double> product(p.rows);
  tally::spmv(tally::serial(),
              tally::csr_view{p.rows, p.columns, p.row_offsets, p.column_indices, values}, v,
              product);
  for (int replay = 0; replay < 20; ++replay) {
    check_cuda(
        cudaMemsetAsync(results.memory.get(), 0xff, 2 * branches * sizeof(double), streams[0]));
    check_cuda(cudaGraphLaunch(executable, streams[0]));
    check_cuda(cudaStreamSynchronize(streams[0]));
    const auto got = results.read();
    for (std::size_t b = 0; b < branches; ++b) {
      const std::span xs(x.data() + b, n - b), ys(y.data() + b, n - b);
      EXPECT_EQ(got[2 * b], tally::dot(tally::serial(), xs, ys)) << b;
      if (replay == 0) {
        EXPECT_EQ(got[2 * b + 1], tally::dot(tally::simd(), xs, ys, tally::exact)) << b;
      }
      EXPECT_EQ(products[b]->read(), product) << b;
    }
  }
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaEventDestroy(fork));
  for (auto& e : joined) check_cuda(cudaEventDestroy(e));
  for (auto& s : streams) check_cuda(cudaStreamDestroy(s));
}

// Which limbs weights get is decided on the device: no launch depends on what a capture saw.
TEST_F(Cuda, GraphsAddWeightsOfAnyExponents) {
  constexpr std::size_t n = 100'000, bins = 50'000;
  std::vector<std::int32_t> places(n);
  golden::generator random(7);
  for (auto& place : places) place = static_cast<std::int32_t>(random() % bins);
  const device_vector<std::int32_t> indices(places);
  const auto of_kind = [](data::kind kind) {
    return data::elements_of<double>(data::random_bytes<double>(n, 5, kind));
  };
  const device_vector<double> x(of_kind(data::kind::plain)), z(std::vector<double>(bins, 1));
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  tally::scatter_add(tally::cuda({.stream = stream}), x.span(), indices.span(), z.span());
  check_cuda(cudaStreamEndCapture(stream, &graph));
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  check_cuda(cudaGraphDestroy(graph));
  std::vector<double> want(bins, 1);
  for (const auto kind : {data::kind::plain, data::kind::wide, data::kind::special}) {
    const std::vector<double> weights = of_kind(kind);
    check_cuda(cudaMemcpy(x.span().data(), weights.data(), n * sizeof(double), cudaMemcpyDefault));
    check_cuda(cudaGraphLaunch(executable, stream));
    check_cuda(cudaStreamSynchronize(stream));
    tally::scatter_add(tally::serial(), weights, places, want);
    const std::vector<double> got = z.read();
    EXPECT_EQ(std::memcmp(got.data(), want.data(), bins * sizeof(double)), 0);
  }
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaStreamDestroy(stream));
}

TEST_F(Cuda, GraphsAndStreamsAddToTheSameWords) {
  constexpr std::size_t n = 300'000, streams_count = 4, replays = 25;
  const auto x = data::elements_of<double>(data::random_bytes<double>(n, 1, data::kind::wide));
  const auto f = data::elements_of<float>(data::random_bytes<float>(n, 2, data::kind::plain));
  const device_vector<double> dx(x);
  const device_vector<float> df(f);
  const device_vector<std::int64_t> words(std::vector<std::int64_t>(137));
  const device_vector<std::int64_t> floats(std::vector<std::int64_t>(23));
  const device_vector<double> results(std::vector<double>(2));
  std::int64_t* pinned = nullptr;
  check_cuda(
      cudaHostAlloc(reinterpret_cast<void**>(&pinned), 137 * sizeof *pinned, cudaHostAllocMapped));
  std::fill_n(pinned, 137, 0);
  cudaStream_t streams[streams_count];
  for (auto& s : streams) check_cuda(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check_cuda(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  const tally::executor captured = tally::cuda({.stream = streams[0]});
  tally::dot(captured, dx.span(), df.span(), tally::add_to<double>(words.span().data()));
  tally::sum(captured, df.span(), tally::add_to<float>(floats.span().data()));
  tally::round_words<double>(captured, words.span().data(), results.span().data());
  tally::round_words<float>(captured, floats.span().data(), results.span().data() + 1);
  check_cuda(cudaStreamEndCapture(streams[0], &graph));
  check_cuda(cudaGraphInstantiate(&executable, graph, 0));
  check_cuda(cudaGraphDestroy(graph));
  for (std::size_t turn = 0; turn < replays; ++turn) {
    check_cuda(cudaGraphLaunch(executable, streams[0]));
    for (std::size_t k = 1; k < streams_count; ++k) {
      const tally::executor where = tally::cuda({.stream = streams[k]});
      tally::dot(where, dx.span(), df.span(), tally::add_to<double>(words.span().data()));
      tally::sum(where, df.span().subspan(k, n - k - 1),
                 tally::add_to<float>(floats.span().data()));
    }
    tally::asum(captured, dx.span(), tally::add_to<double>(pinned));
  }
  check_cuda(cudaDeviceSynchronize());

  tally::exact_sum<double> one, all, magnitude, magnitudes;
  tally::exact_sum<float> sums;
  tally::dot(tally::simd(), x, f, tally::add_to(one));
  tally::asum(tally::simd(), x, tally::add_to(magnitude));
  for (std::size_t turn = 0; turn < replays; ++turn) {
    for (std::size_t k = 0; k < streams_count; ++k) {
      all.merge(one);
      const std::span part = k == 0 ? std::span(f) : std::span(f).subspan(k, n - k - 1);
      tally::sum(tally::simd(), part, tally::add_to(sums));
    }
    magnitudes.merge(magnitude);
  }
  EXPECT_EQ(tally::exact_sum<double>::from_words(words.read().data()), all);
  EXPECT_EQ(tally::exact_sum<float>::from_words(floats.read().data()), sums);
  EXPECT_EQ(tally::exact_sum<double>::from_words(pinned), magnitudes);
  // Repeated, since it runs beside other streams' sums.
  tally::round_words<double>(captured, words.span().data(), results.span().data());
  tally::round_words<float>(captured, floats.span().data(), results.span().data() + 1);
  check_cuda(cudaStreamSynchronize(streams[0]));
  EXPECT_EQ(results.read(), (std::vector<double>{all.round<double>(), sums.round<double>()}));

  // Forms that wait throw in a capture.
  check_cuda(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
  EXPECT_THROW(tally::dot(captured, dx.span(), df.span(), tally::add_to(one)), tally::error);
  EXPECT_THROW(tally::round_words<double>(captured, words.span().data()), tally::error);
  check_cuda(cudaStreamEndCapture(streams[0], &graph));
  check_cuda(cudaGraphDestroy(graph));
  check_cuda(cudaGraphExecDestroy(executable));
  check_cuda(cudaFreeHost(pinned));
  for (auto& s : streams) check_cuda(cudaStreamDestroy(s));
}

/// Invalid row offsets, by defect.
template <class O>
std::map<std::string, std::vector<O>> wrong_offsets(std::size_t rows, std::size_t nonzeros) {
  std::mt19937_64 random(7);
  const auto n = static_cast<O>(nonzeros);
  std::vector<O> right(rows + 1);
  for (std::size_t i = 0; i <= rows; ++i) {
    right[i] = static_cast<O>(static_cast<std::uint64_t>(nonzeros) * i / rows);
  }
  // A few long rows, which are split, among empty ones.
  std::vector<O> split(rows + 1);
  for (std::size_t i = 0; i <= rows; ++i) split[i] = right[i / (rows / 7) * (rows / 7)];
  split[rows] = n;
  std::map<std::string, std::vector<O>> all;
  const auto add = [&](const std::string& name, const std::vector<O>& from, auto change) {
    std::vector<O>& offsets = all[name] = from;
    for (std::size_t i = 0; i <= rows; ++i) offsets[i] = static_cast<O>(change(i, offsets[i]));
  };
  add("random within", right, [&](auto, O) { return static_cast<O>(random() % (nonzeros + 1)); });
  add("random bits", right, [&](auto, O) { return static_cast<O>(random()); });
  add("descending", right, [&](std::size_t i, O) { return right[rows - i]; });
  add("all at the end", right, [&](auto, O) { return n; });
  add("all at the start", right, [&](auto, O) { return O{0}; });
  add("to and fro", right, [&](std::size_t i, O) { return i % 2 ? n : O{0}; });
  add("to and fro in blocks", right, [&](std::size_t i, O) { return i / 700 % 2 ? n : O{0}; });
  add("negative", right, [&](std::size_t i, O at) { return i % 3 ? at : static_cast<O>(-1 - at); });
  add("beyond the end", right, [&](std::size_t i, O at) { return i % 3 ? at : at + n; });
  add("largest", right, [&](auto, O) { return std::numeric_limits<O>::max(); });
  add("some exchanged", right,
      [&](std::size_t, O at) { return random() % 50 == 0 ? right[random() % (rows + 1)] : at; });
  add("a split row that ends before it begins", split,
      [&](std::size_t i, O at) { return i == rows / 7 * 3 ? split[rows / 7] : at; });
  add("split rows, some exchanged", split,
      [&](std::size_t, O at) { return random() % 200 == 0 ? split[random() % (rows + 1)] : at; });
  add("split rows, many exchanged", split,
      [&](std::size_t, O at) { return random() % 4 == 0 ? split[random() % (rows + 1)] : at; });
  add("the first offset is large", right, [&](std::size_t i, O at) { return i == 0 ? n : at; });
  add("the last offset is small", split,
      [&](std::size_t i, O at) { return i == rows ? O{1} : at; });
  return all;
}

template <class T, class O>
void multiply_with_wrong_offsets(std::size_t rows = 20'000, std::size_t nonzeros = 300'000) {
  constexpr std::size_t columns = 5'000;
  const tally::executor where = tally::cuda();
  std::mt19937_64 random(1);
  std::vector<std::int32_t> indices(nonzeros);
  for (auto& column : indices) column = static_cast<std::int32_t>(random() % columns);
  const device_vector<std::int32_t> device_indices(indices);
  const std::vector<T> values(nonzeros, T(1)), x(columns, T(1)), y(rows + 2, T(7));
  const device_vector<T> device_values(values), device_x(x);
  device_vector<T> device_y(y);

  // Other calls on the stream whose blocks exchange data.
  const auto terms = golden::doubles(1'000'000, 5);
  const device_vector<double> device_terms(terms);
  const double want = tally::dot(tally::serial(), terms, terms);
  const double want_exact = tally::dot(tally::simd(), terms, terms, tally::exact);
  const matrices::pattern p =
      matrices::rows_of({3, 9000, 0, 2000, 17, 128, 129, 100'000, 1, 70'000}, columns, 1);
  const device_vector<std::int32_t> offsets(p.row_offsets), its_columns(p.column_indices);
  const auto its_values = golden::doubles(p.nonzeros(), 3), v = golden::doubles(columns, 4);
  const device_vector<double> device_its_values(its_values), device_v(v),
      product(std::vector<double>(p.rows));
  std::vector<double> want_product(p.rows);
  tally::spmv(tally::serial(),
              tally::csr_view{p.rows, columns, p.row_offsets, p.column_indices, its_values}, v,
              want_product);
  const tally::csr_view right{p.rows, columns, offsets.span(), its_columns.span(),
                              device_its_values.span()};

  for (const auto& [name, wrong] : wrong_offsets<O>(rows, nonzeros)) {
    const device_vector<O> device_offsets(wrong);
    const tally::csr_view a{rows, columns, device_offsets.span(), device_indices.span(),
                            device_values.span()};
    device_y.memory.write(y.data(), y.size() * sizeof(T));
    EXPECT_THROW(tally::validate(where, a), tally::error) << name;
    EXPECT_THROW(tally::spmv_plan(where, a), tally::error) << name;
    tally::spmv(where, a, device_x.span(), device_y.span().subspan(1, rows));
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << name;
    tally::spmv(where, right, device_v.span(), product.span());
    EXPECT_EQ(product.read(), want_product) << name;
    EXPECT_EQ(tally::dot(where, device_terms.span(), device_terms.span()), want) << name;
    EXPECT_EQ(tally::dot(where, device_terms.span(), device_terms.span(), tally::exact), want_exact)
        << name;
    tally::spmv(where, a, device_x.span(), device_y.span().subspan(1, rows), tally::exact);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << name;
    const auto now = device_y.read();
    EXPECT_EQ(now.front(), T(7)) << name;
    EXPECT_EQ(now.back(), T(7)) << name;
  }
}

// Plans queued on two streams, first used in captures on a third.
TEST_F(Cuda, QueuedPlansOnStreams) {
  const matrices::pattern p = matrices::stencil(300, 200, 1, 1);
  const auto values = golden::doubles(p.nonzeros(), 3), x = golden::doubles(p.columns, 4);
  std::vector<double> want(p.rows);
  tally::spmv(tally::serial(),
              tally::csr_view{p.rows, p.columns, p.row_offsets, p.column_indices, values}, x, want);
  const device_vector<std::int32_t> offsets(p.row_offsets), columns(p.column_indices);
  const device_vector<double> device_values(values), device_x(x);
  const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), device_values.span()};
  std::array<cudaStream_t, 3> streams{};
  for (cudaStream_t& stream : streams) {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  }
  {
    const tally::executor first = tally::cuda({.stream = streams[0]}),
                          second = tally::cuda({.stream = streams[1]}),
                          captured = tally::cuda({.stream = streams[2]});
    const tally::spmv_plan plan(first, a, {.queued = true}),
        knows(second, a, {.fixed_columns = true, .queued = true});
    for (const tally::spmv_plan* with : {&plan, &knows}) {
      device_vector<double> y(std::vector<double>(p.rows));
      check_cuda(cudaStreamBeginCapture(streams[2], cudaStreamCaptureModeThreadLocal));
      EXPECT_THROW(tally::spmv_plan(captured, a, {.queued = true}), tally::error);
      tally::spmv(captured, *with, a, device_x.span(), y.span());
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t exec = nullptr;
      check_cuda(cudaStreamEndCapture(streams[2], &graph));
      check_cuda(cudaGraphInstantiate(&exec, graph, 0));
      check_cuda(cudaGraphLaunch(exec, streams[2]));
      check_cuda(cudaStreamSynchronize(streams[2]));
      EXPECT_EQ(y.read(), want);
      check_cuda(cudaGraphExecDestroy(exec));
      check_cuda(cudaGraphDestroy(graph));
    }
  }
  for (cudaStream_t stream : streams) check_cuda(cudaStreamDestroy(stream));
}

/// Products with plans whose matrix changes offsets in place, against the promise: they stay within
/// bounds, and are right again with the old offsets. With fixed_columns the plan must be of the
/// given kind.
template <class T>
void multiply_with_changed_offsets(const matrices::pattern& p, const std::string& kind) {
  const tally::executor where = tally::cuda();
  std::vector<T> values(p.nonzeros()), x(p.columns), want(p.rows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = T(static_cast<int>(i % 17) - 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<int>(i % 23) - 11);
  tally::spmv(tally::serial(),
              tally::csr_view{p.rows, p.columns, p.row_offsets, p.column_indices, values}, x, want);
  device_vector<std::int32_t> offsets(p.row_offsets);
  const device_vector<std::int32_t> columns(p.column_indices);
  const device_vector<T> device_values(values), device_x(x);
  device_vector<T> y(std::vector<T>(p.rows + 2, T(7)));
  const tally::csr_view a{p.rows, p.columns, offsets.span(), columns.span(), device_values.span()};
  const tally::spmv_plan plan(where, a), knows(where, a, {.fixed_columns = true});
  EXPECT_NE(knows.describe().find(kind), std::string::npos) << knows.describe();
  const auto put = [&](const std::vector<std::int32_t>& o) {
    offsets.memory.write(o.data(), o.size() * sizeof o[0]);
  };
  for (const tally::spmv_plan* with : {&plan, &knows}) {
    for (const auto& [name, wrong] : wrong_offsets<std::int32_t>(p.rows, p.nonzeros())) {
      put(wrong);
      tally::spmv(where, *with, a, device_x.span(), y.span().subspan(1, p.rows));
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << name << ", " << with->describe();
      put(p.row_offsets);
      tally::spmv(where, *with, a, device_x.span(), y.span().subspan(1, p.rows));
      const auto now = y.read();
      EXPECT_EQ(now.front(), T(7)) << name;
      EXPECT_EQ(now.back(), T(7)) << name;
      EXPECT_EQ(std::vector<T>(now.begin() + 1, now.end() - 1), want)
          << name << ", " << with->describe();
    }
  }
}

// The captured form writes nodes to device memory, with the same bits.
TEST_F(Cuda, SumsOverAPartAreCaptured) {
  using tally::summand;
  constexpr std::size_t total = 300 * tally::order::chunk, begin = 1000, end = 297000;
  const device_vector<double> x(golden::doubles(end - begin, 1)),
      y(golden::doubles(end - begin, 2));
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  for (const summand what :
       {summand::product, summand::value, summand::magnitude, summand::square}) {
    const tally::interval_shape shape = {what, tally::type::float64, 70, total};
    std::vector<tally::interval_field> fields(70, {what, tally::as_operand(x.span()), {}});
    for (auto& field : fields) {
      if (what == summand::product) field.y = tally::as_operand(y.span());
    }
    const std::size_t nodes = (tally::interval_bytes(shape) - 32) / 8, terms = 70 * 1024;
    std::vector<double> want(nodes + 2 * terms);
    tally::interval_part part;
    part.fields = fields;
    part.first = begin;
    part.head_stride = part.tail_stride = 1024;
    const auto write_to = [&](double* to) {
      part.nodes = to;
      part.head = to + nodes;
      part.tail = to + nodes + terms;
    };
    write_to(want.data());
    const tally::interval_head head = tally::sum_part(where, shape, part);
    EXPECT_EQ(head.first, 1);
    EXPECT_EQ(head.last, 290);

    device_vector<double> got(std::vector<double>(want.size()));
    write_to(got.span().data());
    part.wait = false;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    (void)tally::sum_part(where, shape, part);
    cudaGraph_t graph;
    check_cuda(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t made;
    check_cuda(cudaGraphInstantiate(&made, graph, 0));
    for (int i = 0; i < 2; ++i) check_cuda(cudaGraphLaunch(made, stream));
    check_cuda(cudaStreamSynchronize(stream));
    EXPECT_EQ(got.read(), want) << static_cast<int>(what);
    check_cuda(cudaGraphExecDestroy(made));
    check_cuda(cudaGraphDestroy(graph));
  }
  check_cuda(cudaStreamDestroy(stream));
}

// Both wait: they throw in a capture, which goes on.
TEST_F(Cuda, SumsOverPartsAreForTheHost) {
  constexpr std::size_t n = 5 * tally::order::chunk;
  const device_vector<double> x(golden::doubles(n, 1));
  const tally::interval_shape shape = {tally::summand::square, tally::type::float64, 1, n};
  const tally::interval_field whole = {tally::summand::square, tally::as_operand(x.span())};
  const tally::interval_field some = {tally::summand::square,
                                      tally::as_operand(x.span().first(100))};
  std::vector<std::int64_t> message(tally::interval_bytes(shape) / 8);
  std::vector<double> terms(100);
  cudaStream_t stream;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const tally::executor where = tally::cuda({.stream = stream});
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  const auto sum = [&](const tally::executor& on, void* nodes) {
    return tally::sum_part(on, shape, {.fields = {&whole, 1}, .nodes = nodes});
  };
  const auto write_terms = [&](void* to) {
    (void)tally::sum_part(where, shape, {.fields = {&some, 1}, .tail = to, .tail_stride = 100});
  };
  auto* const head = reinterpret_cast<tally::interval_head*>(message.data());
  EXPECT_THROW((void)sum(where, head + 1), tally::error);
  EXPECT_THROW(write_terms(terms.data()), tally::error);
  cudaGraph_t graph;
  check_cuda(cudaStreamEndCapture(stream, &graph));
  check_cuda(cudaGraphDestroy(graph));

  void* const on_device = x.span().data();
  EXPECT_THROW((void)sum(where, on_device), tally::error);
  EXPECT_THROW(write_terms(on_device), tally::error);
  EXPECT_THROW((void)sum(tally::simd(), head + 1), tally::error);

  *head = sum(where, head + 1);
  double norm = 0;
  tally::finish_interval(shape, message.data(), tally::conjugate::none, &norm);
  EXPECT_EQ(norm, tally::nrm2(where, x.span()));
  check_cuda(cudaStreamDestroy(stream));
}

TEST_F(Cuda, WrongOffsetsHarmNoLaterCallFloat64) {
  multiply_with_wrong_offsets<double, std::int32_t>();
}
// Enough terms for long rows to be queued.
TEST_F(Cuda, WrongOffsetsOfManyTermsHarmNoLaterCall) {
  multiply_with_wrong_offsets<double, std::int32_t>(12'000, (1 << 21) + 5);  // a few threads
  multiply_with_wrong_offsets<float, std::int64_t>(12'000, (1 << 21) + 5);
  multiply_with_wrong_offsets<double, std::int32_t>(1500, (1 << 21) + 5);  // a block per row
  multiply_with_wrong_offsets<float, std::int64_t>(1500, (1 << 21) + 5);
  multiply_with_wrong_offsets<float, std::int32_t>(150'000, (1 << 22) + 5);   // row blocks
  multiply_with_wrong_offsets<double, std::int32_t>(200'000, (1 << 21) + 5);  // uneven rows
  multiply_with_wrong_offsets<float, std::int32_t>(100, (1 << 20) + 5);       // long rows
  multiply_with_wrong_offsets<float, std::int32_t>(1 << 18, 17 << 18);        // seem even
}
TEST_F(Cuda, WrongOffsetsHarmNoLaterCallFloat32) {
  multiply_with_wrong_offsets<float, std::int64_t>();
}
TEST_F(Cuda, OffsetsThatChangeAfterAPlanHarmNothing) {
  // Rows of 3 to 7 terms; the first column of row i is `fifths * i / 5`.
  const auto band = [](std::size_t rows, std::size_t fifths) {
    matrices::pattern p;
    p.columns = rows / 5 * fifths + 2'000;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < 3 + i * i % 5; ++j) {
        p.column_indices.push_back(
            static_cast<std::int32_t>(std::min(p.columns - 1, i * fifths / 5 + j * (i % 89))));
      }
      p.end_row();
    }
    return p;
  };
  const auto both = [](const matrices::pattern& p, const std::string& kind) {
    multiply_with_changed_offsets<double>(p, kind);
    multiply_with_changed_offsets<float>(p, kind);
  };
  both(band(265'000, 5), data::has_shared_memory_for_rings() ? "ring: " : "row tiles: ");
  both(band(40'000, 5), "row tiles: ");
  both(band(40'000, 4), "row tiles: ");
  both(matrices::rows_of(std::vector<std::size_t>(1 << 18, 3), 64, 5), "; columns of 16 bits, in ");
  both(matrices::random_rows(2000, 9, 0, 1), " threads, since rows are short");
  both(matrices::random_rows(20'000, 20, 0.7, 2), " blocks, since some rows are long");
  both(matrices::stencil(210, 160, 1, 1), " patterns of rows");
  matrices::pattern near = matrices::random_rows(1 << 19, 17, 0, 3);
  for (std::size_t i = 0; i < near.rows; ++i) {
    for (auto k = near.row_offsets[i]; k < near.row_offsets[i + 1]; ++k) {
      std::int32_t& column = near.column_indices[static_cast<std::size_t>(k)];
      column = static_cast<std::int32_t>(
          std::min(i + static_cast<std::size_t>(column) % 3000, near.columns - 1));
    }
  }
  both(near, " threads sum in turn, and columns of 16 bits");
  matrices::pattern few =
      matrices::rows_of({40'000, 5000, 1'000'000, 0, 200'000, 3, 128, 129}, 150'000, 3);
  both(few, "long rows: chunks in warps, in 0 bytes");
  for (std::int32_t& column : few.column_indices) column = 140'000 + column % 10'000;
  both(few, "and columns of 16 bits");
  both(matrices::rows_of(std::vector<std::size_t>(1700, 1000), 3000, 5), "few columns: ");
  multiply_with_changed_offsets<double>(
      matrices::rows_of(std::vector<std::size_t>(1700, 1000), 300'000, 5), "whole rows: ");
  const matrices::pattern graph = matrices::rmat(17, 3 << 20, 1);
  multiply_with_changed_offsets<double>(graph, " blocks, since some rows are long");
  multiply_with_changed_offsets<float>(graph, ", and codes of all columns");
}
TEST_F(Cuda, WrongOffsetsHarmNoLaterCallComplex128) {
  multiply_with_wrong_offsets<std::complex<double>, std::int32_t>();
}

}  // namespace

#endif
