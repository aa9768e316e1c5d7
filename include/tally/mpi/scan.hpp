// Prefix sums over ranks. See <tally/distributed/scan.hpp>.
//
// Communication: each rank reads its part twice. Between, MPI_Allgather of at most 2 log2(total /
// order::chunk) node sums and 32 bytes per rank (of integers, one sum); before, one
// message per cut chunk of its terms to the rank where it begins, and after, one back, of the sums
// up to each. None if cuts are multiples of `order::chunk` (`layout::cut`).
//
// Collective, blocking; operand types agree on all ranks. Vectors are this rank's parts, accessible
// to its executor.
//
// Errors: as the function of that name, and size_mismatch for a vector that has not the layout's
// size. An error of any rank is thrown on all, with the lowest failing rank; what others wrote to y
// is then undefined.
#pragma once

#include <tally/distributed/host_copies.hpp>
#include <tally/distributed/scan.hpp>
#include <tally/mpi/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace tally::mpi {

using distributed::exclusive_scan;
using distributed::inclusive_scan;

namespace detail {

/// Sums of integers, in any order.
inline void scan_integers(const layout& l, const executor& where, const scan_arguments& a) {
  std::optional<failure> failed;
  std::int64_t own = 0;
  const auto size = static_cast<std::size_t>(l.size());
  attempt(failed, [&] {
    check_size(transport::name, a.x, size);
    check_size(transport::name, a.y, size);
    reduce(where, {a.x, reduction::sum, {&own, type::int64}, {.wait = true}});
  });
  std::vector<std::int64_t> all(static_cast<std::size_t>(l.ranks()));
  check(MPI_Allgather(&own, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, l.communicator()),
        "MPI_Allgather");
  std::uint64_t before = 0;
  attempt(failed, [&] { scan(where, behind(all, l.rank(), before, a)); });
  agree(l.communicator(), failed);
}

/// Sums in the order of the whole vector.
inline void scan_in_order(const layout& l, const executor& where, const scan_arguments& a) {
  MPI_Comm comm = l.communicator();
  interval_message own(l, where,
                       {summand::value, conjugate::none, a.y.element, {{summand::value, a.x, {}}}});
  const interval_shape& shape = own.shape();
  const auto size = static_cast<std::size_t>(l.size());
  attempt(own.failed(), [&] { check_size(transport::name, a.y, size); });
  interval_message::cut_chunk cut = own.make();
  const std::size_t words = own.words().size();
  std::vector<std::int64_t> all(words * static_cast<std::size_t>(l.ranks())), before(words);
  check(MPI_Allgather(own.words().data(), count_of(words), MPI_INT64_T, all.data(), count_of(words),
                      MPI_INT64_T, comm),
        "MPI_Allgather");
  clear_interval(shape, before.data());
  for (int r = 0; r < l.ranks(); ++r) {
    const std::int64_t* const message = all.data() + static_cast<std::size_t>(r) * words;
    const int failed = reinterpret_cast<const interval_head*>(message)->failed;
    if (failed > 0) throw_from(comm, failed - 1, own.failed());
    if (r < l.rank()) append_interval(before.data(), message);
  }

  std::optional<failure>& failed = own.failed();
  const interval_borders borders = l.parts_of(l.rank());
  const std::size_t head = borders.head_size(), bytes = size_of(a.y.element);
  std::vector<std::byte> of_head(head * bytes), of_chunk(cut.stride * bytes);
  exchange messages(cut.pieces.size() + 1);
  if (head > 0) {
    messages.receive(of_head.data(), count_of(of_head.size()), MPI_BYTE, l.begun_by(), l.tag(),
                     comm);
  }
  attempt(failed, [&] {
    if (cut.pieces.empty()) return;
    // The chunk's terms as elements of y's type.
    std::vector<std::byte> terms(of_chunk.size());
    const std::size_t number = size_of(part_of(a.y.element)), numbers = shape.numbers();
    for (std::size_t i = 0; i < numbers * cut.stride; ++i) {
      std::memcpy(&terms[(i % cut.stride * numbers + i / cut.stride) * number],
                  &cut.terms[i * number], number);
    }
    std::vector<std::int64_t> up_to_chunk = before;
    append_interval(up_to_chunk.data(), cut.before.data());
    scan(serial(), behind(up_to_chunk.data(), {{terms.data(), cut.stride, 1, a.y.element},
                                               {of_chunk.data(), cut.stride, 1, a.y.element},
                                               a.exclusive}));
  });
  for (const chunk_piece& p : cut.pieces) {  // also after a failure
    messages.send(of_chunk.data() + static_cast<std::size_t>(p.first) * bytes,
                  count_of(static_cast<std::size_t>(p.count) * bytes), MPI_BYTE, p.rank, l.tag(),
                  comm);
  }
  attempt(failed, [&] {
    const std::size_t rest = size - head;
    if (rest > 0) {
      scan(where,
           behind(before.data(), {a.x.slice(head, rest), a.y.slice(head, rest), a.exclusive}));
    }
  });
  std::optional<failure> lost;
  attempt(lost, [&] { messages.wait(); });
  if (!failed) failed = std::move(lost);
  attempt(failed, [&] {
    if (head > 0) write_elements(where, of_head.data(), a.y.slice(0, head));
  });
  agree(comm, failed);
}

inline void transport::scan(const layout& l, const executor& where, const scan_arguments& a) {
  a.y.element == type::int64 ? scan_integers(l, where, a) : scan_in_order(l, where, a);
}

}  // namespace detail

}  // namespace tally::mpi
