// Cost of sums over several GPUs beside one alone: device time in us of a call among many in a
// graph, the median over launches, on the slowest rank. One thread per GPU.
//
//   tally_bench_nccl [--cg N]      with --cg an iteration of conjugate gradients, N^3 points
#include <tally/nccl.hpp>
#include <tally/tally.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <random>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using tally::nccl::communicator;
using tally::nccl::layout;
using tally::nccl::detail::check;

/// Barrier and shared values of all ranks' threads.
struct meeting {
  explicit meeting(int ranks) : all(ranks), times(static_cast<std::size_t>(ranks)) {}
  std::barrier<> all;
  std::vector<double> times;
};

/// A rank with two communicators: one with peer buffers, one that leaves all to NCCL.
struct rank {
  int number;
  tally::executor where;
  const communicator& windows;
  const communicator& plain;
  meeting& others;
};

using call = std::function<void()>;

/// Returns the time of a call in us: the median over launches of the slowest rank's.
double time_of(const rank& r, int calls, const call& f) {
  cudaStream_t stream = r.where.stream();
  f();
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  for (int i = 0; i < calls; ++i) f();
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(stream, &captured), "capture");
  cudaGraphExec_t graph = nullptr;
  check(cudaGraphInstantiate(&graph, captured, 0), "cudaGraphInstantiate");
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> times;
  for (int turn = 0; turn < 12; ++turn) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    r.others.all.arrive_and_wait();
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    r.others.times[static_cast<std::size_t>(r.number)] = ms * 1e3 / calls;
    r.others.all.arrive_and_wait();
    if (turn >= 2) times.push_back(*std::max_element(r.others.times.begin(), r.others.times.end()));
    r.others.all.arrive_and_wait();
  }
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(captured), "cudaGraphDestroy");
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// A vector repeated from a few random doubles.
class random_vector {
 public:
  random_vector(const tally::executor& where, std::size_t n, std::uint64_t seed)
      : n_(n), memory_(where, n * sizeof(double)) {
    std::vector<double> some(std::min(n, std::size_t{1} << 20));
    std::mt19937_64 random(seed);
    for (double& v : some) v = std::uniform_real_distribution<double>(-1, 1)(random);
    for (std::size_t i = 0; i < n; i += some.size()) {
      tally::copy_bytes(where, some.data(), data() + i, std::min(some.size(), n - i) * 8);
    }
  }
  double* data() { return static_cast<double*>(memory_.get()); }
  std::span<const double> first(std::size_t n) { return {data(), n}; }

 private:
  std::size_t n_;
  tally::buffer memory_;
};

void report(const rank& r, const char* what, std::size_t n, double one, double windows,
            double plain) {
  if (r.number != 0) return;
  std::printf("%-14s %10zu  %9.2f  %9.2f  %9.2f  %6.3f\n", what, n, one, windows, plain,
              windows / one);
  std::fflush(stdout);
}

class distributed_copy {
 public:
  distributed_copy(const tally::executor& where, const tally::csr_matrix<double>& a)
      : where_(where),
        copy_(where, {tally::as_operand(a.view()), tally::as_operand(none_.view()), {}, {}, {}}) {}
  void multiply(std::span<double> x, std::span<double> y) const {
    tally::spmv(where_, {copy_.here().interior,
                         tally::as_operand(x),
                         tally::as_output(y),
                         1,
                         0,
                         copy_.interior_plan(),
                         {{}, false}});
  }

 private:
  tally::executor where_;
  tally::csr_matrix<double> none_;
  tally::detail::placed_rows copy_;
};

/// Rows of the 27-point stencil on n^3 points, with global int32 columns.
tally::csr_matrix<double> stencil(std::int64_t n, std::int64_t first, std::int64_t count) {
  tally::csr_matrix<double> a;
  a.rows = static_cast<std::size_t>(count);
  a.columns = static_cast<std::size_t>(n * n * n);
  a.row_offsets.reserve(a.rows + 1);
  a.column_indices.reserve(27 * a.rows);
  a.values.reserve(27 * a.rows);
  for (std::int64_t row = first; row < first + count; ++row) {
    const std::int64_t i = row / (n * n), j = row / n % n, k = row % n;
    for (std::int64_t di = -1; di <= 1; ++di) {
      for (std::int64_t dj = -1; dj <= 1; ++dj) {
        for (std::int64_t dk = -1; dk <= 1; ++dk) {
          const auto is_inside = [&](std::int64_t at) { return at >= 0 && at < n; };
          if (!is_inside(i + di) || !is_inside(j + dj) || !is_inside(k + dk)) continue;
          a.column_indices.push_back(static_cast<std::int32_t>(row + (di * n + dj) * n + dk));
          a.values.push_back(di == 0 && dj == 0 && dk == 0 ? 26.5 : -1.0);
        }
      }
    }
    a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
  }
  return a;
}

/// An iteration of conjugate gradients, with constant factors.
template <class Multiply, class Dot>
void iterate(const tally::executor& where, std::span<const std::span<double>> v, double* result,
             const Multiply& multiply, const Dot& dot) {
  const auto &x = v[0], &r = v[1], &p = v[2], &q = v[3];
  multiply(p, q);
  dot(p, q, result);
  tally::axpy(where, 1e-3, p, x);
  tally::axpy(where, -1e-3, q, r);
  dot(r, r, result + 1);
  tally::axpby(where, 1.0, r, 0.5, p);
}

/// Conjugate gradients on one GPU and on all.
void run_cg(const rank& r, int ranks, std::int64_t n) {
  const auto& w = r.where;
  tally::buffer memory(w, 64);
  auto* const result = static_cast<double*>(memory.get());
  const std::int64_t rows = n * n * n;
  const auto iteration_of = [&](std::int64_t size, const auto& multiply, const auto& dot) {
    const auto count = static_cast<std::size_t>(size);
    random_vector x(w, count, 1), rest(w, count, 2), p(w, count, 3), q(w, count, 4);
    const std::array<std::span<double>, 4> all = {
        std::span(x.data(), count), std::span(rest.data(), count), std::span(p.data(), count),
        std::span(q.data(), count)};
    return time_of(r, 5, [&] { iterate(w, all, result, multiply, dot); });
  };
  double one = 0;
  {
    const tally::csr_matrix<double> a = r.number == 0 ? stencil(n, 0, rows) : stencil(1, 0, 1);
    const auto size = static_cast<std::int64_t>(a.rows);
    const distributed_copy here(w, a);
    one = iteration_of(
        size, [&](const auto& p, const auto& q) { here.multiply(p, q); },
        [&](const auto& u, const auto& v, double* to) { tally::dot(w, u, v, to); });
  }
  const std::int64_t first = layout::cut(rows, r.number, ranks);
  const std::int64_t mine = layout::cut(rows, r.number + 1, ranks) - first;
  const tally::csr_matrix<double> local = stencil(n, first, mine);
  const auto over = [&](const communicator& c) {
    const layout l(c, w, mine);
    const tally::nccl::matrix a(l, w, local.view());
    return iteration_of(
        mine, [&](const auto& p, const auto& q) { tally::nccl::spmv(w, a, p, q); },
        [&](const auto& u, const auto& v, double* to) { tally::nccl::dot(l, w, u, v, to); });
  };
  const double windows = over(r.windows);
  report(r, "CG, 27 points", static_cast<std::size_t>(rows), one, windows, over(r.plain));
}

void run(const rank& r, int ranks) {
  tally::buffer memory(r.where, 64);
  auto* const result = static_cast<double*>(memory.get());
  if (r.number == 0) {
    std::printf("%d GPUs                        one GPU    windows       NCCL   ratio\n", ranks);
  }
  for (const int log2 : {10, 16, 20, 21, 24, 28}) {
    const std::size_t n = std::size_t{1} << log2;
    random_vector x(r.where, n, 1), y(r.where, n, 2);
    const auto total = static_cast<std::int64_t>(n);
    const std::int64_t mine =
        layout::cut(total, r.number + 1, ranks) - layout::cut(total, r.number, ranks);
    const layout windows(r.windows, r.where, mine), plain(r.plain, r.where, mine);
    const auto size = static_cast<std::size_t>(mine);
    const auto a = x.first(size), b = y.first(size);
    const auto all_a = x.first(n), all_b = y.first(n);
    const int calls = log2 > 22 ? 5 : 100;
    const auto compare = [&](const char* what, const call& one, const call& w, const call& p) {
      const double alone = time_of(r, calls, one);
      const double with_windows = time_of(r, calls, w);
      report(r, what, n, alone, with_windows, time_of(r, calls, p));
    };
    const auto& w = r.where;
    compare(
        "dot", [&] { tally::dot(w, all_a, all_b, result); },
        [&] { tally::nccl::dot(windows, w, a, b, result); },
        [&] { tally::nccl::dot(plain, w, a, b, result); });
    compare(
        "dot, exact", [&] { tally::dot(w, all_a, all_b, result, tally::exact); },
        [&] { tally::nccl::dot(windows, w, a, b, result, tally::exact); },
        [&] { tally::nccl::dot(plain, w, a, b, result, tally::exact); });
    if (log2 != 20) continue;
    compare(
        "nrm2", [&] { tally::nrm2(w, all_a, result); },
        [&] { tally::nccl::nrm2(windows, w, a, result); },
        [&] { tally::nccl::nrm2(plain, w, a, result); });
    compare(
        "sum", [&] { tally::sum(w, all_a, result); },
        [&] { tally::nccl::sum(windows, w, a, result); },
        [&] { tally::nccl::sum(plain, w, a, result); });
  }
}

void run_thread(ncclComm_t comm, int number, int ranks, std::int64_t points, meeting& others) {
  try {
    check(cudaSetDevice(number), "cudaSetDevice");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    {
      const tally::executor where = tally::cuda({.device = number, .stream = stream});
      if (number == 0) setenv("TALLY_NCCL_WINDOWS", "1", 1);
      others.all.arrive_and_wait();
      const communicator windows(comm, where);
      others.all.arrive_and_wait();
      if (number == 0) setenv("TALLY_NCCL_WINDOWS", "0", 1);
      others.all.arrive_and_wait();
      const communicator plain(comm, where);
      if (number == 0 && windows.through() == nullptr) std::puts("no windows: both are NCCL's");
      const rank here{number, where, windows, plain, others};
      points > 0 ? run_cg(here, ranks, points) : run(here, ranks);
    }
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "device %d: %s\n", number, e.what());
    std::_Exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("there is no GPU");
    return EXIT_SUCCESS;
  }
  const std::int64_t points =
      argc == 3 && std::string_view(argv[1]) == "--cg" ? std::atoll(argv[2]) : 0;
  int version = 0;
  (void)ncclGetVersion(&version);
  std::printf("NCCL %d\n", version);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(devices));
  check(ncclCommInitAll(comms.data(), devices, nullptr), "ncclCommInitAll");
  meeting others(devices);
  std::vector<std::thread> threads;
  for (int r = 0; r < devices; ++r) {
    threads.emplace_back(run_thread, comms[static_cast<std::size_t>(r)], r, devices, points,
                         std::ref(others));
  }
  for (std::thread& t : threads) t.join();
  for (ncclComm_t comm : comms) check(ncclCommDestroy(comm), "ncclCommDestroy");
}
