// Interface of a backend. Members are references: a missing operation does not compile.
#pragma once

#include <tally/buffer.hpp>
#include <tally/detail/functions.hpp>
#include <tally/dot.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/gather.hpp>
#include <tally/histogram.hpp>
#include <tally/interval_sum.hpp>
#include <tally/joined_sum.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/spmv.hpp>
#include <tally/transform.hpp>

#include "backends/common/types/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tally {
struct workspace_options;  // <tally/workspace.hpp>
}

namespace tally::backends {

/// Which processors can access an address.
struct place {
  static constexpr int none = -1;
  static constexpr int every = -2;

  bool host = true;
  /// A CUDA device, `every` (managed or pinned memory) or `none`.
  int device = none;
};

/// Whether (x, y) is in canonical order, the only one that backends implement.
inline bool in_order(type x, type y) {
  if constexpr (std::ranges::is_sorted(types::listed::numbers)) {
    return x <= y;  // faster than the table (tuning/short_calls.md: in_order)
  } else {
    static constexpr auto positions = table_over([]<class T>() { return types::position<T>; });
    return positions[x] <= positions[y];
  }
}

struct element_bytes {
  alignas(16) std::byte bytes[16] = {};
};

/// x_i * y_i (conjugated as requested), x_i, |x_i| as |re| + |im|, or |x_i|^2.
enum class exact_term : std::uint8_t { product, value, magnitude, square };

/// One exact sum, rounded once; for `square`, its correctly rounded root. With `result.words` the
/// sum (no root) is added to words.
struct exact_arguments {
  exact_term term = exact_term::product;
  operand x;
  operand y;  ///< empty unless terms are products
  conjugate conjugated = conjugate::none;
  output result;              ///< float32 or float64; for products and values also complex
  call_options options = {};  ///< the grade is always exact
};

/// Whether a sum is in the exact grade; integer sums are exact in either.
inline bool is_exact(const call_options& options, const output& result) {
  return result.words || (options.grade.is_exact() && result.element != type::int64);
}

/// Returns the stride of results in bytes.
inline std::size_t bytes_of(const output& result) {
  return result.words ? exact_words(result.element) * sizeof(std::int64_t)
                      : size_of(result.element);
}

inline exact_arguments exact_of(const dot_arguments& a) {
  return {exact_term::product, a.x, a.y, a.conjugated, a.result, a.options};
}
inline exact_arguments exact_of(const reduce_arguments& a) {
  constexpr exact_term terms[] = {exact_term::value, exact_term::magnitude, exact_term::square};
  return {terms[static_cast<std::size_t>(a.what)], a.x, {}, conjugate::none, a.result, a.options};
}

/// Destination of a field's terms; component k (`interval_shape::numbers`) starts at
/// `to + k * stride`.
struct terms_destination {
  interval_field elements;
  void* to = nullptr;
  std::size_t stride = 0;
};

/// Node sums of a longer vector, and terms of its cut chunks.
struct interval_arguments {
  const char* function;  ///< public name, for errors
  const interval_shape& shape;
  std::span<const interval_field> nodes;     ///< none empty
  void* sums = nullptr;                      ///< of all fields, contiguous
  std::span<const terms_destination> terms;  ///< none empty, each shorter than a chunk
  /// Factor before squaring: 1, or `up` or `down` of norm_range
  /// (backends/common/order/reduce_sum.hpp).
  double scale = 1;
  bool wait = true;  ///< output is in host memory, complete on return
  /// Called, unless null, when the terms are written; on a host before summing.
  const std::function<void()>& when_terms_are_there;
};

/// First out-of-range key of a vector.
struct out_of_range_key {
  std::int64_t index = -1;  ///< -1 if none
  std::int64_t key = 0;
};

/// First defect of a matrix: in offsets, else in columns; with four arrays, of the first bad row.
struct csr_defect {
  enum class kind : std::uint8_t {
    none,
    first_offset,       ///< row_offsets[0] is `value`, not 0
    decreasing_offset,  ///< row `index` starts at `before` and ends at `value` < `before`
    last_offset,        ///< row_offsets[rows] is `value`, not the number of values
    column,             ///< column_indices[index] is `value`, outside [0, columns)
    early_row,          ///< row `index` starts at `value` < 0
    late_row,           ///< row `index` ends at `value`, past the values
  };
  kind what = kind::none;
  std::size_t index = 0;
  std::int64_t value = 0;
  std::int64_t before = 0;
};

struct spmv_analysis {
  std::string description;  ///< how rows are summed, and why
  csr_defect defect;        ///< if any, the rest is meaningless

  virtual ~spmv_analysis() = default;
  /// Waits if queued.
  virtual const spmv_analysis& ready() const { return *this; }
};

struct planned_products {
  bool is_permuted = false;    ///< values are permuted
  bool fixed_columns = false;  ///< columns do not change
  bool fixed_values = false;   ///< nor values
  bool is_checked = false;     ///< no defects; else `analyse` searches
  bool queued = false;         ///< the caller does not wait; the plan may be made later
};

struct node_arguments;  // backends/common/order/node_sum.hpp

struct backend;

struct csr_transpose;  // backends/common/sparse/csr.hpp
struct csr_product;

using describe_operation = std::string(const executor& where);
using reaches_operation = bool(const executor& where, const place& memory);
using make_operation = executor();
using allocate_operation = void*(const executor& where, std::size_t bytes, reach who);
using deallocate_operation = void(const executor& where, void* memory, reach who) noexcept;
using copy_bytes_operation = void(const executor& where, const void* from, void* to,
                                  std::size_t bytes);
using pin_operation = void(const executor& where, void* memory, std::size_t bytes);
using unpin_operation = void(const executor& where, void* memory);
using make_staged_operation = std::shared_ptr<const backend>(const executor& where,
                                                             const workspace_options& options);
using dot_operation = void(const executor& where, const dot_arguments& arguments);
using multi_dot_operation = void(const executor& where, const multi_dot_arguments& arguments);
using fused_dot_operation = void(const executor& where, const transform_arguments& update,
                                 type computation, const dot_arguments& arguments);
using fused_nrm2_operation = void(const executor& where, const transform_arguments& update,
                                  type computation, const reduce_arguments& arguments);
using reduce_operation = void(const executor& where, const reduce_arguments& arguments);
using sum_interval_operation = void(const executor& where, const interval_arguments& arguments);
using sum_node_operation = void(const executor& where, const node_arguments& arguments);
using join_nodes_operation = void(const executor& where, const join_arguments& arguments);
using join_words_operation = void(const executor& where, const join_words_arguments& arguments);
using exact_row = void(const executor& where, const exact_arguments& arguments);
using exact_sums_operation = void(const executor& where, std::span<const exact_arguments> all);
using round_words_operation = void(const executor& where, const round_arguments& arguments);
using transform_operation = void(const executor& where, const transform_arguments& arguments,
                                 type computation);
using fill_operation = void(const executor& where, const element_bytes& value,
                            const output_operand& z);
using swap_operation = void(const executor& where, const output_operand& x,
                            const output_operand& y);
using gather_operation = void(const executor& where, const gather_arguments& arguments);
using for_each_part_operation = void(const executor& where, const char* function, std::size_t size,
                                     const part_calls& calls);
using extremum_operation = void(const executor& where, const extremum_arguments& arguments);
using histogram_operation = out_of_range_key(const executor& where,
                                             const histogram_arguments& arguments);
using spmv_operation = void(const executor& where, const csr_product& product);
using analyse_operation = std::shared_ptr<const spmv_analysis>(const executor& where,
                                                               const csr_operand& matrix,
                                                               const planned_products& products);
using transpose_operation = std::shared_ptr<const csr_transpose>(const executor& where,
                                                                 const csr_operand& matrix,
                                                                 bool keeps_values);
using find_defect_operation = csr_defect(const executor& where, const csr_operand& matrix);

struct backend {
  std::string_view name;
  /// Variant for people, such as "AVX2", or empty.
  describe_operation& describe;
  /// The executor with default options.
  /// @throws error no_device if the backend cannot run here.
  make_operation& make;
  /// Whether kernels on `where` can access the memory.
  reaches_operation& reaches;

  /// Memory for kernels, at least one byte; copies wait.
  allocate_operation& allocate;
  deallocate_operation& deallocate;
  copy_bytes_operation& copy_bytes;
  /// Page-locks host memory for a device, or unlocks it.
  pin_operation& pin;
  unpin_operation& unpin;
  /// A backend for data in host memory, processed in parts through its own memory. Null if kernels
  /// access host memory.
  make_staged_operation& make_staged;

  // Operations below run in the default floating-point environment (`default_environment`); a
  // backend sets it for its own threads.

  /// dot, dotc. Pre: equal sizes, aligned and accessible pointers, nonzero increments, canonical
  /// order (`in_order`), types that accumulate in the result's.
  dot_operation& dot;
  /// multi_dot, batched_dot. Pre: at least one pair, each as for `dot`, all of the first pair's
  /// types.
  multi_dot_operation& multi_dot;
  /// sum, asum and nrm2.
  reduce_operation& reduce;
  /// Unfinished sums as for `dot`, sum and asum, or of squares, and terms. Pre: something to write.
  sum_interval_operation& sum_interval;
  /// Unfinished sum of a node of a longer vector. Pre: as for `dot` and `reduce`.
  sum_node_operation& sum_node;
  /// Joins nodes, and words of exact sums. Without peer buffers (only cuda has them) nodes are
  /// local and words never joined.
  join_nodes_operation& join_nodes;
  join_words_operation& join_words;
  /// dot, sum, asum and nrm2, correctly rounded or added to words; no int64 results.
  exact_row& exact;
  /// At least one of these, with equal options.
  exact_sums_operation& exact_sums;
  round_words_operation& round_words;
  /// copy, scal, axpby, mul, axpbypcz, axypbz, relu, sigmoid or exp in the type `computation`.
  /// axpy, waxpby, add and sub come as axpby with factors 1 and -1 (same bits); mul is alpha * x *
  /// y; updates with factor 0 come without that vector. `y` is empty for one input. Complex vectors
  /// may come as real ones of twice the size. Pre: not empty.
  transform_operation& transform;
  /// `transform` of axpby or scal, then `dot` or `exact` of the result with another vector or
  /// itself. Fails before the update or not at all. Pre: not empty.
  fused_dot_operation& fused_dot;
  /// The same with nrm2.
  fused_nrm2_operation& fused_nrm2;
  /// Fills with a value of the elements' type. Pre: not empty.
  fill_operation& fill;
  /// Swaps disjoint vectors of one type. Pre: not empty.
  swap_operation& swap;
  /// Gathers from, or scatters to, indices; one type. Pre: not empty.
  gather_operation& gather;
  gather_operation& scatter;
  /// Calls the caller's function for parts (tree nodes) of a range, for transform and
  /// transform_reduce. Errors begin with `function`.
  for_each_part_operation& for_each_part;
  /// Only iamax may have an empty vector.
  extremum_operation& extremum;
  /// bincount, histogram_even and histogram_range; samples may be empty. Pre: valid bounds and
  /// edges, edges in host memory. bincount without `outside` waits and returns the first
  /// out-of-range key; in host memory nothing is written then.
  histogram_operation& histogram;
  /// Sums rows in the row order (backends/common/order/row_order.hpp) or correctly rounded; y_i is
  /// `scal` of the sum, or with `reads_addend()` `axpby`
  /// (backends/common/elementwise/elementwise.hpp) with the addend, in spmvs::combination. Pre: a
  /// row; a plan's analysis is of this matrix and backend.
  spmv_operation& spmv;
  /// Pre: at least one row; no defects, if the analysis is of a matrix that `is_checked`.
  analyse_operation& analyse;
  /// Whether `analyse` searches for defects itself.
  bool analyse_checks = false;
  /// Stable transpose: terms of a column stay in row order. Waits. Pre: no defects, a column.
  transpose_operation& transpose;
  /// Finds the first defect. Waits. Pre: consistent sizes.
  find_defect_operation& find_defect;
};

/// `reaches` of host backends.
inline bool host_reaches(const executor&, const place& memory) { return memory.host; }

}  // namespace tally::backends
