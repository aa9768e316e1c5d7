// csr_from_coo on a device: two stable sorts, by column and by row, so that entries of one place
// stay in their order; then a thread per place sums them one after another. Exact sums are those of
// segments.
#include "backends/cuda/cuda.hpp"

#include "backends/common/order/dot_sum.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/common/types/typed_vector.hpp"
#include "backends/cuda/device/cub.cuh"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace tally::backends::cuda {
namespace {

struct strided_indices {
  index_vector indices;
  std::ptrdiff_t increment = 1;

  explicit strided_indices(const operand& v) : indices(v), increment(v.increment) {}
  /// (Modulo 2^64: backwards from the first.)
  __device__ std::int64_t operator[](std::int64_t i) const {
    const std::int64_t at = i * increment;
    return indices.wide ? static_cast<const std::int64_t*>(indices.data)[at]
                        : static_cast<const std::int32_t*>(indices.data)[at];
  }
};

__device__ inline void put_index(const output_operand& v, std::int64_t i, std::int64_t index) {
  if (v.element == type::int64) {
    static_cast<std::int64_t*>(v.data)[i] = index;
  } else {
    static_cast<std::int32_t*>(v.data)[i] = static_cast<std::int32_t>(index);
  }
}

/// Writes the first entries, if any, whose row and column are outside.
__global__ void __launch_bounds__(item_threads)
    find_outside(const strided_indices rows, const strided_indices columns, std::int64_t n,
                 std::int64_t height, std::int64_t width, unsigned long long* first) {
  const auto is_outside = [](std::int64_t index, std::int64_t size) {
    return index < 0 || index >= size;
  };
  for (std::int64_t i = this_thread(); i < n; i += all_threads()) {
    if (is_outside(rows[i], height)) atomicMin(first, static_cast<unsigned long long>(i));
    if (is_outside(columns[i], width)) atomicMin(first + 1, static_cast<unsigned long long>(i));
  }
}

/// Kernel parameter. Entries are sorted by `order`; Index holds all indices and counts.
template <class Index>
struct sorting {
  using key = std::make_unsigned_t<Index>;

  strided_indices rows, columns;
  std::int64_t n;
  std::int64_t height;
  key* from;       ///< keys to sort
  key* row_of;     ///< sorted
  Index* numbers;  ///< of entries
  Index* order;    ///< the same, sorted
  Index* place;    ///< by sorted entry: 1 where a place begins; then the number of places up to it
  Index* begins;   ///< by place, and the end
};

template <class Index>
__global__ void __launch_bounds__(item_threads)
    list_columns(const __grid_constant__ sorting<Index> s) {
  for (std::int64_t i = this_thread(); i < s.n; i += all_threads()) {
    s.from[i] = static_cast<typename sorting<Index>::key>(s.columns[i]);
    s.order[i] = static_cast<Index>(i);
  }
}

/// Rows of the entries sorted by column.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    list_rows(const __grid_constant__ sorting<Index> s) {
  for (std::int64_t i = this_thread(); i < s.n; i += all_threads()) {
    s.from[i] = static_cast<typename sorting<Index>::key>(s.rows[s.numbers[i]]);
  }
}

template <class Index>
__global__ void __launch_bounds__(item_threads)
    mark_places(const __grid_constant__ sorting<Index> s) {
  for (std::int64_t i = this_thread(); i < s.n; i += all_threads()) {
    s.place[i] = i == 0 || s.row_of[i] != s.row_of[i - 1] ||
                 s.columns[s.order[i]] != s.columns[s.order[i - 1]];
  }
}

/// Writes the places' begins and columns.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    list_places(const __grid_constant__ sorting<Index> s,
                const __grid_constant__ output_operand columns) {
  for (std::int64_t i = this_thread(); i < s.n; i += all_threads()) {
    const Index before = i > 0 ? s.place[i - 1] : 0;
    if (s.place[i] != before) {
      s.begins[before] = static_cast<Index>(i);
      put_index(columns, before, s.columns[s.order[i]]);
    }
    if (i == s.n - 1) s.begins[s.place[i]] = static_cast<Index>(s.n);
  }
}

/// Writes the number of places before each row.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    list_offsets(const __grid_constant__ sorting<Index> s,
                 const __grid_constant__ output_operand offsets) {
  for (std::int64_t r = this_thread(); r <= s.height; r += all_threads()) {
    const std::int64_t first = lower_bound(s.row_of, s.n, r);
    put_index(offsets, r, first > 0 ? s.place[first - 1] : 0);
  }
}

__device__ inline void copy_value(const std::byte* from, std::byte* to, int size) {
  const auto copy = [&]<class T>(T) {
    for (int k = 0; k < size / static_cast<int>(sizeof(T)); ++k) {
      reinterpret_cast<T*>(to)[k] = reinterpret_cast<const T*>(from)[k];
    }
  };
  size == 2 ? copy(std::uint16_t{}) : copy(std::uint32_t{});  // values' alignment
}

/// Kernel parameter.
struct value_arrays {
  const std::byte* from;
  std::ptrdiff_t step;  ///< bytes between elements
  int size;             ///< of a value
  std::byte* to;        ///< contiguous
};

/// Copies the values in the order of the sorted entries.
template <class Index>
__global__ void __launch_bounds__(item_threads)
    sort_values(const Index* order, std::int64_t n, const __grid_constant__ value_arrays v) {
  for (std::int64_t i = this_thread(); i < n; i += all_threads()) {
    copy_value(v.from + order[i] * v.step, v.to + i * v.size, v.size);
  }
}

/// Writes each place's value: the only one, or the sum in type A, from `exact` unless null.
template <class Index, class A>
__global__ void __launch_bounds__(item_threads)
    sum_places(const Index* begins, const Index* order, std::int64_t places, const value_arrays v,
               const __grid_constant__ typed_vector values, const __grid_constant__ typed_vector to,
               const complex_number<A>* exact_complex, const A* exact) {
  for (std::int64_t k = this_thread(); k < places; k += all_threads()) {
    const std::int64_t first = begins[k], end = begins[k + 1];
    if (end - first == 1) {
      copy_value(v.from + order[first] * v.step, v.to + k * v.size, v.size);
      continue;
    }
    complex_number<A> sum{};
    if (exact_complex != nullptr) {
      sum = exact_complex[k];
    } else if (exact != nullptr) {
      sum.re = exact[k];
    } else {
      const auto value = [&](std::int64_t i) {
        return values.get<complex_number<A>>(static_cast<std::size_t>(order[i]));
      };
      sum = value(first);
      for (std::int64_t i = first + 1; i < end; ++i) {
        const complex_number<A> next = value(i);
        sum = {sum.re + next.re, sum.im + next.im};
      }
      sum = {canonical(sum.re), canonical(sum.im)};
    }
    if (values.complex) {
      to.put(static_cast<std::size_t>(k), sum);
    } else {
      to.put(static_cast<std::size_t>(k), sum.re);
    }
  }
}

void* allocated(device_memory& memory, std::size_t bytes) {
  memory.allocate(std::max<std::size_t>(bytes, 1));
  return memory.get();
}

template <class T>
T fetched(const T* from, cudaStream_t stream) {
  T value;
  check(cudaMemcpyAsync(&value, from, sizeof value, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return value;
}

assembled found_outside(const coo_arguments& a, cudaStream_t stream) {
  constexpr auto none = ~0ull;
  device_memory memory;
  auto* const first = static_cast<unsigned long long*>(allocated(memory, 2 * sizeof none));
  check(cudaMemsetAsync(first, 0xff, 2 * sizeof none, stream), "cudaMemsetAsync");
  run(stream, &find_outside, static_cast<std::int64_t>(a.values.size),
      strided_indices(a.row_indices), strided_indices(a.column_indices),
      static_cast<std::int64_t>(a.values.size), static_cast<std::int64_t>(a.rows),
      static_cast<std::int64_t>(a.columns), first);
  for (const bool is_row : {true, false}) {
    const unsigned long long entry = fetched(is_row ? first : first + 1, stream);
    if (entry == none) continue;
    const operand at = (is_row ? a.row_indices : a.column_indices).slice(entry, 1);
    const std::int64_t index = at.element == type::int64
                                   ? fetched(static_cast<const std::int64_t*>(at.data), stream)
                                   : fetched(static_cast<const std::int32_t*>(at.data), stream);
    return {is_row ? assembled::defect::row : assembled::defect::column, entry, index};
  }
  return {};
}

/// Sums of the segments, in the type of `sum`, correctly rounded.
template <class Index>
void add_exactly(const executor& where, const coo_arguments& a, const Index* begins,
                 std::size_t places, const void* sorted, void* sums, type sum_type) {
  csr_product product;
  product.a.rows = places;
  product.a.row_offsets = {begins, places + 1, 1, type_of<Index>};
  product.a.column_indices = {nullptr, a.values.size, 1, type::int32};
  product.a.values = {sorted, a.values.size, 1, a.values.element};
  product.x = {nullptr, 0, 1, part_of(sum_type)};
  product.y = {sums, places, 1, sum_type};
  product.options = {tally::exact, false};
  instance.spmv(where, product);
}

template <class Index>
assembled assemble(const executor& where, const coo_arguments& a, cudaStream_t stream) {
  using Key = typename sorting<Index>::key;
  const std::size_t n = a.values.size;
  device_memory keys[2], numbers[2], places, begins_memory, sorted_values, sums;
  sorting<Index> s{strided_indices(a.row_indices), strided_indices(a.column_indices),
                   static_cast<std::int64_t>(n), static_cast<std::int64_t>(a.rows)};
  s.from = static_cast<Key*>(allocated(keys[0], n * sizeof(Key)));
  s.row_of = static_cast<Key*>(allocated(keys[1], n * sizeof(Key)));
  s.numbers = static_cast<Index*>(allocated(numbers[0], n * sizeof(Index)));
  s.order = static_cast<Index*>(allocated(numbers[1], n * sizeof(Index)));
  s.place = static_cast<Index*>(allocated(places, n * sizeof(Index)));
  s.begins = static_cast<Index*>(allocated(begins_memory, (n + 1) * sizeof(Index)));
  const std::size_t size = size_of(a.values.element);
  value_arrays v{static_cast<const std::byte*>(a.values.data),
                 a.values.increment * static_cast<std::ptrdiff_t>(size), static_cast<int>(size),
                 static_cast<std::byte*>(a.sorted_values.data)};
  const bool is_complex = tally::is_complex(a.values.element);
  const bool is_wide = part_of(a.values.element) == type::float64;
  const std::size_t sum_size = (is_wide ? 8 : 4) * (is_complex ? 2 : 1);
  if (a.sums.is_exact()) {  // all memory before anything is written
    (void)allocated(sorted_values, n * size);
    (void)allocated(sums, n * sum_size);
  }

  const auto sort = [&](std::size_t values, const Index* in, Index* out) {
    const int bits =
        std::max(1, static_cast<int>(std::bit_width(std::max<std::size_t>(values, 1) - 1)));
    with_room([&](void* room, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(room, bytes, s.from, s.row_of, in, out,
                                             static_cast<Index>(n), 0, bits, stream);
    });
  };
  run(stream, &list_columns<Index>, s.n, s);
  sort(a.columns, s.order, s.numbers);
  run(stream, &list_rows<Index>, s.n, s);
  sort(a.rows, s.numbers, s.order);
  run(stream, &mark_places<Index>, s.n, s);
  with_room([&](void* room, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSum(room, bytes, s.place, s.place, static_cast<Index>(n),
                                         stream);
  });
  const std::int64_t stored = n > 0 ? fetched(s.place + (n - 1), stream) : Index{0};

  run(stream, &list_places<Index>, s.n, s, a.sorted_columns);
  run(stream, &list_offsets<Index>, s.height + 1, s, a.row_offsets);
  const auto sum_in = [&]<class A>(A) {
    const complex_number<A>* exact_complex = nullptr;
    const A* exact_real = nullptr;
    if (a.sums.is_exact() && stored > 0) {
      value_arrays to_sorted = v;
      to_sorted.to = static_cast<std::byte*>(sorted_values.get());
      run(stream, &sort_values<Index>, s.n, s.order, s.n, to_sorted);
      const type sum_type = is_complex ? type_of<std::complex<A>> : type_of<A>;
      add_exactly(where, a, s.begins, static_cast<std::size_t>(stored), sorted_values.get(),
                  sums.get(), sum_type);
      is_complex ? void(exact_complex = static_cast<const complex_number<A>*>(sums.get()))
                 : void(exact_real = static_cast<const A*>(sums.get()));
    }
    run(stream, &sum_places<Index, A>, stored, s.begins, s.order, stored, v, typed_vector(a.values),
        typed_vector(operand(a.sorted_values)), exact_complex, exact_real);
  };
  is_wide ? sum_in(double{}) : sum_in(float{});
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return {assembled::defect::none, static_cast<std::size_t>(stored), 0};
}

}  // namespace

assembled assemble(const executor& where, const coo_arguments& a) {
  {
    const current_device current(where.device());
    (void)is_captured(where.stream(), true, "csr_from_coo");
  }
  return in_own_thread([&]() -> assembled {
    const current_device current(where.device());
    const beside_captures mode;
    const assembled outside = found_outside(a, where.stream());
    if (outside.what != assembled::defect::none) return outside;
    constexpr auto max_index = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
    return std::max({a.rows, a.columns, a.values.size}) < max_index
               ? assemble<std::int32_t>(where, a, where.stream())
               : assemble<std::int64_t>(where, a, where.stream());
  });
}

}  // namespace tally::backends::cuda
