// Every type-erased public function of C++ and C as a valid call with replaceable arguments. New
// functions must be listed (tests/out_of_range.cpp compares with the headers).
#pragma once

#include "tests/data.hpp"

#include <tally/tally.h>
#include <tally/distributed/joined_sum.hpp>
#include <tally/tally.hpp>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace calls {

using tally::executor;

/// Number of enumerators, 0, 1, ...
template <class E>
constexpr int count_of = 0;
template <>
inline constexpr int count_of<tally::type> = tally::type_count;
template <>
inline constexpr int count_of<tally::conjugate> = 3;
template <>
inline constexpr int count_of<tally::reduction> = 5;
template <>
inline constexpr int count_of<tally::extreme> = 4;
template <>
inline constexpr int count_of<tally::elementwise> = static_cast<int>(tally::last_elementwise) + 1;
template <>
inline constexpr int count_of<tally::fused_sum> = 2;
template <>
inline constexpr int count_of<tally::binning> = 3;
template <>
inline constexpr int count_of<tally::summand> = 4;
template <>
inline constexpr int count_of<tally::matrix_operation> = 3;
template <>
inline constexpr int count_of<tally::reach> = 2;
template <>
inline constexpr int count_of<tally::weighted_norm> = 3;
template <>
inline constexpr int count_of<tally::row_function> = 4;
template <>
inline constexpr int count_of<tally::instruction_set> = 7;  // besides `best`, -1

/// The enumerators of one call; one of them may be replaced.
class enumerators {
 public:
  enumerators() = default;
  enumerators(std::size_t replaced, int by) : replaced_(replaced), by_(by) {}

  template <class E>
  E operator()(E right) {
    static_assert(count_of<E> > 0);
    counts_.push_back(count_of<E>);
    return counts_.size() - 1 == replaced_ ? static_cast<E>(by_) : right;
  }
  tally::scalar factor(double value = 2) {
    tally::scalar made = value;
    made.element = (*this)(made.element);
    return made;
  }
  const std::vector<int>& counts() const { return counts_; }

 private:
  std::vector<int> counts_;
  std::size_t replaced_ = SIZE_MAX;
  int by_ = 0;
};

/// Memory of calls, reachable by an executor's kernels or by the host.
class memory {
 public:
  static constexpr std::size_t elements = tally::order::chunk;
  explicit memory(const executor& where) : in_(where, bytes), out_(where, bytes) {
    std::vector<double> numbers(elements, 0.5);
    in_.write(numbers.data(), elements * sizeof(double));
    const std::int32_t small[] = {0, 1, 2, 3, 4};
    in_.write(small, sizeof small, indices_at);
    const std::int64_t zeros[8] = {};
    in_.write(zeros, sizeof zeros, zeros_at);
    clear();
  }

  /// n elements of 0.5, reinterpreted as any type.
  tally::operand x(tally::type t = tally::type::float64, std::size_t n = 4) const {
    return {in_.get(), n, 1, t};
  }
  /// 0, 1, 2, 3, 4, beginning with `first`.
  tally::operand indices(std::size_t n, tally::type t, std::size_t first = 0) const {
    return {in_.get() + indices_at + 4 * first, n, 1, t};
  }
  const void* zeros() const { return in_.get() + zeros_at; }
  tally::output_operand z(tally::type t, std::size_t n = 4) const { return {out_.get(), n, 1, t}; }
  std::int64_t* words() const { return reinterpret_cast<std::int64_t*>(out_.get()); }
  /// Host memory.
  void* host() { return host_.data(); }
  std::int64_t* host_words() { return host_.data(); }
  /// Host memory that failing calls may write too.
  void* message() { return message_.data(); }

  void clear() {
    std::ranges::fill(host_, 0);
    const std::vector<std::byte> nothing(bytes);
    out_.write(nothing.data(), bytes);
  }
  bool is_clear() const {
    std::vector<std::byte> there(bytes);
    out_.read(there.data(), bytes);
    return std::ranges::all_of(host_, [](std::int64_t w) { return w == 0; }) &&
           std::ranges::all_of(there, [](std::byte b) { return b == std::byte{}; });
  }

 private:
  static constexpr std::size_t indices_at = elements * sizeof(double), zeros_at = indices_at + 64,
                               bytes = zeros_at + 64;
  data::buffer in_, out_;
  std::vector<std::int64_t> host_ = std::vector<std::int64_t>(512);
  std::vector<std::int64_t> message_ = std::vector<std::int64_t>(512);
};

struct row {
  const char* function;
  void (*call)(const executor&, memory&, enumerators&);
  /// The valid call throws too, for it needs several devices.
  bool is_refused = false;
};

std::span<const row> of_cpp();

// --- C --------------------------------------------------------------------------------------------

/// The enumerators and structs of one call of C; one may be replaced: an int by another, a struct
/// by one of another size.
class arguments {
 public:
  arguments() = default;
  arguments(std::size_t replaced, int by) : replaced_(replaced), by_(by) {}

  /// An int in first ... last.
  int operator()(int right, int last, int first = 0) {
    ranges_.push_back({first, last, right, 0});
    return is_replaced() ? by_ : right;
  }
  int type(int right) { return (*this)(right, TALLY_COMPLEX128); }

  /// A struct. One of another size is zeros behind its last member.
  template <class S>
  const S* of(const S& right, std::size_t first_size) {
    ranges_.push_back({static_cast<int>(first_size), 4096, int{sizeof(S)}, alignof(S)});
    auto& bytes = structs_.emplace_back(4096 / 8 + 1);
    auto* const made = reinterpret_cast<S*>(bytes.data());
    *made = right;
    made->size = sizeof(S);
    if (!is_replaced()) return made;
    made->size = static_cast<std::size_t>(by_);
    if (made->size < sizeof(S)) {
      std::memset(reinterpret_cast<char*>(made) + std::max(made->size, sizeof made->size), 0xff,
                  sizeof(S) - std::max(made->size, sizeof made->size));
    }
    return made;
  }
  const tally_call_options* options(bool has_grade = false, bool has_conjugate = false,
                                    bool has_form = false, bool waits = true) {
    tally_call_options o{};
    o.grade = (*this)(TALLY_GRADE_DEFAULT, has_grade ? TALLY_GRADE_EXACT : 0);
    o.wait = (*this)(waits ? TALLY_WAIT_YES : TALLY_WAIT_NO, TALLY_WAIT_NO);
    o.conjugate = (*this)(TALLY_CONJUGATE_NONE, has_conjugate ? TALLY_CONJUGATE_Y : 0);
    o.reserved = (*this)(0, 0);
    o.form = (*this)(TALLY_RESULT_ROUNDED, has_form ? TALLY_RESULT_WORDS : 0);
    o.reserved_too = (*this)(0, 0);
    return of(o, 24);
  }

  /// Valid values of one argument: ints in a range, or multiples of a struct's size.
  struct range {
    int first, last, right;
    std::size_t multiple;

    bool has(int number) const {
      return number >= first && number <= last &&
             (multiple == 0 || static_cast<std::size_t>(number) % multiple == 0);
    }
    std::vector<int> tried() const {
      if (multiple == 0) {
        return {first - 1, last + 1, 77, 255, 256, 256 + right, 65536 + right, INT_MAX, INT_MIN};
      }
      std::vector<int> all;
      for (int size = 0; size < 4200; size += size < 256 || size > 4000 ? 1 : 97) {
        all.push_back(size);
      }
      return all;
    }
  };
  const std::vector<range>& ranges() const { return ranges_; }

 private:
  bool is_replaced() const { return ranges_.size() - 1 == replaced_; }

  std::vector<range> ranges_;
  std::vector<std::vector<std::uint64_t>> structs_;
  std::size_t replaced_ = SIZE_MAX;
  int by_ = 0;
};

struct c_memory {
  double x[8] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  std::int32_t indices[5] = {0, 1, 2, 3, 4};
  double factor = 2, lower = 0, upper = 1;
  alignas(8) std::int64_t out[300] = {};
  double* z() { return reinterpret_cast<double*>(out); }
};
struct c_row {
  const char* function;
  tally_status (*call)(const tally_executor* where, c_memory& m, arguments& a);
};

std::span<const c_row> of_c();

}  // namespace calls
