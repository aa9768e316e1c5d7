// Conjugate gradients over several GPUs: as cg.cpp, with the same iterates bit for bit on any
// number of devices, for any cuts. One thread per device.
#include <tally/nccl.hpp>
#include <tally/tally.hpp>

#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/matrices.hpp>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using global_matrix = tally::csr_matrix<double>;
using tally::nccl::communicator;
using tally::nccl::layout;

struct options {
  std::string file;  // empty: the grid
  int grid = 100;
  int iterations = 10000;
  double tolerance = 1e-10;
  int every = 100;
  int devices = 0;  // 0: all
  bool uneven = false;
  tally::grade grade;
  std::optional<std::uint64_t> expected_hash;
};

constexpr char usage[] = R"(cg_nccl [options] [FILE]

Solves A x = b by conjugate gradients on all GPUs, b all ones, and prints a hash of the bits of all
iterates, which is that of cg for the same matrix.

  FILE              a Matrix Market file, .mtx or .mtx.gz; without one: a 5-point Laplacian
  --grid N          the Laplacian's grid has N x N points (default: 100)
  --devices N       use N GPUs (default: all)
  --uneven          cut rows so that each GPU has more than those before it
  --exact           use the exact grade
  --tolerance R     stop when the residual is R times that of x = 0 (default: 1e-10)
  --iterations N    stop after N iterations (default: 10000)
  --every N         print every N-th iteration; 0: only the last (default: 100)
  --expect HASH     fail unless the last hash is this one, from a run elsewhere
)";

/// An operand, by data() and size().
class part {
 public:
  part(const tally::executor& where, std::size_t n, double value)
      : size_(n), memory_(where, n * sizeof(double)) {
    tally::fill(where, value, *this);
  }

  double* data() { return static_cast<double*>(memory_.get()); }
  const double* data() const { return static_cast<const double*>(memory_.get()); }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  tally::buffer memory_;
};

/// The threads' barrier, and the whole vector for the hash.
struct meeting {
  meeting(std::size_t rows, int devices) : x(rows), all(devices) {}

  std::vector<double> x;
  std::barrier<> all;
  std::uint64_t hash = 0;
};

std::int64_t border(const options& chosen, std::int64_t rows, int rank, int ranks) {
  const std::int64_t even = rows * rank / ranks;
  return chosen.uneven ? even * rank / ranks : even;
}

void solve(ncclComm_t comm, int device, const global_matrix& whole, const options& chosen,
           meeting& others) {
  tally::nccl::detail::check(cudaSetDevice(device), "cudaSetDevice");
  const tally::executor where = tally::cuda({.device = device});
  const communicator over(comm, where);
  const auto rows = static_cast<std::int64_t>(whole.rows);
  const layout l(over, where,
                 border(chosen, rows, over.rank() + 1, over.ranks()) -
                     border(chosen, rows, over.rank(), over.ranks()));
  const tally::nccl::matrix a(l, where, tally::nccl::rows_of(l, whole.view()));

  const auto inner = [&](const part& u, const part& v) {
    return tally::nccl::dot(l, where, u, v, chosen.grade);
  };
  const auto n = static_cast<std::size_t>(l.size());
  part x(where, n, 0), r(where, n, 1), p(where, n, 1), q(where, n, 0);
  double rr = inner(r, r);
  const double norm = std::sqrt(rr);

  example::bit_hash hash;
  double residual = 1;
  int k = 0;
  while (!(residual <= chosen.tolerance) && k < chosen.iterations) {
    tally::nccl::spmv(where, a, p, q, chosen.grade);
    const double curvature = inner(p, q);
    if (!(curvature > 0)) throw std::runtime_error("the matrix is not positive definite");
    const double alpha = rr / curvature;
    tally::axpy(where, alpha, p, x);
    tally::axpy(where, -alpha, q, r);
    const double next = inner(r, r);
    tally::axpby(where, 1.0, r, next / rr, p);
    rr = next;

    ++k;
    tally::copy_bytes(where, x.data(), others.x.data() + l.first(), n * sizeof(double));
    others.all.arrive_and_wait();
    if (over.rank() == 0) hash.add(others.x);
    others.all.arrive_and_wait();
    residual = std::sqrt(rr) / norm;
    const bool is_last = residual <= chosen.tolerance || k == chosen.iterations;
    if (over.rank() == 0 && (is_last || (chosen.every > 0 && k % chosen.every == 0))) {
      std::printf("%8d  %.3e  %016llx\n", k, residual,
                  static_cast<unsigned long long>(hash.value()));
    }
  }
  if (over.rank() != 0) return;
  if (!(residual <= chosen.tolerance)) std::puts("          not converged");
  others.hash = hash.value();
}

options parse_options(std::span<char*> words) {
  options chosen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto value = [&]() -> std::string_view {
      if (++i == words.size()) throw std::runtime_error(std::string(word) + " needs a value");
      return words[i];
    };
    if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      std::exit(EXIT_SUCCESS);
    } else if (word == "--grid") {
      chosen.grid = example::parse<int>(value());
      if (chosen.grid < 1 || chosen.grid > 20000) throw std::runtime_error("--grid: 1 to 20000");
    } else if (word == "--devices") {
      chosen.devices = example::parse<int>(value());
    } else if (word == "--uneven") {
      chosen.uneven = true;
    } else if (word == "--exact") {
      chosen.grade = tally::exact;
    } else if (word == "--tolerance") {
      chosen.tolerance = example::parse<double>(value());
    } else if (word == "--iterations") {
      chosen.iterations = example::parse<int>(value());
    } else if (word == "--every") {
      chosen.every = example::parse<int>(value());
    } else if (word == "--expect") {
      chosen.expected_hash = example::parse<std::uint64_t>(value(), 16);
    } else if (!word.starts_with("--") && chosen.file.empty()) {
      chosen.file = word;
    } else {
      throw std::runtime_error("cg_nccl does not know " + std::string(word));
    }
  }
  return chosen;
}

int run(const options& chosen) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  if (chosen.devices > 0) devices = std::min(devices, chosen.devices);
  const global_matrix a = chosen.file.empty() ? example::laplacian(chosen.grid)
                                              : tally::read_matrix_market(chosen.file);
  if (a.rows != a.columns) throw std::runtime_error("the matrix is not square");
  std::printf("%zu rows, %zu entries, %d GPUs\n", a.rows, a.values.size(), devices);
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(devices));
  tally::nccl::detail::check(ncclCommInitAll(comms.data(), devices, nullptr), "ncclCommInitAll");
  meeting others(a.rows, devices);
  std::vector<std::thread> threads;
  for (int device = 0; device < devices; ++device) {
    threads.emplace_back([&, device] {
      try {
        solve(comms[static_cast<std::size_t>(device)], device, a, chosen, others);
      } catch (const std::exception& e) {  // other devices may still wait
        std::fprintf(stderr, "cg_nccl: device %d: %s\n", device, e.what());
        std::_Exit(EXIT_FAILURE);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (ncclComm_t comm : comms)
    tally::nccl::detail::check(ncclCommDestroy(comm), "ncclCommDestroy");
  const bool agrees = others.hash == chosen.expected_hash.value_or(others.hash);
  if (!agrees) std::puts("The iterates are NOT those that were expected.");
  return agrees ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(parse_options({argv + 1, argv + argc}));
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg_nccl: %s\n", e.what());
  return EXIT_FAILURE;
}
