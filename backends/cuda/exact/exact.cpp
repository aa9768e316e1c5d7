#include "backends/cuda/cuda.hpp"

#include "backends/common/types/tables.hpp"
#include "backends/cuda/exact/job.hpp"
#include "backends/cuda/exact/kernels.hpp"
#include "backends/cuda/exact/shape.hpp"
#include "backends/cuda/runtime/launch.hpp"
#include "backends/cuda/runtime/results/results.hpp"
#include "backends/cuda/runtime/runtime.hpp"
#include "backends/cuda/runtime/scratch.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace tally::backends::cuda {
namespace {

template <class X, class Y>
const exact_kernel_pair* made_for() {
  static const exact_kernel_pair kernels = exact_kernels<X, Y>();
  return &kernels;
}

const exact_kernel_pair* kernels_for(const exact_arguments& a) {
  using product_types = type_list<float16, bfloat16, float, double>;
  using value_types = type_list<float, double>;
  const exact_kernel_pair* made = nullptr;
  if (a.term == exact_term::weighted) return made_for<weighted_vector, weighted_vector>();
  if (a.term == exact_term::product) {
    if (a.x.element == type::boolean && a.y.element == type::float32) {
      made = made_for<bool, float>();
    } else if (a.x.element == a.y.element && is_in<product_types>(a.x.element)) {
      made = with_type<product_types>(a.x.element, []<class X>() { return made_for<X, X>(); });
    }
    if (made && !is_contiguous(a.y, made->long_tiles.per_load)) return nullptr;
  } else if (is_in<value_types>(a.x.element)) {
    made = with_type<value_types>(a.x.element, [&]<class X>() {
      return a.term == exact_term::square ? made_for<X, squared>() : made_for<X, no_vector>();
    });
  }
  return made && is_contiguous(a.x, made->long_tiles.per_load) ? made : nullptr;
}

/// Sets the operands for the kernel of any types.
void describe(const exact_arguments& a, exact_job& job) {
  using factor = exact_job::factor;
  job.x_increment = a.x.increment;
  job.y_increment = a.y.increment;
  job.x_type = a.x.element;
  job.y_type = a.y.element;
  job.parts = is_complex(a.result.element) ? 2 : 1;
  job.second = a.term == exact_term::product  ? factor::y
               : a.term == exact_term::square ? factor::x
                                              : factor::one;
  const type y_type = a.term == exact_term::product ? a.y.element : a.x.element;
  const auto doubles = [](type element) {
    return is_complex(element) || element == type::int64 ? 2u : 1u;
  };
  const unsigned of_x = doubles(a.x.element);
  const unsigned of_y = job.second == factor::one ? 1 : doubles(y_type);
  const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };

  if (job.parts == 1 && a.term == exact_term::square && is_complex(a.x.element)) {
    job.products = 2;  // |x|^2
    for (unsigned i = 0; i < 2; ++i) job.product_of[0][i] = {byte(i), byte(i), false};
  } else if (job.parts == 1) {
    job.products = of_x * of_y;
    for (unsigned i = 0; i < job.products; ++i) {
      job.product_of[0][i] = {byte(i % of_x), byte(i / of_x), false};
    }
  } else if (job.second == factor::one) {
    for (unsigned i = 0; i < 2; ++i) job.product_of[i][0] = {byte(i), 0, false};
  } else if (is_complex(a.x.element) && is_complex(y_type)) {
    const bool conjugated = a.conjugated != conjugate::none;
    job.products = 2;
    job.product_of[0][0] = {0, 0, false};
    job.product_of[0][1] = {1, 1, !conjugated};
    job.product_of[1][0] = {0, 1, a.conjugated == conjugate::y};
    job.product_of[1][1] = {1, 0, a.conjugated == conjugate::x};
  } else {  // one is real: its doubles times each part of the other
    const bool x_complex = is_complex(a.x.element);
    const bool negative =
        a.conjugated == (x_complex ? conjugate::x : conjugate::y);  // the imaginary part
    job.products = x_complex ? of_y : of_x;
    for (unsigned i = 0; i < 2; ++i) {
      for (unsigned j = 0; j < job.products; ++j) {
        job.product_of[i][j] = {byte(x_complex ? i : j), byte(x_complex ? j : i),
                                i == 1 && negative};
      }
    }
  }
}

/// Adds limbs to the caller's, in host memory.
void add_words(const std::byte* from, const output& to) {
  auto* const words = static_cast<std::int64_t*>(to.data);
  for (std::size_t i = 0; i < exact_words(to.element); ++i) {
    std::uint64_t value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    words[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(words[i]) + value);
  }
}

const char* name_of(const exact_arguments& a) {
  switch (a.term) {
    case exact_term::value:
      return "sum";
    case exact_term::magnitude:
      return "asum";
    case exact_term::square:
      return "nrm2";
    case exact_term::weighted:
      return "weighted norms";
    default:
      return "dot";
  }
}

/// Queues a sum with the result at `to`: tagged words unless `tag` is 0.
void queue(const executor& where, const current_device& current, bool captured,
           const exact_arguments& a, void* to, std::uint32_t tag) {
  const cudaStream_t stream = where.stream();
  exact_job job;
  job.x = a.x.data;
  job.y = a.y.data;
  job.n = static_cast<std::int64_t>(a.x.size);
  job.absolute = a.term == exact_term::magnitude;
  job.root = a.is_root();
  job.divisor = a.result.words ? 0 : a.divisor();
  job.to_words = a.result.words;
  job.to_float = part_of(a.result.element) == type::float32;
  job.result = to;
  job.tag = tag;

  if (a.term == exact_term::weighted) {
    job.x_increment = a.x.increment;
    job.y_increment = a.y.increment;
    job.x_type = a.x.element;
    job.y_type = a.y.element;
  }
  if (a.mask && a.x.size > 0) {
    job.mask = a.mask->data;
    job.mask_increment = a.mask->increment;
    job.mask_type = a.mask->element;
  }

  const exact_kernel_pair* made = kernels_for(a);
  if (made == nullptr) {
    made = made_for<any_vector, any_vector>();
    describe(a, job);
  }

  const exact_shape cut =
      shape_of_exact(*made, a.x.size, job.products, multiprocessors(where.device()));
  job.tiles = cut.tiles;
  job.dynamic = cut.dynamic;
  launch_shape shape;
  shape.blocks = cut.blocks * job.parts;
  job.leaves_room = shape.blocks <= multiprocessors(where.device());
  shape.threads = cut.warps * 32;
  shape.shared_bytes = cut.kernel->shared_bytes * cut.warps;
  allow_shared_bytes(cut.kernel->kernel, current, cut.kernel->shared_bytes * exact_warps);

  scratch shared;
  if (shape.blocks > 1) {
    shared =
        scratch_for(current, stream, captured, exact_scratch::words(job.parts, cut.kernel->words));
  }
  job.scratch = shared.words;
  job.ended = shared.ended;
  launch(cut.kernel->kernel, shape, &job, where.device(), stream);
  shared.queued();
}

}  // namespace

void backend::multi_exact(const executor& where, std::span<const exact_arguments> all) const {
  const current_device current(where.device());
  const bool wait = all[0].options.wait;
  const bool captured = is_captured(where.stream(), wait, name_of(all[0]));
  std::vector<std::size_t> places = {0};
  for (const exact_arguments& a : all) places.push_back(places.back() + bytes_of(a.result));
  std::vector<std::byte> made(wait ? places.back() : 0);
  const results arriving(current, made.data(), places.back(), wait, results::as_words);
  for (std::size_t j = 0; j < all.size(); ++j) {
    void* const to = wait ? arriving.at(places[j]) : all[j].result.data;
    queue(where, current, captured, all[j], to, arriving.tag());
  }
  arriving.arrive(where.stream());
  if (!wait) return;
  for (std::size_t j = 0; j < all.size(); ++j) {
    const output& result = all[j].result;
    const std::byte* const from = made.data() + places[j];
    if (result.words) {
      add_words(from, result);
    } else {
      std::memcpy(result.data, from, bytes_of(result));
    }
  }
}

void backend::exact(const executor& where, const exact_arguments& a) const {
  multi_exact(where, {&a, 1});
}

void backend::round_words(const executor& where, const round_arguments& a) const {
  const current_device current(where.device());
  const cudaStream_t stream = where.stream();
  is_captured(stream, a.wait, a.root ? "round_root_words" : "round_words");  // throws if it would
                                                                             // wait
  round_job job;
  job.parts = is_complex(a.sum) ? 2 : 1;
  job.root = a.root;
  job.to_float = part_of(a.result.element) == type::float32;
  const std::size_t words = exact_words(a.sum), bytes = size_of(a.result.element);
  const bool of_float = part_of(a.sum) == type::float32;
  // Results that are waited for pass through pinned memory, which is kept: a few MiB at most.
  const std::size_t max_blocks = std::size_t{1} << (a.wait ? 16 : 30);
  for (std::size_t i = 0; i < a.count; i += max_blocks) {
    const std::size_t blocks = std::min(max_blocks, a.count - i);
    const results arriving(current, static_cast<std::byte*>(a.result.data) + i * bytes,
                           blocks * bytes, a.wait, results::few_as_words);
    job.tag = arriving.tag();
    job.result_bytes = static_cast<unsigned>(job.tag == 0 ? bytes : 2 * bytes);
    job.words = a.words + i * words;
    job.result = arriving.at(0);
    launch(round_kernel(of_float), {static_cast<unsigned>(blocks), 32}, &job, where.device(),
           stream);
    arriving.arrive(stream);
  }
}

}  // namespace tally::backends::cuda
