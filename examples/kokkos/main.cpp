// A Kokkos program on Tally: steady heat conduction in a plate of uneven material. Kokkos's kernels
// assemble the matrix; conjugate gradients solve with it, on Kokkos::Views in the memory of the
// default execution space, by calls of Tally, which fuse an update and its sum.
//
// The last line but one uses Kokkos's own parallel_reduce and loops. Those sums change with the
// execution space and its threads; Tally's don't: the program fails where iterates of two executors
// differ by a bit.
//
// Build where Tally found Kokkos:
//
//   cmake -S . -B build/kokkos && cmake --build build/kokkos --target tally_kokkos_heat
//   build/kokkos/examples/kokkos/heat --grid 200
#include <tally/tally.hpp>

#include <Kokkos_Core.hpp>
#include <common/bit_hash.hpp>
#include <common/command_line.hpp>
#include <common/executors.hpp>

#include <cmath>
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
#include <vector>

namespace {

using space = Kokkos::DefaultExecutionSpace;
using vector = Kokkos::View<double*, space>;
using indices = Kokkos::View<std::int32_t*, space>;
using range = Kokkos::RangePolicy<space>;

constexpr bool is_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, space::memory_space>::accessible;

// --- The matrix -----------------------------------------------------------------------------------

struct matrix {
  indices row_offsets;
  indices column_indices;
  vector values;

  auto view() const {
    const std::size_t rows = row_offsets.extent(0) - 1;
    return tally::csr_view{rows, rows, row_offsets, column_indices, values};
  }
};

/// Returns the conductance between p and q, from 1 to 1.9; symmetric.
KOKKOS_INLINE_FUNCTION double conductance(int p, int q, int n) {
  return 1 + (p + q + n) * 7 % 10 / 10.0;
}

/// Whether p has a neighbour q on this side; the plate's edge is cold.
KOKKOS_INLINE_FUNCTION bool has_neighbour(int p, int side, int n, int& q) {
  const int i = p / n, j = p % n;
  switch (side) {
    case 0:
      q = p - n;
      return i > 0;
    case 1:
      q = p - 1;
      return j > 0;
    case 2:
      q = p + 1;
      return j + 1 < n;
    default:
      q = p + n;
      return i + 1 < n;
  }
}

/// Returns the matrix for n x n points.
matrix assemble(int n) {
  const int points = n * n;
  const indices offsets("row offsets", points + 1);
  std::int32_t terms = 0;
  Kokkos::parallel_scan(
      range(0, points),
      KOKKOS_LAMBDA(int p, std::int32_t& sum, bool is_final) {
        int q;
        ++sum;
        for (int side = 0; side < 4; ++side) sum += has_neighbour(p, side, n, q);
        if (is_final) offsets(p + 1) = sum;
      },
      terms);

  const indices columns("columns", terms);
  const vector values("values", terms);
  Kokkos::parallel_for(
      range(0, points), KOKKOS_LAMBDA(int p) {
        std::int32_t next = offsets(p), diagonal = next;
        double all = 0;
        for (int side = 0; side < 4; ++side) {
          if (side == 2) diagonal = next++;
          int q;
          const bool is_inside = has_neighbour(p, side, n, q);
          const double c = conductance(p, q, n);
          all += c;
          if (!is_inside) continue;
          columns(next) = q;
          values(next++) = -c;
        }
        columns(diagonal) = p;
        values(diagonal) = all;
      });
  Kokkos::fence();
  return {offsets, columns, values};
}

// --- Steps of the solver --------------------------------------------------------------------------

/// The sums stay in the vectors' memory.
class tally_steps {
 public:
  tally_steps(const tally::executor& where, const matrix& a)
      : where_(where), a_(a.view()), plan_(where, a_) {}

  double multiply(const vector& p, const vector& q) {  // q = A p; p.q
    tally::spmv(where_, plan_, a_, p, q);
    tally::dot(where_, p, q, sum_.data());
    return value();
  }
  double update(double alpha, const vector& q, const vector& r) {  // r = r - alpha q; r.r
    tally::axpy_dot(where_, -alpha, q, r, r, sum_.data());
    return value();
  }
  void move(double alpha, const vector& p, const vector& x) { tally::axpy(where_, alpha, p, x); }
  void turn(const vector& r, double beta, const vector& p) {
    tally::axpby(where_, 1.0, r, beta, p);
  }

 private:
  double value() const {
    double host = 0;
    Kokkos::deep_copy(host, sum_);
    return host;
  }

  tally::executor where_;
  tally::csr_view<double> a_;
  tally::spmv_plan plan_;
  Kokkos::View<double, space> sum_{"sum"};
};

/// Steps by Kokkos.
class kokkos_steps {
 public:
  explicit kokkos_steps(const matrix& a) : a_(a) {}

  double multiply(const vector& p, const vector& q) {
    const matrix a = a_;
    double sum = 0;
    Kokkos::parallel_reduce(
        range(0, p.extent(0)),
        KOKKOS_LAMBDA(int i, double& pq) {
          double row = 0;
          for (int k = a.row_offsets(i); k < a.row_offsets(i + 1); ++k)
            row += a.values(k) * p(a.column_indices(k));
          q(i) = row;
          pq += p(i) * row;
        },
        sum);
    return sum;
  }
  double update(double alpha, const vector& q, const vector& r) {
    double sum = 0;
    Kokkos::parallel_reduce(
        range(0, r.extent(0)),
        KOKKOS_LAMBDA(int i, double& rr) {
          r(i) -= alpha * q(i);
          rr += r(i) * r(i);
        },
        sum);
    return sum;
  }
  void move(double alpha, const vector& p, const vector& x) {
    Kokkos::parallel_for(range(0, x.extent(0)), KOKKOS_LAMBDA(int i) { x(i) += alpha * p(i); });
  }
  void turn(const vector& r, double beta, const vector& p) {
    Kokkos::parallel_for(
        range(0, p.extent(0)), KOKKOS_LAMBDA(int i) { p(i) = r(i) + beta * p(i); });
  }

 private:
  matrix a_;
};

/// Solves A x = 1 and prints a line; returns the hash of all iterates.
template <class Steps>
std::uint64_t solve(const std::string& name, Steps steps, std::size_t points) {
  const vector x("x", points), r("r", points), p("p", points), q("q", points);
  Kokkos::deep_copy(r, 1.0);
  Kokkos::deep_copy(p, 1.0);
  auto on_host = Kokkos::create_mirror_view(x);

  constexpr double tolerance = 1e-10;
  constexpr int max_iterations = 10000;
  const auto norm = static_cast<double>(points);  // of b, squared
  double rr = norm;
  int iterations = 0;
  example::bit_hash hash;
  while (rr > tolerance * tolerance * norm && iterations < max_iterations) {
    const double alpha = rr / steps.multiply(p, q);
    steps.move(alpha, p, x);
    const double next = steps.update(alpha, q, r);
    steps.turn(r, next / rr, p);
    rr = next;
    ++iterations;
    Kokkos::deep_copy(on_host, x);
    hash.add(std::span<const double>(on_host.data(), points));
  }
  std::printf("%-36s %10d  %.3e  %016llx\n", name.c_str(), iterations, std::sqrt(rr / norm),
              static_cast<unsigned long long>(hash.value()));
  return hash.value();
}

bool reaches(const tally::executor& where) { return is_on_host || !where.reaches_host_memory(); }

bool compare(int grid) {
  const matrix a = assemble(grid);
  const std::size_t points = a.row_offsets.extent(0) - 1;
  std::printf("%zu points, Views in %s\n%-36s iterations   residual  hash of all iterates\n",
              points, space::memory_space::name(), "steps");
  std::optional<std::uint64_t> hash;
  bool agree = true;
  for (const tally::executor& where : is_on_host ? example::host_executors() : tally::executors()) {
    if (!reaches(where)) continue;
    const std::uint64_t here =
        solve(std::string("Tally, ") + where.description(), tally_steps(where, a), points);
    agree = agree && here == hash.value_or(here);
    hash = hash.value_or(here);
  }
  solve("Kokkos's own", kokkos_steps(a), points);
  std::puts(agree ? "All iterates with Tally have equal bits." : "Iterates with Tally DIFFER.");
  return agree;
}

}  // namespace

int main(int argc, char** argv) try {
  const Kokkos::ScopeGuard guard(argc, argv);
  int grid = 100;
  for (int i = 1; i < argc; ++i) {
    constexpr int largest = 10000;  // indices have 31 bits
    if (std::string_view(argv[i]) != "--grid" || ++i == argc ||
        (grid = example::parse<int>(argv[i])) < 1 || grid > largest) {
      throw std::runtime_error("heat [--grid N], N from 1 to 10000");
    }
  }
  return compare(grid) ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "heat: %s\n", e.what());
  return EXIT_FAILURE;
}
