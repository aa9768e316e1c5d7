// Products with sparse matrices: the precedence of the methods.
#include "backends/common/elementwise/elementwise.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/spmv/analysis/search.hpp"
#include "backends/cuda/spmv/integers.hpp"
#include "backends/cuda/spmv/kernels.hpp"
#include "backends/cuda/spmv/method.hpp"

#include <tally/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tally::backends::cuda {
namespace {

// In the order of precedence. A plan has the first special method that is found, and the first
// general one; a product takes the first that serves it, of its plan, then of those without.
//
// Special methods serve products of float or double with contiguous x, of a plan with fixed
// columns, or without a promise where the list says so. Those with differences need all in 16
// bits; those with x in shared memory, room for it.
//
// describe()   file, kernel                   matrices                                 kept
// stencils     row_tiles, spmv_row_tiles      short rows, up to 256 stencils           1 byte a row
// near blocks  row_blocks, spmv_row_blocks    2^23 or more terms, 8 or more in the     differences
//                                             mean, 128 at most, uneven, near each
//                                             other
// ring         ring, spmv_ring_rows           2^18 or more short rows, near diagonal   differences
// band         band, spmv_band_rows           many rows of up to 128 terms, 16 in the  differences
//                                             mean, near diagonal, few side by side
// row tiles    row_tiles, spmv_row_tiles      short rows                               differences
// few columns  few_columns, spmv_few_columns  128 or more terms in the mean, x fits    columns of
//                                             shared memory, without a promise too     16 bits
// long rows    long_rows, spmv_long_rows      8 or more chunks in the mean, without a differences
//                                             promise too
// hub columns  hub_columns, spmv_hub_columns  2^21 or more terms, a fifth of them in   codes of
//                                             hub columns, no row threads              columns
// whole rows   long_rows, spmv_whole_rows     2^20 or more terms, all rows of 129 to   nothing
//                                             4096, without a promise too
// even rows    row_tiles, spmv_row_tiles,     short rows of one length, without a      nothing, or
//              spmv_rows_of_few_terms         promise too                              columns of
//                                                                                      16 bits
// row blocks   row_blocks, spmv_row_blocks    2^23 or more terms, 8 or more in the     16 bytes
//                                             mean, 128 at most, of near columns,      each
//                                             without a promise too
// row threads  csr, spmv_rows                 rows of up to 128 terms, balanced        nothing
// pieces       csr, spmv_pieces               all                                      pieces
//
// Many rows are over 2^15 (has_many_rows), short ones many rows of up to 64 terms, balanced
// (has_row_tiles). Balanced are up to 2^15 rows of at most 32 terms, and more rows if the longest
// is at most 1.9 times the mean, or 32 with up to 8 in the mean (threads_per_row). The ring goes
// before bands and row tiles (tuning/spmv.md: find_ring).

constexpr find_method* special[] = {find_stencils,  find_near_row_blocks, find_ring,
                                    find_band,      find_row_tiles,       find_few_columns,
                                    find_long_rows, find_hub_columns,     find_whole_rows,
                                    find_even_rows, find_row_blocks};
constexpr find_method* general[] = {find_row_threads, find_pieces};
constexpr multiply_operation* unplanned[] = {multiply_any_rows, multiply_long_rows,
                                             multiply_uneven_rows, multiply_queued_rows,
                                             multiply_merge_path};

}  // namespace

const cuda_plan* plan_of(const csr_product& a, const current_device& current) {
  if (a.plan == nullptr) return nullptr;
  const auto& plan = static_cast<const cuda_plan&>(a.plan->analysis()->ready());
  if (plan.context != current.context()) fail_of_context();
  return &plan;
}

std::vector<std::unique_ptr<const method>> find_methods(search& s) {
  std::vector<std::unique_ptr<const method>> found;
  const auto add_first = [&](const auto& list) {
    for (find_method* const find : list) {
      std::unique_ptr<const method> one = find(s);
      if (s.has_defect()) return;
      if (one != nullptr) return found.push_back(std::move(one));
    }
  };
  add_first(special);
  if (!s.has_defect()) add_first(general);
  return found;
}

void backend::spmv(const executor& where, const csr_product& a) const {
  const current_device current(where.device());
  if (is_integer(a.a.values.element)) return sum_integer_rows(where, current, a);
  const cuda_plan* const plan = plan_of(a, current);
  const spmv_call call(where, current, a);
  if (plan != nullptr) plan->memory.used_on(call.stream);
  if (multiply_exactly(call)) return;
  if (plan != nullptr) {
    for (const auto& method : plan->methods) {
      if (method->multiply(call)) return;
    }
  }
  for (multiply_operation* const multiply : unplanned) {
    if (multiply(call)) return;
  }
}

const spmv_choice& spmv_kernels_of(const csr_product& a) {
  const spmv_choice* found = nullptr;
  with_row_accumulator(
      a, [&]<class A>() { found = &spmv_kernels<A>()[a.a.values.element][a.x.element]; });
  return *found;
}

spmv_call::spmv_call(const executor& where, const current_device& current_,
                     const csr_product& product_)
    : current(current_),
      stream(where.stream()),
      product(product_),
      accumulator(detail::spmv_accumulator(product.a.values.element, product.x.element)),
      job(product) {
  job.x = typed_vector(product.x);
  job.y = typed_vector(product.y);
  job.reads_addend = product.reads_addend();
  job.addend = typed_vector(product.addend());
  job.computation = detail::spmv_combination(accumulator, product.y.element);
  with_type<detail::spmv_vector_types>(job.computation, [&]<class C>() {
    const auto f = factors<computed_t<C>>::template of<C>(product.alpha, product.beta);
    static_assert(sizeof f <= sizeof job.factors);
    std::memcpy(job.factors, &f, sizeof f);
  });
}

std::size_t spmv_call::carry_out_words() const {
  return std::max<std::size_t>(2, size_of(accumulator) / 4 * (is_complex(accumulator) ? 2 : 1));
}

scratch spmv_call::words_for(std::size_t carry_outs, words_left left, spmv_job& to,
                             std::size_t more) const {
  scratch words =
      scratch_for(current, stream, is_captured(), carry_outs * carry_out_words() + more, left);
  to.words = words.words;
  to.tag = words.tag;
  to.ended = words.ended;
  return words;
}

}  // namespace tally::backends::cuda
