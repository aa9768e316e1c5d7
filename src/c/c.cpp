// C interface: adapters from C's arguments; exceptions become a status and a text kept per thread.
#include <tally/tally.h>
#include <tally/tally.hpp>

#include "backends/common/elementwise/moves.hpp"
#include "src/c/fixed_text.hpp"
#include "src/check.hpp"
#include "src/operands/overlap.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

static_assert(TALLY_UNREADABLE_FILE == static_cast<int>(tally::errc::unreadable_file));
static_assert(TALLY_COMPLEX128 == static_cast<int>(tally::type::complex128) &&
              TALLY_COMPLEX128 + 1 == tally::type_count);  // a new type is added here, too
static_assert(TALLY_CONJUGATE_TRANSPOSE ==
              static_cast<int>(tally::matrix_operation::conjugate_transpose));
static_assert(TALLY_FLOAT64 == static_cast<int>(tally::type::float64));
static_assert(TALLY_CONJUGATE_Y == static_cast<int>(tally::conjugate::y));
static_assert(TALLY_GREATER == static_cast<int>(tally::comparison::greater));
static_assert(TALLY_INSTRUCTIONS_BEST == static_cast<int>(tally::instruction_set::best));
static_assert(TALLY_INSTRUCTIONS_RVV == static_cast<int>(tally::instruction_set::rvv));
static_assert(TALLY_ORDER_VERSION == tally::order::version);
static_assert(TALLY_ORDER_LANES == tally::order::lanes);
static_assert(TALLY_ORDER_CHUNK == tally::order::chunk);

namespace {

using tally::errc;

template <class... Part>
[[noreturn]] void fail(errc code, const Part&... parts) {
  tally::check{"tally"}.fail(code, parts...);
}

// --- Errors ---------------------------------------------------------------------------------------

constexpr std::array<const char*, 16> status_names = {
    "success",     "size_mismatch",    "null_pointer",     "zero_increment",
    "misaligned",  "unsupported_type", "wrong_memory",     "missing_backend",
    "no_device",   "invalid_argument", "out_of_memory",    "device_failure",
    "no_elements", "overlap",          "key_out_of_range", "unreadable_file"};

// Never destroyed or allocated: calls may fail in destructors, or out of memory.
thread_local constinit tally::fixed_text<512> last_error;

/// Returns the status of the current exception and keeps its text.
[[gnu::cold, gnu::noinline]] tally_status keep_failure() noexcept {
  try {
    throw;
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
tally_status status_of(F&& f) noexcept {
  try {
    f();
    return TALLY_SUCCESS;
  } catch (...) {
    return keep_failure();
  }
}

void require(const char* name, const void* pointer) {
  if (pointer == nullptr) fail(errc::null_pointer, name, " is null");
}

void require_at_most(const char* name, int value, int last) {
  if (value < 0 || value > last) {
    fail(errc::invalid_argument, name, " is ", value,
         last == 0 ? "; it must be " : "; it may be 0 to ", last);
  }
}

// --- Structs that grow ----------------------------------------------------------------------------

/// Bytes in the release that introduced the struct.
template <class S>
inline constexpr std::size_t first_size = 0;
template <>
inline constexpr std::size_t first_size<tally_call_options> = 24;
template <>
inline constexpr std::size_t first_size<tally_histogram_options> = 48;
template <>
inline constexpr std::size_t first_size<tally_csr> = 72;
template <>
inline constexpr std::size_t first_size<tally_workspace_options> = 24;

/// Returns the caller's struct, zero-extended.
template <class S>
S sized(const char* name, const S& given) {
  constexpr std::size_t max_size = 4096;  // limit for a garbage size; no struct comes near
  // Sizes between releases may have half a member.
  if (given.size < first_size<S> || given.size > max_size || given.size % alignof(S) != 0) {
    fail(errc::invalid_argument, name, ".size is ", given.size, "; the struct has ", sizeof(S),
         " bytes");
  }
  S known{};
  std::memcpy(&known, &given, std::min(given.size, sizeof(S)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  for (std::size_t i = sizeof(S); i < given.size; ++i) {
    if (bytes[i] == 0) continue;
    fail(errc::invalid_argument, name, " has ", given.size, " bytes, and byte ", i,
         " is not 0; this library knows the first ", sizeof(S));
  }
  return known;
}

// --- Executors ------------------------------------------------------------------------------------

// A `tally_executor`: a magic word, the executor, and zeros.
constexpr std::uint64_t made_here = 0x5e3a'7a11'c0de'1e96;
using executor_words = std::array<std::uint64_t, 4>;
static_assert(std::is_trivially_copyable_v<tally::executor>);
static_assert(std::has_unique_object_representations_v<tally::executor>);  // no byte is padding
static_assert(sizeof(executor_words) == sizeof(tally::executor));

template <class F>
tally_status make(tally_executor* where, F&& executor) {
  return status_of([&] {
    require("where", where);
    const tally::executor made = executor();
    const auto w = std::bit_cast<executor_words>(made);
    *where = {{made_here, w[0], w[1], w[2], w[3], 0, 0, 0}};
  });
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_executor() {
  fail(errc::invalid_argument, "where is an executor that no function of Tally has made");
}

tally::executor executor_of(const tally_executor* where) {
  if (where == nullptr) return tally::automatic();
  const auto& c = where->contents;
  if (((c[0] ^ made_here) | c[5] | c[6] | c[7]) != 0) fail_executor();
  return std::bit_cast<tally::executor>(executor_words{c[1], c[2], c[3], c[4]});
}

// --- Options --------------------------------------------------------------------------------------

[[gnu::noinline]] void read_checked(const tally_call_options& given, tally::call_options* options,
                                    tally::conjugate* conjugated, bool* words,
                                    tally::operand_rows* block) {
  const auto o = sized("options", given);
  const bool can_wait = options != nullptr && options->wait;
  require_at_most("options.grade", o.grade, options != nullptr ? TALLY_GRADE_EXACT : 0);
  require_at_most("options.wait", o.wait, TALLY_WAIT_NO);
  if (o.wait == TALLY_WAIT_YES && !can_wait) {
    fail(errc::invalid_argument, "options.wait is ", o.wait, "; there is no form that waits");
  }
  require_at_most("options.conjugate", o.conjugate, conjugated != nullptr ? TALLY_CONJUGATE_Y : 0);
  require_at_most("options.reserved", o.reserved, 0);
  require_at_most("options.form", o.form, words != nullptr ? TALLY_RESULT_WORDS : 0);
  require_at_most("options.reserved_too", o.reserved_too, 0);
  if (block == nullptr && (o.outer != 0 || o.outer_stride != 0)) {
    fail(errc::invalid_argument, "options.outer is ", o.outer, ", options.outer_stride ",
         std::int64_t{o.outer_stride}, "; they must be 0");
  }
  if (block != nullptr && o.outer != 0) {
    *block = tally::detail::in_blocks(*block, o.outer, o.outer_stride);
  }
  if (options != nullptr) {
    options->grade = o.grade == TALLY_GRADE_EXACT ? tally::exact : tally::grade{};
    options->wait = can_wait && o.wait != TALLY_WAIT_NO;
  }
  if (conjugated != nullptr) *conjugated = static_cast<tally::conjugate>(o.conjugate);
  if (words != nullptr) *words = o.form == TALLY_RESULT_WORDS;
}

/// Overwrites the defaults in `options`, `conjugated` and `words` (null: not applicable) by the
/// caller's choices, and repeats `block`. An operation has a waiting form if that is its default.
///
/// Writes by members, for short calls (tuning/short_calls.md: c.cpp read).
void read(const tally_call_options* given, tally::call_options* options,
          tally::conjugate* conjugated = nullptr, bool* words = nullptr,
          tally::operand_rows* block = nullptr) {
  if (given != nullptr) read_checked(*given, options, conjugated, words, block);
}

// --- Operands -------------------------------------------------------------------------------------

/// Invalid types remain, for the C++ function to report.
tally::type to_type(tally_type element) {
  const auto value = static_cast<unsigned>(element);
  return value < tally::type_count ? static_cast<tally::type>(value) : tally::detail::no_type;
}

tally::operand vector(std::size_t n, tally_type element, const void* pointer,
                      std::ptrdiff_t increment) {
  const tally::type t = to_type(element);
  return increment >= 0 ? tally::operand{pointer, n, increment, t}
                        : tally::blas_operand(pointer, n, increment, t, tally_type_size(element));
}

tally::output_operand written(std::size_t n, tally_type element, void* pointer,
                              std::ptrdiff_t increment) {
  const tally::operand v = vector(n, element, pointer, increment);
  return {const_cast<void*>(v.data), v.size, v.increment, v.element};
}

/// Element i of row j is at pointer[j * leading_dimension + i * increment].
tally::operand_rows rows(std::size_t k, std::size_t n, tally_type element, const void* pointer,
                         std::ptrdiff_t leading_dimension, std::ptrdiff_t increment = 1) {
  return {{pointer, n, increment, to_type(element)}, k, leading_dimension};
}

/// The factor that stands for a comparison.
tally::scalar code_of_comparison(tally_comparison c) {
  constexpr int last = TALLY_GREATER;
  if (c < 0 || c > last) {
    throw tally::error(tally::errc::invalid_argument,
                       "tally: comparison is " + std::to_string(c) + "; there are " +
                           std::to_string(last + 1) + " comparisons");
  }
  return std::int32_t{tally::detail::code_of(static_cast<tally::comparison>(c))};
}

/// No value for an unknown type.
tally::scalar factor(const char* name, tally_type element, const void* value) {
  require(name, value);
  const tally::type t = to_type(element);
  if (tally::is_listed(t)) return tally::backends::scalar_at(value, t);
  tally::scalar none;
  none.element = t;
  return none;
}

tally_status reduce(const tally_executor* where, tally::reduction what, const tally::operand& x,
                    tally_type result_type, void* result, const tally_call_options* options) {
  return status_of([&] {
    tally::reduce_arguments a{x, what, {result, to_type(result_type)}};
    read(options, &a.options, nullptr, &a.result.words);
    tally::reduce(executor_of(where), a);
  });
}

/// What the functions of these names ask for.
namespace norms {
constexpr auto sum_of_squares = tally::reduction::sum_of_squares;
constexpr auto max_norm = tally::reduction::max_norm;
constexpr auto weighted_sum_of_squares = tally::weighted_norm::squares;
constexpr auto weighted_nrm2 = tally::weighted_norm::root;
constexpr auto wrms_norm = tally::weighted_norm::root_mean;
constexpr auto wrms_norm_mask = tally::weighted_norm::root_mean;
}  // namespace norms

tally_status norm(const tally_executor* where, tally::reduction what,
                  std::initializer_list<tally::operand> x, tally_type result_type, void* result,
                  const tally_call_options* options) {
  return reduce(where, what, *x.begin(), result_type, result, options);
}

/// x, w and maybe a mask.
tally_status norm(const tally_executor* where, tally::weighted_norm what,
                  std::initializer_list<tally::operand> vectors, tally_type result_type,
                  void* result, const tally_call_options* options) {
  return status_of([&] {
    const tally::operand* const v = vectors.begin();
    tally::weighted_norm_arguments a{v[0], v[1], {}, what, {result, to_type(result_type)}};
    if (vectors.size() > 2) a.mask = v[2];
    read(options, &a.options, nullptr, &a.result.words);
    tally::reduce_weighted(executor_of(where), a);
  });
}

using dots_of_pairs = void(const tally::executor&, const tally::multi_dot_arguments&);

tally_status multi_dot(dots_of_pairs& f, const tally_executor* where, const tally::dot_pairs& pairs,
                       tally_type result_type, void* results, const tally_call_options* options) {
  return status_of([&] {
    tally::multi_dot_arguments a{pairs, {}, {results, to_type(result_type)}};
    read(options, &a.options, &a.conjugated, &a.results.words);
    f(executor_of(where), a);
  });
}

tally_status find(const tally_executor* where, tally::extreme what, const tally::operand& x,
                  void* result, const tally_call_options* options) {
  return status_of([&] {
    tally::extremum_arguments a{x, what, result};
    read(options, &a.options);
    tally::find_extremum(executor_of(where), a);
  });
}

template <class Arguments>
tally_status transform(const tally_executor* where, const tally_call_options* options,
                       Arguments&& arguments) {
  return status_of([&] {
    read(options, nullptr);
    tally::transform(executor_of(where), arguments());
  });
}

tally_status scan(const tally_executor* where, const tally_call_options* options,
                  const tally::operand& x, const tally::output_operand& y, bool exclusive) {
  return status_of([&] {
    read(options, nullptr);
    tally::scan(executor_of(where), {x, y, exclusive});
  });
}

/// `arguments` makes everything but the options.
template <class Arguments>
tally_status fused(const tally_executor* where, const tally_call_options* options,
                   Arguments&& arguments) {
  return status_of([&] {
    tally::fused_arguments a = arguments();
    const bool is_dot = a.what == tally::fused_sum::dot;
    read(options, &a.options, is_dot ? &a.conjugated : nullptr);
    tally::fused(executor_of(where), a);
  });
}

tally_status round_words(const tally_executor* where, bool root, std::size_t count,
                         tally_type sum_type, const std::int64_t* words, tally_type result_type,
                         void* results, const tally_call_options* options) {
  return status_of([&] {
    tally::call_options given;
    read(options, &given);
    if (given.grade.is_exact()) fail(errc::invalid_argument, "options.grade is 1; it must be 0");
    const tally::output result = {results, to_type(result_type)};
    tally::round_words(executor_of(where),
                       {words, to_type(sum_type), count, root, result, given.wait});
  });
}

/// Leaves normal forms.
template <class T>
void merge_words(std::size_t count, const std::int64_t* from, std::int64_t* to) {
  using sum = tally::exact_sum<T>;
  constexpr auto words = static_cast<std::size_t>(sum::words);
  std::vector<std::int64_t> merged(count * words);  // a sum may exceed the capacity
  for (std::size_t i = 0; i < count * words; i += words) {
    sum all = sum::from_words(to + i);
    if (from != nullptr && from != to) all.merge(sum::from_words(from + i));
    all.to_words(&merged[i]);
  }
  std::ranges::copy(merged, to);
}

static_assert(sizeof(tally_outside_counts) == sizeof(tally::outside_counts));

/// `set_bins` sets the kind of bins.
template <class SetBins>
tally_status histogram(const tally_executor* where, const tally::operand& x, std::size_t bins,
                       tally_type counts_type, void* counts, const tally_histogram_options* options,
                       SetBins&& set_bins) {
  return status_of([&] {
    const auto o = options != nullptr ? sized("options", *options) : tally_histogram_options{};
    require_at_most("options.add", o.add, 1);
    tally::histogram_arguments a;
    a.x = x;
    set_bins(a);
    a.weighted = o.weights != nullptr;
    if (a.weighted) a.weights = vector(x.size, o.weights_type, o.weights, o.incw == 0 ? 1 : o.incw);
    const std::size_t channels = o.channels != 0 ? o.channels : 1;
    a.options = {o.add != 0, channels, reinterpret_cast<tally::outside_counts*>(o.outside)};
    const std::size_t all = bins <= SIZE_MAX / channels ? bins * channels : SIZE_MAX;
    a.words = a.weighted && to_type(counts_type) == tally::type::int64;
    a.counts = {counts, all, 1, a.words ? a.weights.element : to_type(counts_type)};
    tally::histogram(executor_of(where), a);
  });
}

/// A matrix and its fixed arrays.
struct promised_matrix {
  tally::csr_operand matrix;
  bool fixed_columns;
  bool fixed_values;
};

promised_matrix promised_matrix_of(const tally_csr* matrix) {
  require("matrix", matrix);
  const auto a = sized("matrix", *matrix);
  require_at_most("matrix.operation", a.operation, TALLY_CONJUGATE_TRANSPOSE);
  require_at_most("matrix.fixed_values", a.fixed_values, 1);
  require_at_most("matrix.fixed_columns", a.fixed_columns, 1);
  require_at_most("matrix.reserved", a.reserved, 0);
  require_at_most("matrix.reserved_too", a.reserved_too, 0);
  const std::size_t offsets = a.row_ends == nullptr ? a.rows + 1 : a.rows;
  tally::csr_operand m{a.rows, a.columns, vector(offsets, a.offset_type, a.row_offsets, 1),
                       vector(a.nonzeros, a.column_type, a.column_indices, 1),
                       vector(a.nonzeros, a.value_type, a.values, 1)};
  if (a.row_ends != nullptr) m.row_ends = vector(a.rows, a.offset_type, a.row_ends, 1);
  m.operation = static_cast<tally::matrix_operation>(a.operation);
  return {m, a.fixed_columns == 1, a.fixed_values == 1};
}

tally::csr_operand matrix_of(const tally_csr* matrix) { return promised_matrix_of(matrix).matrix; }

tally_status allocate(const tally_executor* where, std::size_t bytes, tally::reach who,
                      void** memory) {
  return status_of([&] {
    require("memory", memory);
    *memory = tally::allocate(executor_of(where), bytes, who);
  });
}

tally_status deallocate(const tally_executor* where, void* memory, tally::reach who) {
  return status_of([&] {
    const tally::executor made_on = executor_of(where);
    if (made_on.backend() == nullptr) {
      fail(errc::invalid_argument, "where is automatic, which has no memory of its own");
    }
    tally::deallocate(made_on, memory, who);
  });
}

const tally::workspace* workspace_of(const tally_workspace* workspace) {
  return reinterpret_cast<const tally::workspace*>(workspace);
}

const tally::spmv_plan* plan_of(const tally_spmv_plan* plan) {
  return reinterpret_cast<const tally::spmv_plan*>(plan);
}

/// `added(rows)`, if given, is multiplied by beta.
template <class... Added>
tally_status spmv(const tally_executor* where, const tally_spmv_plan* plan, tally_type alpha_type,
                  const void* alpha, const tally_csr* matrix, tally_type x_type, const void* x,
                  ptrdiff_t incx, tally_type beta_type, const void* beta, tally_type y_type,
                  void* y, ptrdiff_t incy, const tally_call_options* options,
                  const Added&... added) {
  return status_of([&] {
    const tally::csr_operand m = matrix_of(matrix);
    tally::spmv_arguments a{m,
                            vector(m.width(), x_type, x, incx),
                            written(m.height(), y_type, y, incy),
                            alpha != nullptr ? factor("alpha", alpha_type, alpha) : 1,
                            beta != nullptr ? factor("beta", beta_type, beta) : 0,
                            plan_of(plan)};
    ((a.added = added(m.height())), ...);
    read(options, &a.options);
    tally::spmv(executor_of(where), a);
  });
}

}  // namespace

#include "src/c/operations.inc"

// --- Versions, names and errors -------------------------------------------------------------------

int tally_version(void) { return TALLY_VERSION_NUMBER; }

int tally_order_version(void) { return tally::order::version; }

const char* tally_status_name(tally_status status) {
  if (status == TALLY_UNKNOWN_FAILURE) return "unknown_failure";
  const auto i = static_cast<std::size_t>(status);
  return i < status_names.size() ? status_names[i] : "unknown";
}

const char* tally_type_name(tally_type type) {
  const tally::type t = to_type(type);
  return tally::is_listed(t) ? tally::name(t).data() : "unknown";
}

size_t tally_type_size(tally_type type) { return tally::size_of(to_type(type)); }

const char* tally_last_error(void) { return last_error.c_str(); }

size_t tally_copy_last_error(char* buffer, size_t size) {
  const std::string_view text = last_error.c_str();
  if (buffer != nullptr && size > 0) buffer[text.copy(buffer, size - 1)] = '\0';
  return text.size();
}

// --- Executors ------------------------------------------------------------------------------------

tally_status tally_serial(tally_executor* where) { return make(where, tally::serial); }

tally_status tally_simd(tally_executor* where, tally_instruction_set instructions) {
  return make(where,
              [&] { return tally::simd({static_cast<tally::instruction_set>(instructions)}); });
}

tally_status tally_openmp(tally_executor* where, int threads) {
  return make(where, [&] { return tally::openmp({.threads = threads}); });
}

tally_status tally_cuda(tally_executor* where, int device, void* stream) {
  return make(where, [&] {
    return tally::cuda({.device = device, .stream = static_cast<CUstream_st*>(stream)});
  });
}

tally_status tally_kokkos(tally_executor* where) {
  return make(where, [] { return tally::kokkos(); });
}

tally_status tally_automatic(tally_executor* where) { return make(where, tally::automatic); }

tally_status tally_executor_named(tally_executor* where, const char* name) {
  return make(where, [&] {
    require("name", name);
    return tally::executor_named(name);
  });
}

tally_status tally_executor_name(const tally_executor* where, const char** name) {
  return status_of([&] {
    require("name", name);
    *name = executor_of(where).name().data();
  });
}

tally_status tally_executors(size_t capacity, const char** names, int* usable, size_t* count) {
  return status_of([&] {
    require("count", count);
    const auto all = tally::backend_names();
    const std::size_t n = std::min(capacity, all.size());
    std::vector<int> can_run(usable != nullptr ? n : 0);
    for (std::size_t i = 0; i < can_run.size(); ++i) {
      try {
        tally::executor_named(all[i]);
        can_run[i] = 1;
      } catch (const tally::error& e) {
        if (e.code() != errc::no_device) throw;
      }
    }
    std::ranges::copy(can_run, usable);
    for (std::size_t i = 0; names != nullptr && i < n; ++i) names[i] = all[i].data();
    *count = all.size();
  });
}

// --- Memory and workspaces ------------------------------------------------------------------------

tally_status tally_device_alloc(const tally_executor* where, size_t bytes, void** memory) {
  return allocate(where, bytes, tally::reach::kernels, memory);
}

tally_status tally_device_free(const tally_executor* where, void* memory) {
  return deallocate(where, memory, tally::reach::kernels);
}

tally_status tally_device_copy(const tally_executor* where, void* to, const void* from,
                               size_t bytes) {
  return status_of([&] { tally::copy_bytes(executor_of(where), from, to, bytes); });
}

tally_status tally_pinned_alloc(const tally_executor* where, size_t bytes, void** memory) {
  return allocate(where, bytes, tally::reach::kernels_and_host, memory);
}

tally_status tally_pinned_free(const tally_executor* where, void* memory) {
  return deallocate(where, memory, tally::reach::kernels_and_host);
}

tally_status tally_pin(const tally_executor* where, void* memory, size_t bytes) {
  return status_of([&] { tally::pin(executor_of(where), memory, bytes); });
}

tally_status tally_unpin(const tally_executor* where, void* memory) {
  return status_of([&] { tally::unpin(executor_of(where), memory); });
}

tally_status tally_workspace_create(const tally_executor* where,
                                    const tally_workspace_options* options,
                                    tally_workspace** workspace) {
  return status_of([&] {
    require("workspace", workspace);
    const auto o = options != nullptr ? sized("options", *options) : tally_workspace_options{};
    require_at_most("options.reserved", o.reserved, 0);
    auto made = std::make_unique<tally::workspace>(
        executor_of(where),
        tally::workspace_options{.stage_bytes = o.stage_bytes, .threads = o.threads});
    *workspace = reinterpret_cast<tally_workspace*>(made.release());
  });
}

void tally_workspace_destroy(tally_workspace* workspace) { delete workspace_of(workspace); }

tally_status tally_workspace_executor(const tally_workspace* workspace, tally_executor* where) {
  return make(where, [&] {
    require("workspace", workspace);
    return workspace_of(workspace)->executor();
  });
}

// --- Sums -----------------------------------------------------------------------------------------

tally_status tally_dot(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                       ptrdiff_t incx, tally_type y_type, const void* y, ptrdiff_t incy,
                       tally_type result_type, void* result, const tally_call_options* options) {
  return status_of([&] {
    tally::dot_arguments a{
        vector(n, x_type, x, incx), vector(n, y_type, y, incy), {}, {result, to_type(result_type)}};
    read(options, &a.options, &a.conjugated, &a.result.words);
    tally::dot(executor_of(where), a);
  });
}

tally_status tally_multi_dot(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                             const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                             ptrdiff_t incy, tally_type result_type, void* results,
                             const tally_call_options* options) {
  return multi_dot(tally::multi_dot, where,
                   {rows(k, n, x_type, x, ldx), {vector(n, y_type, y, incy), k, 0}}, result_type,
                   results, options);
}

tally_status tally_batched_dot(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                               const void* x, ptrdiff_t ldx, tally_type y_type, const void* y,
                               ptrdiff_t ldy, tally_type result_type, void* results,
                               const tally_call_options* options) {
  return multi_dot(tally::batched_dot, where,
                   {rows(k, n, x_type, x, ldx), rows(k, n, y_type, y, ldy)}, result_type, results,
                   options);
}

tally_status tally_multi_dot_list(const tally_executor* where, size_t k, const size_t* n,
                                  tally_type x_type, const void* const* x, const ptrdiff_t* incx,
                                  tally_type y_type, const void* const* y, const ptrdiff_t* incy,
                                  tally_type result_type, void* results,
                                  const tally_call_options* options) {
  return status_of([&] {
    if (k > tally::max_elements) {  // negative, from C or Fortran
      fail(errc::invalid_argument, "there are ", k, " pairs; there can be ", tally::max_elements);
    }
    std::vector<tally::operand_pair> list(k);
    if (k > 0) {
      require("n", n), require("x", x), require("incx", incx);
      require("y", y), require("incy", incy);
    }
    for (std::size_t j = 0; j < k; ++j) {
      list[j] = {vector(n[j], x_type, x[j], incx[j]), vector(n[j], y_type, y[j], incy[j])};
    }
    tally::multi_dot_arguments a{{{}, {}, list}, {}, {results, to_type(result_type)}};
    read(options, &a.options, &a.conjugated, &a.results.words);
    tally::multi_dot(executor_of(where), a);
  });
}

tally_status tally_sums(const tally_executor* where, size_t k, size_t n, tally_type x_type,
                        const void* x, ptrdiff_t ldx, ptrdiff_t incx, tally_type result_type,
                        void* results, const tally_call_options* options) {
  return status_of([&] {
    tally::sums_arguments a{rows(k, n, x_type, x, ldx, incx), {results, to_type(result_type)}};
    read(options, &a.options, nullptr, &a.results.words, &a.x);
    tally::sums(executor_of(where), a);
  });
}

tally_status tally_multi_dot_strided(const tally_executor* where, size_t k, size_t n,
                                     tally_type x_type, const void* x, ptrdiff_t ldx,
                                     ptrdiff_t incx, tally_type y_type, const void* y,
                                     ptrdiff_t incy, tally_type result_type, void* results,
                                     const tally_call_options* options) {
  return status_of([&] {
    tally::multi_dot_arguments a{
        {rows(k, n, x_type, x, ldx, incx), {}}, {}, {results, to_type(result_type)}};
    read(options, &a.options, &a.conjugated, &a.results.words, &a.pairs.x);
    a.pairs.y = {vector(n, y_type, y, incy), a.pairs.x.rows};
    tally::multi_dot(executor_of(where), a);
  });
}

tally_status tally_gemv(const tally_executor* where, tally_operation operation, size_t m, size_t n,
                        tally_type alpha_type, const void* alpha, tally_type a_type, const void* a,
                        ptrdiff_t lda, ptrdiff_t inca, tally_type x_type, const void* x,
                        ptrdiff_t incx, tally_type beta_type, const void* beta, tally_type y_type,
                        void* y, ptrdiff_t incy, const tally_call_options* options) {
  return status_of([&] {
    require_at_most("operation", operation, TALLY_CONJUGATE_TRANSPOSE);
    const bool is_transposed = operation != TALLY_NO_TRANSPOSE;
    tally::gemv_arguments all{rows(m, n, a_type, a, lda, inca),
                              static_cast<tally::matrix_operation>(operation),
                              vector(is_transposed ? m : n, x_type, x, incx),
                              written(is_transposed ? n : m, y_type, y, incy),
                              alpha != nullptr ? factor("alpha", alpha_type, alpha) : 1,
                              beta != nullptr ? factor("beta", beta_type, beta) : 0};
    read(options, &all.options);
    tally::gemv(executor_of(where), all);
  });
}

// --- Unrounded sums ------------------------------------------------------------------------------

std::size_t tally_exact_words(tally_type sum_type) { return tally::exact_words(to_type(sum_type)); }

tally_type tally_exact_sum_type(tally_type x_type, tally_type y_type, tally_type result_type) {
  const tally::type sum =
      tally::exact_sum_type(to_type(x_type), to_type(y_type), to_type(result_type));
  return tally::is_listed(sum) ? static_cast<tally_type>(sum) : -1;
}

tally_status tally_merge_words(size_t count, tally_type sum_type, const int64_t* from,
                               int64_t* to) {
  return status_of([&] {
    const std::size_t words = tally_exact_words(sum_type);
    if (words == 0) {
      fail(errc::unsupported_type, "the exact sum is of ", tally_type_name(sum_type),
           "; it can be of float32, float64, complex64 or complex128");
    }
    if (count > tally::max_elements / words) {
      fail(errc::invalid_argument, "there are ", count, " sums; there can be ",
           tally::max_elements / words);
    }
    if (count == 0) return;
    const tally::check check{"tally_merge_words"};
    const tally::operand sums = {to, count * words, 1, tally::type::int64};
    check.vector("to", sums);
    check.read_on_host("to", sums);
    if (from != nullptr && from != to) {
      const tally::operand others = {from, count * words, 1, tally::type::int64};
      check.vector("from", others);
      check.read_on_host("from", others);
      tally::check_apart(check, "from", others, "to", sums);
    }
    const bool complex = is_complex(to_type(sum_type));
    part_of(to_type(sum_type)) == tally::type::float32
        ? merge_words<float>(complex ? 2 * count : count, from, to)
        : merge_words<double>(complex ? 2 * count : count, from, to);
  });
}

tally_status tally_round_words(const tally_executor* where, size_t count, tally_type sum_type,
                               const int64_t* words, tally_type result_type, void* results,
                               const tally_call_options* options) {
  return round_words(where, false, count, sum_type, words, result_type, results, options);
}

tally_status tally_round_root_words(const tally_executor* where, size_t count, tally_type sum_type,
                                    const int64_t* words, tally_type result_type, void* results,
                                    const tally_call_options* options) {
  return round_words(where, true, count, sum_type, words, result_type, results, options);
}

// --- Extrema --------------------------------------------------------------------------------------

tally_status tally_minmax(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                          ptrdiff_t incx, void* result, const tally_call_options* options) {
  return find(where, tally::extreme::minmax, vector(n, x_type, x, incx), result, options);
}

tally_status tally_iamax(const tally_executor* where, size_t n, tally_type x_type, const void* x,
                         ptrdiff_t incx, int64_t* result, const tally_call_options* options) {
  return find(where, tally::extreme::iamax, vector(n, x_type, x, incx), result, options);
}

// --- Element-wise functions -----------------------------------------------------------------------

tally_status tally_swap(const tally_executor* where, size_t n, tally_type type, void* x,
                        ptrdiff_t incx, void* y, ptrdiff_t incy,
                        const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    tally::swap_elements(executor_of(where), written(n, type, x, incx), written(n, type, y, incy));
  });
}

tally_status tally_segmented_sum(const tally_executor* where, size_t segments,
                                 tally_type offset_type, const void* offsets, size_t n,
                                 tally_type x_type, const void* x, tally_type result_type,
                                 void* results, const tally_call_options* options) {
  return status_of([&] {
    const bool wraps = segments == SIZE_MAX;  // negative, from Fortran
    tally::segmented_sum_arguments a{vector(segments + !wraps, offset_type, offsets, 1),
                                     vector(n, x_type, x, 1),
                                     written(segments, result_type, results, 1)};
    read(options, &a.options);
    tally::segmented_sum(executor_of(where), a);
  });
}

tally_status tally_multi_axpy(const tally_executor* where, size_t k, size_t n,
                              tally_type alpha_type, const void* alpha, tally_type x_type,
                              const void* x, ptrdiff_t ldx, ptrdiff_t incx, tally_type beta_type,
                              const void* beta, tally_type y_type, void* y, ptrdiff_t incy,
                              const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    tally::multi_axpy(executor_of(where), {vector(k, alpha_type, alpha, 1),
                                           {{vector(n, x_type, x, incx), k, ldx}},
                                           factor("beta", beta_type, beta),
                                           written(n, y_type, y, incy)});
  });
}

tally_status tally_multi_axpy_dot(const tally_executor* where, size_t k, size_t n,
                                  tally_type alpha_type, const void* alpha, tally_type x_type,
                                  const void* x, ptrdiff_t ldx, ptrdiff_t incx,
                                  tally_type beta_type, const void* beta, tally_type y_type,
                                  void* y, ptrdiff_t incy, tally_type result_type, void* results,
                                  const tally_call_options* options) {
  return status_of([&] {
    tally::multi_axpy_dot_arguments a;
    a.update = {vector(k, alpha_type, alpha, 1),
                {{vector(n, x_type, x, incx), k, ldx}},
                factor("beta", beta_type, beta),
                written(n, y_type, y, incy)};
    a.results = {results, to_type(result_type)};
    read(options, &a.options, &a.conjugated);
    tally::multi_axpy_dot(executor_of(where), a);
  });
}

tally_status tally_gather(const tally_executor* where, tally_type type, size_t nx, const void* x,
                          ptrdiff_t incx, tally_type index_type, const void* indices, size_t nz,
                          void* z, ptrdiff_t incz, const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    tally::gather_elements(executor_of(where),
                           {vector(nx, type, x, incx), vector(nz, index_type, indices, 1),
                            written(nz, type, z, incz)});
  });
}

tally_status tally_scatter(const tally_executor* where, tally_type type, size_t nx, const void* x,
                           ptrdiff_t incx, tally_type index_type, const void* indices, size_t nz,
                           void* z, ptrdiff_t incz, const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    tally::gather_elements(executor_of(where),
                           {vector(nx, type, x, incx), vector(nx, index_type, indices, 1),
                            written(nz, type, z, incz), true});
  });
}

tally_status tally_scatter_add(const tally_executor* where, tally_type type, size_t nx,
                               const void* x, ptrdiff_t incx, tally_type index_type,
                               const void* indices, size_t nz, void* z, ptrdiff_t incz,
                               const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    tally::gather_elements(executor_of(where),
                           {vector(nx, type, x, incx), vector(nx, index_type, indices, 1),
                            written(nz, type, z, incz), true, true});
  });
}

tally_status tally_axpy_dot(const tally_executor* where, size_t n, tally_type alpha_type,
                            const void* alpha, tally_type x_type, const void* x, ptrdiff_t incx,
                            tally_type y_type, void* y, ptrdiff_t incy, tally_type v_type,
                            const void* v, ptrdiff_t incv, tally_type result_type, void* result,
                            const tally_call_options* options) {
  return fused(where, options, [&] {
    const tally::operand updated = vector(n, y_type, y, incy);
    tally::fused_arguments a;
    a.update = {tally::elementwise::axpy,
                factor("alpha", alpha_type, alpha),
                {},
                vector(n, x_type, x, incx),
                updated,
                written(n, y_type, y, incy)};
    a.v = v != nullptr ? vector(n, v_type, v, incv) : updated;
    a.result = {result, to_type(result_type)};
    return a;
  });
}

tally_status tally_waxpby_nrm2(const tally_executor* where, size_t n, tally_type alpha_type,
                               const void* alpha, tally_type x_type, const void* x, ptrdiff_t incx,
                               tally_type beta_type, const void* beta, tally_type y_type,
                               const void* y, ptrdiff_t incy, tally_type w_type, void* w,
                               ptrdiff_t incw, tally_type result_type, void* result,
                               const tally_call_options* options) {
  return fused(where, options, [&] {
    tally::fused_arguments a;
    a.update = {tally::elementwise::waxpby,      factor("alpha", alpha_type, alpha),
                factor("beta", beta_type, beta), vector(n, x_type, x, incx),
                vector(n, y_type, y, incy),      written(n, w_type, w, incw)};
    a.what = tally::fused_sum::nrm2;
    a.result = {result, to_type(result_type)};
    return a;
  });
}

// --- Histograms -----------------------------------------------------------------------------------

tally_status tally_bincount(const tally_executor* where, size_t n, tally_type keys_type,
                            const void* keys, ptrdiff_t inckeys, size_t bins,
                            tally_type counts_type, void* counts,
                            const tally_histogram_options* options) {
  return histogram(where, vector(n, keys_type, keys, inckeys), bins, counts_type, counts, options,
                   [](tally::histogram_arguments& a) { a.what = tally::binning::keys; });
}

tally_status tally_histogram_even(const tally_executor* where, size_t n, tally_type x_type,
                                  const void* x, ptrdiff_t incx, tally_type bounds_type,
                                  const void* lower, const void* upper, size_t bins,
                                  tally_type counts_type, void* counts,
                                  const tally_histogram_options* options) {
  return histogram(where, vector(n, x_type, x, incx), bins, counts_type, counts, options,
                   [&](tally::histogram_arguments& a) {
                     a.what = tally::binning::even;
                     a.lower = factor("lower", bounds_type, lower);
                     a.upper = factor("upper", bounds_type, upper);
                   });
}

tally_status tally_histogram_range(const tally_executor* where, size_t n, tally_type x_type,
                                   const void* x, ptrdiff_t incx, tally_type edges_type,
                                   const void* edges, size_t bins, tally_type counts_type,
                                   void* counts, const tally_histogram_options* options) {
  return histogram(where, vector(n, x_type, x, incx), bins, counts_type, counts, options,
                   [&](tally::histogram_arguments& a) {
                     a.what = tally::binning::edges;
                     a.edges = vector(bins + 1, edges_type, edges, 1);
                   });
}

// --- Sparse matrices ------------------------------------------------------------------------------

tally_status tally_validate(const tally_executor* where, const tally_csr* matrix) {
  return status_of([&] { tally::validate(executor_of(where), matrix_of(matrix)); });
}

tally_status tally_spmv_plan_create(const tally_executor* where, const tally_csr* matrix,
                                    tally_spmv_plan** plan) {
  return status_of([&] {
    require("plan", plan);
    const auto [m, fixed_columns, fixed_values] = promised_matrix_of(matrix);
    const tally::executor on = executor_of(where);
    *plan = reinterpret_cast<tally_spmv_plan*>(new tally::spmv_plan(
        on, m, {.fixed_columns = fixed_columns, .fixed_values = fixed_values}));
  });
}

void tally_spmv_plan_destroy(tally_spmv_plan* plan) { delete plan_of(plan); }

tally_status tally_spmv_plan_describe(const tally_spmv_plan* plan, const char** text) {
  return status_of([&] {
    require("plan", plan);
    require("text", text);
    *text = plan_of(plan)->describe().c_str();
  });
}

tally_status tally_spmv(const tally_executor* where, const tally_spmv_plan* plan,
                        tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                        tally_type x_type, const void* x, ptrdiff_t incx, tally_type beta_type,
                        const void* beta, tally_type y_type, void* y, ptrdiff_t incy,
                        const tally_call_options* options) {
  return spmv(where, plan, alpha_type, alpha, matrix, x_type, x, incx, beta_type, beta, y_type, y,
              incy, options);
}

tally_status tally_spmm(const tally_executor* where, const tally_spmv_plan* plan, size_t k,
                        tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                        tally_type x_type, const void* x, ptrdiff_t ldx, ptrdiff_t incx,
                        tally_type beta_type, const void* beta, tally_type y_type, void* y,
                        ptrdiff_t ldy, ptrdiff_t incy, const tally_call_options* options) {
  return status_of([&] {
    const tally::csr_operand m = matrix_of(matrix);
    tally::spmm_arguments a{m,
                            rows(m.width(), k, x_type, x, ldx, incx),
                            {{y, k, incy, to_type(y_type)}, m.height(), ldy},
                            alpha != nullptr ? factor("alpha", alpha_type, alpha) : 1,
                            beta != nullptr ? factor("beta", beta_type, beta) : 0,
                            plan_of(plan)};
    read(options, &a.options);
    tally::spmm(executor_of(where), a);
  });
}

tally_status tally_csr_from_coo(const tally_executor* where, size_t rows, size_t columns, size_t n,
                                tally_type row_type, const void* row_indices, ptrdiff_t incrow,
                                tally_type column_type, const void* column_indices,
                                ptrdiff_t inccolumn, tally_type value_type, const void* values,
                                ptrdiff_t incvalue, tally_type offset_type, void* row_offsets,
                                tally_type sorted_type, void* sorted_columns, void* sorted_values,
                                size_t* stored, const tally_call_options* options) {
  return status_of([&] {
    require("stored", stored);
    tally::call_options read_options{.wait = true};
    read(options, &read_options);
    tally::coo_arguments a;
    a.rows = rows;
    a.columns = columns;
    a.row_indices = vector(n, row_type, row_indices, incrow);
    a.column_indices = vector(n, column_type, column_indices, inccolumn);
    a.values = vector(n, value_type, values, incvalue);
    a.sums = read_options.grade;
    a.row_offsets = written(rows + (rows != SIZE_MAX), offset_type, row_offsets, 1);
    a.sorted_columns = written(n, sorted_type, sorted_columns, 1);
    a.sorted_values = written(n, value_type, sorted_values, 1);
    *stored = tally::csr_from_coo(executor_of(where), a);
  });
}

tally_status tally_diagonal(const tally_executor* where, const tally_csr* matrix, tally_type d_type,
                            void* d, ptrdiff_t incd, const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    const tally::csr_operand a = matrix_of(matrix);
    tally::apply_to_rows(executor_of(where),
                         {a,
                          tally::row_function::diagonal,
                          {},
                          written(std::min(a.rows, a.columns), d_type, d, incd)});
  });
}

tally_status tally_row_norms(const tally_executor* where, tally_norm norm, const tally_csr* matrix,
                             tally_type r_type, void* r, ptrdiff_t incr,
                             const tally_call_options* options) {
  return status_of([&] {
    require_at_most("norm", norm, TALLY_NORM_INFINITY);
    tally::call_options o{.wait = true};
    read(options, &o);
    const tally::csr_operand a = matrix_of(matrix);
    const auto what =
        norm == TALLY_NORM_ONE ? tally::row_function::one_norm : tally::row_function::infinity_norm;
    tally::apply_to_rows(executor_of(where),
                         {a, what, {}, written(a.rows, r_type, r, incr), o.grade});
  });
}

tally_status tally_scale_rows(const tally_executor* where, const tally_csr* matrix,
                              tally_type d_type, const void* d, ptrdiff_t incd, void* z,
                              const tally_call_options* options) {
  return status_of([&] {
    read(options, nullptr);
    const tally::csr_operand a = matrix_of(matrix);
    tally::apply_to_rows(executor_of(where), {a,
                                              tally::row_function::scale,
                                              vector(a.rows, d_type, d, incd),
                                              {z, a.nonzeros(), 1, a.values.element}});
  });
}

tally_status tally_spmv_apart(const tally_executor* where, const tally_spmv_plan* plan,
                              tally_type alpha_type, const void* alpha, const tally_csr* matrix,
                              tally_type x_type, const void* x, ptrdiff_t incx,
                              tally_type beta_type, const void* beta, tally_type y_type,
                              const void* y, ptrdiff_t incy, void* w, ptrdiff_t incw,
                              const tally_call_options* options) {
  return spmv(where, plan, alpha_type, alpha, matrix, x_type, x, incx, beta_type, beta, y_type, w,
              incw, options, [&](std::size_t rows) { return vector(rows, y_type, y, incy); });
}
