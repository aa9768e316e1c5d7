// Cost of reproducible sums and products over ranks: mpiexec -n RANKS tally_bench_mpi [options].
//
// Each row compares Tally with the least that any code does: the same local work, and MPI's
// reduction of one double, or no halo exchange. Candidates take turns, so that disturbances hit
// all. Times are the slowest rank's, a median.
#include <tally/mpi.hpp>
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

MPI_Comm world() { return MPI_COMM_WORLD; }

int rank() {
  int rank = 0;
  MPI_Comm_rank(world(), &rank);
  return rank;
}
int ranks() {
  int ranks = 1;
  MPI_Comm_size(world(), &ranks);
  return ranks;
}

struct contender {
  std::string name;
  std::function<void()> call;
};

/// The median of turns, on the slowest rank.
std::vector<double> times_of(const std::vector<contender>& all, int turns, double turn_seconds) {
  using clock = std::chrono::steady_clock;
  const auto seconds_of = [](const contender& each, int calls) {
    MPI_Barrier(world());
    const auto start = clock::now();
    for (int i = 0; i < calls; ++i) each.call();
    double seconds = std::chrono::duration<double>(clock::now() - start).count() / calls;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world());
    return seconds;
  };
  std::vector<int> calls;
  for (const contender& each : all) {
    seconds_of(each, 1);  // warm by then
    const double once = seconds_of(each, 3);
    calls.push_back(std::clamp(static_cast<int>(turn_seconds / once), 1, 10000));
  }
  MPI_Bcast(calls.data(), static_cast<int>(calls.size()), MPI_INT, 0, world());
  std::vector<std::vector<double>> seconds(all.size());
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      seconds[k].push_back(seconds_of(all[k], calls[k]));
    }
  }
  std::vector<double> medians;
  for (auto& each : seconds) {
    std::nth_element(each.begin(), each.begin() + turns / 2, each.end());
    medians.push_back(each[static_cast<std::size_t>(turns / 2)]);
  }
  return medians;
}

struct options {
  int turns = 41;
  double turn_seconds = 0.005;
  std::string filter;
};

/// Measures candidates and prints times, also relative to the first.
void report(const options& chosen, const std::string& row, const std::vector<contender>& all) {
  if (row.find(chosen.filter) == std::string::npos) return;
  const std::vector<double> seconds = times_of(all, chosen.turns, chosen.turn_seconds);
  if (rank() != 0) return;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::printf("| %s | %s | %.2f | %.3f |\n", row.c_str(), all[k].name.c_str(), seconds[k] * 1e6,
                seconds[k] / seconds[0]);
  }
  std::fflush(stdout);
}

std::vector<double> random_vector(std::size_t n) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank()) + 1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(n);
  for (double& v : x) v = uniform(random);
  return x;
}

/// Keeps results from being optimised away.
volatile double sink;

/// Measures dot products and sums, with borders at multiples of a chunk or not.
void dots(const options& chosen, std::size_t n) {
  const auto where = tally::simd();
  const std::vector<double> x = random_vector(n), y = random_vector(n);
  const auto sum_of_ranks = [](double mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, world());
    sink = mine;
  };
  const tally::mpi::layout l(world(), static_cast<std::int64_t>(n));
  const std::string size = std::to_string(n) + " doubles a rank";
  report(chosen, "dot, exact, " + size,
         {{"local, MPI_Allreduce of a double",
           [&] { sum_of_ranks(tally::dot(where, x, y, tally::exact)); }},
          {"tally::mpi::dot", [&] { sink = tally::mpi::dot(world(), where, x, y, tally::exact); }},
          {"local alone", [&] { sink = tally::dot(where, x, y, tally::exact); }}});
  const bool is_cut = n % tally::order::chunk != 0;
  report(chosen, "dot, default, " + size + (is_cut ? ", chunks are cut" : ""),
         {{"local, MPI_Allreduce of a double", [&] { sum_of_ranks(tally::dot(where, x, y)); }},
          {"tally::mpi::dot", [&] { sink = tally::mpi::dot(l, where, x, y); }},
          {"local alone", [&] { sink = tally::dot(where, x, y); }}});
  const std::vector<std::vector<double>> fields(8, x);
  report(chosen, "8 sums, exact, " + size,
         {{"local, MPI_Allreduce of 8 doubles",
           [&] {
             double sums[8];
             for (int j = 0; j < 8; ++j) {
               sums[j] = tally::sum(where, fields[static_cast<std::size_t>(j)], tally::exact);
             }
             MPI_Allreduce(MPI_IN_PLACE, sums, 8, MPI_DOUBLE, MPI_SUM, world());
             sink = sums[0];
           }},
          {"tally::mpi::sums",
           [&] { sink = tally::mpi::sums(world(), where, fields, tally::exact)[0]; }}});
}

/// Measures the messages alone.
void messages(const options& chosen) {
  double one = 1;
  std::int64_t words[138] = {}, few[24] = {};
  report(chosen, "messages alone",
         {{"MPI_Allreduce, MPI_SUM of 1 double (8 bytes)",
           [&] { MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_DOUBLE, MPI_SUM, world()); }},
          {"of 138 int64 (1104 bytes: the exact sum of doubles)",
           [&] { MPI_Allreduce(MPI_IN_PLACE, words, 138, MPI_INT64_T, MPI_SUM, world()); }},
          {"of 24 int64 (192 bytes: the exact sum of floats)",
           [&] { MPI_Allreduce(MPI_IN_PLACE, few, 24, MPI_INT64_T, MPI_SUM, world()); }}});
}

/// Rows of a 27-point operator: m^3 points a rank, slabs of one grid.
tally::csr_matrix<double, std::int32_t, std::int64_t> slab(std::int64_t m) {
  tally::csr_matrix<double, std::int32_t, std::int64_t> a;
  const std::int64_t depth = m * ranks(), first = m * rank();
  a.rows = static_cast<std::size_t>(m * m * m);
  a.columns = static_cast<std::size_t>(m * m * depth);
  for (std::int64_t z = first; z < first + m; ++z) {
    for (std::int64_t y = 0; y < m; ++y) {
      for (std::int64_t x = 0; x < m; ++x) {
        for (int k = 0; k < 27; ++k) {
          const std::int64_t i = x + k % 3 - 1, j = y + k / 3 % 3 - 1, l = z + k / 9 - 1;
          if (i < 0 || j < 0 || l < 0 || i >= m || j >= m || l >= depth) continue;
          a.column_indices.push_back((l * m + j) * m + i);
          a.values.push_back(k == 13 ? 26 : -1);
        }
        a.row_offsets.push_back(static_cast<std::int32_t>(a.values.size()));
      }
    }
  }
  return a;
}

/// Measures products with and without halo.
void products(const options& chosen, std::int64_t m) {
  const auto where = tally::simd();
  const auto rows = slab(m);
  const tally::mpi::layout l(world(), static_cast<std::int64_t>(rows.rows));
  const tally::mpi::matrix a(l, rows.view());
  const std::vector<double> x = random_vector(rows.rows);
  std::vector<double> y(rows.rows);
  // Local columns alone: no exchange.
  tally::csr_matrix<double> local;
  local.rows = local.columns = rows.rows;
  local.values = rows.values;
  local.row_offsets = rows.row_offsets;
  const auto size = static_cast<std::int64_t>(rows.rows);
  for (const std::int64_t c : rows.column_indices) {
    const std::int64_t own = std::clamp<std::int64_t>(c - l.first(), 0, size - 1);
    local.column_indices.push_back(static_cast<std::int32_t>(own));
  }
  report(chosen, "spmv, 27 points, " + std::to_string(m) + "^3 rows a rank",
         {{"tally::spmv, no exchange", [&] { tally::spmv(where, local.view(), x, y); }},
          {"tally::mpi::spmv", [&] { tally::mpi::spmv(where, a, x, y); }}});
}

constexpr char usage[] = R"(mpiexec -n RANKS tally_bench_mpi [options]

  --filter TEXT  only rows whose name has TEXT in it
  --turns N      turns of each contender (default: 41)
)";

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  options chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--filter" && i + 1 < argc) {
      chosen.filter = argv[++i];
    } else if (word == "--turns" && i + 1 < argc) {
      chosen.turns = std::max(1, std::atoi(argv[++i]));
    } else {
      if (rank() == 0) std::fputs(usage, word == "--help" ? stdout : stderr);
      MPI_Finalize();
      return word == "--help" ? EXIT_SUCCESS : EXIT_FAILURE;
    }
  }
  if (rank() == 0) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    const std::string_view first(version);
    std::printf("%d ranks, %.*s\n\n", ranks(), static_cast<int>(first.find_first_of("\n,")),
                version);
    std::puts("| what | how | us | / the first |\n|---|---|---|---|");
  }
  messages(chosen);
  for (const std::size_t n : {std::size_t{1024}, std::size_t{1} << 20, std::size_t{1'000'000}}) {
    dots(chosen, n);
  }
  products(chosen, 64);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
