// Conjugate gradients: solves A x = b, b all ones, on any executors; every iterate has the same
// bits on all of them.
//
// Each line has the iteration, the recurrence's residual |b - A x| / |b|, and a hash of the bits of
// all iterates x so far: equal hashes on two executors or machines mean equal bits all the way.
#include <tally/tally.hpp>

#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/executors.hpp>
#include <common/matrices.hpp>
#include <common/placed.hpp>

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
#include <vector>

namespace {

using example::placed;
using matrix = tally::csr_matrix<double>;

struct options {
  std::string file;  // empty: the grid
  int grid = 100;
  int iterations = 10000;
  double tolerance = 1e-10;
  int every = 100;
  std::optional<std::uint64_t> expected_hash;
  std::vector<tally::executor> executors;
};

constexpr char usage[] = R"(cg [options] [FILE] [EXECUTOR...]

Solves A x = b by conjugate gradients on each executor in turn, b all ones. Fails if an iterate
differs between two of them by as much as a bit.

  FILE              a Matrix Market file, .mtx or .mtx.gz; without one: a 5-point Laplacian
  EXECUTOR          serial, simd, openmp, openmp:THREADS, cuda, cuda:DEVICE or kokkos
                    (default: all that are here)
  --grid N          the Laplacian's grid has N x N points (default: 100)
  --tolerance R     stop when the residual is R times that of x = 0 (default: 1e-10)
  --iterations N    stop after N iterations (default: 10000)
  --every N         print every N-th iteration; 0: only the last (default: 100)
  --expect HASH     fail unless the last hash is this one, from a run elsewhere

  cg --grid 1000 openmp:8 cuda
  cg bcsstk16.mtx.gz
)";

// --- The solver -----------------------------------------------------------------------------------

/// Solves; returns the hash of all iterates.
std::uint64_t solve(const tally::executor& where, const matrix& a, const options& chosen) {
  const example::readable<std::int32_t> offsets(where, a.row_offsets);
  const example::readable<std::int32_t> columns(where, a.column_indices);
  const example::readable<double> values(where, a.values);
  const tally::csr_view view{a.rows, a.columns, *offsets, *columns, *values};
  const tally::spmv_plan plan(where, view);

  const std::vector<double> b(a.rows, 1.0);
  placed<double> x(where, a.rows), r(where, b), p(where, b), q(where, a.rows);
  double rr = tally::dot(where, r, r);
  const double norm = std::sqrt(rr);

  std::printf("%s\n", where.description().c_str());
  example::bit_hash hash;
  double residual = 1;
  int k = 0;
  while (!(residual <= chosen.tolerance) && k < chosen.iterations) {
    tally::spmv(where, plan, view, p, q);
    const double curvature = tally::dot(where, p, q);
    if (!(curvature > 0)) throw std::runtime_error("the matrix is not positive definite");
    const double alpha = rr / curvature;
    tally::axpy(where, alpha, p, x);
    tally::axpy(where, -alpha, q, r);
    const double next = tally::dot(where, r, r);
    tally::axpby(where, 1.0, r, next / rr, p);
    rr = next;

    ++k;
    hash.add(x.on_host());
    residual = std::sqrt(rr) / norm;
    const bool is_last = residual <= chosen.tolerance || k == chosen.iterations;
    if (is_last || (chosen.every > 0 && k % chosen.every == 0)) {
      std::printf("%8d  %.3e  %016llx\n", k, residual,
                  static_cast<unsigned long long>(hash.value()));
    }
  }
  if (!(residual <= chosen.tolerance)) std::puts("          not converged");
  return hash.value();
}

// --- The command line -----------------------------------------------------------------------------

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
      constexpr int largest = 20000;  // 5 * 20000^2 fits 31-bit row offsets
      if (chosen.grid < 1 || chosen.grid > largest) throw std::runtime_error("--grid: 1 to 20000");
    } else if (word == "--tolerance") {
      chosen.tolerance = example::parse<double>(value());
    } else if (word == "--iterations") {
      chosen.iterations = example::parse<int>(value());
    } else if (word == "--every") {
      chosen.every = example::parse<int>(value());
    } else if (word == "--expect") {
      chosen.expected_hash = example::parse<std::uint64_t>(value(), 16);
    } else if (word.starts_with("--")) {
      throw std::runtime_error("cg does not know " + std::string(word));
    } else if (const auto where = example::parse_executor(word)) {
      chosen.executors.push_back(*where);
    } else if (chosen.file.empty()) {
      chosen.file = word;
    } else {
      throw std::runtime_error(std::string(word) + " is not an executor; see cg --help");
    }
  }
  if (chosen.executors.empty()) chosen.executors = tally::executors();
  return chosen;
}

}  // namespace

int main(int argc, char** argv) try {
  const options chosen = parse_options({argv + 1, argv + argc});
  const matrix a = chosen.file.empty() ? example::laplacian(chosen.grid)
                                       : tally::read_matrix_market(chosen.file);
  if (a.rows != a.columns) throw std::runtime_error("the matrix is not square");
  std::printf("%zu rows, %zu entries\n", a.rows, a.values.size());

  std::optional<std::uint64_t> hash = chosen.expected_hash;
  bool agree = true;
  for (const tally::executor& where : chosen.executors) {
    const std::uint64_t here = solve(where, a, chosen);
    agree = agree && here == hash.value_or(here);
    hash = hash.value_or(here);
  }
  std::puts(agree ? "All iterates have equal bits." : "The iterates DIFFER.");
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg: %s\n", e.what());
  return EXIT_FAILURE;
}
