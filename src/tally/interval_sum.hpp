// Sums over an interval of a longer vector, in the default grade, before they are finished: what
// the ranks of a distributed vector exchange (<tally/mpi.hpp>), or the parts of a file. In the
// exact grade `add_exact_sums` gives words.
//
// Promise: finished, they have the bits of `dot`, `sum`, `asum` or `nrm2` of the whole vector,
// wherever it is cut, and whatever the executor of each part. That is so because nothing is ever
// added that the order's tree (<tally/order.hpp>) doesn't add: an interval of whole chunks is at
// most 2 log2(chunks) nodes of the tree, and the lists of adjacent intervals are joined by adding
// nodes that are siblings. Joining is associative. A chunk that is cut is summed from its terms by
// whoever has its first element; so a term is what crosses a border, never a rounded part of a
// chunk. docs/numerics.md says it in full.
//
// The message of one sum of 10^9 doubles has 336 bytes, of 10^15 in 10^6 parts 656, whatever the
// number of parts; of complex products four times as many nodes.
//
// The steps, for each part of the vector:
//   1. `sum_part` gives all that the part has, in one way off a device: the nodes of its whole
//      chunks, which begin a message; the terms of a chunk that begins in another part, for that
//      part; and those of one that begins here and ends elsewhere. (`sum_interval` and
//      `interval_terms` give these one by one, `clear_interval` a message without chunks.)
//   2. The terms of a chunk are gathered where it begins, own ones first, and `append_chunk` sums
//      them.
//   3. `append_interval` joins the messages, in order.
//   4. `finish_interval` makes the results.
#pragma once

#include <tally/export.h>
#include <tally/dot.hpp>
#include <tally/executor.hpp>
#include <tally/operand.hpp>
#include <tally/order.hpp>
#include <tally/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

namespace tally {

/// The terms of a sum: x_i * y_i (conjugated as asked), x_i, |x_i| (that is |re| + |im|), |x_i|^2.
enum class summand : std::uint8_t { product, value, magnitude, square };

/// One sum, its types erased: `dot` (product), `sum` (value), `asum` (magnitude), `nrm2` (square).
struct interval_field {
  summand what = summand::product;  ///< the terms
  operand x;                        ///< the elements of the part
  operand y = {};                   ///< those that they are multiplied by: product alone
};

/// What decides the size of a message and what is in it: the same for all parts of a vector. All
/// fields of one message have the same terms and types.
struct interval_shape {
  summand what = summand::product;   ///< the terms
  type accumulator = type::float64;  ///< float32, float64, complex64 or complex128: complex where x
                                     ///< or y is, also where the result is real. (Sums of integers
                                     ///< in int64 need no order.)
  std::size_t fields = 1;            ///< sums of one message
  std::int64_t total = 0;            ///< elements of the whole vector

  /// The sums that a field has: 1; of complex elements 2, and of their products 4. In this order:
  /// re, im; re(x) re(y), im(x) im(y), re(x) im(y), im(x) re(y).
  constexpr std::size_t numbers() const noexcept {
    return !is_complex(accumulator) ? 1 : what == summand::product ? 4 : 2;
  }
};

/// The head of a message; the nodes follow it, in order, of each node the numbers of all fields.
struct interval_head {
  std::int64_t first = 0;    ///< the first chunk
  std::int64_t last = 0;     ///< the one behind the last chunk; `first` of an interval without any
  std::int32_t failed = 0;   ///< for the caller: 1 + the lowest rank that has failed, or 0
  std::int32_t gap = 0;      ///< 1: intervals were joined that are not adjacent; it is useless
  std::int32_t numbers = 1;  ///< of a node: fields times `interval_shape::numbers`
  type element = type::float64;   ///< of a number: float32 or float64
  std::uint8_t reserved[3] = {};  ///< 0: a message has no byte that nobody has written
};
static_assert(std::has_unique_object_representations_v<interval_head>);

/// Where the borders of chunks cut a part of a vector.
struct interval_borders {
  std::int64_t begin = 0;  ///< the part's first element; those up to `whole` are of a chunk that
                           ///< begins in another part
  std::int64_t whole = 0;  ///< the first element of the whole chunks
  std::int64_t tail = 0;  ///< the one behind them; those from here on are of a chunk that begins in
                          ///< this part and ends in another
  std::int64_t end = 0;   ///< the one behind the part's last element

  /// How many terms go to another part.
  constexpr std::size_t head_size() const noexcept {
    return static_cast<std::size_t>(whole - begin);
  }
  /// How many elements are in whole chunks.
  constexpr std::size_t whole_size() const noexcept {
    return static_cast<std::size_t>(tail - whole);
  }
  /// How many terms are joined with those of other parts.
  constexpr std::size_t tail_size() const noexcept { return static_cast<std::size_t>(end - tail); }
};

/// The borders of a part that has elements [begin, end) of `total`.
constexpr interval_borders borders_of_part(std::int64_t total, std::int64_t begin,
                                           std::int64_t end) noexcept {
  constexpr auto chunk = static_cast<std::int64_t>(order::chunk);
  const std::int64_t before = (chunk - begin % chunk) % chunk;
  const std::int64_t whole = end - begin < before ? end : begin + before;
  const std::int64_t last = end - end % chunk;
  return {begin, whole, end == total ? end : last > whole ? last : whole, end};
}

/// What `sum_part` reads and writes: places may be null where nothing goes there.
struct interval_part {
  std::span<const interval_field> fields;  ///< as many as the shape says, all as long
  std::int64_t first = 0;                  ///< the part's first element in the whole vector
  /// The nodes of the whole chunks, laid out as in a message.
  void* nodes = nullptr;
  /// The terms of the chunk that begins in another part: of each field `numbers()` times
  /// `head_stride` of them.
  void* head = nullptr;
  std::size_t head_stride = 0;  ///< from the first term of one number to the first of the next one
  /// Those of the chunk that ends in another part.
  void* tail = nullptr;
  std::size_t tail_stride = 0;  ///< likewise
  /// What elements are multiplied by before they are squared: 1, or what `finish_interval` has
  /// asked for. (For squares alone.)
  double scale = 1;
  /// Whether the call blocks, and all is written to host memory. Otherwise it is written where the
  /// executor can write; on CUDA the call returns once the work is queued on the executor's stream,
  /// and may be captured in a graph.
  bool wait = true;
  /// If not null, a call that blocks calls it once the terms are there; on a host that is before
  /// it sums the whole chunks, so that the terms may travel meanwhile.
  std::function<void()> when_terms_are_there = {};
};

/// The bytes of the longest message of this shape: 2 floor(log2(chunks - 1)) nodes, at least one,
/// behind the head of 32 bytes.
TALLY_EXPORT std::size_t interval_bytes(const interval_shape& shape) noexcept;

/// Makes the message of an interval without chunks; `message` has `interval_bytes` bytes and is
/// aligned to 8.
TALLY_EXPORT void clear_interval(const interval_shape& shape, void* message) noexcept;

/// Writes the nodes of the whole chunks of a part, and the terms of the chunks that its borders
/// cut: all of it reaches the host at once.
/// @param where the executor.
/// @param shape of the message that they are for.
/// @param part  what is read, and where it is written.
/// @return      the head of the message, whose nodes are those that have been written.
/// @throws error, as the function of the terms does; invalid_argument for fields that are not of
///         this shape, elements outside the whole vector, a stride shorter than the terms, another
///         scale, or a call on Kokkos on a device that is not to block; overlap; and whatever
///         `when_terms_are_there` throws.
TALLY_EXPORT interval_head sum_part(const executor& where, const interval_shape& shape,
                                    const interval_part& part);

/// Writes the nodes of whole chunks: the elements of the fields are those from `first` on of the
/// whole vector, a multiple of `order::chunk`, and they end at a multiple of it or at the end of
/// the whole vector. There may be none. Blocks.
/// @param where   the executor.
/// @param shape   of the message.
/// @param fields  as many as the shape says, all as long.
/// @param first   the first element.
/// @param message host memory; what was in it is gone.
/// @param scale   as in `interval_part`.
/// @throws error, as `sum_part`; invalid_argument also for fields that don't begin and end so. The
///         message is that of no chunk then.
TALLY_EXPORT void sum_interval(const executor& where, const interval_shape& shape,
                               std::span<const interval_field> fields, std::int64_t first,
                               void* message, double scale = 1);

/// Writes the terms of the elements of the fields, fewer than `order::chunk`, to host memory, in
/// the accumulator's real type: of each field `numbers()` times `stride` of them. Blocks.
/// @param where  the executor.
/// @param shape  of the message that they are for.
/// @param fields as many as the shape says, all as long.
/// @param stride from the first term of one number to the first of the next one.
/// @param terms  where the first one goes.
/// @param scale  as for `sum_interval`.
/// @throws error, as `sum_interval`.
TALLY_EXPORT void interval_terms(const executor& where, const interval_shape& shape,
                                 std::span<const interval_field> fields, std::size_t stride,
                                 void* terms, double scale = 1);

/// Sums the n terms of one chunk, laid out as `interval_terms` does it, and appends the sums to the
/// message as chunk `chunk`. If that is not the one behind its last one, `gap` is set.
/// @param shape   of the message.
/// @param chunk   the chunk's number.
/// @param n       `order::chunk`, or fewer for the last chunk of the whole vector.
/// @param stride  from the first term of one number to the first of the next one.
/// @param terms   the first one.
/// @param message what is appended to.
/// @throws error null_pointer, misaligned, wrong_memory; invalid_argument for another number of
///         terms, or a message that is not of this shape.
TALLY_EXPORT void append_chunk(const interval_shape& shape, std::int64_t chunk, std::size_t n,
                               std::size_t stride, const void* terms, void* message);

/// Appends the interval of `next`, whose first chunk is the one behind the last one of `message`;
/// otherwise `gap` is set. An interval without chunks goes anywhere. `failed` becomes the lowest of
/// both that is not 0. Reads nothing but the two messages, which are of one shape, and neither
/// throws nor allocates: it may be called by a function of an `MPI_Op`.
TALLY_EXPORT void append_interval(void* message, const void* next) noexcept;

/// Makes the results of the message of the whole vector: one a field, of the type that the function
/// of the terms returns for this accumulator.
/// @param shape      of the message.
/// @param message    that of the whole vector.
/// @param conjugated which vector of products is conjugated: the nodes are the same for any.
/// @param results    host memory for one result a field.
/// @param scales     one a field, for squares alone: 1 where the result is made; where the sum of
///                   squares has left the range of its type, what the elements of that field are to
///                   be multiplied by in a second pass. All parts find the same. Empty in that
///                   pass.
/// @param scale      what elements were multiplied by before they were squared.
/// @throws error invalid_argument if the message is that of a part, or has a gap; size_mismatch for
///         another number of scales; null_pointer, misaligned, wrong_memory.
TALLY_EXPORT void finish_interval(const interval_shape& shape, const void* message,
                                  conjugate conjugated, void* results,
                                  std::span<double> scales = {}, double scale = 1);

// --- The exact grade ------------------------------------------------------------------------------

/// Adds the exact sums of the fields to words (<tally/exact_words.hpp>), which reach the host at
/// once: those of each field behind those of the one before. Blocks.
/// @param where      the executor.
/// @param fields     all with the same types, which may have any lengths.
/// @param conjugated which vector of products is conjugated.
/// @param sum        what the words of one field are of: see `exact_words`.
/// @param words      host memory for all of them.
/// @throws error, as the function of the terms does.
TALLY_EXPORT void add_exact_sums(const executor& where, std::span<const interval_field> fields,
                                 conjugate conjugated, type sum, std::int64_t* words);

}  // namespace tally
