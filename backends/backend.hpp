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
  output result;  ///< float32, float64, or of products and values complex64, complex128
  bool wait = true;
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

struct backend {
  std::string_view name;
  /// What is behind the name, for people: "AVX2"; empty where there is nothing to say.
  std::string (&describe)(const executor& where);
  /// Whether kernels on `where` can read and write there.
  bool (&reaches)(const executor& where, const place& memory);

  // All that follow are called in the default floating-point environment (`default_environment`),
  // which the public function holds for the calling thread. Threads of a backend's own hold it for
  // themselves.

  /// The public function has checked the arguments: equal sizes, pointers that are aligned and
  /// reachable, increments not zero, the type of x not after that of y, a result type that the pair
  /// can accumulate.
  void (&dot)(const executor& where, const dot_arguments& arguments);
  /// At least one pair, each as for `dot`; also those of the public batched_dot. All have the types
  /// of the first.
  void (&multi_dot)(const executor& where, const multi_dot_arguments& arguments);
  /// sum, asum, nrm2 in the order of the contract.
  void (&reduce)(const executor& where, const reduce_arguments& arguments);
  /// dot, sum, asum, nrm2, correctly rounded. Never integers that return int64.
  void (&exact)(const executor& where, const exact_arguments& arguments);
  /// One of copy, scal, axpby, mul, relu, sigmoid and exp: a * x + b * y with factors of 1 and -1
  /// has the bits of axpy, add and sub. `y` is empty where there is one input. Vectors of complex
  /// elements may come as the numbers that they are, twice as many. At least one element.
  void (&transform)(const executor& where, const transform_arguments& arguments);
  /// transform and transform_reduce: a function of the caller's for the parts of a range, nodes of
  /// the order's tree. `function` begins the message of a backend that can't call it.
  void (&for_each_part)(const executor& where, const char* function, std::size_t size,
                        const part_calls& calls);
  /// min, max, minmax, iamax. The vector is empty only for iamax.
  void (&extremum)(const executor& where, const extremum_arguments& arguments);
  /// bincount, histogram_even, histogram_range, with counts or sums of weights; perhaps of no
  /// samples. Bounds and edges are checked, and edges in host memory. Of bincount without
  /// `outside` it waits, and returns the first key out of range, in host memory nothing written.
  stray_key (&histogram)(const executor& where, const histogram_arguments& arguments);
  /// Each row's sum in the row order (backends/row_order.hpp), or correctly rounded; then y_i by
  /// `scal`, or with `reads_y()` by `axpby`, of the sum (backends/elementwise.hpp) in the type
  /// spmvs::combination. At least one row. With a plan, its analysis is of this matrix and backend.
  void (&spmv)(const executor& where, const spmv_arguments& arguments);
  /// Of a matrix without defects, of at least one row.
  std::shared_ptr<const spmv_analysis> (&analyse)(const executor& where, const csr_operand& matrix);
  /// The matrix's sizes are consistent. Blocks.
  csr_defect (&find_defect)(const executor& where, const csr_operand& matrix);
};

/// `reaches` of the backends that run on the host.
inline bool host_reaches(const executor&, const place& memory) { return memory.host; }

// The columns. One that a build leaves out is never referred to (see src/executor.cpp).
namespace serial {
extern const backend table;
}
namespace simd {
extern const backend table;
}
namespace openmp {
extern const backend table;
}
namespace cuda {
extern const backend table;
}
namespace kokkos {
extern const backend table;
}

}  // namespace tally::backends
