// A backend is a table of functions, one row an operation. The members are references, so a backend
// that lacks a row does not compile.
#pragma once

#include <tally/dot.hpp>
#include <tally/executor.hpp>
#include <tally/extremum.hpp>
#include <tally/functions.hpp>
#include <tally/histogram.hpp>
#include <tally/multi_dot.hpp>
#include <tally/operand.hpp>
#include <tally/reduce.hpp>
#include <tally/spmv.hpp>
#include <tally/transform.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tally::backends {

/// Who can reach an address.
struct place {
  static constexpr int none = -1;
  static constexpr int every = -2;

  bool host = true;   ///< the host can
  int device = none;  ///< the CUDA device that can: a number, `every` (managed, pinned) or `none`
};

/// The terms of an exact sum: x_i * y_i (conjugated as asked), x_i, |x_i| (|re| + |im|), |x_i|^2.
enum class exact_term : std::uint8_t { product, value, magnitude, square };

/// One exact sum: correctly rounded; for `square` the correctly rounded square root of the sum.
struct exact_arguments {
  exact_term term = exact_term::product;
  operand x;
  operand y;  ///< of products; else empty
  conjugate conjugated = conjugate::none;
  output result;              ///< float32, float64, or of products and values complex64, complex128
  call_options options = {};  ///< in the exact grade, whatever they say
};

/// The first key of a vector that has no bin.
struct stray_key {
  std::int64_t index = -1;  ///< -1: all have one
  std::int64_t key = 0;
};

/// What a backend keeps of a matrix for its products; a backend that keeps more derives from it.
struct spmv_analysis {
  std::string description;  ///< how rows are summed, and why

  virtual ~spmv_analysis() = default;
};

/// The first thing that is wrong with a matrix: of its offsets, in the order of rows, and if those
/// are right, of its columns.
struct csr_defect {
  enum class kind : std::uint8_t {
    none,
    first_offset,       ///< row_offsets[0] is `value`, not 0
    decreasing_offset,  ///< row `index` starts at `before` and ends at `value`, which is less
    last_offset,        ///< row_offsets[rows] is `value`, not the number of values
    column,             ///< column_indices[index] is `value`, outside [0, columns)
  };
  kind what = kind::none;
  std::size_t index = 0;
  std::int64_t value = 0;
  std::int64_t before = 0;
};

// The rows: what each function of a column takes and returns.
using describe_row = std::string(const executor& where);
using reaches_row = bool(const executor& where, const place& memory);
using make_row = executor();
using dot_row = void(const executor& where, const dot_arguments& arguments);
using multi_dot_row = void(const executor& where, const multi_dot_arguments& arguments);
using reduce_row = void(const executor& where, const reduce_arguments& arguments);
using exact_row = void(const executor& where, const exact_arguments& arguments);
using transform_row = void(const executor& where, const transform_arguments& arguments);
using for_each_part_row = void(const executor& where, const char* function, std::size_t size,
                               const part_calls& calls);
using extremum_row = void(const executor& where, const extremum_arguments& arguments);
using histogram_row = stray_key(const executor& where, const histogram_arguments& arguments);
using spmv_row = void(const executor& where, const spmv_arguments& arguments);
using analyse_row = std::shared_ptr<const spmv_analysis>(const executor& where,
                                                         const csr_operand& matrix);
using find_defect_row = csr_defect(const executor& where, const csr_operand& matrix);

struct backend {
  std::string_view name;
  /// What is behind the name, for people: "AVX2"; empty where there is nothing to say.
  describe_row& describe;
  /// The executor with default options, as the public function of the column's name makes it.
  /// @throws error no_device where it can't run in this process.
  make_row& make;
  /// Whether kernels on `where` can read and write there.
  reaches_row& reaches;

  // All that follow are called in the default floating-point environment (`default_environment`),
  // which the public function holds for the calling thread. Threads of a backend's own hold it for
  // themselves.

  /// The public function has checked the arguments: equal sizes, pointers that are aligned and
  /// reachable, increments not zero, the type of x not after that of y, a result type that the pair
  /// can accumulate.
  dot_row& dot;
  /// At least one pair, each as for `dot`; also those of the public batched_dot. All have the types
  /// of the first.
  multi_dot_row& multi_dot;
  /// sum, asum, nrm2 in the order of the contract.
  reduce_row& reduce;
  /// dot, sum, asum, nrm2, correctly rounded. Never integers that return int64.
  exact_row& exact;
  /// One of copy, scal, axpby, mul, relu, sigmoid and exp: a * x + b * y with factors of 1 and -1
  /// has the bits of axpy, add and sub. `y` is empty where there is one input. Vectors of complex
  /// elements may come as the numbers that they are, twice as many. At least one element.
  transform_row& transform;
  /// transform and transform_reduce: a function of the caller's for the parts of a range, nodes of
  /// the order's tree. `function` begins the message of a backend that can't call it.
  for_each_part_row& for_each_part;
  /// min, max, minmax, iamax. The vector is empty only for iamax.
  extremum_row& extremum;
  /// bincount, histogram_even, histogram_range, with counts or sums of weights; perhaps of no
  /// samples. Bounds and edges are checked, and edges in host memory. Of bincount without
  /// `outside` it waits, and returns the first key out of range, in host memory nothing written.
  histogram_row& histogram;
  /// Each row's sum in the row order (src/core/order/row_order.hpp), or correctly rounded; then y_i
  /// by `scal`, or with `reads_y()` by `axpby`, of the sum (src/core/elementwise/elementwise.hpp)
  /// in the type spmvs::combination. At least one row. With a plan, its analysis is of this matrix
  /// and backend.
  spmv_row& spmv;
  /// Of a matrix without defects, of at least one row.
  analyse_row& analyse;
  /// The matrix's sizes are consistent. Blocks.
  find_defect_row& find_defect;
};

/// `reaches` of the backends that run on the host.
inline bool host_reaches(const executor&, const place& memory) { return memory.host; }

}  // namespace tally::backends
