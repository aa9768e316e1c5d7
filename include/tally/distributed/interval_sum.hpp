// Unrounded sums over an interval of a longer vector, in the default grade: messages between ranks
// (<tally/mpi.hpp>) or parts of a file.
//
// Promise: finished, the bits of `dot`, `sum`, `asum` or `nrm2` of the whole vector, wherever cut,
// because only additions of the order's tree (<tally/numerics/order.hpp>) are made. An interval of
// whole chunks is at most 2 log2(chunks) nodes; adjacent intervals join, associatively, by adding
// siblings. A cut chunk is summed from its terms by the part with its first element. Details:
// docs/numerics.md.
//
// Steps per part:
//
// 1. `sum_part` writes the nodes of whole chunks, the terms of a chunk begun in another part, and
//    those of one ended in another.
// 2. `append_chunk` sums the gathered terms of a cut chunk where it begins, own ones first.
// 3. `append_interval` joins the messages, in order.
// 4. `finish_interval` makes the results.
//
// Parameters: `shape` is the message's; `fields` as many as in the shape, of equal length; `stride`
// between first terms of consecutive numbers.
#pragma once

#include <tally/export.h>
#include <tally/executor.hpp>
#include <tally/numerics/order.hpp>
#include <tally/operands/operand.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/dot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace tally {

/// Terms: x_i*y_i (maybe conjugated), x_i, |x_i| (|re| + |im|), |x_i|^2 (sent as x_i).
enum class summand : std::uint8_t { product, value, magnitude, square };

/// One sum, types erased: `dot`, `sum`, `asum`, `nrm2` or, of real products squared,
/// `weighted_sum_of_squares`.
struct interval_field {
  summand what = summand::product;   ///< the terms
  operand x;                         ///< elements of the part
  operand y = {};                    ///< of products only: the second factors
  bool squared = false;              ///< of products only: whether terms are (x_i*y_i)^2
  std::optional<operand> mask = {};  ///< of squared products: terms of positive elements alone

  /// Returns the field's elements [first, first + n).
  interval_field slice(std::size_t first, std::size_t n) const {
    interval_field part = *this;
    part.x = x.slice(first, n);
    if (what == summand::product) part.y = y.slice(first, n);
    if (mask) part.mask = mask->slice(first, n);
    return part;
  }
};

/// Format of a message, equal for all parts.
struct interval_shape {
  summand what = summand::product;   ///< the terms
  type accumulator = type::float64;  ///< float32, float64, complex64 or complex128; complex where x
                                     ///< or y is
  std::size_t fields = 1;            ///< sums per message
  std::int64_t total = 0;            ///< elements of the whole vector

  /// Numbers per term of a field: 1; complex 2 (re, im); complex products 4: re(x) re(y),
  /// im(x) im(y), re(x) im(y), im(x) re(y).
  constexpr std::size_t numbers() const noexcept {
    return !is_complex(accumulator) ? 1 : what == summand::product ? 4 : 2;
  }
};

/// Header of a message; nodes follow in order, each with all fields' sums.
struct interval_head {
  std::int64_t first = 0;            ///< first chunk
  std::int64_t last = 0;             ///< past the last chunk; `first` if empty
  std::int32_t failed = 0;           ///< for the caller: 1 + the lowest failed rank
  std::int32_t gap = 0;              ///< 1: non-adjacent intervals were joined; useless
  std::int32_t fields = 1;           ///< as in the shape, like the next two
  type accumulator = type::float64;  ///< see above
  summand what = summand::product;   ///< see above
  std::uint8_t reserved[2] = {};     ///< 0: every byte is defined
};
static_assert(std::has_unique_object_representations_v<interval_head>);

/// Cuts of a part at chunk borders.
struct interval_borders {
  std::int64_t begin = 0;  ///< first element; those up to `whole` belong to a chunk begun in
                           ///< another part
  std::int64_t whole = 0;  ///< first element of the whole chunks
  std::int64_t tail = 0;   ///< past the whole chunks; the rest is a chunk that ends in another part
  std::int64_t end = 0;    ///< past the part's last element

  /// Terms for another part.
  constexpr std::size_t head_size() const noexcept {
    return static_cast<std::size_t>(whole - begin);
  }
  /// Elements in whole chunks.
  constexpr std::size_t whole_size() const noexcept {
    return static_cast<std::size_t>(tail - whole);
  }
  /// Terms joined with other parts'.
  constexpr std::size_t tail_size() const noexcept { return static_cast<std::size_t>(end - tail); }
};

/// The borders of elements [begin, end) of `total`.
constexpr interval_borders borders_of_part(std::int64_t total, std::int64_t begin,
                                           std::int64_t end) noexcept {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  const std::int64_t before = (chunk - begin % chunk) % chunk;
  const std::int64_t whole = end - begin < before ? end : begin + before;
  const std::int64_t last = end - end % chunk;
  return {begin, whole, end == total ? end : last > whole ? last : whole, end};
}

/// Input and outputs of `sum_part`; unneeded outputs may be null.
struct interval_part {
  std::span<const interval_field> fields;  ///< the fields
  std::int64_t first = 0;                  ///< first element in the whole vector
  /// Nodes, as in a message.
  void* nodes = nullptr;
  /// Terms of the chunk begun elsewhere, in the accumulator's real type: per field `numbers()`
  /// times `head_stride`.
  void* head = nullptr;
  std::size_t head_stride = 0;  ///< see above
  /// Terms of the chunk that ends elsewhere.
  void* tail = nullptr;
  std::size_t tail_stride = 0;  ///< likewise
  /// Whether the call blocks, with outputs in host memory. Otherwise they are where the executor
  /// can write, as for `dot` into a result.
  bool wait = true;
  /// Optional, for blocking calls: called with `context` once the terms are written, on a host
  /// before summing chunks.
  void (*when_terms_are_there)(void* context) = nullptr;
  void* context = nullptr;  ///< see above
};

/// Bytes of a node, all fields: `interval_shape::numbers()` sums each, for squares twice (plain and
/// scaled ones, instead of a second pass).
TALLY_EXPORT std::size_t node_bytes(const interval_shape& shape) noexcept;

/// Bytes of the longest message: a 32-byte header and 2 floor(log2(chunks - 1)) nodes, or one.
TALLY_EXPORT std::size_t interval_bytes(const interval_shape& shape) noexcept;

/// Writes an empty message of `interval_bytes` bytes, aligned to 8.
TALLY_EXPORT void clear_interval(const interval_shape& shape, void* message) noexcept;

/// Writes a part's nodes of whole chunks and terms of cut chunks, in one transfer from a device.
/// Returns the message's header.
/// @throws error as the function of the terms; invalid_argument for fields not of this shape,
///               elements outside the vector, or a stride shorter than the terms; overlap; what
///               `when_terms_are_there` throws.
TALLY_EXPORT interval_head sum_part(const executor& where, const interval_shape& shape,
                                    const interval_part& part);

/// Sums one chunk's n terms, laid out by `sum_part`, and appends the sums. Sets `gap` if `chunk`
/// isn't the next index.
/// @param n      `order::chunk`, or fewer for the vector's last chunk.
/// @throws error null_pointer, misaligned, wrong_memory; invalid_argument for a wrong n or message.
TALLY_EXPORT void append_chunk(const interval_shape& shape, std::int64_t chunk, std::size_t n,
                               std::size_t stride, const void* terms, void* message);

/// Appends `next`, whose chunks follow (otherwise sets `gap`); either may be empty. `failed`
/// becomes the lower nonzero one. Reads only the two messages, of one shape; no exceptions, no
/// allocation: usable in an `MPI_Op`.
TALLY_EXPORT void append_interval(void* message, const void* next) noexcept;

/// Makes the results from the whole vector's message, of the type that the function of the terms
/// returns.
/// @param conjugated the conjugated vector of products; nodes don't depend on it.
/// @param results host memory, one per field.
/// @throws error invalid_argument if the message is incomplete or has a gap; null_pointer,
///               misaligned, wrong_memory.
TALLY_EXPORT void finish_interval(const interval_shape& shape, const void* message,
                                  conjugate conjugated, void* results);

// --- The exact grade -----------------------------------------------------------------------------

/// Adds the exact sums of fields to limbs (<tally/numerics/exact_words.hpp>); blocks.
/// @param fields of the same types, any lengths.
/// @param sum    type of a field's sum: see `exact_words`.
/// @param words  host memory, field after field.
/// @throws error as the function of the terms.
TALLY_EXPORT void add_exact_sums(const executor& where, std::span<const interval_field> fields,
                                 conjugate conjugated, type sum, std::int64_t* words);

}  // namespace tally
