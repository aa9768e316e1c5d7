// The transpose of a sparse matrix on Kokkos: terms are put into columns in any order, then sorted
// by row.
#include "backends/kokkos/kokkos.hpp"

#include "backends/common/floating_point_environment.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/kokkos/runtime/launch.hpp"
#include "backends/kokkos/runtime/runtime.hpp"

#include <Kokkos_Core.hpp>
#include <tally/error.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <type_traits>

namespace tally::backends::kokkos {
namespace {

/// Memory of the default execution space. The destructor takes `acquire`'s lock, which the owner
/// must not hold.
class space_memory {
 public:
  space_memory() = default;
  ~space_memory() {
    if (memory_ == nullptr) return;
    const default_environment environment;  // for the device's runtime
    try {
      const auto lock = acquire();
      Kokkos::kokkos_free<memory>(memory_);
    } catch (const error&) {  // finalised
    }
  }
  space_memory(const space_memory&) = delete;
  space_memory& operator=(const space_memory&) = delete;

  /// @throws as `fail_allocation`.
  void allocate(std::size_t bytes) {
    try {
      memory_ = Kokkos::kokkos_malloc<memory>("tally transpose", std::max<std::size_t>(bytes, 1));
    } catch (const std::exception&) {
      fail_allocation(bytes);
    }
  }
  template <class T>
  T* get() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

struct kept_transpose : csr_transpose {
  space_memory offsets, rows, value_at, values;
};

/// Terms by column, each with its row and index.
struct column_terms {
  row_bounds bounds;
  index_vector columns;
  std::int64_t* offsets;  // columns + 1
  std::int64_t* rows;
  std::int64_t* places;
};

struct add_lengths {
  row_bounds rows;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& sum) const { sum += rows.length(i); }
};

/// Counts column c's terms at offset c + 1.
struct count_terms {
  column_terms all;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (std::size_t j = all.bounds.begin(i); j < all.bounds.end(i); ++j) {
      Kokkos::atomic_add(all.offsets + all.columns[j] + 1, std::int64_t{1});
    }
  }
};

/// Exclusive prefix sum of the counts.
struct sum_counts {
  column_terms all;
  KOKKOS_FUNCTION void operator()(std::size_t c, std::int64_t& sum, bool last) const {
    const std::int64_t n = all.offsets[c + 1];
    if (last) all.offsets[c + 1] = sum;
    sum += n;
  }
};

/// Puts column c's terms from there on, so that offset c + 1 becomes the column's end.
struct put_terms {
  column_terms all;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (std::size_t j = all.bounds.begin(i); j < all.bounds.end(i); ++j) {
      const std::int64_t at =
          Kokkos::atomic_fetch_add(all.offsets + all.columns[j] + 1, std::int64_t{1});
      all.rows[at] = static_cast<std::int64_t>(i);
      all.places[at] = static_cast<std::int64_t>(j);
    }
  }
};

/// Sorts a column's terms by row and index; heap sort needs no memory.
struct sort_terms {
  column_terms all;

  KOKKOS_FUNCTION bool less(std::int64_t a, std::int64_t b) const {
    return all.rows[a] != all.rows[b] ? all.rows[a] < all.rows[b] : all.places[a] < all.places[b];
  }
  KOKKOS_FUNCTION void exchange(std::int64_t a, std::int64_t b) const {
    const std::int64_t row = all.rows[a], place = all.places[a];
    all.rows[a] = all.rows[b];
    all.places[a] = all.places[b];
    all.rows[b] = row;
    all.places[b] = place;
  }
  /// Sifts a term down in the heap of n terms from `first` on.
  KOKKOS_FUNCTION void sink(std::int64_t first, std::int64_t root, std::int64_t n) const {
    for (std::int64_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
      if (child + 1 < n && less(first + child, first + child + 1)) ++child;
      if (!less(first + root, first + child)) return;
      exchange(first + root, first + child);
      root = child;
    }
  }
  KOKKOS_FUNCTION void operator()(std::size_t c) const {
    const std::int64_t first = all.offsets[c], n = all.offsets[c + 1] - first;
    for (std::int64_t root = n / 2; root-- > 0;) sink(first, root, n);
    for (std::int64_t end = n; end-- > 1;) {
      exchange(first, first + end);
      sink(first, 0, end);
    }
  }
};

struct copy_values {
  const std::byte* from;
  const std::int64_t* places;
  std::byte* to;
  std::size_t size;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::byte* const value = from + static_cast<std::size_t>(places[i]) * size;
    for (std::size_t b = 0; b < size; ++b) to[i * size + b] = value[b];
  }
};

}  // namespace

std::shared_ptr<const csr_transpose> backend::transpose(const executor& where, const csr_operand& a,
                                                        bool keeps_values) const {
  auto made = std::make_shared<kept_transpose>();  // outlives the lock if something fails
  return locked([&] {
    const space on = space_of(where);
    const auto range = [&](std::size_t n) { return up_to(on, n); };
    const row_bounds bounds(a);
    std::size_t terms = 0;
    Kokkos::parallel_reduce("tally terms", range(a.rows), add_lengths{bounds}, terms);

    constexpr std::size_t size = sizeof(std::int64_t);
    made->offsets.allocate((a.columns + 1) * size);
    made->rows.allocate(terms * size);
    made->value_at.allocate(terms * size);
    const column_terms all{bounds, index_vector(a.column_indices),
                           made->offsets.get<std::int64_t>(), made->rows.get<std::int64_t>(),
                           made->value_at.get<std::int64_t>()};
    using offsets_view = Kokkos::View<std::int64_t*, memory, Kokkos::MemoryUnmanaged>;
    Kokkos::deep_copy(on, offsets_view(all.offsets, a.columns + 1), 0);
    Kokkos::parallel_for("tally count", range(a.rows), count_terms{all});
    Kokkos::parallel_scan("tally scan", range(a.columns), sum_counts{all});
    Kokkos::parallel_for("tally put", range(a.rows), put_terms{all});
    Kokkos::parallel_for("tally sort", range(a.columns), sort_terms{all});

    made->matrix = {a.columns,
                    a.rows,
                    {all.offsets, a.columns + 1, 1, type::int64},
                    {all.rows, terms, 1, type::int64},
                    {nullptr, terms, 1, a.values.element}};
    if (keeps_values) {
      const std::size_t bytes = size_of(a.values.element);
      made->values.allocate(terms * bytes);
      Kokkos::parallel_for("tally values", range(terms),
                           copy_values{static_cast<const std::byte*>(a.values.data), all.places,
                                       made->values.get<std::byte>(), bytes});
      made->matrix.values.data = made->values.get<std::byte>();
    } else {
      made->places = {all.places, terms, 1, type::int64};
    }
    on.fence();
    return made;
  });
}

}  // namespace tally::backends::kokkos
