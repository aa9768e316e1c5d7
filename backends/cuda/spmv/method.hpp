// Methods of products with sparse matrices.
//
// A plan has the first special method that its search finds, if any, for products of one type with
// contiguous x, and behind it a general one for all products. spmv.cpp has the lists, in the order
// of precedence, and a table of the methods. A method's file has its search, its launches and its
// description; what searches share is in analysis/, conditions on shapes in shape.hpp.
#pragma once

#include "backends/backend.hpp"
#include "backends/common/sparse/csr.hpp"
#include "backends/cuda/runtime/kept_memory.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/spmv/job.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tally::backends::cuda {

/// Static shared memory of a kernel, at most.
inline constexpr std::size_t static_shared_bytes = 2048;

/// Returns the blocks for `items`, with `per_block` each.
constexpr unsigned blocks_of(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>(ceil_div(items, per_block));
}

/// Types of which special methods have kernels.
constexpr bool is_special(type element) {
  return element == type::float32 || element == type::float64;
}
/// Returns f.operator()<T>() for the special type `element`.
template <class F>
auto with_special(type element, const F& f) {
  return element == type::float64 ? f.template operator()<double>()
                                  : f.template operator()<float>();
}

/// A product, and how to launch its kernels.
struct spmv_call {
  spmv_call(const executor& where, const current_device& current, const csr_product& product);

  const current_device& current;
  cudaStream_t stream;
  const csr_product& product;
  type accumulator;
  spmv_job job;

  type element() const { return product.a.values.element; }
  /// Whether special methods may serve it: values and x of one special type, x contiguous, values
  /// in the order of the terms.
  bool is_plain() const {
    return is_special(element()) && product.x.element == element() && product.x.increment == 1 &&
           !product.is_permuted();
  }
  bool is_captured() const { return cuda::is_captured(stream, false, "spmv"); }

  template <class Job>
  void launch(void (*kernel)(Job), const launch_shape& shape, Job parameter) const {
    const auto* const code = reinterpret_cast<const void*>(kernel);
    if (shape.shared_bytes > 0) allow_shared_bytes(code, current, shape.shared_bytes);
    cuda::launch(code, shape, &parameter, current.device(), stream);
  }
  /// Launches if the shared memory fits; returns whether it does.
  template <class Job>
  bool launch_if_fits(void (*kernel)(Job), const launch_shape& shape, const Job& parameter) const {
    const bool fits = has_room(shape.shared_bytes);
    if (fits) launch(kernel, shape, parameter);
    return fits;
  }
  bool has_room(std::size_t shared_bytes) const {
    return shared_bytes + static_shared_bytes <= max_shared_bytes(current.device());
  }

  /// Returns words for carry-outs and `more`, which `to` gets; `queued` is called behind the
  /// launch.
  scratch words_for(std::size_t carry_outs, words_left left, spmv_job& to,
                    std::size_t more = 0) const;
  /// Words per carry-out.
  std::size_t carry_out_words() const;
};

/// The pieces of a plan: segments of long rows first, then row blocks.
struct row_pieces {
  const spmv_piece* first = nullptr;
  std::uint64_t row_blocks = 0, segments = 0, long_rows = 0, split_rows = 0;
  std::size_t carry_outs = 0;
};

class method {
 public:
  virtual ~method() = default;

  /// Returns the method's name, how rows are summed, and why. `other`: the same of the methods
  /// behind it.
  virtual std::string describe(const std::string& other) const = 0;

  /// Launches the product; returns whether the method serves it.
  virtual bool multiply(const spmv_call& call) const = 0;

  /// Null if the method has none.
  virtual const row_pieces* pieces() const { return nullptr; }
};

struct cuda_plan : spmv_analysis {
  std::uint64_t context = 0;
  std::size_t longest = ~std::size_t{0};               ///< row, if it was measured
  kept_memory memory;                                  ///< of the methods
  std::vector<std::unique_ptr<const method>> methods;  ///< in the order of precedence
};

/// Returns the product's plan, or null.
/// @throws error invalid_argument if it outlived its context.
const cuda_plan* plan_of(const csr_product& a, const current_device& current);

class search;

/// Returns a plan's method, or null.
using find_method = std::unique_ptr<const method>(search& s);
find_method find_stencils, find_near_row_blocks, find_ring, find_band, find_row_tiles,
    find_few_columns, find_long_rows, find_hub_columns, find_whole_rows, find_even_rows,
    find_row_blocks, find_row_threads, find_pieces;
/// Returns those of a search.
std::vector<std::unique_ptr<const method>> find_methods(search& s);

/// A method that needs no plan: launches the product, and returns whether it serves it.
using multiply_operation = bool(const spmv_call& call);
multiply_operation multiply_exactly, multiply_any_rows, multiply_long_rows, multiply_uneven_rows,
    multiply_queued_rows, multiply_merge_path;

}  // namespace tally::backends::cuda
