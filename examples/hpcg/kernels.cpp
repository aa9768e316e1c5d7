// Replacements for HPCG's files of the same names. HPCG has room for 27 terms per row, the last
// ones perhaps unused. Tally takes rows with separate begins and ends, so it uses HPCG's matrix in
// place.
#include "kernels.hpp"

#include <ComputeDotProduct.hpp>
#include <ComputeSPMV.hpp>
#include <ComputeWAXPBY.hpp>
#include <common/bit_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <vector>

namespace {

struct row_places {
  std::vector<std::int64_t> begins, ends;
};

struct run {
  tally::executor where = tally::automatic();
  example::bit_hash hash;
  std::map<const double* const*, row_places> places;  // by matrixValues
};

run& this_run() {
  static run here;
  return here;
}

std::span<const double> elements(const Vector& x, local_int_t n) {
  return {x.values, static_cast<std::size_t>(n)};
}

std::span<double> elements(Vector& x, local_int_t n) {
  return {x.values, static_cast<std::size_t>(n)};
}

/// Computed once: HPCG changes values, but no pattern.
const row_places& places_of(const SparseMatrix& a) {
  const auto [entry, is_new] = this_run().places.try_emplace(a.matrixValues);
  row_places& places = entry->second;
  if (is_new) {
    for (local_int_t i = 0; i < a.localNumberOfRows; ++i) {
      places.begins.push_back(a.matrixValues[i] - a.matrixValues[0]);
      places.ends.push_back(places.begins.back() + a.nonzerosInRow[i]);
    }
  }
  return places;
}

auto view_of(const SparseMatrix& a) {
  const auto& [begins, ends] = places_of(a);
  const auto last = ends.empty() ? 0 : static_cast<std::size_t>(ends.back());
  return tally::csr_view{begins.size(),
                         static_cast<std::size_t>(a.localNumberOfColumns),
                         begins,
                         ends,
                         std::span<const local_int_t>(a.mtxIndL[0], last),
                         std::span<const double>(a.matrixValues[0], last)};
}

}  // namespace

int ComputeDotProduct(const local_int_t n, const Vector& x, const Vector& y, double& result,
                      double& /*time_allreduce*/, bool& /*isOptimized*/) {
  result = tally::dot(this_run().where, elements(x, n), elements(y, n));
  this_run().hash.add(result);
  return 0;
}

int ComputeWAXPBY(const local_int_t n, const double alpha, const Vector& x, const double beta,
                  const Vector& y, Vector& w, bool& /*isOptimized*/) {
  tally::waxpby(this_run().where, alpha, elements(x, n), beta, elements(y, n), elements(w, n));
  this_run().hash.add(elements(w, n));
  return 0;
}

int ComputeSPMV(const SparseMatrix& a, Vector& x, Vector& y) {
  tally::spmv(this_run().where, view_of(a), elements(x, a.localNumberOfColumns),
              elements(y, a.localNumberOfRows));
  this_run().hash.add(elements(y, a.localNumberOfRows));
  return 0;
}

void example::begin_run(const tally::executor& where) {
  this_run().where = where;
  std::srand(1);  // HPCG's random vectors, the same in each run
}

std::uint64_t example::end_run() {
  const std::uint64_t hash = this_run().hash.value();
  this_run() = {};
  return hash;
}
