// Sums over ranks: nodes of the order's tree, or integer words.
#pragma once

#include <tally/mpi/layout.hpp>
#include <tally/mpi/request.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace tally::mpi::detail {

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

/// Whether MPI joins messages of `words` words in rank order, as some libraries do not. Tested once
/// per size, by messages that carry their ranks.
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

/// This rank's message: its part of the sums in the order of the whole vector
/// (<tally/distributed/interval_sum.hpp>).
///
/// The terms of a chunk begun on a lower rank go in one message to that rank, which waits for it
/// after summing its whole chunks.
class interval_message {
 public:
  interval_message(const layout& l, const executor& where, field_sums all)
      : layout_(l),
        where_(where),
        sums_(std::move(all)),
        shape_(sums_.shape(l.total())),
        own_((interval_bytes(shape_) + 7) / 8) {
    count_of(numbers() * order::chunk * term_bytes());  // on all ranks alike
  }

  const field_sums& sums() const noexcept { return sums_; }
  const interval_shape& shape() const noexcept { return shape_; }
  /// Words of 8 bytes.
  std::vector<std::int64_t>& words() noexcept { return own_; }
  std::optional<failure>& failed() noexcept { return failed_; }

  static interval_head& head_of(std::vector<std::int64_t>& message) noexcept {
    return *reinterpret_cast<interval_head*>(message.data());
  }

  /// Terms of the chunk continued elsewhere, all ranks': number i of term k at i * stride + k.
  struct cut_chunk {
    std::vector<chunk_piece> pieces;  ///< the other ranks'
    std::size_t stride = 0;
    std::vector<std::byte> terms;
    std::vector<std::int64_t> before;  ///< the message without this chunk
  };

  /// Sums; may fail on this rank, which the message tells.
  cut_chunk make() {
    // Messages of one rank stay in order and each call takes its own, so one tag suffices.
    MPI_Comm comm = layout_.communicator();
    const int tag = layout_.tag();
    const interval_borders own = layout_.parts_of(layout_.rank());
    cut_chunk cut;
    cut.pieces = layout_.continued();
    const auto stride = cut.stride = static_cast<std::size_t>(layout_.chunk_end() - own.tail);
    const std::size_t each = numbers() * term_bytes();  // bytes of an element's terms
    std::vector<std::byte> received((stride - own.tail_size()) * each), sent;
    const auto terms_of = [&](const chunk_piece& p) {
      return received.data() + (static_cast<std::size_t>(p.first) - own.tail_size()) * each;
    };
    exchange messages(cut.pieces.size() + 1);
    for (const chunk_piece& p : cut.pieces) {
      messages.receive(terms_of(p), count_of(static_cast<std::size_t>(p.count) * each), MPI_BYTE,
                       p.rank, tag, comm);
    }
    bool must_send = own.head_size() > 0;
    const auto send = [&](std::size_t bytes) {
      if (!std::exchange(must_send, false)) return;
      messages.send(sent.data(), count_of(bytes), MPI_BYTE, layout_.begun_by(), tag, comm);
    };

    attempt(failed_,
            [&] { sums_.check_size(transport::name, static_cast<std::size_t>(layout_.size())); });
    clear_interval(shape_, own_.data());
    attempt(failed_, [&] {
      sent.resize(own.head_size() * each);
      cut.terms.resize(stride * each);
      interval_part part;
      part.fields = sums_.fields;
      part.first = own.begin;
      part.nodes = &head_of(own_) + 1;
      part.head = sent.data();
      part.head_stride = own.head_size();
      part.tail = cut.terms.data();
      part.tail_stride = stride;
      auto then = [&] { send(sent.size()); };
      part.when_terms_are_there = [](void* call) { (*static_cast<decltype(then)*>(call))(); };
      part.context = &then;
      head_of(own_) = sum_part(where_, shape_, part);
    });
    send(0);  // a failed rank sends an empty message
    std::optional<failure> lost;
    attempt(lost, [&] { messages.wait(); });
    if (!failed_) failed_ = std::move(lost);
    attempt(failed_, [&] {
      if (own.tail == own.end) return;
      for (const chunk_piece& p : cut.pieces) {
        const auto first = static_cast<std::size_t>(p.first);
        const std::size_t bytes = static_cast<std::size_t>(p.count) * term_bytes();
        for (std::size_t i = 0; i < numbers(); ++i) {
          std::copy_n(terms_of(p) + i * bytes, bytes,
                      cut.terms.data() + (i * stride + first) * term_bytes());
        }
      }
      cut.before = own_;
      const std::int64_t chunk = own.tail / static_cast<std::int64_t>(order::chunk);
      append_chunk(shape_, chunk, stride, stride, cut.terms.data(), own_.data());
    });
    if (failed_) {
      clear_interval(shape_, own_.data());
      head_of(own_).failed = 1 + layout_.rank();
    }
    return cut;
  }

 private:
  std::size_t numbers() const noexcept { return shape_.fields * shape_.numbers(); }
  std::size_t term_bytes() const noexcept { return size_of(part_of(shape_.accumulator)); }

  const layout& layout_;
  executor where_;
  field_sums sums_;
  interval_shape shape_;
  std::vector<std::int64_t> own_;
  std::optional<failure> failed_;
};

/// Sums in the order of the whole vector.
class interval_reduction final : public unfinished_sums {
 public:
  interval_reduction(const layout& l, const executor& where, field_sums all, bool blocks)
      : layout_(l), own_(l, where, std::move(all)), message_(own_.words().size()) {
    const int words = count_of(message_.size());
    count_of(message_.size() * sizeof(std::int64_t));  // MPI_Type_size returns an int
    const MPI_Datatype type = layout_.over()->type_of(words);
    const MPI_Op op = layout_.over()->operation(&append_messages, false);
    const bool in_order = joins_in_order(layout_, words, blocks);
    if (!in_order) all_.resize(message_.size() * static_cast<std::size_t>(layout_.ranks()));
    join_buffer(message_.size() * sizeof(std::int64_t));
    own_.make();
    std::vector<std::int64_t>& own = own_.words();
    if (in_order) {
      all_reduce(own.data(), message_.data(), 1, type, op, layout_.communicator(), blocks);
    } else {
      all_gather(own.data(), all_.data(), words, layout_.communicator(), blocks);
    }
  }
  ~interval_reduction() override { wait_if_pending(); }

  std::size_t size() const noexcept override { return own_.sums().fields.size(); }

  void finish(void* results) override {
    wait();
    if (!all_.empty()) join_all();
    const interval_head& head = interval_message::head_of(message_);
    if (head.failed > 0) throw_from(layout_.communicator(), head.failed - 1, own_.failed());
    if (head.gap != 0) {
      throw error(errc::device_failure, "tally::mpi: MPI has joined messages out of order");
    }
    finish_interval(own_.shape(), message_.data(), own_.sums().conjugated, results);
  }

 private:
  void join_all() {
    const std::size_t words = message_.size();
    clear_interval(own_.shape(), message_.data());
    for (std::size_t i = 0; i < all_.size(); i += words) {
      append_interval(message_.data(), all_.data() + i);
    }
  }

  const layout& layout_;
  interval_message own_;
  std::vector<std::int64_t> message_;  // all ranks' message
  std::vector<std::int64_t> all_;      // each rank's, if MPI does not join in order
};

// --- The exact grade, and integers ----------------------------------------------------------------

/// Words added modulo 2^64: those of `exact_sum`, or an integer sum.
class limb_reduction final : public unfinished_sums {
 public:
  /// @param l layout with the vectors' sizes, or null.
  limb_reduction(MPI_Comm comm, const layout* l, const executor& where, field_sums all, bool blocks)
      : comm_(comm), sums_(std::move(all)), words_(size() * limbs_per_sum() + 1) {
    if (l == nullptr) check_communicator(comm);
    attempt(failed_, [&] {
      if (l != nullptr) sums_.check_size(transport::name, static_cast<std::size_t>(l->size()));
      if (has_limbs()) {
        add_exact_sums(where, sums_.fields, sums_.conjugated, sums_.exact_sum(), words_.data());
        return;
      }
      for (std::size_t j = 0; j < size(); ++j) {
        sums_.sum_field(where, j, {&words_[j], type::int64}, {.wait = true});
      }
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
    if (!has_limbs()) {
      std::copy_n(words_.data(), size(), static_cast<std::int64_t*>(results));
      return;
    }
    round_words(
        serial(),
        {words_.data(), sums_.exact_sum(), size(), sums_.has_roots(), {results, sums_.result}});
  }

 private:
  bool has_limbs() const noexcept { return size() > 0 && sums_.result != type::int64; }
  std::size_t limbs_per_sum() const noexcept {
    return has_limbs() ? exact_words(sums_.exact_sum()) : 1;
  }

  MPI_Comm comm_;
  field_sums sums_;
  std::vector<std::int64_t> words_;  // of all sums, then the number of failed ranks
  std::optional<failure> failed_;
};

inline std::unique_ptr<unfinished_sums> start(const layout& l, const executor& where,
                                              field_sums all, grade g, bool blocks) {
  if (g.is_exact() || all.result == type::int64 || all.fields.empty()) {
    return std::make_unique<limb_reduction>(l.communicator(), &l, where, std::move(all), blocks);
  }
  return std::make_unique<interval_reduction>(l, where, std::move(all), blocks);
}

inline std::unique_ptr<unfinished_sums> start(MPI_Comm comm, const executor& where, field_sums all,
                                              distributed::explicit_exact, bool blocks) {
  return std::make_unique<limb_reduction>(comm, nullptr, where, std::move(all), blocks);
}

template <class C>
void transport::sum(const C& over, const executor& where, field_sums all,
                    distributed::grade_over<C> g, void* results, std::size_t /*bytes*/) {
  start(over, where, std::move(all), g, true)->finish(results);
}

}  // namespace tally::mpi::detail
