// spmv on OpenMP threads. Parts are equal in rows plus terms (merge-based partition). A border
// inside a row lies between chunks, so that each side sums whole chunks; the row's tree is added
// when all threads are done.
#include "backends/openmp/openmp.hpp"

#include "backends/common/sparse/csr.hpp"
#include "backends/common/sparse/csr_defects.hpp"
#include "backends/common/sparse/exact_rows.hpp"
#include "backends/common/sparse/host_analysis.hpp"
#include "backends/openmp/shares.hpp"
#include "backends/simd/exact/exact.hpp"
#include "backends/simd/spmv/spmv.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace tally::backends::openmp {
namespace {

/// Minimum rows plus terms per thread (tuning/spmv.md: min_share).
std::size_t min_share(bool slices, bool keeps) {
  if (!slices) return 2048;
  return keeps ? 10240 : 4608;
}

/// Parts per thread of a large matrix, taken dynamically, since equal parts take unequal times; and
/// each part's minimum of rows plus terms (tuning/spmv.md: shares_of_thread).
constexpr std::size_t shares_of_thread = 4;
constexpr std::size_t min_of_several = std::size_t{1} << 17;

/// Rows in slices are not cut if they are at most 1/16 of a part: a border within a window costs
/// more than unequal parts (tuning/spmv.md: rows_of_share).
constexpr std::size_t rows_of_share = 16;

std::size_t count_parts(const csr_operand& a, int threads, std::size_t least) {
  const std::size_t work = a.rows + a.nonzeros();
  const auto most = static_cast<std::size_t>(threads);
  const bool has_several = most > 1 && work / (most * shares_of_thread) >= min_of_several;
  return has_several ? most * shares_of_thread : std::clamp<std::size_t>(work / least, 1, most);
}

/// Calls f(i) for each part. Thread i begins with part i, then takes the next free one. f must not
/// throw in the parallel region.
template <class F>
void take_shares(std::size_t shares, int threads, const F& f) {
  const int most = static_cast<int>(std::min(shares, static_cast<std::size_t>(threads)));
  std::atomic<std::size_t> taken = 0;
#pragma omp parallel num_threads(most)
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
struct borders {
  row_bounds bounds;
  bool in_order;  ///< whether rows are contiguous
  std::size_t rows;
  std::size_t work;  ///< rows plus terms
  std::size_t shares;
  /// If not null, parts begin at these windows and cut no row.
  const std::vector<sorting_scope>* windows = nullptr;

  /// Begins parts at windows if there are slices, unless a row may be cut; there may then be fewer
  /// parts. (Windows were made for the number of threads at planning.)
  borders(const csr_operand& a, int threads, const row_slices* slices)
      : bounds(a),
        in_order(!a.row_ends),
        rows(a.rows),
        work(a.rows + a.nonzeros()),
        shares(count_parts(a, threads,
                           min_share(slices != nullptr, slices != nullptr && slices->keeps))) {
    const std::size_t max_whole = std::max(order::chunk, work / shares / rows_of_share);
    if (slices != nullptr && slices->longest <= max_whole) {
      windows = &slices->windows;
      shares = std::min(shares, std::max<std::size_t>(windows->size() - 1, 1));
    }
  }

  /// Upper bound of a part's chunks of cut rows: a border is at most half a chunk off, and two
  /// chunks may be short.
  std::size_t max_cut_chunks() const { return work / shares / order::chunk + 4; }

  std::size_t begin_of(std::size_t row) const { return bounds.begin(row); }

  border operator[](std::size_t share) const {
    if (share == shares) return {rows, 0};
    if (!in_order) return {rows / shares * share + rows % shares * share / shares, 0};
    const std::size_t target = work / shares * share + work % shares * share / shares;
    if (windows != nullptr) return {window_at(target), 0};
    // `row` becomes the last row that begins at the target or before.
    std::size_t row = 0, past = rows;
    while (past - row > 1) {
      const std::size_t middle = row + (past - row) / 2;
      (begin_of(middle) + middle <= target ? row : past) = middle;
    }
    const std::size_t begin = begin_of(row);
    const std::size_t chunks = (target - begin - row + order::chunk / 2) / order::chunk;
    const std::size_t term = chunks * order::chunk;
    if (begin + term < begin_of(row + 1)) return {row, term};
    return {row + (term > 0), 0};
  }

 private:
  /// Returns the first row of the window nearest to `target`, in rows plus terms.
  std::size_t window_at(std::size_t target) const {
    const auto work_before = [&](const sorting_scope& w) { return w.first + begin_of(w.first); };
    auto w = std::ranges::lower_bound(*windows, target, {}, work_before);
    if (w != windows->begin() && target - work_before(w[-1]) < work_before(*w) - target) --w;
    return w->first;
  }
};

/// Sums of a row's chunks in one part.
template <class A>
struct row_part {
  std::size_t row = 0;
  bool ends = false;  ///< whether the row's last chunk is included
  std::span<dot_sum<A>> chunks;
};

/// Chunks of the rows cut at a part's begin and end.
template <class A>
struct cut_rows {
  row_part<A> head, tail;
};

/// Sums the chunks of terms [begin, end) of a row into `room`, which suffices unless the matrix is
/// invalid.
template <class A>
row_part<A> sum_chunks(const row_kernels<A>& kernels, const borders& all, const csr_product& a,
                       std::size_t row, std::size_t begin, std::size_t end,
                       std::span<dot_sum<A>> room) {
  const std::size_t first = all.begin_of(row);
  std::size_t chunks = 0;
  for (std::size_t j = begin; j < end && chunks < room.size(); j += order::chunk) {
    room[chunks++] = sum_part(kernels, a, first + j, std::min(order::chunk, end - j));
  }
  return {row, first + end == all.begin_of(row + 1), room.first(chunks)};
}

/// Sums one part. Must not throw in the parallel region. `room`: `max_cut_chunks` sums.
template <class A>
cut_rows<A> multiply_part(const row_kernels<A>& kernels, const borders& all, const csr_product& a,
                          const border& begin, const border& end, std::span<dot_sum<A>> room) {
  cut_rows<A> cut;
  std::size_t first = begin.row;
  if (begin.term > 0) {
    const bool within = end.row == begin.row;
    const std::size_t last =
        within ? end.term : all.begin_of(begin.row + 1) - all.begin_of(begin.row);
    cut.head = sum_chunks(kernels, all, a, begin.row, begin.term, last, room);
    room = room.subspan(cut.head.chunks.size());
    if (within) return cut;
    ++first;
  }
  multiply_rows(kernels, a, first, end.row - first);
  if (end.term > 0) cut.tail = sum_chunks(kernels, all, a, end.row, 0, end.term, room);
  return cut;
}

/// Writes y of cut rows.
template <class A>
void join(const csr_product& a, const std::vector<cut_rows<A>>& shares) {
  tree<dot_sum<A>> chunks;
  const auto take = [&](const row_part<A>& part) {
    for (const dot_sum<A>& sum : part.chunks) chunks.add(sum);
    if (!part.ends) return;
    const A sum = finish(chunks.total(), a.conjugated);
    write_rows(a, part.row, 1, &sum);
    chunks = {};
  };
  for (const cut_rows<A>& cut : shares) {
    take(cut.head);
    take(cut.tail);
  }
}

// Not inlined: the exact grade would take this stack, too.
template <class A>
[[gnu::noinline]] void multiply(const executor& where, const csr_product& original,
                                const borders& all) {
  const simd::readable_x<A> x(original);
  const csr_product& a = x.arguments();
  const auto kernels = simd::row_kernels_of(where.instructions(), x);
  if (all.shares == 1) return multiply_rows(kernels, a, 0, a.a.rows);
  const int threads = threads_of(where);
  if (all.windows != nullptr) {
    return take_shares(all.shares, threads, [&](std::size_t i) {
      const std::size_t first = all[i].row;
      multiply_rows(kernels, a, first, all[i + 1].row - first);
    });
  }
  std::vector<cut_rows<A>> cut(all.shares);
  // Bytes, so that unused pages stay untouched.
  const std::size_t room = all.max_cut_chunks();
  const std::unique_ptr<std::byte[]> bytes(new std::byte[all.shares * room * sizeof(dot_sum<A>)]);
  auto* const sums = reinterpret_cast<dot_sum<A>*>(bytes.get());
  take_shares(all.shares, threads, [&](std::size_t i) {
    cut[i] = multiply_part(kernels, all, a, all[i], all[i + 1], std::span(sums + i * room, room));
  });
  join(a, cut);
}

/// Adds terms [begin, end) of a row. Not inlined: rows would take this stack, too.
[[gnu::noinline]] void add_part_exactly(const borders& all, const csr_product& a, std::size_t row,
                                        std::size_t begin, std::size_t end,
                                        const exact_row_kernels& kernels, exact_sums& to) {
  exact_factors room;
  const std::size_t first = all.begin_of(row);
  add_part_of_row(a, first + begin, first + end, kernels.node, room, to);
}

/// Sums one part exactly. Terms of the row cut at its begin are added to `head`, of the one at its
/// end to `tail`.
template <class A>
void multiply_part_exactly(const borders& all, const csr_product& a, std::size_t share,
                           const exact_row_kernels& kernels, exact_sums* head, exact_sums* tail) {
  const border begin = all[share], end = all[share + 1];
  std::size_t first = begin.row;
  if (begin.term > 0) {
    const bool within = end.row == begin.row;
    const std::size_t length = all.begin_of(begin.row + 1) - all.begin_of(begin.row);
    add_part_exactly(all, a, begin.row, begin.term, within ? end.term : length, kernels, *head);
    if (within) return;
    ++first;
  }
  multiply_rows_exactly<A>(a, first, end.row - first, kernels);
  if (end.term > 0) add_part_exactly(all, a, end.row, 0, end.term, kernels, *tail);
}

/// Not inlined, for the stack's sake.
template <class A>
[[gnu::noinline]] void join_exactly(const borders& all, const csr_product& a,
                                    const std::vector<exact_sums>& heads,
                                    const std::vector<exact_sums>& tails) {
  exact_sums row;
  for (std::size_t i = 0; i < all.shares; ++i) {
    const border begin = all[i], end = all[i + 1];
    if (begin.term > 0) {
      row.merge(heads[i]);
      if (end.row == begin.row) continue;
      const A sum = rounded_row<A>(row);
      write_rows(a, begin.row, 1, &sum);
    }
    row = tails[i];
  }
}

template <class A>
void multiply_exactly(const executor& where, const csr_product& a, const borders& all) {
  const exact_row_kernels kernels = simd::exact_row_kernels_of(where.instructions());
  bool cuts = false;
  for (std::size_t i = 1; i < all.shares; ++i) cuts |= all[i].term > 0;
  std::vector<exact_sums> heads(cuts ? all.shares : 0), tails(cuts ? all.shares : 0);
  take_shares(all.shares, threads_of(where), [&](std::size_t i) {
    multiply_part_exactly<A>(all, a, i, kernels, cuts ? &heads[i] : nullptr,
                             cuts ? &tails[i] : nullptr);
  });
  if (cuts) join_exactly<A>(all, a, heads, tails);
}

}  // namespace

void backend::spmv(const executor& where, const csr_product& a) const {
  const host_analysis* const found = analysis_of(a);
  const bool sliced = found != nullptr && found->slices;
  const borders all(a.a, threads_of(where), sliced ? &*found->slices : nullptr);
  with_row_accumulator(a, [&]<class A>() {
    a.options.grade.is_exact() ? multiply_exactly<A>(where, a, all) : multiply<A>(where, a, all);
  });
}

std::shared_ptr<const spmv_analysis> backend::analyse(const executor& where, const csr_operand& a,
                                                      const planned_products& products) const {
  const std::size_t shares =
      count_parts(a, threads_of(where), min_share(products.fixed_columns, products.fixed_values));
  auto analysis = std::make_shared<host_analysis>(a, products, shares);
  const borders all(a, threads_of(where), analysis->slices ? &*analysis->slices : nullptr);
  std::size_t cut = 0;
  for (std::size_t i = 1; i < all.shares; ++i) cut += all[i].term > 0;
  const auto threads = std::min(all.shares, static_cast<std::size_t>(threads_of(where)));
  analysis->description.insert(0, "equal shares of rows and terms for " + std::to_string(threads) +
                                      (threads == 1 ? " thread" : " threads") +
                                      (cut > 0 ? ", long rows cut at chunks; " : "; "));
  return analysis;
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
