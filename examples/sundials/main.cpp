// SUNDIALS (https://computing.llnl.gov/projects/sundials) on Tally: CVODE solves the Brusselator on
// a periodic square by BDF and SPGMR, with SUNDIALS's own vectors and with those of
// nvector_tally.hpp on every executor, for openmp on 1 to 4 threads.
//
// Each line has the steps, the linear iterations, and a hash of the bits of the solution. Fails
// where hashes with Tally differ, or from the one expected. The right-hand side is the same with
// all vectors: a sparse product and element-wise functions of Tally.
//
// Build where find_package finds SUNDIALS (Debian: libsundials-dev):
//
//   cmake -S . -B build/sundials && cmake --build build/sundials --target tally_sundials
//   build/sundials/examples/sundials/sundials 24
#include "common.hpp"

#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/executors.hpp>
#include <common/placed.hpp>

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#if TALLY_EXAMPLE_HAS_SUNDIALS_OPENMP
#include <nvector/nvector_openmp.h>
#endif
#include <sunlinsol/sunlinsol_spgmr.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace {

/// u' = k L u + a + u^2 v - (b + 1) u, v' = k L v + b u - u^2 v, with u before v, and L the 5-point
/// Laplacian of m x m points.
class brusselator {
 public:
  brusselator(const tally::executor& where, int m)
      : where_(where),
        size_(static_cast<std::size_t>(m) * static_cast<std::size_t>(m)),
        offsets_(where, offsets(m)),
        columns_(where, columns(m)),
        values_(where, values(m)),
        square_(where, size_) {}

  std::size_t size() const { return 2 * size_; }

  std::vector<double> start() const {
    std::vector<double> y(size());
    for (std::size_t i = 0; i < size_; ++i) {
      y[i] = 1.3 + 0.3 * static_cast<double>(i * 7919 % 1000) / 1000;
      y[size_ + i] = 2.3 + 0.2 * static_cast<double>(i * 15485863 % 1000) / 1000;
    }
    return y;
  }

  void derive(std::span<const double> y, std::span<double> dy) {
    constexpr double a = 1.3, b = 3;
    const auto u = y.first(size_), v = y.last(size_);
    const auto du = dy.first(size_), dv = dy.last(size_);
    const tally::csr_view laplacian(size_, size_, offsets_, columns_, values_);
    tally::spmv(where_, laplacian, u, du);
    tally::spmv(where_, laplacian, v, dv);
    const std::span<double> s(square_.data(), size_);
    tally::mul(where_, u, u, s);
    tally::mul(where_, s, v, s);
    tally::axpby(where_, -(b + 1), u, 1.0, du);
    tally::axpy(where_, 1.0, s, du);
    tally::add_constant(where_, du, a, du);
    tally::axpy(where_, b, u, dv);
    tally::axpy(where_, -1.0, s, dv);
  }

 private:
  static std::vector<int> offsets(int m) {
    std::vector<int> all;
    for (int i = 0; i <= m * m; ++i) all.push_back(5 * i);
    return all;
  }
  static std::vector<int> columns(int m) {
    std::vector<int> all;
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) {
        const auto at = [m](int p, int q) { return (p + m) % m * m + (q + m) % m; };
        for (const int column :
             {at(i - 1, j), at(i, j - 1), at(i, j), at(i, j + 1), at(i + 1, j)}) {
          all.push_back(column);
        }
      }
    }
    return all;
  }
  static std::vector<double> values(int m) {
    const double k = 0.01 * m * m;
    std::vector<double> all;
    for (int i = 0; i < m * m; ++i) all.insert(all.end(), {k, k, -4 * k, k, k});
    return all;
  }

  tally::executor where_;
  std::size_t size_;
  example::placed<int> offsets_, columns_;
  example::placed<double> values_, square_;
};

bool is_ours(N_Vector v) { return N_VGetVectorID(v) == SUNDIALS_NVEC_CUSTOM; }

std::span<double> all(N_Vector v) {
  if (is_ours(v)) return example::elements(v);
  return {N_VGetArrayPointer(v), static_cast<std::size_t>(N_VGetLength(v))};
}

int right_side(double, N_Vector y, N_Vector dy, void* problem) {
  static_cast<brusselator*>(problem)->derive(all(y), all(dy));
  return 0;
}

/// Solves from 0 to `end` in y, prints a line, and returns the solution's hash.
std::uint64_t solve(const std::string& name, const tally::executor& where, int m, double end,
                    N_Vector y, const example::context& context) {
  brusselator problem(where, m);
  const std::vector<double> start = problem.start();
  is_ours(y) ? example::assign(y, start)
             : void(std::copy(start.begin(), start.end(), all(y).data()));
  void* solver = CVodeCreate(CV_BDF, context);
  CVodeInit(solver, right_side, 0, y);
  CVodeSetUserData(solver, &problem);
  CVodeSStolerances(solver, 1e-6, 1e-9);
  SUNLinearSolver linear = SUNLinSol_SPGMR(y, SUN_PREC_NONE, 20, context);
  CVodeSetLinearSolver(solver, linear, nullptr);
  CVodeSetMaxNumSteps(solver, 1000000);
  double t = 0;
  const int status = CVode(solver, end, y, &t, CV_NORMAL);
  long steps = 0, iterations = 0;
  CVodeGetNumSteps(solver, &steps);
  CVodeGetNumLinIters(solver, &iterations);
  example::bit_hash bits;
  bits.add(is_ours(y) ? example::on_host(y) : std::vector<double>(all(y).begin(), all(y).end()));
  std::printf("%-24s %6ld steps %7ld linear iterations  hash %016llx%s\n", name.c_str(), steps,
              iterations, static_cast<unsigned long long>(bits.value()),
              status == CV_SUCCESS ? "" : "  FAILED");
  SUNLinSolFree(linear);
  CVodeFree(&solver);
  N_VDestroy(y);
  return status == CV_SUCCESS ? bits.value() : 0;
}

int run(int argc, char* argv[]) {
  const int m = argc > 1 ? example::parse<int>(argv[1]) : 24;
  const double end = argc > 2 ? example::parse<double>(argv[2]) : 20;
  const std::uint64_t expected = argc > 3 ? example::parse<std::uint64_t>(argv[3], 16) : 0;
  const example::context context;
  const auto n = static_cast<std::int64_t>(2) * m * m;

  N_Vector serial = N_VNew_Serial(static_cast<sunindextype>(n), context);
  N_VEnableFusedOps_Serial(serial, SUNTRUE);
  solve("SUNDIALS serial", tally::simd(), m, end, serial, context);
#if TALLY_EXAMPLE_HAS_SUNDIALS_OPENMP
  for (const int threads : {1, 2, 3, 4}) {
    N_Vector v = N_VNew_OpenMP(static_cast<sunindextype>(n), threads, context);
    N_VEnableFusedOps_OpenMP(v, SUNTRUE);
    solve("SUNDIALS openmp, " + std::to_string(threads), tally::simd(), m, end, v, context);
  }
#endif

  std::set<std::uint64_t> hashes;
  const auto with_tally = [&](const std::string& name, const tally::executor& where) {
    hashes.insert(solve(name, where, m, end, example::new_vector(n, context, where), context));
  };
  for (const tally::executor& where : tally::executors()) {
    if (where.name() != "openmp") {
      with_tally("Tally " + std::string(where.name()), where);
      continue;
    }
    for (const int threads : {1, 2, 3, 4}) {
      with_tally("Tally openmp, " + std::to_string(threads), tally::openmp({.threads = threads}));
    }
  }
  if (hashes.size() != 1 || hashes.contains(0)) {
    std::printf("Hashes with Tally differ, or CVODE has failed.\n");
    return EXIT_FAILURE;
  }
  if (expected != 0 && *hashes.begin() != expected) {
    std::printf("NOT the hash that was expected.\n");
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return EXIT_FAILURE;
  }
}
