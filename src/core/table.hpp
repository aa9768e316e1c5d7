// A backend is a table of functions, one row for each operation. The members are references, so a
// backend that lacks a row does not compile.
#pragma once

#include <tally/buffer.hpp>
#include <tally/dot.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/functions.hpp>
#include <tally/gather.hpp>
#include <tally/histogram.hpp>
#include <tally/interval_sum.hpp>
#include <tally/joined_sum.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/spmv.hpp>
#include <tally/transform.hpp>

#include "src/core/types/tables.hpp"

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

/// Says who can reach an address.
struct place {
  static constexpr int none = -1;
  static constexpr int every = -2;

  bool host = true;  ///< whether the host can
  /// The CUDA device that can: its number, `every` (managed or pinned memory) or `none`.
  int device = none;
};

/// Says whether x is not after y in the list of types: so backends have the pair.
inline bool in_order(type x, type y) {
  if constexpr (std::ranges::is_sorted(types::listed::numbers)) {
    return x <= y;  // with a table, 8 doubles on simd take 12.5 ns instead of 11.7
  } else {
    static constexpr auto positions = table_over([]<class T>() { return types::position<T>; });
    return positions[x] <= positions[y];
  }
}

/// Is an element of any type, as bytes.
struct element_bytes {
  alignas(16) std::byte bytes[16] = {};
};

/// An exact sum has these terms: x_i * y_i (conjugated as asked), x_i, |x_i| (that is |re| + |im|),
/// or |x_i|^2.
enum class exact_term : std::uint8_t { product, value, magnitude, square };

/// Asks for one exact sum, correctly rounded; for `square`, for the correctly rounded square root
/// of the sum. With `result.words` the sum, without a root, is added to words instead.
struct exact_arguments {
  exact_term term = exact_term::product;
  operand x;
  operand y;  ///< it is empty unless the terms are products
  conjugate conjugated = conjugate::none;
  output result;  ///< float32 or float64; for products and values also complex64 or complex128
  call_options options = {};  ///< the grade is exact, whatever they say
};

/// Says whether a sum is asked for in the exact grade; sums of integers are exact in either.
inline bool is_exact(const call_options& options, const output& result) {
  return result.words || (options.grade.is_exact() && result.element != type::int64);
}

/// Returns the bytes from one result to the next.
inline std::size_t bytes_of(const output& result) {
  return result.words ? exact_words(result.element) * sizeof(std::int64_t)
                      : size_of(result.element);
}

/// Returns what is asked for as an exact sum.
inline exact_arguments exact_of(const dot_arguments& a) {
  return {exact_term::product, a.x, a.y, a.conjugated, a.result, a.options};
}
inline exact_arguments exact_of(const reduce_arguments& a) {
  constexpr exact_term terms[] = {exact_term::value, exact_term::magnitude, exact_term::square};
  return {terms[static_cast<std::size_t>(a.what)], a.x, {}, conjugate::none, a.result, a.options};
}

/// Is where terms go: those of number k of a field (`interval_shape::numbers`) begin k * stride
/// numbers behind `to`.
struct placed_terms {
  interval_field elements;
  void* to = nullptr;
  std::size_t stride = 0;
};

/// Asks for sums that are nodes of a longer vector's tree, and for terms of its chunks that are
/// cut.
struct interval_arguments {
  const char* function;                   ///< the public one's name, for errors
  const interval_shape& shape;            ///< all fields have its terms and accumulator
  std::span<const interval_field> nodes;  ///< what sums are of; none is empty
  void* sums = nullptr;                   ///< the numbers of all sums go here, one after the other
  std::span<const placed_terms> terms;    ///< none is empty, and each is shorter than a chunk
  /// What elements are multiplied by before they are squared: 1, or the `up` or `down` of
  /// norm_range (src/core/order/reduce_sum.hpp).
  double scale = 1;
  bool wait = true;  ///< whether what is written is in host memory, and there at the end
  /// If not null, the call that waits calls it once the terms are there; on a host that is before
  /// it sums.
  const std::function<void()>& when_terms_are_there;
};

/// Is the first key of a vector that has no bin.
struct stray_key {
  std::int64_t index = -1;  ///< -1 if all keys have one
  std::int64_t key = 0;
};

/// Is the first thing that is wrong with a matrix: with its offsets, in the order of rows, or, if
/// those are right, with its columns. Of four arrays it is that of the first row.
struct csr_defect {
  enum class kind : std::uint8_t {
    none,
    first_offset,       ///< row_offsets[0] is `value`, not 0
    decreasing_offset,  ///< row `index` starts at `before` and ends at `value`, which is less
    last_offset,        ///< row_offsets[rows] is `value`, not the number of values
    column,             ///< column_indices[index] is `value`, outside [0, columns)
    early_row,          ///< row `index` starts at `value`, which is less than 0
    late_row,           ///< row `index` ends at `value`, behind the values
  };
  kind what = kind::none;
  std::size_t index = 0;
  std::int64_t value = 0;
  std::int64_t before = 0;
};

/// A backend keeps this of a matrix for its products. A backend that keeps more derives from it.
struct spmv_analysis {
  std::string description;  ///< it says how rows are summed, and why
  csr_defect defect;        ///< where there is one, the rest means nothing

  virtual ~spmv_analysis() = default;
  /// Returns what was found, this or, where it is queued, what it waits for.
  virtual const spmv_analysis& ready() const { return *this; }
};

/// Says what `analyse` may expect of the products that it prepares.
struct planned_products {
  bool has_places = false;     ///< values are at places
  bool fixed_columns = false;  ///< the matrix's columns stay as they are
  bool fixed_values = false;   ///< its values, too
  bool is_checked = false;     ///< the matrix has no defect; else `analyse` looks for one
  bool queued = false;         ///< the caller does not wait; a column may make the plan later
};

struct node_arguments;  // src/core/order/node_sum.hpp

struct backend;

struct csr_transpose;  // src/core/sparse/csr.hpp
struct csr_product;

// The rows say what each function of a column takes and returns.
using describe_row = std::string(const executor& where);
using reaches_row = bool(const executor& where, const place& memory);
using make_row = executor();
using allocate_row = void*(const executor& where, std::size_t bytes, reach who);
using deallocate_row = void(const executor& where, void* memory, reach who) noexcept;
using copy_bytes_row = void(const executor& where, const void* from, void* to, std::size_t bytes);
using pin_row = void(const executor& where, void* memory, std::size_t bytes);
using unpin_row = void(const executor& where, void* memory);
using make_staged_row = std::shared_ptr<const backend>(const executor& where,
                                                       const workspace_options& options);
using dot_row = void(const executor& where, const dot_arguments& arguments);
using multi_dot_row = void(const executor& where, const multi_dot_arguments& arguments);
using fused_dot_row = void(const executor& where, const transform_arguments& update,
                           type computation, const dot_arguments& arguments);
using fused_nrm2_row = void(const executor& where, const transform_arguments& update,
                            type computation, const reduce_arguments& arguments);
using reduce_row = void(const executor& where, const reduce_arguments& arguments);
using sum_interval_row = void(const executor& where, const interval_arguments& arguments);
using sum_node_row = void(const executor& where, const node_arguments& arguments);
using join_nodes_row = void(const executor& where, const join_arguments& arguments);
using join_words_row = void(const executor& where, const join_words_arguments& arguments);
using exact_row = void(const executor& where, const exact_arguments& arguments);
using exact_sums_row = void(const executor& where, std::span<const exact_arguments> all);
using round_words_row = void(const executor& where, const round_arguments& arguments);
using transform_row = void(const executor& where, const transform_arguments& arguments,
                           type computation);
using fill_row = void(const executor& where, const element_bytes& value, const output_operand& z);
using swap_row = void(const executor& where, const output_operand& x, const output_operand& y);
using gather_row = void(const executor& where, const gather_arguments& arguments);
using for_each_part_row = void(const executor& where, const char* function, std::size_t size,
                               const part_calls& calls);
using extremum_row = void(const executor& where, const extremum_arguments& arguments);
using histogram_row = stray_key(const executor& where, const histogram_arguments& arguments);
using spmv_row = void(const executor& where, const csr_product& product);
using analyse_row = std::shared_ptr<const spmv_analysis>(const executor& where,
                                                         const csr_operand& matrix,
                                                         const planned_products& products);
using transpose_row = std::shared_ptr<const csr_transpose>(const executor& where,
                                                           const csr_operand& matrix,
                                                           bool keeps_values);
using find_defect_row = csr_defect(const executor& where, const csr_operand& matrix);

struct backend {
  std::string_view name;
  /// Returns what is behind the name, for people, such as "AVX2". It is empty where there is
  /// nothing to say.
  describe_row& describe;
  /// Returns the executor with default options, as the public function of the column's name makes
  /// it.
  /// @throws error no_device where it can't run in this process.
  make_row& make;
  /// Says whether kernels on `where` can read and write there.
  reaches_row& reaches;

  /// Memory that kernels reach: it is made, of at least one byte, and freed, and bytes are copied
  /// to it or from it, and waited for.
  allocate_row& allocate;
  deallocate_row& deallocate;
  copy_bytes_row& copy_bytes;
  /// Pages of the host's memory are kept where they are for a device, or let go.
  pin_row& pin;
  unpin_row& unpin;
  /// Makes a column that runs operations on data in host memory here, in parts, through memory of
  /// its own. It is null where kernels reach host memory anyway.
  make_staged_row& make_staged;

  // All rows below are called in the default floating-point environment (`default_environment`).
  // The public function holds it for the calling thread; threads of a backend's own hold it for
  // themselves.

  /// dot, dotc. The public function has checked the arguments: sizes are equal, pointers are
  /// aligned and reachable, increments are not zero, the type of x does not come after that of y,
  /// and the pair can accumulate in the result's type.
  dot_row& dot;
  /// multi_dot, batched_dot. There is at least one pair, and each is as for `dot`. All have the
  /// types of the first.
  multi_dot_row& multi_dot;
  /// sum, asum and nrm2, in the order of the contract.
  reduce_row& reduce;
  /// Sums vectors as `dot`, sum and asum do, or their squares, and leaves the sums unfinished; it
  /// also writes terms. The fields are checked as for those; there is something to write.
  sum_interval_row& sum_interval;
  /// Sums a node of a longer vector's tree, where its fields are as for `dot` and `reduce`, and
  /// leaves it unfinished.
  sum_node_row& sum_node;
  /// Joins nodes, and words of exact sums. Windows are cuda's alone: on others all nodes are there,
  /// and words are never joined.
  join_nodes_row& join_nodes;
  join_words_row& join_words;
  /// dot, sum, asum and nrm2, correctly rounded or added to words. Integers whose result is int64
  /// never come here.
  exact_row& exact;
  /// Several of these, one behind the other; there is at least one, and all have the same options.
  exact_sums_row& exact_sums;
  /// Rounds exact sums; there is at least one.
  round_words_row& round_words;
  /// One of copy, scal, axpby, mul, axpbypcz, axypbz, relu, sigmoid and exp, computed in the type
  /// `computation`. The others come as these: axpy, waxpby, add and sub as axpby, since a * x + b *
  /// y with factors of 1 and -1 has their bits. mul is alpha * x * y, and what has a factor of 0
  /// for a vector that it updates comes as the function without that. `y` is empty where there is
  /// one input. Vectors of complex elements may come as the numbers that they are, twice as many.
  /// There is at least one element.
  transform_row& transform;
  /// `transform` of axpby, or of scal, and then `dot`, or `exact`, of what it writes with another
  /// vector, or with itself. There is at least one element. What can fail does so before the
  /// update.
  fused_dot_row& fused_dot;
  /// The same, and then nrm2 of what is written.
  fused_nrm2_row& fused_nrm2;
  /// Writes the value, which has the type of the elements, to each; there is at least one.
  fill_row& fill;
  /// Exchanges elements of one type; there is at least one of each. The vectors share none.
  swap_row& swap;
  /// Moves elements of one type from places that indices name, or to such; there is at least one.
  gather_row& gather;
  gather_row& scatter;
  /// transform and transform_reduce call a function of the caller's for the parts of a range, which
  /// are nodes of the order's tree. The message of a backend that can't call it begins with
  /// `function`.
  for_each_part_row& for_each_part;
  /// min, max, minmax, iamax. The vector is empty only for iamax.
  extremum_row& extremum;
  /// bincount, histogram_even and histogram_range, with counts or sums of weights; there may be no
  /// samples. Bounds and edges are checked, and edges are in host memory. For bincount without
  /// `outside` it waits, and returns the first key out of range; in host memory nothing is written
  /// then.
  histogram_row& histogram;
  /// Sums each row in the row order (src/core/order/row_order.hpp), or correctly rounded. Then y_i
  /// is `scal` of the sum, or with `reads_addend()` `axpby` (src/core/elementwise/elementwise.hpp)
  /// with the addend, in the type spmvs::combination. There is at least one row. If there is a
  /// plan, its analysis is of this matrix and backend.
  spmv_row& spmv;
  /// Analyses a matrix that has no defects and at least one row, for such products.
  analyse_row& analyse;
  /// Whether `analyse` looks for defects on its way. Else it gets only matrices without any.
  bool analyse_checks = false;
  /// Transposes a matrix that has no defects and at least one column: a row of the result has the
  /// terms of a column in the order of the rows, those of one row as the row has them. It waits.
  transpose_row& transpose;
  /// Finds the first defect; the matrix's sizes are consistent. It waits for the result.
  find_defect_row& find_defect;
};

/// Is `reaches` of the backends that run on the host.
inline bool host_reaches(const executor&, const place& memory) { return memory.host; }

}  // namespace tally::backends
