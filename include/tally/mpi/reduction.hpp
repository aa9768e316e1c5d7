// Sums over ranks: nodes of the order's tree, or integer words.
#pragma once

#include <tally/detail/distributed/sums.hpp>
#include <tally/dot.hpp>
#include <tally/error.hpp>
#include <tally/exact_words.hpp>
#include <tally/executor.hpp>
#include <tally/interval_sum.hpp>
#include <tally/mpi/agreement.hpp>
#include <tally/mpi/calls.hpp>
#include <tally/mpi/communicator.hpp>
#include <tally/mpi/layout.hpp>
#include <tally/mpi/request.hpp>
#include <tally/order.hpp>
#include <tally/reduce.hpp>
#include <tally/types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally::mpi::calls {

using distributed::sums;

/// @throws error invalid_argument for more than an `int` counts.
inline int count_of(std::size_t elements) {
  if (elements > static_cast<std::size_t>((std::numeric_limits<int>::max)())) {
    throw error(errc::invalid_argument, "tally::mpi: " + std::to_string(elements) +
                                            " elements are too many for one message");
  }
  return static_cast<int>(elements);
}

// --- The default grade ----------------------------------------------------------------------------

/// Memory to join two messages, or null; per thread, so that MPI's callbacks need not allocate.
inline std::byte* join_buffer(std::size_t bytes) noexcept {
  thread_local std::vector<std::byte> room;
  try {
    if (room.size() < bytes) room.resize(bytes);
    return room.data();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// MPI_Op: joins adjacent intervals into the second.
inline void append_messages(void* first, void* second, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  const auto bytes = static_cast<std::size_t>(size);
  std::byte* const joined = join_buffer(bytes);
  for (int i = 0; i < *count; ++i) {
    std::byte* const lower = static_cast<std::byte*>(first) + bytes * static_cast<std::size_t>(i);
    std::byte* const upper = static_cast<std::byte*>(second) + bytes * static_cast<std::size_t>(i);
    if (joined == nullptr) {
      reinterpret_cast<interval_head*>(upper)->gap = 1;
      continue;
    }
    std::copy_n(lower, bytes, joined);
    append_interval(joined, upper);
    std::copy_n(joined, bytes, upper);
  }
}

/// MPI_Op: joins contiguous groups of ranks, for `joins_in_order`.
inline void join_runs(void* first, void* second, int*, MPI_Datatype*) {
  const auto& lower = *static_cast<const interval_head*>(first);
  auto& upper = *static_cast<interval_head*>(second);
  if (lower.gap != 0 || lower.last != upper.first) upper.gap = 1;
  upper.first = lower.first;
}

/// Whether MPI joins messages of `words` words in rank order, as its standard demands but some
/// libraries do not. Tested once per size, by messages that carry their ranks; all ranks agree.
inline bool joins_in_order(const layout& l, int words, bool blocks) {
  return l.over()->joins_in_order(words, blocks, [&] {
    MPI_Comm comm = l.communicator();
    const MPI_Datatype type = l.over()->type_of(words);
    const MPI_Op op = l.over()->operation(&join_runs, false);
    std::vector<std::int64_t> own(static_cast<std::size_t>(words)), all(own.size());
    auto& mine = *reinterpret_cast<interval_head*>(own.data());
    mine.first = l.rank();
    mine.last = l.rank() + 1;
    if (blocks) {
      check(MPI_Allreduce(own.data(), all.data(), 1, type, op, comm), "MPI_Allreduce");
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Iallreduce(own.data(), all.data(), 1, type, op, comm, &request), "MPI_Iallreduce");
      check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
    const auto& joined = *reinterpret_cast<const interval_head*>(all.data());
    int in_order = joined.gap == 0 && joined.first == 0 && joined.last == l.ranks();
    check(MPI_Allreduce(MPI_IN_PLACE, &in_order, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    return in_order != 0;
  });
}

/// Sums in the order of the whole vector (<tally/interval_sum.hpp>).
///
/// A rank's interval is the rest of a chunk begun on a lower rank, whole chunks, and a chunk
/// continued on higher ranks; each may be empty. The terms of the first go in one message to the
/// rank where their chunk begins, which waits for it after summing its whole chunks.
class interval_reduction final : public unfinished_sums {
 public:
  interval_reduction(const layout& l, const executor& where, sums all, bool blocks,
                     double scale = 1)
      : layout_(l),
        where_(where),
        sums_(std::move(all)),
        shape_{sums_.what, sums_.accumulator(), sums_.fields.size(), l.total()},
        scale_(scale),
        own_((interval_bytes(shape_) + 7) / 8),
        message_(own_.size()) {
    count_of(numbers() * static_cast<std::size_t>(chunk) * term_bytes());  // on all ranks alike
    const int words = count_of(message_.size());
    count_of(message_.size() * sizeof(std::int64_t));  // MPI_Type_size returns an int
    const MPI_Datatype type = layout_.over()->type_of(words);
    const MPI_Op op = layout_.over()->operation(&append_messages, false);
    const bool in_order = joins_in_order(layout_, words, blocks);
    if (!in_order) all_.resize(message_.size() * static_cast<std::size_t>(layout_.ranks()));
    join_buffer(message_.size() * sizeof(std::int64_t));
    make_message();
    if (in_order) {
      all_reduce(own_.data(), message_.data(), 1, type, op, layout_.communicator(), blocks);
    } else {
      all_gather(own_.data(), all_.data(), words, layout_.communicator(), blocks);
    }
  }
  ~interval_reduction() override { wait_if_pending(); }

  std::size_t size() const noexcept override { return sums_.fields.size(); }

  void finish(void* results) override {
    wait();
    if (!all_.empty()) join_all();
    const interval_head& head = head_of(message_);
    if (head.failed > 0) throw_from(layout_.communicator(), head.failed - 1, failed_);
    if (head.gap != 0) {
      throw error(errc::device_failure, "tally::mpi: MPI has joined messages out of order");
    }
    if (sums_.what != summand::square || scale_ != 1) {
      finish_interval(shape_, message_.data(), sums_.conjugated, results, {}, scale_);
      return;
    }
    std::vector<double> scales(size(), 1.0);
    finish_interval(shape_, message_.data(), sums_.conjugated, results, scales);
    for (std::size_t j = 0; j < size(); ++j) {  // all ranks decide alike
      if (scales[j] == 1) continue;
      interval_reduction second(layout_, where_,
                                {sums_.what, sums_.conjugated, sums_.result, {sums_.fields[j]}},
                                true, scales[j]);
      second.finish(static_cast<std::byte*>(results) + j * size_of(sums_.result));
    }
  }

 private:
  static constexpr auto chunk = static_cast<std::int64_t>(order::chunk);

  /// Terms of a chunk from another rank.
  struct piece {
    int rank;
    std::int64_t first;
    std::size_t count;
    std::vector<std::byte> terms;
  };

  static interval_head& head_of(std::vector<std::int64_t>& message) noexcept {
    return *reinterpret_cast<interval_head*>(message.data());
  }
  std::size_t numbers() const noexcept { return shape_.fields * shape_.numbers(); }
  std::size_t term_bytes() const noexcept { return size_of(part_of(shape_.accumulator)); }

  void make_message() {
    const interval_borders own =
        borders_of_part(layout_.total(), layout_.first(), layout_.first() + layout_.size());

    // Terms of the chunk continued elsewhere. Messages of one rank stay in order and each call
    // takes its own, so one tag suffices.
    MPI_Comm comm = layout_.communicator();
    const int tag = layout_.tag();
    std::vector<piece> pieces;
    const std::int64_t chunk_end =
        own.tail < own.end ? (std::min)(own.tail + chunk, layout_.total()) : own.end;
    for (std::int64_t next = own.end; next < chunk_end;) {
      const int rank = layout_.owner(next);
      const std::int64_t last = (std::min)(chunk_end, layout_.first(rank + 1));
      const auto count = static_cast<std::size_t>(last - next);
      pieces.push_back({rank, next - own.tail, count, {}});
      pieces.back().terms.resize(numbers() * count * term_bytes());
      next = last;
    }
    std::vector<std::byte> sent, terms;
    exchange messages(pieces.size() + 1);
    for (piece& p : pieces) {
      messages.receive(p.terms.data(), count_of(p.terms.size()), MPI_BYTE, p.rank, tag, comm);
    }
    bool must_send = own.head_size() > 0;
    const auto send = [&](std::size_t bytes) {
      if (!std::exchange(must_send, false)) return;
      messages.send(sent.data(), count_of(bytes), MPI_BYTE,
                    layout_.owner(own.begin / chunk * chunk), tag, comm);
    };

    attempt(failed_,
            [&] { sums_.check_size("tally::mpi", static_cast<std::size_t>(layout_.size())); });
    clear_interval(shape_, own_.data());
    const auto stride = static_cast<std::size_t>(chunk_end - own.tail);
    attempt(failed_, [&] {
      sent.resize(numbers() * own.head_size() * term_bytes());
      terms.resize(numbers() * stride * term_bytes());
      interval_part part;
      part.fields = sums_.fields;
      part.first = own.begin;
      part.nodes = &head_of(own_) + 1;
      part.head = sent.data();
      part.head_stride = own.head_size();
      part.tail = terms.data();
      part.tail_stride = stride;
      part.scale = scale_;
      part.when_terms_are_there = [&] { send(sent.size()); };
      head_of(own_) = sum_part(where_, shape_, part);
    });
    send(0);  // a failed rank sends an empty message
    std::optional<failure> lost;
    attempt(lost, [&] { messages.wait(); });
    if (!failed_) failed_ = std::move(lost);
    attempt(failed_, [&] {
      if (own.tail == own.end) return;
      for (const piece& p : pieces) {
        const std::size_t bytes = p.count * term_bytes();
        for (std::size_t i = 0; i < numbers(); ++i) {
          std::copy_n(
              p.terms.data() + i * bytes, bytes,
              terms.data() + (i * stride + static_cast<std::size_t>(p.first)) * term_bytes());
        }
      }
      append_chunk(shape_, own.tail / chunk, stride, stride, terms.data(), own_.data());
    });
    if (failed_) {
      clear_interval(shape_, own_.data());
      head_of(own_).failed = 1 + layout_.rank();
    }
  }

  void join_all() {
    const std::size_t words = message_.size();
    clear_interval(shape_, message_.data());
    for (std::size_t i = 0; i < all_.size(); i += words) {
      append_interval(message_.data(), all_.data() + i);
    }
  }

  const layout& layout_;
  executor where_;
  sums sums_;
  interval_shape shape_;
  double scale_;
  std::vector<std::int64_t> own_;      // this rank's message
  std::vector<std::int64_t> message_;  // all ranks' message
  std::vector<std::int64_t> all_;      // each rank's, if MPI does not join in order
  std::optional<failure> failed_;
};

// --- The exact grade, and integers ----------------------------------------------------------------

/// Words added modulo 2^64: those of `exact_sum`, or an integer sum.
class limb_reduction final : public unfinished_sums {
 public:
  /// @param l layout with the vectors' sizes, or null.
  limb_reduction(MPI_Comm comm, const layout* l, const executor& where, sums all, bool blocks)
      : comm_(comm), sums_(std::move(all)), words_(size() * limbs_per_sum() + 1) {
    if (l == nullptr) check_communicator(comm);
    attempt(failed_, [&] {
      if (l != nullptr) sums_.check_size("tally::mpi", static_cast<std::size_t>(l->size()));
      if (sums_.fields.empty()) return;
      if (sums_.result != type::int64) {
        add_exact_sums(where, sums_.fields, sums_.conjugated, sums_.exact_sum(), words_.data());
        return;
      }
      for (std::size_t j = 0; j < size(); ++j) sum_integers(where, sums_.fields[j], &words_[j]);
    });
    if (failed_) {
      std::fill(words_.begin(), words_.end(), 0);
      words_.back() = 1;
    }
    all_reduce(MPI_IN_PLACE, words_.data(), count_of(words_.size()), MPI_UINT64_T, MPI_SUM, comm,
               blocks);
  }

  ~limb_reduction() override { wait_if_pending(); }

  std::size_t size() const noexcept override { return sums_.fields.size(); }

  void finish(void* results) override {
    wait();
    if (words_.back() != 0) agree(comm_, failed_);
    for (std::size_t j = 0; j < size(); ++j) {
      round(words_.data() + j * limbs_per_sum(),
            static_cast<std::byte*>(results) + j * size_of(sums_.result));
    }
  }

 private:
  std::size_t limbs_per_sum() const noexcept {
    return sums_.fields.empty() || sums_.result == type::int64 ? 1 : exact_words(sums_.exact_sum());
  }

  void sum_integers(const executor& where, const interval_field& f, std::int64_t* sum) const {
    const output to = {sum, type::int64};
    const call_options options = {.wait = true};
    if (sums_.what == summand::product) {
      dot(where, dot_arguments{f.x, f.y, sums_.conjugated, to, options});
    } else {
      const reduction what = sums_.what == summand::value ? reduction::sum : reduction::asum;
      reduce(where, {f.x, what, to, options});
    }
  }

  void round(const std::int64_t* words, void* result) const {
    if (sums_.result == type::int64) {
      *static_cast<std::int64_t*>(result) = *words;
      return;
    }
    const bool root = sums_.what == summand::square;
    round_words(serial(), {words, sums_.exact_sum(), 1, root, {result, sums_.result}});
  }

  MPI_Comm comm_;
  sums sums_;
  std::vector<std::int64_t> words_;  // of all sums, then the number of failed ranks
  std::optional<failure> failed_;
};

inline std::unique_ptr<unfinished_sums> start(const layout& l, const executor& where, sums all,
                                              grade g, bool blocks) {
  if (g.is_exact() || all.result == type::int64 || all.fields.empty()) {
    return std::make_unique<limb_reduction>(l.communicator(), &l, where, std::move(all), blocks);
  }
  return std::make_unique<interval_reduction>(l, where, std::move(all), blocks);
}

inline std::unique_ptr<unfinished_sums> start(MPI_Comm comm, const executor& where, sums all,
                                              exact_grade, bool blocks) {
  return std::make_unique<limb_reduction>(comm, nullptr, where, std::move(all), blocks);
}

}  // namespace tally::mpi::calls
