// spmv on OpenMP threads. Parts are equal in rows plus terms (merge-based partition). A border
// inside a row lies between chunks; the row's tree is added when all threads are done.
#include "backends/openmp/openmp.hpp"

#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/openmp/threads/shares.hpp"
#include "backends/simd/spmv/plan.hpp"
#include "backends/simd/spmv/scattered/scattered.hpp"
#include "backends/simd/spmv/spmm.hpp"
#include "backends/simd/spmv/spmv.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace tally::backends::openmp {
namespace {

/// Minimum rows plus terms per thread (tuning/spmv.md: min_share).
std::size_t min_share(bool slices, bool keeps) {
  if (!slices) return 2048;
  return keeps ? 10240 : 4608;
}

/// Parts per thread of a large matrix, taken dynamically, and each part's minimum of rows plus
/// terms (tuning/spmv.md: shares_of_thread).
constexpr std::size_t shares_of_thread = 4;
constexpr std::size_t min_of_several = std::size_t{1} << 17;

/// Rows in slices are not cut if they are at most 1/16 of a part: a border within a sorting scope
/// costs more than unequal parts (tuning/spmv.md: rows_of_share).
constexpr std::size_t rows_of_share = 16;

std::size_t count_parts(const csr_operand& a, int threads, std::size_t min_work) {
  const std::size_t work = a.rows + a.nonzeros();
  const auto max_threads = static_cast<std::size_t>(threads);
  const bool has_several =
      max_threads > 1 && work / (max_threads * shares_of_thread) >= min_of_several;
  return has_several ? max_threads * shares_of_thread
                     : std::clamp<std::size_t>(work / min_work, 1, max_threads);
}

/// Calls f(i) for each part. Thread i begins with part i, then takes the next free one. f must not
/// throw in the parallel region.
template <class F>
void take_shares(std::size_t shares, int threads, const F& f) {
  const int max_threads = static_cast<int>(std::min(shares, static_cast<std::size_t>(threads)));
  std::atomic<std::size_t> taken = 0;
#pragma omp parallel num_threads(max_threads)
  {
    const default_environment environment;
    const auto team = static_cast<std::size_t>(omp_get_num_threads());
    for (auto i = static_cast<std::size_t>(omp_get_thread_num()); i < shares;
         i = team + taken.fetch_add(1, std::memory_order_relaxed)) {
      f(i);
    }
  }
}

/// Border of two parts: before a row, or before a chunk's first term.
struct border {
  std::size_t row = 0;
  std::size_t term = 0;
};

/// Borders of the parts, found by binary search. Where rows lie anywhere among the values, parts
/// have equal numbers of rows.
class borders {
 public:
  std::size_t shares;

  /// Begins parts at scopes if there are slices, unless a row may be cut; there may then be fewer
  /// parts.
  borders(const csr_operand& a, int threads, const simd::row_slices* slices)
      : shares(count_parts(a, threads,
                           min_share(slices != nullptr, slices != nullptr && slices->packs()))),
        bounds_(a),
        in_order_(!a.row_ends),
        rows_(a.rows),
        work_(a.rows + a.nonzeros()) {
    const std::size_t max_whole = std::max(order::chunk, work_ / shares / rows_of_share);
    if (slices != nullptr && slices->longest <= max_whole) {
      scopes_ = &slices->scopes;
      shares = std::min(shares, std::max<std::size_t>(scopes_->size() - 1, 1));
    }
  }

  border operator[](std::size_t share) const {
    if (share == shares) return {rows_, 0};
    if (!in_order_) return {rows_ / shares * share + rows_ % shares * share / shares, 0};
    const std::size_t target = work_ / shares * share + work_ % shares * share / shares;
    if (scopes_ != nullptr) return {scope_at(target), 0};
    // The last row that begins at the target or before.
    const std::size_t row = std::max<std::size_t>(bounds_.first_behind(target + 1, rows_), 1) - 1;
    const std::size_t begin = bounds_.begin(row);
    const std::size_t chunks = (target - begin - row + order::chunk / 2) / order::chunk;
    const std::size_t term = chunks * order::chunk;
    if (begin + term < bounds_.begin(row + 1)) return {row, term};
    return {row + (term > 0), 0};
  }

 private:
  /// Returns the first row of the scope nearest to `target`, in rows plus terms.
  std::size_t scope_at(std::size_t target) const {
    const auto work_before = [&](const simd::sorting_scope& s) {
      return s.first + bounds_.begin(s.first);
    };
    auto s = std::ranges::lower_bound(*scopes_, target, {}, work_before);
    if (s != scopes_->begin() && target - work_before(s[-1]) < work_before(*s) - target) --s;
    return s->first;
  }

  row_bounds bounds_;
  bool in_order_;  ///< whether rows are contiguous
  std::size_t rows_;
  std::size_t work_;  ///< rows plus terms
  /// If not null, parts begin at these scopes and cut no row.
  const std::vector<simd::sorting_scope>* scopes_ = nullptr;
};

/// Terms [begin, end) of a row cut by a border, and their sum.
template <class Sum>
struct row_part {
  std::size_t row, begin, end;
  bool ends;  ///< whether the row's last term is included
  Sum sum;
};

/// Whole rows of a part, and the first of its cut ones, at its begin and end.
struct share_of_rows {
  std::size_t first, rows;
  std::size_t cut;
};

// Not inlined, the functions below take the exact grade's sums from one another's stack.

/// Returns the parts' rows, and adds those that borders cut to `cut`.
template <class Rows>
[[gnu::noinline]] std::vector<share_of_rows> shares_of(
    const borders& all, const Rows& rows, std::vector<row_part<typename Rows::part>>& cut) {
  const row_bounds bounds(rows.a.a);
  std::vector<share_of_rows> shares;
  const auto add_cut = [&](std::size_t row, std::size_t begin, std::size_t end) {
    const std::size_t first = bounds.begin(row);
    cut.push_back(
        {row, first + begin, first + end, end == bounds.length(row), Rows::part_of(end - begin)});
  };
  for (std::size_t i = 0; i < all.shares; ++i) {
    const border begin = all[i], end = all[i + 1];
    const std::size_t first = begin.row + (begin.term > 0);
    shares.push_back({first, std::max(first, end.row) - first, cut.size()});
    const bool within = begin.term > 0 && begin.row == end.row;
    if (begin.term > 0) {
      add_cut(begin.row, begin.term, within ? end.term : bounds.length(begin.row));
    }
    if (end.term > 0 && !within) add_cut(end.row, 0, end.term);
  }
  shares.push_back({rows.a.a.rows, 0, cut.size()});
  return shares;
}

/// Writes y of cut rows.
template <class Rows>
[[gnu::noinline]] void join(const Rows& rows,
                            const std::vector<row_part<typename Rows::part>>& cut) {
  typename Rows::total total{};
  for (const auto& each : cut) {
    Rows::add(total, each.sum);
    if (!each.ends) continue;
    rows.write(each.row, rows.rounded(total));
    total = {};
  }
}

template <class Rows>
[[gnu::noinline]] void multiply_in_parts(const executor& where, const borders& all,
                                         const Rows& rows) {
  std::vector<row_part<typename Rows::part>> cut;
  const std::vector<share_of_rows> shares = shares_of(all, rows, cut);
  take_shares(all.shares, threads_of(where), [&](std::size_t i) {
    rows.multiply(shares[i].first, shares[i].rows);
    for (std::size_t k = shares[i].cut; k < shares[i + 1].cut; ++k) {
      rows.sum(cut[k].begin, cut[k].end, cut[k].sum);
    }
  });
  if (!cut.empty()) join(rows, cut);
}

}  // namespace

void backend::spmv(const executor& where, const csr_product& a) const {
  if (const auto* const transpose = simd::scattered_transpose_of(a)) {
    if (transpose->lanes) return simd::multiply_in_lanes(*transpose, a, where.instructions());
    const simd::scattered_terms terms(*transpose, a);
    const borders of_matrix(transpose->of, threads_of(where), nullptr);
    const auto write = [&](std::size_t i) {
      const std::size_t first = of_matrix[i].row;
      terms.write(first, of_matrix[i + 1].row - first);
    };
    of_matrix.shares == 1 ? write(0) : take_shares(of_matrix.shares, threads_of(where), write);
    return spmv(where, terms.sums());
  }
  const borders all(a.a, threads_of(where), simd::slices_of(a));
  simd::with_rows(where, a, [&](const auto& rows) {
    all.shares == 1 ? rows.multiply(0, a.a.rows) : multiply_in_parts(where, all, rows);
  });
}

void backend::spmm(const executor& where, const csr_products& a) const {
  const borders all(a.first.a, threads_of(where), nullptr);
  const bool has = simd::with_columns(where, a, [&](const auto& rows) {
    all.shares == 1 ? rows.multiply(0, rows.a.a.rows) : multiply_in_parts(where, all, rows);
  });
  if (!has) simd::backend::spmm(where, a);
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor& where, const csr_operand& a,
                                                      const planned_products& products) const {
  const std::size_t shares =
      count_parts(a, threads_of(where), min_share(products.fixed_columns, products.fixed_values));
  auto analysis = std::make_shared<simd::host_analysis>(a, products, shares);
  const borders all(a, threads_of(where), analysis->slices ? &*analysis->slices : nullptr);
  std::size_t cut = 0;
  for (std::size_t i = 1; i < all.shares; ++i) cut += all[i].term > 0;
  const auto threads = std::min(all.shares, static_cast<std::size_t>(threads_of(where)));
  analysis->description.insert(0, "equal shares of rows and terms for " + std::to_string(threads) +
                                      (threads == 1 ? " thread" : " threads") +
                                      (cut > 0 ? ", long rows cut at chunks; " : "; "));
  return analysis;
}

std::shared_ptr<const csr_transpose> backend::transpose(const executor& where, const csr_operand& a,
                                                        bool keeps_values) const {
  if (keeps_values || count_parts(a, threads_of(where), min_share(false, false)) == 1) {
    return simd::backend::transpose(where, a, keeps_values);
  }
  auto made = serial::backend::transpose(where, a, keeps_values);
  return std::make_shared<simd::scattered_transpose>(std::move(made), a, false, false);
}

csr_defect backend::find_defect(const executor& where, const csr_operand& a) const {
  const std::size_t shares = borders(a, threads_of(where), nullptr).shares;
  return first_defect(a, [&](std::size_t n, csr_defects::search& search) {
    std::vector<csr_defect> found(shares);
    const std::size_t share = (n + shares - 1) / shares;
    take_shares(shares, threads_of(where), [&](std::size_t i) {
      const std::size_t first = std::min(n, i * share);
      found[i] = search(a, first, std::min(share, n - first));
    });
    for (const csr_defect& defect : found) {
      if (defect.what != csr_defect::kind::none) return defect;
    }
    return csr_defect{};
  });
}

}  // namespace tally::backends::openmp
