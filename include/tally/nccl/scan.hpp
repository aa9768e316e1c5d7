// Prefix sums over devices. See <tally/distributed/scan.hpp>.
//
// Communication: each rank reads its part twice. Between, an all-gather of at most 2 log2(total /
// order::chunk) node sums and 32 bytes per rank (of integers, one sum); before, the elements of
// each cut chunk go to the rank where it begins, and after, the sums up to each go back. None if
// cuts are multiples of `order::chunk` (`layout::cut`).
//
// Collective, queued on the executor's stream; waits for the first reading, since the sums before
// this rank's part go through the host, so it can't be captured. Errors: as for
// <tally/nccl/sums.hpp>.
#pragma once

#include <tally/distributed/scan.hpp>
#include <tally/nccl/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::nccl {

using distributed::exclusive_scan;
using distributed::inclusive_scan;

namespace detail {

inline void scan_integers(const layout& l, const executor& where, const scan_arguments& a) {
  std::int64_t own = 0;
  reduce(where, {a.x, reduction::sum, {&own, type::int64}, {.wait = true}});
  std::uint64_t before = 0;
  scan(where, behind(l.over().gathered(own), l.rank(), before, a));
}

/// Sums in the order of the whole vector.
inline void scan_in_order(const layout& l, const executor& where, const scan_arguments& a) {
  const communicator& over = l.over();
  const field_sums all{summand::value, conjugate::none, a.y.element, {{summand::value, a.x, {}}}};
  const ordered_sums sums(l, where, all);
  const interval_shape shape = all.shape(l.total());
  const interval_borders p = l.parts_of(l.rank());
  const std::size_t words = interval_bytes(shape) / sizeof(std::int64_t);
  using message = std::vector<std::int64_t>;
  const auto sum = [&](const std::vector<interval_field>& fields, std::int64_t first) {
    message made(words);
    auto* const head = reinterpret_cast<interval_head*>(made.data());
    *head = sum_part(where, shape, {.fields = fields, .first = first, .nodes = head + 1});
    return made;
  };
  const std::vector<interval_field> chunk = sums.chunk_of(p);
  message own = sum(sums.slice(p.whole, p.tail), p.whole);
  const message before_chunk = own;
  if (p.tail < p.end) append_interval(own.data(), sum(chunk, p.tail).data());

  message every(words * static_cast<std::size_t>(l.ranks())), before(words);
  over.gather(own.data(), every.data(), words * sizeof(std::int64_t));
  clear_interval(shape, before.data());
  for (int r = 0; r < l.rank(); ++r) {
    append_interval(before.data(), every.data() + static_cast<std::size_t>(r) * words);
  }

  // Sums up to the elements of the chunk that ends elsewhere, and of the one begun elsewhere.
  const std::size_t bytes = size_of(a.y.element), head = p.head_size();
  std::byte* const of_chunk = over.others(where, 2 * order::chunk * bytes);
  std::byte* const of_head = of_chunk + order::chunk * bytes;
  if (p.tail < p.end) {
    message up_to_chunk = before;
    append_interval(up_to_chunk.data(), before_chunk.data());
    const operand& x = chunk[0].x;
    scan(where, behind(up_to_chunk.data(), {x, {of_chunk, x.size, 1, a.y.element}, a.exclusive}));
  }
  if (const std::size_t rest = a.x.size - head; rest > 0) {
    scan(where, behind(before.data(), {a.x.slice(head, rest), a.y.slice(head, rest), a.exclusive}));
  }
  const current_device current(over.device());
  together([&] {
    if (head > 0) {
      check(ncclRecv(of_head, head * bytes, ncclUint8, l.begun_by(), over.get(), where.stream()),
            "ncclRecv");
    }
    for (const chunk_piece& piece : l.continued()) {
      check(ncclSend(of_chunk + static_cast<std::size_t>(piece.first) * bytes,
                     static_cast<std::size_t>(piece.count) * bytes, ncclUint8, piece.rank,
                     over.get(), where.stream()),
            "ncclSend");
    }
  });
  if (head > 0) {
    const operand made = {of_head, head, 1, a.y.element};
    transform(where, {elementwise::copy, {}, {}, made, {}, a.y.slice(0, head)});
  }
}

inline void transport::scan(const layout& l, const executor& where, const scan_arguments& a) {
  const auto size = static_cast<std::size_t>(l.size());
  l.over().check_executor(where);
  check_size(name, a.x, size);
  check_size(name, a.y, size);
  a.y.element == type::int64 ? scan_integers(l, where, a) : scan_in_order(l, where, a);
}

}  // namespace detail

}  // namespace tally::nccl
