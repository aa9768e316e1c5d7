// Transpose on a device. CUB's radix sort by column is stable, so a column's terms stay in the
// order of rows.
#include "backends/cuda/cuda.hpp"

#include "backends/common/elementwise/moves.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/cuda/device/cub.cuh"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <bit>
#include <limits>

namespace tally::backends::cuda {
namespace {

/// Transpose, with its memory.
struct device_transpose : csr_transpose {
  device_memory offsets, rows, value_at, values;
};

/// Kernel parameter; terms are numbered by row.
template <class Index>
struct transposition {
  row_bounds bounds;
  index_vector columns;
  std::int64_t height;
  std::int64_t width;
  std::int64_t terms;
  const std::int64_t* first_terms;         ///< by row, or null if contiguous
  std::make_unsigned_t<Index>* column_of;  ///< by term
  std::make_unsigned_t<Index>* sorted_columns;
  Index* term;    ///< term numbers
  Index* sorted;  ///< the same, transposed
  Index* row_of;  ///< by term
  Index* place_of;
  Index* offsets;
  Index* rows;
  Index* value_at;  ///< null if values are kept
  const std::byte* from;
  std::byte* values;
  int size;  ///< of a value
};

__global__ void __launch_bounds__(item_threads)
    measure_rows(const row_bounds bounds, std::int64_t height, std::int64_t* lengths) {
  for (std::int64_t i = this_thread(); i <= height; i += all_threads()) {
    lengths[i] =
        i < height ? static_cast<std::int64_t>(bounds.length(static_cast<std::size_t>(i))) : 0;
  }
}

/// Writes each term's column, number, row and index, one warp per row.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    list_terms(const __grid_constant__ transposition<Index> t) {
  for (std::int64_t i = this_thread() / 32; i < t.height; i += all_threads() / 32) {
    const auto row = static_cast<std::size_t>(i);
    const auto begin = static_cast<std::int64_t>(t.bounds.begin(row));
    const auto n = static_cast<std::int64_t>(t.bounds.length(row));
    const std::int64_t first = t.first_terms != nullptr ? t.first_terms[i] : begin;
    for (std::int64_t k = threadIdx.x % 32; k < n; k += 32) {
      t.column_of[first + k] =
          static_cast<std::make_unsigned_t<Index>>(t.columns[static_cast<std::size_t>(begin + k)]);
      t.term[first + k] = static_cast<Index>(first + k);
      t.row_of[first + k] = static_cast<Index>(i);
      t.place_of[first + k] = static_cast<Index>(begin + k);
    }
  }
}

/// Writes where columns begin among the sorted terms.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    find_columns(const __grid_constant__ transposition<Index> t) {
  for (std::int64_t c = this_thread(); c <= t.width; c += all_threads()) {
    t.offsets[c] = static_cast<Index>(lower_bound(t.sorted_columns, t.terms, c));
  }
}

/// Writes rows, and indices or values, transposed.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    put_terms(const __grid_constant__ transposition<Index> t) {
  for (std::int64_t i = this_thread(); i < t.terms; i += all_threads()) {
    const Index term = t.sorted[i];
    t.rows[i] = t.row_of[term];
    const std::int64_t place = t.place_of[term];
    if (t.value_at != nullptr) {
      t.value_at[i] = static_cast<Index>(place);
      continue;
    }
    const auto copy = [&]<class T>(T) {
      const T* const from = reinterpret_cast<const T*>(t.from);
      T* const to = reinterpret_cast<T*>(t.values);
      for (int k = 0; k < t.size / static_cast<int>(sizeof(T)); ++k) {
        const int units = t.size / static_cast<int>(sizeof(T));
        to[i * units + k] = from[place * units + k];
      }
    };
    t.size == 2 ? copy(std::uint16_t{}) : copy(std::uint32_t{});  // values' alignment
  }
}

template <class Index>
std::shared_ptr<const csr_transpose> transposed(const csr_operand& a, cudaStream_t stream,
                                                std::int64_t terms, const std::int64_t* first_terms,
                                                bool keeps_values) {
  using Key = std::make_unsigned_t<Index>;
  auto made = std::make_shared<device_transpose>();
  const auto n = static_cast<std::size_t>(terms);
  const std::size_t size = size_of(a.values.element);
  const auto allocated = [](device_memory& memory, std::size_t bytes) {
    memory.allocate(std::max<std::size_t>(bytes, 1));
    return memory.get();
  };
  device_memory keys[2], numbers[2], row_of, place_of;
  transposition<Index> t{row_bounds(a),
                         index_vector(a.column_indices),
                         static_cast<std::int64_t>(a.rows),
                         static_cast<std::int64_t>(a.columns),
                         terms,
                         first_terms};
  t.column_of = static_cast<Key*>(allocated(keys[0], n * sizeof(Key)));
  t.sorted_columns = static_cast<Key*>(allocated(keys[1], n * sizeof(Key)));
  t.term = static_cast<Index*>(allocated(numbers[0], n * sizeof(Index)));
  t.sorted = static_cast<Index*>(allocated(numbers[1], n * sizeof(Index)));
  t.row_of = static_cast<Index*>(allocated(row_of, n * sizeof(Index)));
  t.place_of = static_cast<Index*>(allocated(place_of, n * sizeof(Index)));
  t.offsets = static_cast<Index*>(allocated(made->offsets, (a.columns + 1) * sizeof(Index)));
  t.rows = static_cast<Index*>(allocated(made->rows, n * sizeof(Index)));
  t.size = static_cast<int>(size);
  t.from = static_cast<const std::byte*>(a.values.data);
  if (keeps_values) {
    t.values = static_cast<std::byte*>(allocated(made->values, n * size));
  } else {
    t.value_at = static_cast<Index*>(allocated(made->value_at, n * sizeof(Index)));
  }
  run(stream, &list_terms<Index>, t.height * 32, t);
  const int bits = std::max(1, static_cast<int>(std::bit_width(a.columns - 1)));
  with_room([&](void* room, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(room, bytes, t.column_of, t.sorted_columns, t.term,
                                           t.sorted, static_cast<Index>(terms), 0, bits, stream);
  });
  run(stream, &find_columns<Index>, t.width + 1, t);
  run(stream, &put_terms<Index>, terms, t);
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  made->matrix = {a.columns,
                  a.rows,
                  {t.offsets, a.columns + 1, 1, type_of<Index>},
                  {t.rows, n, 1, type_of<Index>},
                  {t.values, n, 1, a.values.element}};
  if (!keeps_values) made->places = {t.value_at, n, 1, type_of<Index>};
  return made;
}

std::shared_ptr<const csr_transpose> transposed(const executor& where, const csr_operand& a,
                                                bool keeps_values) {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const beside_captures mode;
  auto terms = static_cast<std::int64_t>(a.nonzeros());
  device_memory lengths, first_terms;
  if (a.row_ends) {
    const auto n = static_cast<std::int64_t>(a.rows) + 1;
    lengths.allocate(static_cast<std::size_t>(n) * sizeof(std::int64_t));
    first_terms.allocate(static_cast<std::size_t>(n) * sizeof(std::int64_t));
    auto* const in = static_cast<std::int64_t*>(lengths.get());
    auto* const out = static_cast<std::int64_t*>(first_terms.get());
    run(stream, &measure_rows, n, row_bounds(a), n - 1, in);
    with_room([&](void* room, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n, stream);
    });
    check(cudaMemcpyAsync(&terms, out + n - 1, sizeof terms, cudaMemcpyDefault, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  const auto* const first = static_cast<const std::int64_t*>(first_terms.get());
  constexpr auto max_index = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  return std::max({a.rows, a.columns, a.nonzeros(), static_cast<std::size_t>(terms)}) <= max_index
             ? transposed<std::int32_t>(a, stream, terms, first, keeps_values)
             : transposed<std::int64_t>(a, stream, terms, first, keeps_values);
}

}  // namespace

std::shared_ptr<const csr_transpose> backend::transpose(const executor& where, const csr_operand& a,
                                                        bool keeps_values) const {
  {
    const current_device current(where.device());
    (void)is_captured(where.stream(), true, "the transpose of a sparse matrix");
  }
  return in_own_thread([&] { return transposed(where, a, keeps_values); });
}

}  // namespace tally::backends::cuda
