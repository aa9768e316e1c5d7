// spmv runs on OpenMP's threads, with the simd column's kernels. Threads have equal shares of what
// a product reads: rows and terms. Where a border between shares lies within a row, it lies at a
// chunk's border, so that each side sums whole chunks of the row; the row's tree is added up when
// all threads are done.
#include "backends/openmp/openmp.hpp"

#include "backends/openmp/shares.hpp"
#include "backends/simd/exact.hpp"
#include "backends/simd/spmv.hpp"
#include "src/core/sparse/csr.hpp"
#include "src/core/sparse/csr_defects.hpp"
#include "src/core/sparse/exact_rows.hpp"
#include "src/core/sparse/host_analysis.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace tally::backends::openmp {
namespace {

/// A thread takes at least so many rows and terms. On two Zen 4 cores two threads take as long as
/// one where there are 3400 to 4300 rows and terms in all; with 4600 to 6000 two are 1.1 to 1.2
/// times as fast (5-point stencils and random rows; the threads were still spinning from the last
/// call). Slices of rows take less time. On two cores of a Sapphire Rapids two threads took 0.9 of
/// one's time for slices in place of 11 160 rows and terms, and 1.1 with 7400; with values that are
/// kept 0.85 with 24 316, 1.07 with 14 849, 1.15 with 11 160.
std::size_t least_share(bool slices, bool keeps) {
  if (!slices) return 2048;
  return keeps ? 10240 : 4608;
}

/// A thread takes several shares of a large matrix, one after another: equal numbers of terms take
/// unequal times where rows are long in one place and short in another. Each has at least so many
/// rows and terms then. With eight shares two Zen 4 cores took 3.03 ms for R-MAT 2^18, with two
/// 3.26; 5 points of 1024^2 took 0.68 instead of 0.93 on 8 threads of a Xeon.
constexpr std::size_t shares_of_thread = 4;
constexpr std::size_t least_of_several = std::size_t{1} << 17;

/// Where rows are in slices, one is not cut that has at most a sixteenth of a share. A border
/// within a window, of which slices are summed in place, costs more than shares that unequal: on
/// two Zen 4 cores R-MAT 2^18 took 3.41 ms with such borders, and 3.19 without.
constexpr std::size_t rows_of_share = 16;

/// Returns how many shares so many threads take of a matrix.
std::size_t count_shares(const csr_operand& a, int threads, std::size_t least) {
  const std::size_t work = a.rows + a.nonzeros();
  const auto most = static_cast<std::size_t>(threads);
  const bool has_several = most > 1 && work / (most * shares_of_thread) >= least_of_several;
  return has_several ? most * shares_of_thread : std::clamp<std::size_t>(work / least, 1, most);
}

/// Calls f(i) of each share. Thread i begins with share i, and takes the next that nobody has when
/// it is done. f must not throw, since it runs in a parallel region.
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

/// One share ends and the next begins here: before a row, or before the first term of a chunk of a
/// row.
struct border {
  std::size_t row = 0;
  std::size_t term = 0;
};

/// Finds the borders of the shares. A thread finds its own two in a µs. Where rows lie anywhere
/// among the values, shares are rows in equal numbers.
struct borders {
  row_bounds bounds;
  bool in_order;  ///< whether a row begins where the one before it ends
  std::size_t rows;
  std::size_t work;  ///< how many rows and terms there are
  std::size_t shares;
  /// Shares begin where these windows do, and cut no row; null where they may begin anywhere.
  const std::vector<slice_window>* windows = nullptr;

  /// Shares begin where the windows of slices do, unless a row may be cut, and are no more then. (A
  /// plan has windows for the threads that its executor had.)
  borders(const csr_operand& a, int threads, const row_slices* slices)
      : bounds(a),
        in_order(!a.row_ends),
        rows(a.rows),
        work(a.rows + a.nonzeros()),
        shares(count_shares(a, threads,
                            least_share(slices != nullptr, slices != nullptr && slices->keeps))) {
    const std::size_t most_whole = std::max(order::chunk, work / shares / rows_of_share);
    if (slices != nullptr && slices->longest <= most_whole) {
      windows = &slices->windows;
      shares = std::min(shares, std::max<std::size_t>(windows->size() - 1, 1));
    }
  }

  /// Returns a number that is no smaller than how many chunks of cut rows a share has: a border is
  /// at most half a chunk from where shares would be equal, and two chunks may be short.
  std::size_t most_cut_chunks() const { return work / shares / order::chunk + 4; }

  std::size_t begin_of(std::size_t row) const { return bounds.begin(row); }

  border operator[](std::size_t share) const {
    if (share == shares) return {rows, 0};
    if (!in_order) return {rows / shares * share + rows % shares * share / shares, 0};
    const std::size_t target = work / shares * share + work % shares * share / shares;
    if (windows != nullptr) return {window_at(target), 0};
    // `row` becomes the last row that begins at the target or before it.
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
  /// Returns the first row of the window that begins next to so many rows and terms.
  std::size_t window_at(std::size_t target) const {
    const auto work_before = [&](const slice_window& w) { return w.first + begin_of(w.first); };
    auto w = std::ranges::lower_bound(*windows, target, {}, work_before);
    if (w != windows->begin() && target - work_before(w[-1]) < work_before(*w) - target) --w;
    return w->first;
  }
};

/// Holds the sums of those of a row's chunks that are in one share.
template <class A>
struct row_part {
  std::size_t row = 0;
  bool ends = false;  ///< whether the row's last chunk is among them
  std::span<dot_sum<A>> chunks;
};

/// Holds what a share has of rows that other shares have a part of: the row that it begins in the
/// middle of, and the row that it ends in.
template <class A>
struct cut_rows {
  row_part<A> head, tail;
};

/// Sums the chunks of terms [begin, end) of a row, and puts the sums to the first places of `room`.
/// It has room for all, unless the matrix is broken.
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

/// Sums one share. It must not throw, since it runs in a parallel region. `room` holds
/// `most_cut_chunks` sums.
template <class A>
cut_rows<A> multiply_share(const row_kernels<A>& kernels, const borders& all, const csr_product& a,
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

/// Writes y of the rows that were cut.
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

// This is not inlined: the exact grade's way would take its trees' part of the stack, too.
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
  // These are bytes, so that those that no thread writes are never touched.
  const std::size_t room = all.most_cut_chunks();
  const std::unique_ptr<std::byte[]> bytes(new std::byte[all.shares * room * sizeof(dot_sum<A>)]);
  auto* const sums = reinterpret_cast<dot_sum<A>*>(bytes.get());
  take_shares(all.shares, threads, [&](std::size_t i) {
    cut[i] = multiply_share(kernels, all, a, all[i], all[i + 1], std::span(sums + i * room, room));
  });
  join(a, cut);
}

/// Adds terms [begin, end) of a row. (What it takes of the stack would add to what rows take.)
[[gnu::noinline]] void add_part_exactly(const borders& all, const csr_product& a, std::size_t row,
                                        std::size_t begin, std::size_t end,
                                        const exact_row_kernels& kernels, exact_sums& to) {
  exact_factors room;
  const std::size_t first = all.begin_of(row);
  add_part_of_row(a, first + begin, first + end, kernels.node, room, to);
}

/// Sums one share exactly. Of rows that other shares have a part of it adds its own: of the row
/// that it begins in the middle of to `head`, of the row that it ends in to `tail`.
template <class A>
void multiply_share_exactly(const borders& all, const csr_product& a, std::size_t share,
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

/// Writes y of the rows that were cut. (It is not inlined for the same reason.)
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
    multiply_share_exactly<A>(all, a, i, kernels, cuts ? &heads[i] : nullptr,
                              cuts ? &tails[i] : nullptr);
  });
  if (cuts) join_exactly<A>(all, a, heads, tails);
}

}  // namespace

void spmv(const executor& where, const csr_product& a) {
  const host_analysis* const found = analysis_of(a);
  const bool sliced = found != nullptr && found->slices;
  const borders all(a.a, threads_of(where), sliced ? &*found->slices : nullptr);
  with_row_accumulator(a, [&]<class A>() {
    a.options.grade.is_exact() ? multiply_exactly<A>(where, a, all) : multiply<A>(where, a, all);
  });
}

std::shared_ptr<const spmv_analysis> analyse(const executor& where, const csr_operand& a,
                                             const planned_products& products) {
  const std::size_t shares = count_shares(
      a, threads_of(where), least_share(products.fixed_columns, products.fixed_values));
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

csr_defect find_defect(const executor& where, const csr_operand& a) {
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
