// Base of the backends, and arguments of operations.
#pragma once

#include <tally/buffer.hpp>
#include <tally/distributed/interval_sum.hpp>
#include <tally/distributed/joined_sum.hpp>
#include <tally/executor.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operations/extremum.hpp>
#include <tally/operations/gather.hpp>
#include <tally/operations/histogram.hpp>
#include <tally/operations/multi_dot.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>
#include <tally/operations/scan.hpp>
#include <tally/sparse/spmv.hpp>
#include <tally/user_functions/functions.hpp>

#include "backends/common/types/tables.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tally {
struct workspace_options;             // <tally/workspace.hpp>
struct multi_axpy_arguments;          // <tally/operations/multi_axpy.hpp>
enum class fused_sum : std::uint8_t;  // <tally/operations/fused.hpp>
}  // namespace tally

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
  if constexpr (std::ranges::is_sorted(detail::listed::numbers)) {
    return x <= y;  // faster than the table (tuning/short_calls.md: in_order)
  } else {
    static constexpr auto positions = table_over([]<class T>() { return detail::position<T>; });
    return positions[x] <= positions[y];
  }
}

/// The conjugated vector after x and y were swapped.
constexpr conjugate swapped(conjugate which) noexcept {
  return which == conjugate::x   ? conjugate::y
         : which == conjugate::y ? conjugate::x
                                 : conjugate::none;
}

struct element_bytes {
  alignas(16) std::byte bytes[16] = {};
};

/// x_i * y_i (conjugated as requested), x_i, |x_i| as |re| + |im|, |x_i|^2, or (x_i * y_i)^2 with
/// the product rounded.
enum class exact_term : std::uint8_t { product, value, magnitude, square, weighted };

/// One exact sum, rounded once; for `square`, its correctly rounded root; for `weighted` also the
/// root of the rounded mean. With `result.words` the sum (no root) is added to words.
struct exact_arguments {
  exact_term term = exact_term::product;
  operand x;
  operand y;  ///< empty unless terms are products, or weighted
  conjugate conjugated = conjugate::none;
  output result;                     ///< float32 or float64; for products and values also complex
  call_options options = {};         ///< the grade is always exact
  std::optional<operand> mask = {};  ///< of weighted terms
  weighted_norm norm = weighted_norm::squares;  ///< of weighted terms

  bool has_y() const { return term == exact_term::product || term == exact_term::weighted; }
  bool is_root() const { return term == exact_term::square || norm == weighted_norm::root; }
  /// Elements by which the rounded sum is divided before the root; 0: none.
  std::size_t divisor() const {
    return norm == weighted_norm::root_mean ? std::max<std::size_t>(x.size, 1) : 0;
  }
  /// The sum's elements [first, first + n).
  exact_arguments slice(std::size_t first, std::size_t n) const {
    exact_arguments part = *this;
    part.x = x.slice(first, n);
    if (has_y()) part.y = y.slice(first, n);
    if (mask) part.mask = mask->slice(first, n);
    return part;
  }
};

/// Whether a sum is in the exact grade; integer sums are exact in either.
inline bool is_exact(const call_options& options, const output& result) {
  return result.words || (options.grade.is_exact() && result.element != type::int64);
}

inline bool is_exact(const multi_dot_arguments& a) { return is_exact(a.options, a.results); }

/// y_j = alpha*r_j + beta*a_j of sums r_j, in detail::spmv_combination of their types; a is y
/// unless given, and read if `reads_addend()`.
struct sums_update {
  output_operand y;  ///< float32, float64 or complex; complex if the sums are
  scalar alpha = 1;
  scalar beta = 0;
  std::optional<operand> added = {};

  operand addend() const { return added ? *added : operand(y); }
  bool reads_addend() const { return added || !beta.is_zero(); }
};

/// Several sums for backends: multi_dot, batched_dot, sums and gemv.
struct multi_sum : multi_dot_arguments {
  /// Terms x_ji alone, in the types of `sum`; `pairs.y` is empty.
  bool values = false;
  /// Destination instead of `results`, of which only the type, the accumulator's, counts; y has an
  /// element per pair, and pairs are rows. No int64 sums, no words.
  std::optional<sums_update> update = {};

  multi_sum(const multi_dot_arguments& a) : multi_dot_arguments(a) {}
};

/// Returns the stride of results in bytes.
inline std::size_t bytes_of(const output& result) {
  return result.words ? exact_words(result.element) * sizeof(std::int64_t)
                      : size_of(result.element);
}

inline output result_of_pair(const multi_dot_arguments& a, std::size_t j) {
  output result = a.results;
  result.data = static_cast<std::byte*>(a.results.data) + j * bytes_of(a.results);
  return result;
}
inline dot_arguments dot_of_pair(const multi_dot_arguments& a, std::size_t j) {
  const auto [x, y] = a.pairs[j];
  return {x, y, a.conjugated, result_of_pair(a, j), a.options};
}
inline reduce_arguments sum_of_row(const multi_dot_arguments& a, std::size_t j) {
  return {a.pairs.x[j], reduction::sum, result_of_pair(a, j), a.options};
}
inline exact_arguments exact_of(const dot_arguments& a) {
  return {exact_term::product, a.x, a.y, a.conjugated, a.result, a.options};
}
/// Pre: not max_norm.
inline exact_arguments exact_of(const reduce_arguments& a) {
  constexpr exact_term terms[] = {exact_term::value, exact_term::magnitude, exact_term::square};
  return {terms[static_cast<std::size_t>(a.what)], a.x, {}, conjugate::none, a.result, a.options};
}
inline exact_arguments exact_of(const weighted_norm_arguments& a) {
  return {exact_term::weighted, a.x, a.w, conjugate::none, a.result, a.options, a.mask, a.what};
}
inline exact_arguments exact_of(const multi_sum& a, std::size_t j) {
  return a.values ? exact_of(sum_of_row(a, j)) : exact_of(dot_of_pair(a, j));
}

/// An update by axpby or scal, and a sum of the updated vector.
struct fused_update {
  const transform_arguments& update;  ///< as for `backend::transform`, like `computation`
  type computation;
  fused_sum what;
  dot_arguments sum;  ///< nrm2: of x alone

  bool is_exact() const { return backends::is_exact(sum.options, sum.result); }
  reduce_arguments nrm2() const { return {sum.x, reduction::nrm2, sum.result, sum.options}; }
};

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
  void* sums = nullptr;                      ///< a `node_sum` each
  std::span<const terms_destination> terms;  ///< none empty, each shorter than a chunk
  bool wait = true;                          ///< output is in host memory, complete on return
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

struct exact_sums;     // backends/common/exact/exact_sums.hpp
struct csr_transpose;  // backends/common/sparse/csr.hpp
struct csr_product;
struct csr_products;

/// Class of a backend.
enum class backend_class : std::uint8_t { serial, simd, openmp, cuda, kokkos, workspace };

/// What every program needs of a backend, which is one constant object, and the operations that
/// need no more than others. All operations: backends/backends.hpp.
class backend {
 public:
  const std::string_view name;
  const backend_class is_a;
  /// Whether this backend's memory is the host's alone: the host may read any operand.
  const bool is_on_host;

  /// Returns the variant for people, such as "AVX2", or nothing.
  virtual std::string describe(const executor& where) const = 0;
  /// Returns the executor with default options.
  /// @throws error no_device if the backend cannot run here.
  virtual executor make() const = 0;
  /// Whether kernels on `where` can access the memory.
  virtual bool reaches(const executor& where, const place& memory) const = 0;

  /// Memory for kernels, at least one byte; copies wait.
  virtual void* allocate(const executor& where, std::size_t bytes, reach who) const = 0;
  virtual void deallocate(const executor& where, void* memory, reach who) const noexcept = 0;
  virtual void copy_bytes(const executor& where, const void* from, void* to,
                          std::size_t bytes) const = 0;
  /// Page-locks host memory for a device, or unlocks it.
  virtual void pin(const executor& where, void* memory, std::size_t bytes) const = 0;
  virtual void unpin(const executor& where, void* memory) const = 0;
  /// Whether `analyse` searches for defects itself.
  virtual bool analyse_checks() const { return false; }

  // By other operations of the executor's backend, one after another.
  void multi_dot(const executor& where, const multi_sum& a) const { multi_dot_in_turn(where, a); }
  void multi_dot_in_turn(const executor& where, const multi_sum& a) const;
  void multi_exact(const executor& where, std::span<const exact_arguments> all) const;
  void multi_axpy(const executor& where, const multi_axpy_arguments& a, type computation,
                  bool alpha_on_host) const;
  void multi_axpy_dot(const executor& where, const multi_axpy_arguments& update, type computation,
                      bool alpha_on_host, const multi_sum& sums) const;
  void fused(const executor& where, const fused_update& a) const;
  void spmm(const executor& where, const csr_products& a) const;
  /// No-op: words have no peer buffers here.
  void join_words(const executor&, const join_words_arguments&) const {}

 protected:
  constexpr backend(std::string_view called, backend_class which, bool on_host)
      : name(called), is_a(which), is_on_host(on_host) {}
  ~backend() = default;
};

}  // namespace tally::backends
