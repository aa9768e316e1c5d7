// The operations of nvector_tally.hpp against those of SUNDIALS's serial vector, on every executor
// and, started by mpiexec, over ranks: elements and tests are equal, sums equal to 1e-12, and all
// have the same bits on each executor, and on any ranks.
#include "common.hpp"

#include <common/bit_hash.hpp>
#include <common/executors.hpp>

#include <nvector/nvector_serial.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using example::assign;
using example::on_host;

/// Numbers of one sign, both signs, or few values with zeros.
std::vector<double> numbers(std::size_t n, unsigned seed, int kind) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(kind == 1 ? 0.5 : -1, 1);
  std::uniform_int_distribution<int> few(-2, 2);
  std::vector<double> all(n);
  for (double& each : all) each = kind == 2 ? few(random) : uniform(random);
  return all;
}

/// Inputs x, y, w > 0, and c of -2 ... 2, and output z.
struct vectors {
  std::vector<N_Vector> all;

  N_Vector x() const { return all[0]; }
  N_Vector y() const { return all[1]; }
  N_Vector w() const { return all[2]; }
  N_Vector c() const { return all[3]; }
  N_Vector z() const { return all[4]; }
};

struct operation {
  const char* name;
  bool is_sum;                                 ///< rounded differently
  std::function<double(const vectors&)> call;  ///< may write z
};

template <class F>
operation written(const char* name, F call) {
  return {name, false, [call](const vectors& v) { return call(v), 0.0; }};
}

double factors[] = {0.5, -2, 3};
double sums[3];

const std::vector<operation>& operations() {
  static const std::vector<operation> all = {
      written("linear sum", [](auto& v) { N_VLinearSum(0.7, v.x(), -1.5, v.y(), v.z()); }),
      written("const", [](auto& v) { N_VConst(-3.5, v.z()); }),
      written("prod", [](auto& v) { N_VProd(v.x(), v.y(), v.z()); }),
      written("div", [](auto& v) { N_VDiv(v.x(), v.w(), v.z()); }),
      written("scale", [](auto& v) { N_VScale(1.7, v.x(), v.z()); }),
      written("scale itself", [](auto& v) { N_VScale(-1, v.z(), v.z()); }),
      written("abs", [](auto& v) { N_VAbs(v.x(), v.z()); }),
      written("inv", [](auto& v) { N_VInv(v.w(), v.z()); }),
      written("add const", [](auto& v) { N_VAddConst(v.x(), 0.3, v.z()); }),
      written("compare", [](auto& v) { N_VCompare(0.5, v.x(), v.z()); }),
      written("compare itself", [](auto& v) { N_VCompare(0.25, v.z(), v.z()); }),
      written("linear combination",
              [](auto& v) {
                N_Vector x[] = {v.x(), v.y(), v.w()};
                N_VLinearCombination(3, factors, x, v.z());
              }),
      written("linear combination of itself",
              [](auto& v) {
                N_Vector x[] = {v.z(), v.y(), v.w()};
                N_VLinearCombination(3, factors, x, v.z());
              }),
      written("scale add multi",
              [](auto& v) {
                N_Vector y[] = {v.y()}, z[] = {v.z()};
                N_VScaleAddMulti(1, factors, v.x(), y, z);
              }),
      {"dot", true, [](auto& v) { return N_VDotProd(v.x(), v.y()); }},
      {"dot multi", true,
       [](auto& v) {
         N_Vector y[] = {v.y(), v.w(), v.x()};
         N_VDotProdMulti(3, v.x(), y, sums);
         return sums[0] + 2 * sums[1] + 4 * sums[2];
       }},
      {"max norm", false, [](auto& v) { return N_VMaxNorm(v.x()); }},
      {"wrms norm", true, [](auto& v) { return N_VWrmsNorm(v.x(), v.w()); }},
      {"wrms norm, masked", true, [](auto& v) { return N_VWrmsNormMask(v.x(), v.w(), v.c()); }},
      {"wrms norms", true,
       [](auto& v) {
         N_Vector x[] = {v.x(), v.y()}, w[] = {v.w(), v.w()};
         N_VWrmsNormVectorArray(2, x, w, sums);
         return sums[0] + 2 * sums[1];
       }},
      {"min", false, [](auto& v) { return N_VMin(v.x()); }},
      {"wl2 norm", true, [](auto& v) { return N_VWL2Norm(v.x(), v.w()); }},
      {"l1 norm", true, [](auto& v) { return N_VL1Norm(v.x()); }},
      {"inv test", false, [](auto& v) { return double(N_VInvTest(v.w(), v.z())); }},
      {"inv test of zeros", false, [](auto& v) { return double(N_VInvTest(v.c(), v.z())); }},
      {"constr mask", false, [](auto& v) { return double(N_VConstrMask(v.c(), v.x(), v.z())); }},
      {"constr mask that holds", false,
       [](auto& v) {
         N_VConst(2, v.z());
         return double(N_VConstrMask(v.z(), v.w(), v.z()));
       }},
      {"min quotient", false, [](auto& v) { return N_VMinQuotient(v.x(), v.c()); }},
      {"min quotient of nothing", false,
       [](auto& v) {
         N_VConst(0, v.z());
         return N_VMinQuotient(v.x(), v.z());
       }},
  };
  return all;
}

int failures = 0;
std::set<std::uint64_t> hashes;

/// Compares a part [first, first + own) of vectors of n elements; `make` makes one.
void compare(const std::string& label, std::size_t n, std::size_t first, std::size_t own,
             const example::context& context, const std::function<N_Vector()>& make) {
  vectors ours, serial;
  for (int k = 0; k < 5; ++k) {
    const auto data = numbers(n, static_cast<unsigned>(k + 1), k == 2 ? 1 : k == 3 ? 2 : 0);
    serial.all.push_back(N_VNew_Serial(static_cast<sunindextype>(n), context));
    std::copy(data.begin(), data.end(), N_VGetArrayPointer(serial.all.back()));
    ours.all.push_back(k == 0 ? make() : N_VClone(ours.x()));
    assign(ours.all.back(), std::span(data).subspan(first, own));
  }
  example::bit_hash bits;
  for (const operation& each : operations()) {
    const double got = each.call(ours), want = each.call(serial);
    bits.add(got);
    const bool same =
        got == want || (each.is_sum && std::abs(got - want) <= 1e-12 * std::abs(want));
    const auto z = on_host(ours.z());
    const double* const right = N_VGetArrayPointer(serial.z()) + first;
    const bool are_equal = std::equal(z.begin(), z.end(), right);
    if (same && are_equal) continue;
    ++failures;
    std::printf("%s, %zu elements: %s is %.17g, not %.17g%s\n", label.c_str(), n, each.name, got,
                want, are_equal ? "" : "; elements differ");
  }
  hashes.insert(bits.value());
  for (int k = 4; k >= 0; --k) {
    N_VDestroy(ours.all[static_cast<std::size_t>(k)]);
    N_VDestroy(serial.all[static_cast<std::size_t>(k)]);
  }
}

std::vector<tally::executor> all_executors() {
  std::vector<tally::executor> all = example::host_executors();
  for (const tally::executor& each : tally::executors()) {
    if (!each.reaches_host_memory()) all.push_back(each);
  }
  return all;
}

int run([[maybe_unused]] int argc, [[maybe_unused]] char* argv[]) {
  [[maybe_unused]] int rank = 0, ranks = 1;
#if TALLY_EXAMPLE_HAS_MPI
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
  const example::context context;
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{10000}}) {
    hashes.clear();
    for (const tally::executor& where : all_executors()) {
      const std::string label(where.name());
      compare(label, n, 0, n, context,
              [&] { return example::new_vector(static_cast<std::int64_t>(n), context, where); });
#if TALLY_EXAMPLE_HAS_MPI
      if (ranks == 1) continue;
      // Cuts that no chunk knows, of which one rank has few elements.
      const auto cut = [&](int r) {
        return n * static_cast<std::size_t>(r) * static_cast<std::size_t>(r + 1) /
               static_cast<std::size_t>(ranks * (ranks + 1));
      };
      const std::size_t first = cut(rank), own = cut(rank + 1) - first;
      const tally::mpi::layout over(MPI_COMM_WORLD, static_cast<std::int64_t>(own));
      compare(label + ", rank " + std::to_string(rank), n, first, own, context,
              [&] { return example::new_vector(over, context, where); });
#endif
    }
    if (rank == 0) {
      std::printf("%zu elements: hash %016llx%s\n", n,
                  static_cast<unsigned long long>(*hashes.begin()),
                  hashes.size() == 1 ? "" : ", and others");
    }
    failures += hashes.size() != 1;
  }
  return failures;
}

}  // namespace

int main(int argc, char* argv[]) {
  int status = EXIT_FAILURE;
#if TALLY_EXAMPLE_HAS_MPI
  MPI_Init(&argc, &argv);
#endif
  try {
    status = run(argc, argv) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
#if TALLY_EXAMPLE_HAS_MPI
  MPI_Finalize();
#endif
  return status;
}
