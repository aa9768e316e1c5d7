#include "backends/cuda/cuda.hpp"

#include "backends/common/order/interval_numbers.hpp"
#include "backends/common/order/node_sum.hpp"
#include "backends/cuda/interval/kernels.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"
#include "backends/cuda/runtime/sum.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace tally::backends::cuda {
namespace {

/// Common to all launches of a call.
struct call {
  const executor& where;
  const current_device& current;
  bool captured;
  const interval_arguments& a;
  std::uint32_t tag;

  /// Bytes of a node, plain.
  std::size_t node_bytes() const { return node_sum_bytes(a.shape.what, a.shape.accumulator); }
};

vectors_kernel kernel_of(const interval_arguments& a, type x, type y) {
  const type accumulator = a.shape.accumulator;
  switch (a.shape.what) {
    case summand::product:
      return products_kernel_of(accumulator, x, y);
    case summand::value:
      return vectors_kernel_of<summand::value>(accumulator, x);
    case summand::magnitude:
      return vectors_kernel_of<summand::magnitude>(accumulator, x);
    default:
      return vectors_kernel_of<summand::square>(accumulator, x);
  }
}

/// Pre: at most `max_vectors` nodes.
void sum_vectors(const call& c, std::span<const interval_field> nodes, void* to) {
  const bool has_y = c.a.shape.what == summand::product;
  vectors_job job;
  job.x_type = nodes[0].x.element;
  if (has_y) {
    job.y_type = nodes[0].y.element;
    job.swapped = !in_order(job.x_type, job.y_type);
    if (job.swapped) std::swap(job.x_type, job.y_type);
  }
  const vectors_kernel kernels = kernel_of(c.a, job.x_type, job.y_type);
  const bool contiguous =
      kernels.contiguous != nullptr && std::ranges::all_of(nodes, [&](const interval_field& node) {
        return is_contiguous(node.x, kernels.lanes) &&
               (!has_y || is_contiguous(node.y, kernels.lanes));
      });
  const int lanes = contiguous ? kernels.lanes : lanes_of_any;
  const std::size_t a_warp = order::chunk * static_cast<unsigned>(chunks_per_warp(lanes));
  std::size_t all = 0;
  for (const interval_field& node : nodes) all += ceil_div(node.x.size, a_warp);

  sum_shape shape = shape_of_nodes(all, kernels.words);
  unsigned blocks = 0, words = 0;
  const auto cut = [&] {
    blocks = words = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const operand &x = job.swapped ? nodes[i].y : nodes[i].x,
                    &y = job.swapped ? nodes[i].x : nodes[i].y;
      job.list[i] = {x.data,      y.data,      static_cast<std::int64_t>(x.size),
                     x.increment, y.increment, words};
      job.first_block[i] = blocks;
      const auto own = static_cast<unsigned>(
          ceil_div(ceil_div(x.size, a_warp), std::size_t{shape.warps} * shape.tiles));
      blocks += own;
      if (own > 1) words += words_of_blocks(own, kernels.words);
    }
  };
  for (cut(); words > scratch_words; cut()) shape.tiles *= 2;
  job.first_block[nodes.size()] = blocks;

  job.vectors = static_cast<unsigned>(nodes.size());
  job.tiles = shape.tiles;
  job.tag = c.tag;
  job.sums = to;
  scratch shared;
  if (words > 0) shared = scratch_for(c.current, c.where.stream(), c.captured, words);
  job.words = shared.words;
  job.ended = shared.ended;
  launch(reinterpret_cast<const void*>(contiguous ? kernels.contiguous : kernels.any),
         {blocks, shape.warps * 32}, &job, c.where.device(), c.where.stream());
  shared.queued(job.vectors);
}

/// Whether all fields are real products with a common vector, which multi_dot reads once.
bool shares_per_vector(const interval_arguments& a) {
  if (a.shape.what != summand::product || a.shape.numbers() > 1 || a.shape.fields < 2) return false;
  if (!a.nodes.empty() && a.nodes[0].squared) return false;
  const auto first = a.nodes.first(std::min(a.nodes.size(), a.shape.fields));
  const auto all_have = [&](operand interval_field::* which) {
    return std::ranges::all_of(
        first, [&](const interval_field& f) { return (f.*which).data == (first[0].*which).data; });
  };
  return all_have(&interval_field::x) || all_have(&interval_field::y);
}

void sum_products(const executor& where, const interval_arguments& a, void* to, bool wait) {
  const std::vector<operand_pair> pairs = pairs_of(a);
  const type number = part_of(a.shape.accumulator);
  instance.multi_dot(
      where, multi_dot_arguments{{{}, {}, pairs}, conjugate::none, {to, number}, {.wait = wait}});
}

void sum_nodes(const call& c, void* to) {
  const std::span<const interval_field> nodes = c.a.nodes;
  if (nodes.empty()) return;
  if (nodes[0].squared) {  // products: no tag
    auto* sum = static_cast<std::byte*>(to);
    for (const interval_field& node : nodes) {
      sum_node_of_weighted(c.where, c.a.shape.accumulator, node, sum);
      sum += c.node_bytes();
    }
    return;
  }
  if (nodes.size() == 1 && c.tag == 0) {
    const auto sum_node =
        c.a.shape.what == summand::product ? sum_node_of_products : sum_node_of_elements;
    return sum_node(c.where, c.a.shape.accumulator, nodes[0], to);
  }
  if (shares_per_vector(c.a)) return sum_products(c.where, c.a, to, false);
  for (std::size_t first = 0; first < nodes.size(); first += max_vectors) {
    const auto next =
        nodes.subspan(first, std::min<std::size_t>(max_vectors, nodes.size() - first));
    sum_vectors(c, next,
                static_cast<std::byte*>(to) + first * c.node_bytes() * (c.tag == 0 ? 1 : 2));
  }
}

/// Field i's terms go to `to(i)`, with `stride(i)`.
void write_terms(const call& c, const auto& to, const auto& stride) {
  const std::span<const terms_destination> all = c.a.terms;
  if (!all.empty() && all[0].elements.squared) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      write_weighted_terms(c.where, c.a.shape.accumulator, all[i].elements, to(i));
    }
    return;
  }
  for (std::size_t first = 0; first < all.size(); first += max_fields) {
    const std::size_t some = std::min<std::size_t>(max_fields, all.size() - first);
    terms_job job;
    job.what = c.a.shape.what;
    job.numbers = static_cast<unsigned>(c.a.shape.numbers());
    job.tag = c.tag;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < some; ++i) {
      const interval_field& field = all[first + i].elements;
      listed_terms& listed = job.list[i];
      listed.x = typed_vector(field.x);
      if (job.what == summand::product) listed.y = typed_vector(field.y);
      listed.n = static_cast<int>(field.x.size);
      listed.to = to(first + i);
      listed.stride = stride(first + i);
      longest = std::max(longest, field.x.size);
    }
    launch_shape shape;
    shape.blocks = static_cast<unsigned>(some);
    shape.height = static_cast<unsigned>(ceil_div(longest, threads_of_terms));
    shape.threads = threads_of_terms;
    launch(reinterpret_cast<const void*>(terms_kernel(part_of(c.a.shape.accumulator))), shape, &job,
           c.where.device(), c.where.stream());
  }
}

}  // namespace

void backend::sum_interval(const executor& where, const interval_arguments& a) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  const bool captured = is_captured(stream, a.wait, a.function);
  if (!a.wait) {
    const call c{where, current, captured, a, 0};
    write_terms(
        c, [&](std::size_t i) { return a.terms[i].to; },
        [&](std::size_t i) { return a.terms[i].stride; });
    return sum_nodes(c, a.sums);
  }

  const bool by_multi_dot = shares_per_vector(a);
  if (by_multi_dot && a.terms.empty()) {  // which may use the pinned result buffer
    sum_products(where, a, a.sums, true);
    if (a.when_terms_are_there) a.when_terms_are_there();
    return;
  }

  const std::size_t size = size_of(part_of(a.shape.accumulator)), numbers = a.shape.numbers();
  std::vector<std::size_t> places = {a.nodes.size() *
                                     node_sum_bytes(a.shape.what, a.shape.accumulator)};
  for (const terms_destination& t : a.terms) {
    places.push_back(places.back() + t.elements.x.size * numbers * size);
  }
  std::vector<std::byte> all(places.back());
  const results arriving(
      current, all.data(), all.size(), true,
      a.shape.what == summand::product ? results::as_they_are : results::few_as_words);
  const call c{where, current, captured, a, arriving.tag()};
  write_terms(
      c, [&](std::size_t i) { return arriving.at(places[i]); },
      [&](std::size_t i) { return a.terms[i].elements.x.size; });
  sum_nodes(c, arriving.at(0));
  arriving.arrive(stream);
  std::copy_n(all.data(), places[0], static_cast<std::byte*>(a.sums));
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    const std::size_t bytes = a.terms[i].elements.x.size * size;
    for (std::size_t k = 0; k < numbers; ++k) {
      std::copy_n(all.data() + places[i] + k * bytes, bytes,
                  static_cast<std::byte*>(a.terms[i].to) + k * a.terms[i].stride * size);
    }
  }
  if (a.when_terms_are_there) a.when_terms_are_there();
}

}  // namespace tally::backends::cuda
