// The order contract, literal and slow: the reference for every backend. Shares no code with the
// library except element types.
#pragma once

#include "tests/data.hpp"

#include <tally/numerics/order.hpp>
#include <tally/operands/types.hpp>
#include <tally/operations/norms.hpp>
#include <tally/operations/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace transcription {

/// The product of step 1 and the sum of steps 2 to 4, in int64 modulo 2^64.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
T times(T a, T b) {
  return a * b;
}
template <class T>
T plus(T a, T b) {
  return a + b;
}

/// Steps 2 to 4 over term(0) ... term(n-1), with `identity` as +0 and any `plus`.
template <class T, class Term, class Plus>
T reduce(std::size_t n, Term term, const T& identity, Plus plus) {
  // 2. Terms are cut into chunks; in a chunk, lane l starts at +0 and adds t_l, t_(l+64), ...
  std::vector<T> level;
  for (std::size_t first = 0; first < n; first += tally::order::chunk) {
    std::vector<T> lane(64, identity);
    for (std::size_t l = 0; l < 64; ++l) {
      for (std::size_t i = l; i < tally::order::chunk && first + i < n; i += 64) {
        lane[l] = plus(lane[l], term(first + i));
      }
    }
    // 3. The lanes fold in halves.
    for (std::size_t l = 0; l < 32; ++l) lane[l] = plus(lane[l], lane[l + 32]);
    for (std::size_t l = 0; l < 16; ++l) lane[l] = plus(lane[l], lane[l + 16]);
    for (std::size_t l = 0; l < 8; ++l) lane[l] = plus(lane[l], lane[l + 8]);
    for (std::size_t l = 0; l < 4; ++l) lane[l] = plus(lane[l], lane[l + 4]);
    for (std::size_t l = 0; l < 2; ++l) lane[l] = plus(lane[l], lane[l + 2]);
    level.push_back(plus(lane[0], lane[1]));
  }
  // 4. Pairs (2j, 2j+1), an odd last one passing up unchanged.
  while (level.size() > 1) {
    std::vector<T> next;
    for (std::size_t j = 0; j + 1 < level.size(); j += 2)
      next.push_back(plus(level[j], level[j + 1]));
    if (level.size() % 2 == 1) next.push_back(level.back());
    level = next;
  }
  return level.empty() ? identity : level[0];
}

template <class T, class Term>
T sum(std::size_t n, Term term) {
  return reduce(n, term, T(0), [](const T& a, const T& b) { return plus(a, b); });
}

struct elements {
  const std::vector<std::byte>& bytes;
  tally::type element;
};

enum class order {
  of_dot,
  of_rows,  ///< up to 128 terms of a matrix's row have 8 lanes
};

/// sum x_i y_i, or sum conj(x_i) y_i, as bytes of the accumulator's type.
std::vector<std::byte> dot(const elements& x, const elements& y, tally::type accumulator,
                           bool conjugate_x, order ordered = order::of_dot);

/// sum, asum or nrm2, as bytes of the result's type.
std::vector<std::byte> reduction(tally::reduction what, const elements& x, tally::type result);

template <class A, class X, class Y>
A dot(const std::vector<X>& x, const std::vector<Y>& y, bool conjugate_x = false) {
  return data::elements_of<A>(dot({data::bytes_of(x), tally::type_of<X>},
                                  {data::bytes_of(y), tally::type_of<Y>}, tally::type_of<A>,
                                  conjugate_x))[0];
}

template <class R, class X>
R reduction(tally::reduction what, const std::vector<X>& x) {
  return data::elements_of<R>(
      reduction(what, {data::bytes_of(x), tally::type_of<X>}, tally::type_of<R>))[0];
}

}  // namespace transcription
