// AMGCL (https://github.com/ddemidov/amgcl) on Tally: solves A x = b, b all ones, with AMGCL's own
// backend on 1, 2 and 3 threads and with tally_backend.hpp's on every executor.
//
// AMGCL's own sums depend on the number of threads, and for sensitive methods so do the iterations;
// some runs fail to converge. With Tally all have the same number and the same solution bit for
// bit: the program fails where they differ.
//
// Build with AMGCL's sources, which are headers alone:
//
//   git clone https://github.com/ddemidov/amgcl
//   cmake -S . -B build/amgcl -DTALLY_AMGCL_SOURCE=$PWD/amgcl
//   cmake --build build/amgcl --target tally_amgcl
//   build/amgcl/examples/amgcl/amgcl --solver bicgstab bcsstk16.mtx.gz
#include "tally_backend.hpp"

#include <omp.h>
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/coarsening/aggregation.hpp>
#include <amgcl/coarsening/ruge_stuben.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/as_preconditioner.hpp>
#include <amgcl/relaxation/chebyshev.hpp>
#include <amgcl/relaxation/damped_jacobi.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#include <amgcl/solver/cg.hpp>
#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/executors.hpp>
#include <common/matrices.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

struct options {
  std::string file;  // empty: the grid
  int grid = 100;
  std::string solver = "cg";
  std::string coarsening = "smoothed_aggregation";
  std::string relaxation = "spai0";
  int iterations = 100;
  double tolerance = 1e-8;
  std::vector<tally::executor> executors;
};

constexpr char usage[] = R"(amgcl [options] [FILE] [EXECUTOR...]

Solves A x = b by AMGCL, b all ones: with AMGCL's own backend on 1, 2 and 3 threads, then with Tally
on each executor, where AMGCL sets up on 1, 2 and 3 threads, and openmp has as many. Fails if two
solutions with Tally differ by as much as a bit.

  FILE                a Matrix Market file, .mtx or .mtx.gz; without one: a 5-point Laplacian
  EXECUTOR            serial, simd, openmp, cuda, cuda:DEVICE or kokkos (default: all that are here)
  --grid N            the Laplacian's grid has N x N points (default: 100)
  --solver S          cg or bicgstab (default: cg)
  --coarsening C      of AMG: smoothed_aggregation, aggregation or ruge_stuben; none: relaxation is
                      the preconditioner (default: smoothed_aggregation)
  --relax R           spai0, damped_jacobi or chebyshev (default: spai0)
  --tolerance R       stop when the residual is R times that of x = 0 (default: 1e-8)
  --iterations N      stop after N iterations (default: 100)
)";

using csr = tally::csr_matrix<double, std::ptrdiff_t, std::ptrdiff_t>;

struct outcome {
  std::size_t iterations = 0;
  double residual = 0;
  std::uint64_t hash = 0;
  std::string failure;  // AMGCL's exception
};

template <class Backend, class Preconditioner, template <class...> class Solver>
outcome solve_with(const csr& a, const options& chosen,
                   const typename Backend::params& backend_params) {
  using method = amgcl::make_solver<Preconditioner, Solver<Backend>>;
  typename method::params params;
  params.solver.maxiter = static_cast<std::size_t>(chosen.iterations);
  params.solver.tol = chosen.tolerance;
  const method solve(std::tie(a.rows, a.row_offsets, a.column_indices, a.values), params,
                     backend_params);

  const std::vector<double> ones(a.rows, 1.0);
  const auto b = Backend::copy_vector(std::make_shared<amgcl::backend::numa_vector<double>>(ones),
                                      backend_params);
  const auto x = Backend::create_vector(a.rows, backend_params);
  outcome found;
  try {
    std::tie(found.iterations, found.residual) = solve(*b, *x);
    if (!(found.residual <= chosen.tolerance)) found.failure = "not converged";
  } catch (const std::runtime_error& e) {  // breakdown of the method
    found.failure = e.what();
  }

  example::bit_hash hash;
  if constexpr (requires { x->on_host(); }) {
    hash.add(x->on_host());
  } else {
    hash.add(std::span<const double>(x->data(), x->size()));
  }
  found.hash = hash.value();
  return found;
}

template <class Backend, class Preconditioner>
outcome solve_preconditioned_by(const csr& a, const options& chosen,
                                const typename Backend::params& where) {
  using namespace amgcl::solver;
  if (chosen.solver == "cg") return solve_with<Backend, Preconditioner, cg>(a, chosen, where);
  if (chosen.solver == "bicgstab") {
    return solve_with<Backend, Preconditioner, bicgstab>(a, chosen, where);
  }
  throw std::runtime_error("--solver: cg or bicgstab");
}

template <class Backend, template <class> class Relaxation>
outcome solve_relaxed_by(const csr& a, const options& chosen,
                         const typename Backend::params& where) {
  using namespace amgcl;
  const std::string& by = chosen.coarsening;
  if (by == "smoothed_aggregation") {
    using multigrid = amg<Backend, coarsening::smoothed_aggregation, Relaxation>;
    return solve_preconditioned_by<Backend, multigrid>(a, chosen, where);
  }
  if (by == "aggregation") {
    using multigrid = amg<Backend, coarsening::aggregation, Relaxation>;
    return solve_preconditioned_by<Backend, multigrid>(a, chosen, where);
  }
  if (by == "ruge_stuben") {
    using multigrid = amg<Backend, coarsening::ruge_stuben, Relaxation>;
    return solve_preconditioned_by<Backend, multigrid>(a, chosen, where);
  }
  if (by == "none") {
    using single_level = relaxation::as_preconditioner<Backend, Relaxation>;
    return solve_preconditioned_by<Backend, single_level>(a, chosen, where);
  }
  throw std::runtime_error("--coarsening: smoothed_aggregation, aggregation, ruge_stuben or none");
}

template <class Backend>
outcome solve(const csr& a, const options& chosen, const typename Backend::params& where = {}) {
  using namespace amgcl::relaxation;
  if (chosen.relaxation == "spai0") return solve_relaxed_by<Backend, spai0>(a, chosen, where);
  if (chosen.relaxation == "damped_jacobi") {
    return solve_relaxed_by<Backend, damped_jacobi>(a, chosen, where);
  }
  if (chosen.relaxation == "chebyshev") {
    return solve_relaxed_by<Backend, chebyshev>(a, chosen, where);
  }
  throw std::runtime_error("--relax: spai0, damped_jacobi or chebyshev");
}

void print(const std::string& backend, int threads, const outcome& found) {
  std::printf("%-36s %7d %10zu  %.3e  %016llx  %s\n", backend.c_str(), threads, found.iterations,
              found.residual, static_cast<unsigned long long>(found.hash), found.failure.c_str());
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
    } else if (word == "--solver") {
      chosen.solver = value();
    } else if (word == "--coarsening") {
      chosen.coarsening = value();
    } else if (word == "--relax") {
      chosen.relaxation = value();
    } else if (word == "--tolerance") {
      chosen.tolerance = example::parse<double>(value());
    } else if (word == "--iterations") {
      chosen.iterations = example::parse<int>(value());
    } else if (word.starts_with("--")) {
      throw std::runtime_error("amgcl does not know " + std::string(word));
    } else if (const auto where = example::parse_executor(word)) {
      chosen.executors.push_back(*where);
    } else if (chosen.file.empty()) {
      chosen.file = word;
    } else {
      throw std::runtime_error(std::string(word) + " is not an executor; see amgcl --help");
    }
  }
  if (chosen.executors.empty()) chosen.executors = tally::executors();
  return chosen;
}

csr matrix_of(const options& chosen) {
  if (!chosen.file.empty()) {
    return tally::read_matrix_market<double, std::int64_t, std::int64_t>(chosen.file);
  }
  const auto grid = example::laplacian(chosen.grid);
  return {grid.rows,
          grid.columns,
          {grid.row_offsets.begin(), grid.row_offsets.end()},
          {grid.column_indices.begin(), grid.column_indices.end()},
          grid.values};
}

/// AMGCL's set-up reads uninitialised memory for rows without a diagonal entry.
void check_diagonal(const csr& a) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    const auto first = a.column_indices.begin() + a.row_offsets[i];
    const auto last = a.column_indices.begin() + a.row_offsets[i + 1];
    if (!std::binary_search(first, last, static_cast<std::ptrdiff_t>(i))) {
      throw std::runtime_error("row " + std::to_string(i) + " has no entry on the diagonal");
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const options chosen = parse_options({argv + 1, argv + argc});
  const csr a = matrix_of(chosen);
  if (a.rows != a.columns) throw std::runtime_error("the matrix is not square");
  check_diagonal(a);
  std::printf("%zu rows, %zu entries: %s, %s, %s\n%-36s threads iterations   residual  hash of x\n",
              a.rows, a.values.size(), chosen.solver.c_str(), chosen.coarsening.c_str(),
              chosen.relaxation.c_str(), "backend");

  constexpr int max_threads = 3;
  for (int threads = 1; threads <= max_threads; ++threads) {
    omp_set_num_threads(threads);
    print("AMGCL's own", threads, solve<amgcl::backend::builtin<double>>(a, chosen));
  }

  std::optional<std::uint64_t> hash;
  bool agree = true;
  for (const tally::executor& where : chosen.executors) {
    for (int threads = 1; threads <= max_threads; ++threads) {
      omp_set_num_threads(threads);  // for AMGCL's set-up and openmp
      const outcome here = solve<example::tally_backend<double>>(a, chosen, {where});
      print(std::string("Tally, ") + where.description(), threads, here);
      agree = agree && here.hash == hash.value_or(here.hash);
      hash = hash.value_or(here.hash);
    }
  }
  std::puts(agree ? "All solutions with Tally have equal bits." : "Solutions with Tally DIFFER.");
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "amgcl: %s\n", e.what());
  return EXIT_FAILURE;
}
