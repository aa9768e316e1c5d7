// The C interface: exceptions become a status and a text that the thread keeps.
#include <tally/tally.h>
#include <tally/tally.hpp>

#include "src/dispatch/check.hpp"
#include "src/dispatch/fixed_text.hpp"

#include <bit>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

static_assert(std::is_trivially_copyable_v<tally::executor>);
static_assert(sizeof(tally_executor) == sizeof(tally::executor));
static_assert(TALLY_KEY_OUT_OF_RANGE == static_cast<int>(tally::errc::key_out_of_range));
static_assert(TALLY_UNREADABLE_FILE == static_cast<int>(tally::errc::unreadable_file));
static_assert(TALLY_COMPLEX128 == static_cast<int>(tally::type::complex128));

namespace {

// Never destroyed and never allocated: calls may fail in destructors of a thread or of the program,
// and for want of memory.
thread_local constinit tally::fixed_text<512> last_error;

template <class F>
tally_status status_of(F&& f) noexcept {
  try {
    f();
    return TALLY_SUCCESS;
  } catch (const tally::error& e) {
    last_error.assign(e.what());
    return static_cast<tally_status>(e.code());
  } catch (const std::bad_alloc&) {
    last_error.assign("tally: out of memory");
    return TALLY_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    last_error.assign(e.what());
    return TALLY_UNKNOWN_FAILURE;
  } catch (...) {
    last_error.assign("tally: an exception of no known type");
    return TALLY_UNKNOWN_FAILURE;
  }
}

template <class F>
tally_status make(tally_executor* where, F&& executor) {
  return status_of([&] {
    if (where == nullptr) throw tally::error(tally::errc::null_pointer, "tally: where is null");
    *where = std::bit_cast<tally_executor>(executor());
  });
}

/// A value that is no element type stays none: `tally::dot` reports it.
tally::type to_type(tally_type element) {
  const auto value = static_cast<unsigned>(element);
  return static_cast<tally::type>(value < tally::type_count ? value : 255);
}

tally::operand vector(std::size_t n, tally_type element, const void* pointer,
                      std::ptrdiff_t increment) {
  const tally::type t = to_type(element);
  const bool known = static_cast<std::size_t>(t) < tally::type_count;
  return tally::blas_operand(pointer, n, increment, t, known ? tally::size_of(t) : 0);
}

tally::executor executor_of(const tally_executor* where) {
  return where ? std::bit_cast<tally::executor>(*where) : tally::automatic();
}

enum class grade : bool { standard, exact };
enum class form : bool { queued, waiting };

tally::call_options options_of(grade g, form f) {
  return {g == grade::exact ? tally::exact : tally::grade{}, f == form::waiting};
}

tally_status dot(const tally_executor* where, const tally::operand& x, const tally::operand& y,
                 tally::conjugate conjugated, tally_type result_type, void* result, grade grade,
                 form form) {
  return status_of([&] {
    tally::dot(executor_of(where),
               tally::dot_arguments{
                   x, y, conjugated, {result, to_type(result_type)}, options_of(grade, form)});
  });
}

tally_status reduce(const tally_executor* where, const tally::operand& x, tally::reduction what,
                    tally_type result_type, void* result, grade grade, form form) {
  return status_of([&] {
    tally::reduce(executor_of(where),
                  {x, what, {result, to_type(result_type)}, options_of(grade, form)});
  });
}

tally_status find(const tally_executor* where, const tally::operand& x, tally::extreme what,
                  void* result, form form) {
  return status_of([&] {
    tally::find_extremum(executor_of(where), {x, what, result, options_of(grade::standard, form)});
  });
}

tally::operand_rows rows(std::size_t k, std::size_t n, tally_type element, const void* pointer,
                         std::ptrdiff_t leading_dimension) {
  return {vector(n, element, pointer, 1), k, leading_dimension};
}

using several_dots = void(const tally::executor&, const tally::multi_dot_arguments&);

tally_status several(several_dots& f, const tally_executor* where, const tally::dot_pairs& pairs,
                     tally::conjugate conjugated, tally_type result_type, void* results,
                     grade grade, form form) {
  return status_of([&] {
    f(executor_of(where),
      {pairs, conjugated, {results, to_type(result_type)}, options_of(grade, form)});
  });
}

tally_status against_one(const tally_executor* where, std::size_t k, std::size_t n,
                         tally_type x_type, const void* x, std::ptrdiff_t ldx, tally_type y_type,
                         const void* y, std::ptrdiff_t incy, tally::conjugate conjugated,
                         tally_type result_type, void* results, grade grade, form form) {
  return several(tally::multi_dot, where,
                 {rows(k, n, x_type, x, ldx), {vector(n, y_type, y, incy), k, 0}}, conjugated,
                 result_type, results, grade, form);
}

tally_status batched(const tally_executor* where, std::size_t k, std::size_t n, tally_type x_type,
                     const void* x, std::ptrdiff_t ldx, tally_type y_type, const void* y,
                     std::ptrdiff_t ldy, tally::conjugate conjugated, tally_type result_type,
                     void* results, grade grade, form form) {
  return several(tally::batched_dot, where,
                 {rows(k, n, x_type, x, ldx), rows(k, n, y_type, y, ldy)}, conjugated, result_type,
                 results, grade, form);
}

tally_status listed(const tally_executor* where, std::size_t k, const std::size_t* n,
                    tally_type x_type, const void* const* x, const std::ptrdiff_t* incx,
                    tally_type y_type, const void* const* y, const std::ptrdiff_t* incy,
                    tally::conjugate conjugated, tally_type result_type, void* results, grade grade,
                    form form) {
  return status_of([&] {
    if (k > 0 &&
        (n == nullptr || x == nullptr || incx == nullptr || y == nullptr || incy == nullptr)) {
      throw tally::error(tally::errc::null_pointer,
                         "tally_multi_dot_list: n, x, incx, y or incy is null");
    }
    if (k > tally::most_elements) {  // a negative number, from C or Fortran
      tally::check("tally_multi_dot_list")
          .fail(tally::errc::invalid_argument, "there are ", k, " pairs; there can be ",
                tally::most_elements);
    }
    std::vector<tally::operand_pair> list(k);
    for (std::size_t j = 0; j < k; ++j) {
      list[j] = {vector(n[j], x_type, x[j], incx[j]), vector(n[j], y_type, y[j], incy[j])};
    }
    tally::multi_dot(
        executor_of(where),
        {{{}, {}, list}, conjugated, {results, to_type(result_type)}, options_of(grade, form)});
  });
}

tally::output_operand written(std::size_t n, tally_type element, void* pointer,
                              std::ptrdiff_t increment) {
  const tally::operand v = vector(n, element, pointer, increment);
  return {const_cast<void*>(v.data), v.size, v.increment, v.element};
}

/// The factor or bound at an address; of no known type it stays without a value.
tally::scalar factor(tally_type element, const void* value) {
  tally::scalar result;
  const auto read = [&]<class T>(std::type_identity<T>) {
    if (to_type(element) == tally::type_of<T>) {
      result = T(*static_cast<const tally::types::stored_t<T>*>(value));
    }
  };
  if (value == nullptr)
    throw tally::error(tally::errc::null_pointer, "tally: a factor or bound is null");
  [&]<class... T>(tally::type_list<T...>) {
    (read(std::type_identity<T>{}), ...);
  }(tally::element_types{});
  result.element = to_type(element);
  return result;
}

tally_status transform(const tally_executor* where, tally::elementwise what,
                       const tally::operand& x, const tally::operand& y,
                       const tally::output_operand& z) {
  return status_of([&] { tally::transform(executor_of(where), {what, {}, {}, x, y, z}); });
}

static_assert(sizeof(tally_outside_counts) == sizeof(tally::outside_counts));

tally_status histogram(const tally_executor* where, tally::histogram_arguments a, std::size_t bins,
                       tally_type counts_type, void* counts,
                       const tally_histogram_options* options) {
  return status_of([&] {
    const tally_histogram_options o = options != nullptr ? *options : tally_histogram_options();
    const std::size_t channels = o.channels != 0 ? o.channels : 1;
    a.options = {o.add != 0, channels, reinterpret_cast<tally::outside_counts*>(o.outside)};
    a.weighted = o.weights != nullptr;
    if (a.weighted) a.weights = vector(a.x.size, o.weights_type, o.weights, o.incw);
    const std::size_t all = bins <= SIZE_MAX / channels ? bins * channels : SIZE_MAX;
    a.counts = {counts, all, 1, to_type(counts_type)};
    tally::histogram(executor_of(where), a);
  });
}

tally::csr_operand matrix_of(const tally_csr* a) {
  if (a == nullptr) throw tally::error(tally::errc::null_pointer, "tally: matrix is null");
  return {a->rows, a->columns, vector(a->rows + 1, a->offset_type, a->row_offsets, 1),
          vector(a->nonzeros, a->column_type, a->column_indices, 1),
          vector(a->nonzeros, a->value_type, a->values, 1)};
}

const tally::spmv_plan* plan_of(const tally_spmv_plan* plan) {
  return reinterpret_cast<const tally::spmv_plan*>(plan);
}

tally_status multiply(const tally_executor* where, const tally_spmv_plan* plan,
                      tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                      tally_type x_type, const void* x, std::ptrdiff_t incx, tally_type beta_type,
                      const void* beta, tally_type y_type, void* y, std::ptrdiff_t incy, grade g) {
  return status_of([&] {
    const tally::csr_operand a = matrix_of(matrix);
    tally::spmv(executor_of(where),
                {a, vector(a.columns, x_type, x, incx), written(a.rows, y_type, y, incy),
                 alpha ? factor(alpha_type, alpha) : 1, beta ? factor(beta_type, beta) : 0,
                 plan_of(plan), options_of(g, form::queued)});
  });
}

}  // namespace

const char* tally_last_error(void) { return last_error.c_str(); }

tally_status tally_serial(tally_executor* where) { return make(where, tally::serial); }

tally_status tally_simd(tally_executor* where) {
  return make(where, [] { return tally::simd(); });
}

tally_status tally_openmp(tally_executor* where, int threads) {
  return make(where, [&] { return tally::openmp({.threads = threads}); });
}

tally_status tally_cuda(tally_executor* where, int device, void* stream) {
  return make(where, [&] {
    return tally::cuda({.device = device, .stream = static_cast<CUstream_st*>(stream)});
  });
}

tally_status tally_kokkos(tally_executor* where) { return make(where, tally::kokkos); }

tally_status tally_automatic(tally_executor* where) { return make(where, tally::automatic); }

tally_status tally_dot(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                       tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::none,
             result_type, result, grade::standard, form::waiting);
}

tally_status tally_dot_async(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                             ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::none,
             result_type, result, grade::standard, form::queued);
}

tally_status tally_dot_exact(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                             ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::none,
             result_type, result, grade::exact, form::waiting);
}

tally_status tally_dot_exact_async(const tally_executor* where, size_t n, tally_type x_type,
                                   const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                   ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::none,
             result_type, result, grade::exact, form::queued);
}

tally_status tally_dotc(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                        tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::x,
             result_type, result, grade::standard, form::waiting);
}

tally_status tally_dotc_async(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                              ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::x,
             result_type, result, grade::standard, form::queued);
}

tally_status tally_dotc_exact(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                              ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::x,
             result_type, result, grade::exact, form::waiting);
}

tally_status tally_dotc_exact_async(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type y_type, const void* y,
                                    ptrdiff_t incy, tally_type result_type, void* result) {
  return dot(where, vector(n, x_type, x, incx), vector(n, y_type, y, incy), tally::conjugate::x,
             result_type, result, grade::exact, form::queued);
}

tally_status tally_sum(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::sum, result_type, result,
                grade::standard, form::waiting);
}

tally_status tally_sum_async(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::sum, result_type, result,
                grade::standard, form::queued);
}

tally_status tally_sum_exact(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::sum, result_type, result,
                grade::exact, form::waiting);
}

tally_status tally_sum_exact_async(const tally_executor* where, size_t n, tally_type x_type,
                                   const void* x, ptrdiff_t incx, tally_type result_type,
                                   void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::sum, result_type, result,
                grade::exact, form::queued);
}

tally_status tally_asum(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::asum, result_type, result,
                grade::standard, form::waiting);
}

tally_status tally_asum_async(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::asum, result_type, result,
                grade::standard, form::queued);
}

tally_status tally_asum_exact(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::asum, result_type, result,
                grade::exact, form::waiting);
}

tally_status tally_asum_exact_async(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type result_type,
                                    void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::asum, result_type, result,
                grade::exact, form::queued);
}

tally_status tally_nrm2(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::nrm2, result_type, result,
                grade::standard, form::waiting);
}

tally_status tally_nrm2_async(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::nrm2, result_type, result,
                grade::standard, form::queued);
}

tally_status tally_nrm2_exact(const tally_executor* where, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t incx, tally_type result_type, void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::nrm2, result_type, result,
                grade::exact, form::waiting);
}

tally_status tally_nrm2_exact_async(const tally_executor* where, size_t n, tally_type x_type,
                                    const void* x, ptrdiff_t incx, tally_type result_type,
                                    void* result) {
  return reduce(where, vector(n, x_type, x, incx), tally::reduction::nrm2, result_type, result,
                grade::exact, form::queued);
}

tally_status tally_min(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::min, result, form::waiting);
}

tally_status tally_min_async(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::min, result, form::queued);
}

tally_status tally_max(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::max, result, form::waiting);
}

tally_status tally_max_async(const tally_executor* where, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::max, result, form::queued);
}

tally_status tally_minmax(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                          ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::minmax, result, form::waiting);
}

tally_status tally_minmax_async(const tally_executor* where, size_t n, tally_type x_type,
                                const void* x, ptrdiff_t incx, void* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::minmax, result, form::queued);
}

tally_status tally_iamax(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                         ptrdiff_t incx, std::int64_t* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::iamax, result, form::waiting);
}

tally_status tally_iamax_async(const tally_executor* where, size_t n, tally_type x_type,
                               const void* x, ptrdiff_t incx, std::int64_t* result) {
  return find(where, vector(n, x_type, x, incx), tally::extreme::iamax, result, form::queued);
}

tally_status tally_multi_dot(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                             ptrdiff_t incy, tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::none,
                     result_type, results, grade::standard, form::waiting);
}

tally_status tally_multi_dot_async(const tally_executor* where, size_t k, size_t n,
                                   tally_type x_type, const void* x, ptrdiff_t ldx,
                                   tally_type y_type, const void* y, ptrdiff_t incy,
                                   tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::none,
                     result_type, results, grade::standard, form::queued);
}

tally_status tally_multi_dot_exact(const tally_executor* where, size_t k, size_t n,
                                   tally_type x_type, const void* x, ptrdiff_t ldx,
                                   tally_type y_type, const void* y, ptrdiff_t incy,
                                   tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::none,
                     result_type, results, grade::exact, form::waiting);
}

tally_status tally_multi_dot_exact_async(const tally_executor* where, size_t k, size_t n,
                                         tally_type x_type, const void* x, ptrdiff_t ldx,
                                         tally_type y_type, const void* y, ptrdiff_t incy,
                                         tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::none,
                     result_type, results, grade::exact, form::queued);
}

tally_status tally_multi_dotc(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                              const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                              ptrdiff_t incy, tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::x, result_type,
                     results, grade::standard, form::waiting);
}

tally_status tally_multi_dotc_async(const tally_executor* where, size_t k, size_t n,
                                    tally_type x_type, const void* x, ptrdiff_t ldx,
                                    tally_type y_type, const void* y, ptrdiff_t incy,
                                    tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::x, result_type,
                     results, grade::standard, form::queued);
}

tally_status tally_multi_dotc_exact(const tally_executor* where, size_t k, size_t n,
                                    tally_type x_type, const void* x, ptrdiff_t ldx,
                                    tally_type y_type, const void* y, ptrdiff_t incy,
                                    tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::x, result_type,
                     results, grade::exact, form::waiting);
}

tally_status tally_multi_dotc_exact_async(const tally_executor* where, size_t k, size_t n,
                                          tally_type x_type, const void* x, ptrdiff_t ldx,
                                          tally_type y_type, const void* y, ptrdiff_t incy,
                                          tally_type result_type, void* results) {
  return against_one(where, k, n, x_type, x, ldx, y_type, y, incy, tally::conjugate::x, result_type,
                     results, grade::exact, form::queued);
}

tally_status tally_batched_dot(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                               const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                               ptrdiff_t ldy, tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::none, result_type,
                 results, grade::standard, form::waiting);
}

tally_status tally_batched_dot_async(const tally_executor* where, size_t k, size_t n,
                                     tally_type x_type, const void* x, ptrdiff_t ldx,
                                     tally_type y_type, const void* y, ptrdiff_t ldy,
                                     tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::none, result_type,
                 results, grade::standard, form::queued);
}

tally_status tally_batched_dot_exact(const tally_executor* where, size_t k, size_t n,
                                     tally_type x_type, const void* x, ptrdiff_t ldx,
                                     tally_type y_type, const void* y, ptrdiff_t ldy,
                                     tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::none, result_type,
                 results, grade::exact, form::waiting);
}

tally_status tally_batched_dot_exact_async(const tally_executor* where, size_t k, size_t n,
                                           tally_type x_type, const void* x, ptrdiff_t ldx,
                                           tally_type y_type, const void* y, ptrdiff_t ldy,
                                           tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::none, result_type,
                 results, grade::exact, form::queued);
}

tally_status tally_batched_dotc(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                                const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                                ptrdiff_t ldy, tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::x, result_type,
                 results, grade::standard, form::waiting);
}

tally_status tally_batched_dotc_async(const tally_executor* where, size_t k, size_t n,
                                      tally_type x_type, const void* x, ptrdiff_t ldx,
                                      tally_type y_type, const void* y, ptrdiff_t ldy,
                                      tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::x, result_type,
                 results, grade::standard, form::queued);
}

tally_status tally_batched_dotc_exact(const tally_executor* where, size_t k, size_t n,
                                      tally_type x_type, const void* x, ptrdiff_t ldx,
                                      tally_type y_type, const void* y, ptrdiff_t ldy,
                                      tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::x, result_type,
                 results, grade::exact, form::waiting);
}

tally_status tally_batched_dotc_exact_async(const tally_executor* where, size_t k, size_t n,
                                            tally_type x_type, const void* x, ptrdiff_t ldx,
                                            tally_type y_type, const void* y, ptrdiff_t ldy,
                                            tally_type result_type, void* results) {
  return batched(where, k, n, x_type, x, ldx, y_type, y, ldy, tally::conjugate::x, result_type,
                 results, grade::exact, form::queued);
}

tally_status tally_multi_dot_list(const tally_executor* where, size_t k, const size_t* n,
                                  tally_type x_type, const void* const* x, const ptrdiff_t* incx,
                                  tally_type y_type, const void* const* y, const ptrdiff_t* incy,
                                  tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::none, result_type,
                results, grade::standard, form::waiting);
}

tally_status tally_multi_dot_list_async(const tally_executor* where, size_t k, const size_t* n,
                                        tally_type x_type, const void* const* x,
                                        const ptrdiff_t* incx, tally_type y_type,
                                        const void* const* y, const ptrdiff_t* incy,
                                        tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::none, result_type,
                results, grade::standard, form::queued);
}

tally_status tally_multi_dot_list_exact(const tally_executor* where, size_t k, const size_t* n,
                                        tally_type x_type, const void* const* x,
                                        const ptrdiff_t* incx, tally_type y_type,
                                        const void* const* y, const ptrdiff_t* incy,
                                        tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::none, result_type,
                results, grade::exact, form::waiting);
}

tally_status tally_multi_dot_list_exact_async(const tally_executor* where, size_t k,
                                              const size_t* n, tally_type x_type,
                                              const void* const* x, const ptrdiff_t* incx,
                                              tally_type y_type, const void* const* y,
                                              const ptrdiff_t* incy, tally_type result_type,
                                              void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::none, result_type,
                results, grade::exact, form::queued);
}

tally_status tally_multi_dotc_list(const tally_executor* where, size_t k, const size_t* n,
                                   tally_type x_type, const void* const* x, const ptrdiff_t* incx,
                                   tally_type y_type, const void* const* y, const ptrdiff_t* incy,
                                   tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::x, result_type,
                results, grade::standard, form::waiting);
}

tally_status tally_multi_dotc_list_async(const tally_executor* where, size_t k, const size_t* n,
                                         tally_type x_type, const void* const* x,
                                         const ptrdiff_t* incx, tally_type y_type,
                                         const void* const* y, const ptrdiff_t* incy,
                                         tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::x, result_type,
                results, grade::standard, form::queued);
}

tally_status tally_multi_dotc_list_exact(const tally_executor* where, size_t k, const size_t* n,
                                         tally_type x_type, const void* const* x,
                                         const ptrdiff_t* incx, tally_type y_type,
                                         const void* const* y, const ptrdiff_t* incy,
                                         tally_type result_type, void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::x, result_type,
                results, grade::exact, form::waiting);
}

tally_status tally_multi_dotc_list_exact_async(const tally_executor* where, size_t k,
                                               const size_t* n, tally_type x_type,
                                               const void* const* x, const ptrdiff_t* incx,
                                               tally_type y_type, const void* const* y,
                                               const ptrdiff_t* incy, tally_type result_type,
                                               void* results) {
  return listed(where, k, n, x_type, x, incx, y_type, y, incy, tally::conjugate::x, result_type,
                results, grade::exact, form::queued);
}

tally_status tally_copy(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy) {
  return transform(where, tally::elementwise::copy, vector(n, x_type, x, incx), {},
                   written(n, y_type, y, incy));
}

tally_status tally_scal(const tally_executor* where, size_t n, tally_type alpha_type,
                        const void* alpha, tally_type x_type, void* x, ptrdiff_t incx) {
  return status_of([&] {
    tally::transform(executor_of(where), {tally::elementwise::scal,
                                          factor(alpha_type, alpha),
                                          {},
                                          vector(n, x_type, x, incx),
                                          {},
                                          written(n, x_type, x, incx)});
  });
}

tally_status tally_axpy(const tally_executor* where, size_t n, tally_type alpha_type,
                        const void* alpha, tally_type x_type, const void* x, ptrdiff_t incx,
                        tally_type y_type, void* y, ptrdiff_t incy) {
  return status_of([&] {
    tally::transform(executor_of(where), {tally::elementwise::axpy,
                                          factor(alpha_type, alpha),
                                          {},
                                          vector(n, x_type, x, incx),
                                          vector(n, y_type, y, incy),
                                          written(n, y_type, y, incy)});
  });
}

tally_status tally_axpby(const tally_executor* where, size_t n, tally_type alpha_type,
                         const void* alpha, tally_type x_type, const void* x, ptrdiff_t incx,
                         tally_type beta_type, const void* beta, tally_type y_type, void* y,
                         ptrdiff_t incy) {
  return status_of([&] {
    tally::transform(executor_of(where), {tally::elementwise::axpby, factor(alpha_type, alpha),
                                          factor(beta_type, beta), vector(n, x_type, x, incx),
                                          vector(n, y_type, y, incy), written(n, y_type, y, incy)});
  });
}

tally_status tally_add(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                       tally_type z_type, void* z, ptrdiff_t incz) {
  return transform(where, tally::elementwise::add, vector(n, x_type, x, incx),
                   vector(n, y_type, y, incy), written(n, z_type, z, incz));
}

tally_status tally_sub(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                       tally_type z_type, void* z, ptrdiff_t incz) {
  return transform(where, tally::elementwise::sub, vector(n, x_type, x, incx),
                   vector(n, y_type, y, incy), written(n, z_type, z, incz));
}

tally_status tally_mul(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                       tally_type z_type, void* z, ptrdiff_t incz) {
  return transform(where, tally::elementwise::mul, vector(n, x_type, x, incx),
                   vector(n, y_type, y, incy), written(n, z_type, z, incz));
}

tally_status tally_relu(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy) {
  return transform(where, tally::elementwise::relu, vector(n, x_type, x, incx), {},
                   written(n, y_type, y, incy));
}

tally_status tally_sigmoid(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                           ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy) {
  return transform(where, tally::elementwise::sigmoid, vector(n, x_type, x, incx), {},
                   written(n, y_type, y, incy));
}

tally_status tally_exp(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, void* y, ptrdiff_t incy) {
  return transform(where, tally::elementwise::exp, vector(n, x_type, x, incx), {},
                   written(n, y_type, y, incy));
}

tally_status tally_bincount(const tally_executor* where, size_t n, tally_type keys_type,
                            const void* keys, ptrdiff_t inckeys, size_t bins,
                            tally_type counts_type, void* counts,
                            const tally_histogram_options* options) {
  tally::histogram_arguments a;
  a.what = tally::binning::keys;
  a.x = vector(n, keys_type, keys, inckeys);
  return histogram(where, a, bins, counts_type, counts, options);
}

tally_status tally_histogram_even(const tally_executor* where, size_t n, tally_type x_type,
                                  const void* x, ptrdiff_t incx, tally_type bounds_type,
                                  const void* lower, const void* upper, size_t bins,
                                  tally_type counts_type, void* counts,
                                  const tally_histogram_options* options) {
  tally::histogram_arguments a;
  a.what = tally::binning::even;
  a.x = vector(n, x_type, x, incx);
  const tally_status status = status_of([&] {
    a.lower = factor(bounds_type, lower);
    a.upper = factor(bounds_type, upper);
  });
  return status != TALLY_SUCCESS ? status : histogram(where, a, bins, counts_type, counts, options);
}

tally_status tally_histogram_range(const tally_executor* where, size_t n, tally_type x_type,
                                   const void* x, ptrdiff_t incx, tally_type edges_type,
                                   const void* edges, size_t bins, tally_type counts_type,
                                   void* counts, const tally_histogram_options* options) {
  tally::histogram_arguments a;
  a.what = tally::binning::edges;
  a.x = vector(n, x_type, x, incx);
  a.edges = vector(bins + 1, edges_type, edges, 1);
  return histogram(where, a, bins, counts_type, counts, options);
}

tally_status tally_validate(const tally_executor* where, const tally_csr* matrix) {
  return status_of([&] { tally::validate(executor_of(where), matrix_of(matrix)); });
}

tally_status tally_spmv_plan_create(const tally_executor* where, const tally_csr* matrix,
                                    tally_spmv_plan** plan) {
  return status_of([&] {
    if (plan == nullptr) throw tally::error(tally::errc::null_pointer, "tally: plan is null");
    *plan = reinterpret_cast<tally_spmv_plan*>(
        new tally::spmv_plan(executor_of(where), matrix_of(matrix)));
  });
}

void tally_spmv_plan_destroy(tally_spmv_plan* plan) { delete plan_of(plan); }

const char* tally_spmv_plan_describe(const tally_spmv_plan* plan) {
  return plan_of(plan)->describe().c_str();
}

tally_status tally_spmv(const tally_executor* where, const tally_spmv_plan* plan,
                        tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                        tally_type x_type, const void* x, ptrdiff_t incx, tally_type beta_type,
                        const void* beta, tally_type y_type, void* y, ptrdiff_t incy) {
  return multiply(where, plan, alpha_type, alpha, matrix, x_type, x, incx, beta_type, beta, y_type,
                  y, incy, grade::standard);
}

tally_status tally_spmv_exact(const tally_executor* where, const tally_spmv_plan* plan,
                              tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                              tally_type x_type, const void* x, ptrdiff_t incx,
                              tally_type beta_type, const void* beta, tally_type y_type, void* y,
                              ptrdiff_t incy) {
  return multiply(where, plan, alpha_type, alpha, matrix, x_type, x, incx, beta_type, beta, y_type,
                  y, incy, grade::exact);
}
