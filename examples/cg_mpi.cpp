// Conjugate gradients over MPI ranks: as cg.cpp, with the same iterates bit for bit on any number
// of ranks, for any cuts and any executor on each rank.
//
// In the exact grade the iterates don't depend on the numbering of the unknowns either. With
// --split, rows are summed as in other libraries: then the hash depends on the number of ranks.
#include <tally/mpi.hpp>
#include <tally/tally.hpp>

#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/executors.hpp>
#include <common/matrices.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using global_matrix = tally::csr_matrix<double>;
using tally::mpi::layout;

enum class cut { even, uneven, chunks };

struct options {
  std::string file;  // empty: the grid
  int grid = 100;
  int iterations = 10000;
  double tolerance = 1e-10;
  int every = 100;
  cut where = cut::even;
  tally::grade grade;
  bool split = false;
  std::optional<std::uint64_t> seed;  // of the renumbering
  std::optional<std::uint64_t> expected_hash;
  std::vector<tally::executor> executors;
};

constexpr char usage[] = R"(mpiexec -n RANKS cg_mpi [options] [FILE] [EXECUTOR...]

Solves A x = b by conjugate gradients, b all ones, and prints a hash of the bits of all iterates,
which is that of cg for the same matrix.

  FILE              a Matrix Market file, .mtx or .mtx.gz; without one: a 5-point Laplacian
  EXECUTOR          serial, simd, openmp, openmp:THREADS, cuda, cuda:DEVICE or kokkos: rank r takes
                    the r-th, and the first again after the last (default: serial simd)
  --grid N          the Laplacian's grid has N x N points (default: 100)
  --cut WHERE       how rows are cut: even, uneven (a rank has more than those before it), or at
                    multiples of a chunk: chunks (default: even)
  --grade GRADE     default, or exact: then the hash does not depend on the numbering either
  --renumber SEED   number the unknowns at random
  --split           add what a row's columns on this rank and those on others give
  --tolerance R     stop when the residual is R times that of x = 0 (default: 1e-10)
  --iterations N    stop after N iterations (default: 10000)
  --every N         print every N-th iteration; 0: only the last (default: 100)
  --expect HASH     fail unless the last hash is this one, from a run elsewhere
)";

// --- A vector -------------------------------------------------------------------------------------

/// A rank's part of a vector, in the executor's memory. An operand, by data() and size().
class part {
 public:
  part(const tally::executor& where, std::size_t n, double value)
      : size_(n), memory_(where, n * sizeof(double)) {
    tally::fill(where, value, *this);
  }

  double* data() { return static_cast<double*>(memory_.get()); }
  const double* data() const { return static_cast<const double*>(memory_.get()); }
  std::size_t size() const { return size_; }

  std::vector<double> on_host() const {
    std::vector<double> elements(size_);
    tally::copy_bytes(memory_.where(), data(), elements.data(), memory_.bytes());
    return elements;
  }

 private:
  std::size_t size_;
  tally::buffer memory_;
};

// --- The matrix -----------------------------------------------------------------------------------

/// Unknown `numbers[i]` becomes number i.
global_matrix renumbered(const global_matrix& a, const std::vector<std::size_t>& numbers) {
  std::vector<std::int32_t> places(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    places[numbers[i]] = static_cast<std::int32_t>(i);
  }
  global_matrix b;
  b.rows = b.columns = a.rows;
  for (const std::size_t row : numbers) {
    for (std::int32_t j = a.row_offsets[row]; j < a.row_offsets[row + 1]; ++j) {
      b.column_indices.push_back(places[static_cast<std::size_t>(a.column_indices[j])]);
      b.values.push_back(a.values[j]);
    }
    b.row_offsets.push_back(static_cast<std::int32_t>(b.values.size()));
  }
  return b;
}

/// Returns the rank's rows of `a`, with the rank's own columns or the others'.
global_matrix rows_of(const layout& l, const global_matrix& a, bool own) {
  global_matrix rows;
  rows.rows = static_cast<std::size_t>(l.size());
  rows.columns = a.columns;
  for (std::int64_t row = l.first(); row < l.first() + l.size(); ++row) {
    for (std::int32_t j = a.row_offsets[row]; j < a.row_offsets[row + 1]; ++j) {
      const std::int32_t column = a.column_indices[j];
      if ((column >= l.first() && column < l.first() + l.size()) != own) continue;
      rows.column_indices.push_back(column);
      rows.values.push_back(a.values[j]);
    }
    rows.row_offsets.push_back(static_cast<std::int32_t>(rows.values.size()));
  }
  return rows;
}

/// A as Tally distributes it, or split by columns.
class distributed {
 public:
  distributed(const layout& l, const global_matrix& a, bool split)
      : all_(l, split ? rows_of(l, a, true).view() : tally::mpi::rows_of(l, a.view())) {
    if (split) others_.emplace(l, rows_of(l, a, false).view());
  }

  void multiply(const tally::executor& where, const part& x, part& y, tally::grade grade) const {
    tally::mpi::spmv(where, all_, x, y, grade);
    if (others_) tally::mpi::spmv(where, 1.0, *others_, x, 1.0, y, grade);
  }

 private:
  tally::mpi::matrix<double> all_;  // when split: this rank's columns
  std::optional<tally::mpi::matrix<double>> others_;
};

// --- The solver -----------------------------------------------------------------------------------

/// Hashes a distributed vector on rank 0, in cg's order.
class vector_hash {
 public:
  vector_hash(const layout& l, const std::vector<std::size_t>& numbers)
      : layout_(l), numbers_(numbers) {
    for (int r = 0; r < l.ranks(); ++r) {
      first_.push_back(static_cast<int>(l.first(r)));
      size_.push_back(static_cast<int>(l.first(r + 1) - l.first(r)));
    }
  }

  void add(const part& vector) {
    const std::vector<double> x = vector.on_host();
    std::vector<double> all(layout_.rank() == 0 ? numbers_.size() : 0), in_order(all.size());
    MPI_Gatherv(x.data(), static_cast<int>(x.size()), MPI_DOUBLE, all.data(), size_.data(),
                first_.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < all.size(); ++i) in_order[numbers_[i]] = all[i];
    hash_.add(in_order);
  }
  std::uint64_t value() const {
    std::uint64_t value = hash_.value();
    MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return value;
  }

 private:
  const layout& layout_;
  const std::vector<std::size_t>& numbers_;
  std::vector<int> first_, size_;
  example::bit_hash hash_;
};

/// Solves; returns the hash of all iterates.
std::uint64_t solve(const layout& l, const global_matrix& whole, const options& chosen) {
  std::vector<std::size_t> numbers(whole.rows);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (chosen.seed) std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(*chosen.seed));
  const distributed a(l, chosen.seed ? renumbered(whole, numbers) : whole, chosen.split);

  const tally::executor where =
      chosen.executors[static_cast<std::size_t>(l.rank()) % chosen.executors.size()];
  const auto inner = [&](const part& u, const part& v) {
    return tally::mpi::dot(l, where, u, v, chosen.grade);
  };
  const auto n = static_cast<std::size_t>(l.size());
  part x(where, n, 0), r(where, n, 1), p(where, n, 1), q(where, n, 0);
  double rr = inner(r, r);
  const double norm = std::sqrt(rr);

  vector_hash hash(l, numbers);
  double residual = 1;
  int k = 0;
  while (!(residual <= chosen.tolerance) && k < chosen.iterations) {
    a.multiply(where, p, q, chosen.grade);
    const double curvature = inner(p, q);
    if (!(curvature > 0)) throw std::runtime_error("the matrix is not positive definite");
    const double alpha = rr / curvature;
    tally::axpy(where, alpha, p, x);
    tally::axpy(where, -alpha, q, r);
    const double next = inner(r, r);
    tally::axpby(where, 1.0, r, next / rr, p);
    rr = next;

    ++k;
    hash.add(x);
    residual = std::sqrt(rr) / norm;
    const bool is_last = residual <= chosen.tolerance || k == chosen.iterations;
    if (is_last || (chosen.every > 0 && k % chosen.every == 0)) {
      const auto value = static_cast<unsigned long long>(hash.value());
      if (l.rank() == 0) std::printf("%8d  %.3e  %016llx\n", k, residual, value);
    }
  }
  if (!(residual <= chosen.tolerance) && l.rank() == 0) std::puts("          not converged");
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
    const auto one_of = [&](auto first, const auto&... others) {
      const std::string_view given = value();
      std::optional<decltype(first.second)> found;
      for (const auto& [name, meaning] : {first, others...}) {
        if (given == name) found = meaning;
      }
      if (!found) throw std::runtime_error(std::string(word) + " has other values; see --help");
      return *found;
    };
    using named_cut = std::pair<std::string_view, cut>;
    using named_grade = std::pair<std::string_view, tally::grade>;
    if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      std::exit(EXIT_SUCCESS);
    } else if (word == "--grid") {
      chosen.grid = example::parse<int>(value());
      if (chosen.grid < 1 || chosen.grid > 20000) throw std::runtime_error("--grid: 1 to 20000");
    } else if (word == "--cut") {
      chosen.where = one_of(named_cut{"even", cut::even}, named_cut{"uneven", cut::uneven},
                            named_cut{"chunks", cut::chunks});
    } else if (word == "--grade") {
      chosen.grade = one_of(named_grade{"default", {}}, named_grade{"exact", tally::exact});
    } else if (word == "--renumber") {
      chosen.seed = example::parse<std::uint64_t>(value());
    } else if (word == "--split") {
      chosen.split = true;
    } else if (word == "--tolerance") {
      chosen.tolerance = example::parse<double>(value());
    } else if (word == "--iterations") {
      chosen.iterations = example::parse<int>(value());
    } else if (word == "--every") {
      chosen.every = example::parse<int>(value());
    } else if (word == "--expect") {
      chosen.expected_hash = example::parse<std::uint64_t>(value(), 16);
    } else if (word.starts_with("--")) {
      throw std::runtime_error("cg_mpi does not know " + std::string(word));
    } else if (const auto where = example::parse_executor(word)) {
      chosen.executors.push_back(*where);
    } else if (chosen.file.empty()) {
      chosen.file = word;
    } else {
      throw std::runtime_error(std::string(word) + " is not an executor; see cg_mpi --help");
    }
  }
  if (chosen.executors.empty()) chosen.executors = {tally::serial(), tally::simd()};
  return chosen;
}

std::int64_t border(cut where, std::int64_t rows, int rank, int ranks) {
  switch (where) {
    case cut::even:
      return rows * rank / ranks;
    case cut::uneven:
      return rows * rank / ranks * rank / ranks;
    case cut::chunks:
      break;
  }
  return layout::cut(rows, rank, ranks);
}

/// Fails on rank 0, which prints the reason: a launcher that ends it for another rank may lose that
/// (Open MPI 5).
int run(const options& chosen) try {
  const global_matrix a = chosen.file.empty() ? example::laplacian(chosen.grid)
                                              : tally::read_matrix_market(chosen.file);
  if (a.rows != a.columns) throw std::runtime_error("the matrix is not square");
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto rows = static_cast<std::int64_t>(a.rows);
  const layout l(MPI_COMM_WORLD, border(chosen.where, rows, rank + 1, ranks) -
                                     border(chosen.where, rows, rank, ranks));
  if (rank == 0) std::printf("%zu rows, %zu entries, %d ranks\n", a.rows, a.values.size(), ranks);
  const std::uint64_t hash = solve(l, a, chosen);
  if (rank != 0 || hash == chosen.expected_hash.value_or(hash)) return EXIT_SUCCESS;
  std::puts("The iterates are NOT those that were expected.");
  return EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg_mpi: %s\n", e.what());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);  // others may still wait
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) try {
  const options chosen = parse_options({argv + 1, argv + argc});
  MPI_Init(&argc, &argv);
  const int status = run(chosen);
  MPI_Finalize();
  return status;
} catch (const std::exception& e) {
  std::fprintf(stderr, "cg_mpi: %s\n", e.what());
  return EXIT_FAILURE;
}
