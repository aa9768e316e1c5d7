// Sums over devices: nodes of the order's tree, or integer words.
#pragma once

#include <tally/nccl/layout.hpp>
#include <tally/operations/transform.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tally::nccl::detail {

// --- The exact grade, and integers ----------------------------------------------------------------

/// Modulo 2^64.
inline void add_integers(const communicator& over, const executor& where, const field_sums& all,
                         void* results) {
  check_result(results);
  const std::size_t count = all.fields.size(), bytes = count * sizeof(std::int64_t);
  auto* const own = reinterpret_cast<std::int64_t*>(over.nodes(where, bytes));
  for (std::size_t j = 0; j < count; ++j) {
    all.sum_field(where, j, {own + j, type::int64}, {.grade = exact, .wait = false});
  }
  const current_device current(over.device());
  check(ncclAllReduce(own, own, count, ncclInt64, ncclSum, over.get(), where.stream()),
        "ncclAllReduce");
  check(cudaMemcpyAsync(results, own, bytes, cudaMemcpyDefault, where.stream()), "cudaMemcpyAsync");
}

inline void add_words(const communicator& over, const executor& where, const field_sums& all,
                      void* results) {
  const type sum = all.exact_sum();
  const std::size_t each = exact_words(sum), count = all.fields.size();
  const bool root = all.has_roots();
  const output result = {results, all.result};
  std::int64_t* const words = over.words(where, count * each);
  const current_device current(over.device());
  const auto clear = [&] {
    check(cudaMemsetAsync(words, 0, count * each * sizeof(std::int64_t), where.stream()),
          "cudaMemsetAsync");
  };
  try {
    for (std::size_t j = 0; j < count; ++j) {
      all.sum_field(where, j, {words + j * each, sum, true}, {.grade = exact, .wait = false});
    }
    if (over.through() != nullptr && windows_take(count, each * sizeof(std::int64_t))) {
      return join_words(where, {words, sum, count, root, result, over.through()});
    }
    check(ncclAllReduce(words, words, count * each, ncclInt64, ncclSum, over.get(), where.stream()),
          "ncclAllReduce");
    round_words(where, {words, sum, count, root, result, false});
  } catch (...) {  // the next call expects zeros
    clear();
    throw;
  }
  clear();
}

// --- The default grade ----------------------------------------------------------------------------

/// Sums in the order of the whole vector (<tally/distributed/joined_sum.hpp>). Elements of a chunk
/// begun on a lower rank go there.
class ordered_sums {
 public:
  ordered_sums(const layout& l, const executor& where, const field_sums& all)
      : layout_(l), over_(l.over()), where_(where), sums_(all), shape_(all.shape(l.total())) {}

  void queue(void* results) const {
    const interval_borders p = layout_.parts_of(layout_.rank());
    const std::size_t bytes = node_bytes(shape_);
    const auto all_nodes = static_cast<std::size_t>(layout_.max_nodes());
    std::byte* const own = over_.nodes(where_, all_nodes * bytes);
    const std::vector<interval_field> last = chunk_of(p);  // first: these messages take longest
    sum_nodes(slice(p.whole, p.tail), p.whole, own);
    if (p.tail < p.end) {
      const auto before = static_cast<std::size_t>(layout_.whole_nodes(layout_.rank()));
      sum_nodes(last, p.tail, own + before * bytes);
    }
    join_arguments join{shape_, sums_.conjugated, layout_.steps(), own, results};
    if (over_.through() != nullptr &&
        windows_take(shape_.fields, all_nodes * bytes / shape_.fields)) {
      join.through = over_.through();
      join.nodes_per_rank = static_cast<std::int32_t>(all_nodes);
    } else {
      std::byte* const every =
          over_.others(where_, all_nodes * bytes * static_cast<std::size_t>(over_.ranks()));
      const current_device current(over_.device());
      check(ncclAllGather(own, every, all_nodes * bytes, ncclUint8, over_.get(), where_.stream()),
            "ncclAllGather");
      join.nodes = every;
    }
    join_nodes(where_, join);
  }

  /// Elements [first, last) of the whole vector.
  std::vector<interval_field> slice(std::int64_t first, std::int64_t last) const {
    std::vector<interval_field> fields = sums_.fields;
    const auto begin = static_cast<std::size_t>(first - layout_.first());
    const auto count = static_cast<std::size_t>(last - first);
    for (interval_field& field : fields) field = field.slice(begin, count);
    return fields;
  }

  /// Sends the elements of a chunk begun elsewhere, collects those of the chunk continued
  /// elsewhere, and returns its fields, if any.
  std::vector<interval_field> chunk_of(const interval_borders& p) const {
    const std::size_t sent = p.head_size(), own = p.tail_size();
    if (sent == 0 && own == 0) return {};
    constexpr std::size_t a_field = 3 * order::chunk * 16;
    std::byte* const room = over_.pieces(where_, 2 * shape_.fields * a_field);
    std::byte* const gone = room + shape_.fields * a_field;
    const auto pack = [&](operand& v, std::byte* to, std::size_t) {
      const output_operand packed = {to, v.size, 1, v.element};
      transform(where_, {elementwise::copy, {}, {}, v, {}, packed});
      v = operand(packed);
    };
    std::vector<interval_field> head = slice(p.begin, p.whole), last = slice(p.tail, p.end);
    if (sent > 0) for_each_vector(head, sent, gone, pack);
    const auto whole = static_cast<std::size_t>(layout_.chunk_end() - p.tail);
    if (own > 0) for_each_vector(last, whole, room, pack);
    const current_device current(over_.device());
    together([&] {
      if (sent > 0) {
        const int to = layout_.begun_by();
        for_each_vector(head, sent, gone, [&](operand& v, std::byte*, std::size_t bytes) {
          check(ncclSend(v.data, sent * bytes, ncclUint8, to, over_.get(), where_.stream()),
                "ncclSend");
        });
      }
      for (const chunk_piece& piece : layout_.continued()) {
        for_each_vector(last, whole, room, [&](operand&, std::byte* to, std::size_t bytes) {
          check(ncclRecv(to + static_cast<std::size_t>(piece.first) * bytes,
                         static_cast<std::size_t>(piece.count) * bytes, ncclUint8, piece.rank,
                         over_.get(), where_.stream()),
                "ncclRecv");
        });
      }
    });
    for_each_vector(last, whole, room,
                    [&](operand& v, std::byte*, std::size_t) { v.size = whole; });
    return last;
  }

 private:
  void sum_nodes(const std::vector<interval_field>& fields, std::int64_t first, void* to) const {
    sum_part(where_, shape_, {.fields = fields, .first = first, .nodes = to, .wait = false});
  }
  /// Calls f(v, to, bytes) for each vector; `to` has room for `count` elements of `bytes` bytes.
  template <class F>
  static void for_each_vector(std::vector<interval_field>& fields, std::size_t count, std::byte* to,
                              const F& f) {
    const auto one = [&](operand& v) {
      f(v, to, size_of(v.element));
      to += (count * size_of(v.element) + 15) / 16 * 16;
    };
    for (interval_field& field : fields) {
      one(field.x);
      if (field.what == summand::product) one(field.y);
      if (field.mask) one(*field.mask);
    }
  }

  const layout& layout_;
  const communicator& over_;
  const executor& where_;
  const field_sums& sums_;
  interval_shape shape_;
};

inline void queue(const communicator& over, const executor& where, const field_sums& all,
                  distributed::explicit_exact, void* results) {
  over.check_executor(where);
  if (all.fields.empty()) return;
  all.result == type::int64 ? add_integers(over, where, all, results)
                            : add_words(over, where, all, results);
}

inline void queue(const layout& l, const executor& where, const field_sums& all, grade g,
                  void* results) {
  all.check_size(transport::name, static_cast<std::size_t>(l.size()));
  if (g.is_exact() || all.result == type::int64 || all.fields.empty()) {
    return queue(l.over(), where, all, exact, results);
  }
  l.over().check_executor(where);
  ordered_sums(l, where, all).queue(results);
}

template <class C>
void transport::sum(const C& over, const executor& where, const field_sums& all,
                    distributed::grade_over<C> g, void* results, std::size_t bytes) {
  communicator_of(over).wait_for(where, results, bytes,
                                 [&](void* to) { queue(over, where, all, g, to); });
}

}  // namespace tally::nccl::detail
