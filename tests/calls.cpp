#include "tests/calls.hpp"

namespace calls {
namespace {

using tally::type;
constexpr auto f64 = type::float64;
constexpr auto i32 = type::int32;
constexpr auto i64 = type::int64;

tally::csr_operand matrix(memory& m, enumerators& e) {
  return {4,
          4,
          m.indices(4, e(i32)),
          m.indices(4, e(i32)),
          m.x(e(f64)),
          m.indices(4, e(i32), 1),
          e(tally::matrix_operation::none)};
}
tally::interval_shape shape(enumerators& e, tally::summand what = tally::summand::product) {
  return {e(what), e(f64), 1, static_cast<std::int64_t>(memory::elements)};
}
tally::interval_field field(memory& m, enumerators& e, std::size_t n = memory::elements) {
  return {e(tally::summand::product), m.x(e(f64), n), m.x(e(f64), n)};
}
constexpr tally::call_options no_wait = {.grade = {}, .wait = false};

const row rows[] = {
    {"dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::dot(where, {m.x(e(f64)), m.x(e(f64)), e(tally::conjugate::x), {m.host(), e(f64)}});
     }},
    {"dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::dot(where,
                  {m.x(e(f64)), m.x(e(i32)), e(tally::conjugate::y), {m.host(), e(f64), true}});
     }},
    {"multi_dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::multi_dot(where, {{{m.x(e(f64)), 2, 4}, {m.x(e(f64)), 2, 0}, {}},
                                e(tally::conjugate::x),
                                {m.host(), e(f64)}});
     }},
    {"multi_dot",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand_pair list[] = {{m.x(e(f64)), m.x(e(i64))}, {m.x(e(f64)), m.x(e(i64))}};
       tally::multi_dot(where,
                        {{{}, {}, list}, e(tally::conjugate::none), {m.host(), e(f64), true}});
     }},
    {"batched_dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::batched_dot(where, {{{m.x(e(f64)), 2, 4}, {m.x(e(f64)), 2, 4}, {}},
                                  e(tally::conjugate::x),
                                  {m.host(), e(f64)}});
     }},
    {"sums",
     [](const executor& where, memory& m, enumerators& e) { tally::sums(where, {{m.x(e(f64)), 2, 4}, {m.host(), e(f64)}});
     }},
    {"gemv",
     [](const executor& where, memory& m, enumerators& e) {
       tally::gemv(where, {{m.x(e(f64)), 4, 4},
                           e(tally::matrix_operation::transpose),
                           m.x(e(f64)),
                           m.z(e(f64)),
                           e.factor(),
                           e.factor(),
                           no_wait});
     }},
    {"reduce",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce(where, {m.x(e(f64)), e(tally::reduction::nrm2), {m.host(), e(f64)}});
     }},
    {"reduce",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce(where, {m.x(e(f64)), e(tally::reduction::sum), {m.host(), e(f64), true}});
     }},
    {"reduce",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce(where, {m.x(e(f64)), e(tally::reduction::max_norm), {m.host(), e(f64)}});
     }},
    {"reduce_weighted",
     [](const executor& where, memory& m, enumerators& e) {
       tally::reduce_weighted(where, {m.x(e(f64)),
                                      m.x(e(f64)),
                                      m.x(e(i32)),
                                      e(tally::weighted_norm::root_mean),
                                      {m.host(), e(f64)}});
     }},
    {"finish_weighted_norm",
     [](const executor&, memory& m, enumerators& e) {
       tally::finish_weighted_norm(e(tally::weighted_norm::root), 3, {m.host(), e(f64)});
     }},
    {"find_extremum",
     [](const executor& where, memory& m, enumerators& e) {
       tally::find_extremum(where, {m.x(e(f64)), e(tally::extreme::minmax), m.host()});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where,
                        {e(tally::elementwise::fill), e.factor(), {}, {}, {}, m.z(e(f64)), {}});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where, {e(tally::elementwise::axpbypcz), e.factor(), e.factor(),
                                m.x(e(f64)), m.x(e(i32)), m.z(e(f64)), e.factor()});
     }},
    {"transform",
     [](const executor& where, memory& m, enumerators& e) {
       tally::transform(where,
                        {e(tally::elementwise::copy), {}, {}, m.x(e(f64)), {}, m.z(e(f64)), {}});
     }},
    {"swap_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::swap_elements(where, m.z(e(f64)),
                            {static_cast<double*>(m.z(f64).data) + 8, 4, 1, e(f64)});
     }},
    {"fused",
     [](const executor& where, memory& m, enumerators& e) {
       tally::fused(where, {{e(tally::elementwise::axpby),
                             e.factor(),
                             e.factor(),
                             m.x(e(f64)),
                             m.z(e(f64)),
                             m.z(e(f64)),
                             {}},
                            e(tally::fused_sum::dot),
                            m.x(e(f64)),
                            e(tally::conjugate::x),
                            {m.host(), e(f64)}});
     }},
    {"fused",
     [](const executor& where, memory& m, enumerators& e) {
       tally::fused(where, {{e(tally::elementwise::waxpby),
                             e.factor(),
                             e.factor(),
                             m.x(e(f64)),
                             m.x(e(f64)),
                             m.z(e(f64)),
                             {}},
                            e(tally::fused_sum::nrm2),
                            {},
                            tally::conjugate::none,
                            {m.host(), e(f64)}});
     }},
    {"scan", [](const executor& where, memory& m,
                enumerators& e) { tally::scan(where, {m.x(e(f64)), m.z(e(f64))}); }},
    {"segmented_sum",
     [](const executor& where, memory& m, enumerators& e) {
       tally::segmented_sum(where, {m.indices(5, e(i32)), m.x(e(f64)), m.z(e(f64))});
     }},
    {"multi_axpy",
     [](const executor& where, memory& m, enumerators& e) {
       tally::multi_axpy(where,
                         {m.x(e(f64), 2), {{m.x(e(f64)), 2, 4}, {}}, e.factor(), m.z(e(f64))});
     }},
    {"multi_axpy",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand list[] = {m.x(e(f64)), m.x(e(f64))};
       tally::multi_axpy(where, {m.x(e(f64), 2), {{}, list}, e.factor(), m.z(e(f64))});
     }},
    {"multi_axpy_dot",
     [](const executor& where, memory& m, enumerators& e) {
       tally::multi_axpy_dot(where,
                             {{m.x(e(f64), 2), {{m.x(e(f64)), 2, 4}, {}}, e.factor(), m.z(e(f64))},
                              e(tally::conjugate::x),
                              {m.host(), e(f64)}});
     }},
    {"gather_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::gather_elements(where, {m.x(e(f64)), m.indices(4, e(i32)), m.z(e(f64))});
     }},
    {"gather_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::gather_elements(where, {m.x(e(f64)), m.indices(4, e(i32)), m.z(e(f64)), true});
     }},
    {"gather_elements",
     [](const executor& where, memory& m, enumerators& e) {
       tally::gather_elements(where, {m.x(e(f64)), m.indices(4, e(i32)), m.z(e(f64)), true, true});
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::keys);
       a.x = m.indices(4, e(i32));
       a.counts = m.z(e(i64));
       tally::histogram(where, a);
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::even);
       a.x = m.x(e(f64));
       a.weighted = true;
       a.weights = m.x(e(f64));
       a.lower = e.factor(0);
       a.upper = e.factor(1);
       a.counts = m.z(e(f64));
       tally::histogram(where, a);
     }},
    {"histogram",
     [](const executor& where, memory& m, enumerators& e) {
       static constexpr double edges[] = {0, 0.25, 0.5, 0.75, 1};
       tally::histogram_arguments a;
       a.what = e(tally::binning::edges);
       a.x = m.x(e(f64));
       a.edges = {edges, 5, 1, e(f64)};
       a.counts = m.z(e(i32));
       tally::histogram(where, a);
     }},
    {"histogram_to_host",
     [](const executor& where, memory& m, enumerators& e) {
       tally::histogram_arguments a;
       a.what = e(tally::binning::keys);
       a.x = m.indices(2, e(i32));
       a.weighted = a.words = true;
       a.weights = m.x(e(f64), 2);
       a.counts = {m.host(), 2, 1, e(f64)};
       tally::histogram_to_host(where, a);
     }},
    {"round_words",
     [](const executor& where, memory& m, enumerators& e) {
       tally::round_words(where, {m.words(), e(f64), 1, false, {m.host(), e(f64)}});
     }},
    {"round_words",
     [](const executor& where, memory& m, enumerators& e) {
       tally::round_words(where, {m.words(), e(f64), 1, true, {m.host(), e(f64)}});
     }},
    {"for_each_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand x = m.x(e(f64)), y = m.x(e(f64)), w = m.x(e(f64));
       tally::for_each_part(where, "tally::transform_reduce", std::array{x, y, w}, nullptr,
                            {nullptr, [](void*, std::size_t, std::size_t, std::size_t) {}});
     }},
    {"for_each_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::operand x = m.x(e(f64)), y = m.x(e(f64)), w = m.x(e(f64));
       tally::for_each_part(where, "tally::transform", std::array{x, y, w}, m.z(e(f64)),
                            {nullptr, [](void*, std::size_t, std::size_t, std::size_t) {}});
     }},
    {"validate", [](const executor& where, memory& m,
                    enumerators& e) { tally::validate(where, matrix(m, e)); }},
    {"spmv_plan", [](const executor& where, memory& m,
                     enumerators& e) { tally::spmv_plan(where, matrix(m, e)); }},
    {"spmv",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::csr_operand a = matrix(m, e);
       tally::spmv(where, {a, m.x(e(f64)), m.z(e(f64)), e.factor(), e.factor(), nullptr, no_wait,
                           m.x(e(f64))});
     }},
    {"csr_from_coo",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::type value = e(f64);
       tally::coo_arguments a;
       a.rows = a.columns = 4;
       a.row_indices = m.indices(4, e(i32));
       a.column_indices = m.indices(4, e(i32));
       a.values = m.x(value);
       a.row_offsets = m.z(e(i32), 5);
       a.sorted_columns = m.z(e(i64), 4);
       a.sorted_columns.data = m.words() + 8;
       a.sorted_values = m.z(value, 4);
       a.sorted_values.data = m.words() + 16;
       (void)tally::csr_from_coo(where, a);
     }},
    {"apply_to_rows",
     [](const executor& where, memory& m, enumerators& e) {
       tally::apply_to_rows(
           where, {matrix(m, e), e(tally::row_function::scale), m.x(e(f64)), m.z(e(f64)), {}});
     }},
    {"spmm",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::csr_operand a = matrix(m, e);
       const tally::operand x = m.x(e(f64));
       const tally::output_operand y = m.z(e(f64));
       tally::spmm(where, {a,
                           {{x.data, 1, 1, x.element}, a.width(), 1},
                           {{y.data, 1, 1, y.element}, a.height(), 1},
                           e.factor(),
                           e.factor(),
                           nullptr,
                           no_wait});
     }},
    {"allocate",
     [](const executor& where, memory&, enumerators& e) {
       const tally::reach who = e(tally::reach::kernels);
       tally::deallocate(where, tally::allocate(where, 64, who), who);
     }},
    {"simd",
     [](const executor&, memory&, enumerators& e) {
       tally::simd({.instructions = e(tally::instruction_set::baseline)});
     }},
    {"sum_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::sum_part(where, shape(e), {.fields = fields, .nodes = m.host()});
     }},
    {"sum_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e, 4)};
       tally::sum_part(where, shape(e),
                       {.fields = fields, .first = 8, .head = m.host(), .head_stride = 4});
     }},
    {"sum_part",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e, 4)};
       tally::sum_part(where, shape(e), {.fields = fields, .tail = m.host(), .tail_stride = 4});
     }},
    {"append_chunk",
     [](const executor&, memory& m, enumerators& e) {
       enumerators right;
       const std::vector<double> terms(memory::elements, 0.5);
       tally::clear_interval(shape(right), m.message());
       tally::append_chunk(shape(e), 0, terms.size(), terms.size(), terms.data(), m.message());
     }},
    {"finish_interval",
     [](const executor&, memory& m, enumerators& e) {
       enumerators right;
       const std::vector<double> terms(memory::elements, 0.5);
       tally::clear_interval(shape(right), m.message());
       tally::append_chunk(shape(right), 0, terms.size(), terms.size(), terms.data(), m.message());
       tally::finish_interval(shape(e), m.message(), e(tally::conjugate::x), m.host());
     }},
    {"add_exact_sums",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::interval_field fields[] = {field(m, e)};
       tally::add_exact_sums(where, fields, e(tally::conjugate::x), e(f64), m.host_words());
     }},
    {"join_nodes",
     [](const executor& where, memory& m, enumerators& e) {
       const std::span steps(static_cast<const tally::join_step*>(m.zeros()), 1);
       auto* const to = static_cast<double*>(m.z(f64).data);
       tally::join_nodes(where, {shape(e), e(tally::conjugate::x), steps, to, to + 8});
     }},
    {"join_words",
     [](const executor& where, memory& m, enumerators& e) {
       const tally::windows through;
       tally::join_words(where, {m.words(), e(f64), 1, false, {m.host(), e(f64)}, &through});
     },
     true},
};

const tally_csr* c_matrix(c_memory& m, arguments& a) {
  tally_csr made{};
  made.rows = made.columns = made.nonzeros = 4;
  made.row_offsets = m.indices;
  made.column_indices = m.indices;
  made.values = m.x;
  made.offset_type = a.type(TALLY_INT32);
  made.column_type = a.type(TALLY_INT32);
  made.value_type = a.type(TALLY_FLOAT64);
  made.reserved = a(0, 0);
  made.operation = a(TALLY_NO_TRANSPOSE, TALLY_CONJUGATE_TRANSPOSE);
  made.fixed_values = a(0, 1);
  made.fixed_columns = a(0, 1);
  made.reserved_too = a(0, 0);
  return a.of(made, 72);
}
const tally_histogram_options* c_histogram_options(c_memory& m, arguments& a) {
  tally_histogram_options made{};
  made.weights = m.x;
  made.weights_type = a.type(TALLY_FLOAT64);
  made.add = a(0, 1);
  return a.of(made, 48);
}

using reduction_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                    std::ptrdiff_t, tally_type, void*, const tally_call_options*);
template <reduction_of_c& f>
tally_status reduction_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.out,
           a.options(true, false, true));
}
using search_of_c = tally_status(const tally_executor*, std::size_t, tally_type, const void*,
                                 std::ptrdiff_t, void*, const tally_call_options*);
template <search_of_c& f>
tally_status search_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 4, a.type(TALLY_FLOAT64), m.x, 1, m.out, a.options(true));
}
using blocks_of_c = tally_status(const tally_executor*, std::size_t, std::size_t, tally_type,
                                 const void*, std::ptrdiff_t, tally_type, const void*,
                                 std::ptrdiff_t, tally_type, void*, const tally_call_options*);
template <blocks_of_c& f>
tally_status blocks_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, 2, 4, a.type(TALLY_FLOAT64), m.x, 4, a.type(TALLY_FLOAT64), m.x, 1,
           a.type(TALLY_FLOAT64), m.out, a.options(true, true, true));
}
using rounding_of_c = tally_status(const tally_executor*, std::size_t, tally_type,
                                   const std::int64_t*, tally_type, void*,
                                   const tally_call_options*);
template <rounding_of_c& f>
tally_status rounding_call(const tally_executor* where, c_memory& m, arguments& a) {
  static constexpr std::int64_t words[137] = {1};
  return f(where, 1, a.type(TALLY_FLOAT64), words, a.type(TALLY_FLOAT64), m.out, a.options());
}
using indexing_of_c = tally_status(const tally_executor*, tally_type, std::size_t, const void*,
                                   std::ptrdiff_t, tally_type, const void*, std::size_t, void*,
                                   std::ptrdiff_t, const tally_call_options*);
template <indexing_of_c& f>
tally_status indexing_call(const tally_executor* where, c_memory& m, arguments& a) {
  return f(where, a.type(TALLY_FLOAT64), 4, m.x, 1, a.type(TALLY_INT32), m.indices, 4, m.out, 1,
           a.options(false, false, false, false));
}

const c_row c_rows[] = {
    {"tally_dot",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_dot(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.x, 1,
                        a.type(TALLY_FLOAT64), m.out, a.options(true, true, true));
     }},
    {"tally_sum", reduction_call<tally_sum>},
    {"tally_asum", reduction_call<tally_asum>},
    {"tally_nrm2", reduction_call<tally_nrm2>},
    {"tally_multi_dot", blocks_call<tally_multi_dot>},
    {"tally_batched_dot", blocks_call<tally_batched_dot>},
    {"tally_multi_dot_list",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       const std::size_t n[] = {4};
       const void* const x[] = {m.x};
       const std::ptrdiff_t inc[] = {1};
       return tally_multi_dot_list(where, 1, n, a.type(TALLY_FLOAT64), x, inc,
                                   a.type(TALLY_FLOAT64), x, inc, a.type(TALLY_FLOAT64), m.out,
                                   a.options(true, true, true));
     }},
    {"tally_sums",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_sums(where, 1, 4, a.type(TALLY_FLOAT64), m.x, 4, 1, a.type(TALLY_FLOAT64),
                         m.out, a.options(true, false, true));
     }},
    {"tally_multi_dot_strided",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_multi_dot_strided(where, 1, 4, a.type(TALLY_FLOAT64), m.x, 4, 1,
                                      a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), m.out,
                                      a.options(true, true, true));
     }},
    {"tally_gemv",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_gemv(where, a(TALLY_NO_TRANSPOSE, TALLY_CONJUGATE_TRANSPOSE), 1, 4,
                         a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x, 4, 1,
                         a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                         a.type(TALLY_FLOAT64), m.out, 1, a.options(true, false, false, false));
     }},
    {"tally_merge_words",
     [](const tally_executor*, c_memory& m, arguments& a) {
       static constexpr std::int64_t words[137] = {1};
       return tally_merge_words(1, a.type(TALLY_FLOAT64), words, m.out);
     }},
    {"tally_round_words", rounding_call<tally_round_words>},
    {"tally_round_root_words", rounding_call<tally_round_root_words>},
    {"tally_min", search_call<tally_min>},
    {"tally_max", search_call<tally_max>},
    {"tally_minmax", search_call<tally_minmax>},
    {"tally_iamax",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_iamax(where, 4, a.type(TALLY_FLOAT64), m.x, 1, m.out, a.options(true));
     }},
#include "tests/elementwise_calls.inc"
    {"tally_swap",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_swap(where, 4, a.type(TALLY_FLOAT64), m.out, 1, m.out + 8, 1,
                         a.options(false, false, false, false));
     }},
    {"tally_segmented_sum",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_segmented_sum(where, 4, a.type(TALLY_INT32), m.indices, 4,
                                  a.type(TALLY_FLOAT64), m.x, a.type(TALLY_FLOAT64), m.out,
                                  a.options(true, false, false, false));
     }},
    {"tally_multi_axpy",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_multi_axpy(where, 2, 4, a.type(TALLY_FLOAT64), m.x, a.type(TALLY_FLOAT64), m.x,
                               4, 1, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.out,
                               1, a.options(false, false, false, false));
     }},
    {"tally_multi_axpy_dot",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_multi_axpy_dot(where, 2, 4, a.type(TALLY_FLOAT64), m.x, a.type(TALLY_FLOAT64),
                                   m.x, 4, 1, a.type(TALLY_FLOAT64), &m.factor,
                                   a.type(TALLY_FLOAT64), m.out, 1, a.type(TALLY_FLOAT64),
                                   m.out + 8, a.options(true, true));
     }},
    {"tally_gather", indexing_call<tally_gather>},
    {"tally_scatter", indexing_call<tally_scatter>},
    {"tally_scatter_add", indexing_call<tally_scatter_add>},
    {"tally_axpy_dot",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_axpy_dot(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64), m.x,
                             1, a.type(TALLY_FLOAT64), m.out, 1, a.type(TALLY_FLOAT64), m.x, 1,
                             a.type(TALLY_FLOAT64), m.out + 8, a.options(true, true));
     }},
    {"tally_waxpby_nrm2",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_waxpby_nrm2(where, 4, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64),
                                m.x, 1, a.type(TALLY_FLOAT64), &m.factor, a.type(TALLY_FLOAT64),
                                m.x, 1, a.type(TALLY_FLOAT64), m.out, 1, a.type(TALLY_FLOAT64),
                                m.out + 8, a.options(true));
     }},
    {"tally_bincount",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_bincount(where, 4, a.type(TALLY_INT32), m.indices, 1, 4, a.type(TALLY_FLOAT64),
                             m.out, c_histogram_options(m, a));
     }},
    {"tally_histogram_even",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_histogram_even(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64),
                                   &m.lower, &m.upper, 4, a.type(TALLY_FLOAT64), m.out,
                                   c_histogram_options(m, a));
     }},
    {"tally_histogram_range",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_histogram_range(where, 4, a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_INT32),
                                    m.indices, 4, a.type(TALLY_FLOAT64), m.out,
                                    c_histogram_options(m, a));
     }},
    {"tally_validate", [](const tally_executor* where, c_memory& m,
                          arguments& a) { return tally_validate(where, c_matrix(m, a)); }},
    {"tally_spmv_plan_create",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       tally_spmv_plan* plan = nullptr;
       const tally_status status = tally_spmv_plan_create(where, c_matrix(m, a), &plan);
       EXPECT_EQ(plan == nullptr, status != TALLY_SUCCESS);
       tally_spmv_plan_destroy(plan);
       return status;
     }},
    {"tally_spmv",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_spmv(where, nullptr, a.type(TALLY_FLOAT64), &m.factor, c_matrix(m, a),
                         a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                         a.type(TALLY_FLOAT64), m.out, 1, a.options(true, false, false, false));
     }},
    {"tally_spmm",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_spmm(where, nullptr, 1, a.type(TALLY_FLOAT64), &m.factor, c_matrix(m, a),
                         a.type(TALLY_FLOAT64), m.x, 1, 1, a.type(TALLY_FLOAT64), &m.factor,
                         a.type(TALLY_FLOAT64), m.out, 1, 1, a.options(true, false, false, false));
     }},
    {"tally_diagonal",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_diagonal(where, c_matrix(m, a), a.type(TALLY_FLOAT64), m.out, 1,
                             a.options(false, false, false, false));
     }},
    {"tally_row_norms",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_row_norms(where, a(TALLY_NORM_ONE, TALLY_NORM_INFINITY), c_matrix(m, a),
                              a.type(TALLY_FLOAT64), m.out, 1, a.options(true, false, false, true));
     }},
    {"tally_scale_rows",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_scale_rows(where, c_matrix(m, a), a.type(TALLY_FLOAT64), m.x, 1, m.out,
                               a.options(false, false, false, false));
     }},
    {"tally_csr_from_coo",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       std::size_t stored;
       return tally_csr_from_coo(where, 4, 4, 4, a.type(TALLY_INT32), m.indices, 1,
                                 a.type(TALLY_INT32), m.indices, 1, a.type(TALLY_FLOAT64), m.x, 1,
                                 a.type(TALLY_INT32), m.out, a.type(TALLY_INT64), m.out + 8,
                                 m.out + 16, &stored, a.options(true, false, false, true));
     }},
    {"tally_spmv_apart",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       return tally_spmv_apart(where, nullptr, a.type(TALLY_FLOAT64), &m.factor, c_matrix(m, a),
                               a.type(TALLY_FLOAT64), m.x, 1, a.type(TALLY_FLOAT64), &m.factor,
                               a.type(TALLY_FLOAT64), m.x, 1, m.out, 1,
                               a.options(true, false, false, false));
     }},
    {"tally_simd",
     [](const tally_executor*, c_memory& m, arguments& a) {
       tally_executor made;
       const tally_status status = tally_simd(
           &made, a(TALLY_INSTRUCTIONS_BASELINE, TALLY_INSTRUCTIONS_RVV, TALLY_INSTRUCTIONS_BEST));
       m.out[0] = status == TALLY_SUCCESS;
       return status;
     }},
    {"tally_openmp",
     [](const tally_executor*, c_memory& m, arguments& a) {
       tally_executor made;
       const int threads = a(2, tally::openmp_options::max_threads);
#if TALLY_HAS_OPENMP
       const tally_status status = tally_openmp(&made, threads);
#else
       const tally_status status = threads < 0 || threads > tally::openmp_options::max_threads
                                       ? TALLY_INVALID_ARGUMENT
                                       : tally_serial(&made);
#endif
       m.out[0] = status == TALLY_SUCCESS;
       return status;
     }},
    {"tally_workspace_create",
     [](const tally_executor* where, c_memory& m, arguments& a) {
       tally_workspace_options options{};
       options.threads = a(1, tally::workspace_options::max_threads);
       options.reserved = a(0, 0);
       tally_workspace* made = nullptr;
       const tally_status status = tally_workspace_create(where, a.of(options, 24), &made);
       m.out[0] = made != nullptr;
       tally_workspace_destroy(made);
       return status;
     }},
};

}  // namespace

std::span<const row> of_cpp() { return rows; }
std::span<const c_row> of_c() { return c_rows; }

}  // namespace calls
