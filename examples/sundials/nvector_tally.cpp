#include "nvector_tally.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace example {
namespace {

static_assert(std::same_as<decltype(N_VMin(nullptr)), double>, "SUNDIALS's reals are double");

struct content {
  tally::executor where;
  std::size_t size;
  std::int64_t length;  ///< over all ranks
  tally::buffer own;
  double* data = nullptr;
  std::array<tally::buffer, 3> scratch = {};
#if TALLY_EXAMPLE_HAS_MPI
  std::optional<tally::mpi::layout> over = {};
#endif
};

content& of(N_Vector v) { return *static_cast<content*>(v->content); }
const tally::executor& at(N_Vector v) { return of(v).where; }
std::span<double> all(N_Vector v) { return {of(v).data, of(v).size}; }

/// Memory of a vector's size, kept with it.
std::span<double> scratch(N_Vector v, std::size_t number) {
  tally::buffer& memory = of(v).scratch[number];
  const std::size_t bytes = of(v).size * sizeof(double);
  if (bytes > 0 && memory.bytes() == 0) memory = tally::buffer(at(v), bytes);
  return {static_cast<double*>(memory.get()), of(v).size};
}

/// Sums and extrema of one process, and of ranks, whose first argument is a layout.
namespace over {
using tally::asum;
using tally::dot;
using tally::max;
using tally::max_norm;
using tally::min;
using tally::multi_dot;
using tally::weighted_nrm2;
using tally::wrms_norm;
using tally::wrms_norm_mask;
#if TALLY_EXAMPLE_HAS_MPI
using tally::mpi::asum;
using tally::mpi::dot;
using tally::mpi::max;
using tally::mpi::max_norm;
using tally::mpi::min;
using tally::mpi::multi_dot;
using tally::mpi::weighted_nrm2;
using tally::mpi::wrms_norm;
using tally::mpi::wrms_norm_mask;
#endif
}  // namespace over

/// Calls f with the vector's layout, if it has one.
template <class F>
auto reduced([[maybe_unused]] N_Vector v, const F& f) {
#if TALLY_EXAMPLE_HAS_MPI
  if (of(v).over) return f(*of(v).over);
#endif
  return f();
}

// --- Memory ---------------------------------------------------------------------------------------

N_Vector_ID id(N_Vector) { return SUNDIALS_NVEC_CUSTOM; }

N_Vector clone_empty(N_Vector w) {
  N_Vector v = N_VNewEmpty(w->sunctx);
  N_VCopyOps(w, v);
  v->content = new content{at(w), of(w).size, of(w).length, {}};
#if TALLY_EXAMPLE_HAS_MPI
  of(v).over = of(w).over;
#endif
  return v;
}

void allocate(N_Vector v) {
  if (of(v).size == 0) return;
  of(v).own = tally::buffer(at(v), of(v).size * sizeof(double));
  of(v).data = static_cast<double*>(of(v).own.get());
}

N_Vector clone(N_Vector w) {
  N_Vector v = clone_empty(w);
  allocate(v);
  return v;
}

void destroy(N_Vector v) {
  if (v == nullptr) return;
  delete &of(v);
  v->content = nullptr;
  N_VFreeEmpty(v);
}

void space(N_Vector v, sunindextype* reals, sunindextype* integers) {
  *reals = static_cast<sunindextype>(of(v).length);
  *integers = 1;
}

bool is_on_device(N_Vector v) { return !at(v).reaches_host_memory(); }
double* array(N_Vector v) { return is_on_device(v) ? nullptr : of(v).data; }
double* device_array(N_Vector v) { return of(v).data; }
void set_array(double* data, N_Vector v) { of(v).data = data; }
sunindextype length(N_Vector v) { return static_cast<sunindextype>(of(v).length); }
sunindextype local_length(N_Vector v) { return static_cast<sunindextype>(of(v).size); }

// --- Element by element ---------------------------------------------------------------------------

void linear_sum(double a, N_Vector x, double b, N_Vector y, N_Vector z) {
  tally::waxpby(at(z), a, all(x), b, all(y), all(z));
}
void constant(double c, N_Vector z) { tally::fill(at(z), c, all(z)); }
void product(N_Vector x, N_Vector y, N_Vector z) { tally::mul(at(z), all(x), all(y), all(z)); }
void quotient(N_Vector x, N_Vector y, N_Vector z) { tally::div(at(z), all(x), all(y), all(z)); }
void scale(double c, N_Vector x, N_Vector z) { tally::scale(at(z), c, all(x), all(z)); }
void magnitude(N_Vector x, N_Vector z) { tally::abs(at(z), all(x), all(z)); }
void inverse(N_Vector x, N_Vector z) { tally::inv(at(z), all(x), all(z)); }
void add_constant(N_Vector x, double b, N_Vector z) {
  tally::add_constant(at(z), all(x), b, all(z));
}
void compare(double c, N_Vector x, N_Vector z) {
  tally::abs(at(z), all(x), all(z));
  tally::compare(at(z), all(z), tally::comparison::greater_equal, c, all(z));
}

// --- Sums and norms -------------------------------------------------------------------------------

double dot(N_Vector x, N_Vector y) {
  return reduced(x, [&](const auto&... l) { return over::dot(l..., at(x), all(x), all(y)); });
}
double l1_norm(N_Vector x) {
  return reduced(x, [&](const auto&... l) { return over::asum(l..., at(x), all(x)); });
}
double max_norm(N_Vector x) {
  return reduced(x, [&](const auto&... l) { return over::max_norm(l..., at(x), all(x)); });
}
double wl2_norm(N_Vector x, N_Vector w) {
  return reduced(
      x, [&](const auto&... l) { return over::weighted_nrm2(l..., at(x), all(x), all(w)); });
}
double wrms_norm(N_Vector x, N_Vector w) {
  return reduced(x, [&](const auto&... l) { return over::wrms_norm(l..., at(x), all(x), all(w)); });
}
double wrms_norm_mask(N_Vector x, N_Vector w, N_Vector mask) {
  return reduced(x, [&](const auto&... l) {
    return over::wrms_norm_mask(l..., at(x), all(x), all(w), all(mask));
  });
}

/// Sums of squares of this process's elements, for vectors that consist of others.
double weighted_squares(N_Vector x, N_Vector w) {
  return tally::weighted_sum_of_squares(at(x), all(x), all(w));
}
double weighted_squares_mask(N_Vector x, N_Vector w, N_Vector mask) {
  double sum = 0;
  tally::reduce_weighted(at(x), {tally::as_operand(all(x)),
                                 tally::as_operand(all(w)),
                                 tally::as_operand(all(mask)),
                                 tally::weighted_norm::squares,
                                 {&sum, tally::type::float64}});
  return sum;
}

constexpr double big = std::numeric_limits<double>::max();  // SUN_BIG_REAL

double min_of(N_Vector v, std::span<const double> x) {
  if (of(v).length == 0) return big;
  return reduced(v, [&](const auto&... l) { return (over::min)(l..., at(v), x).value; });
}
/// Whether an element is not 0, of a vector of 0 and 1.
bool any(N_Vector v, std::span<const double> x) {
  if (of(v).length == 0) return false;
  return reduced(v, [&](const auto&... l) { return (over::max)(l..., at(v), x).value; }) != 0;
}

double minimum(N_Vector x) { return min_of(x, all(x)); }

/// z_i = 1 / x_i where x_i is not 0; returns whether all are not.
int inverse_test(N_Vector x, N_Vector z) {
  const std::span<double> zeros = scratch(z, 0), inverses = scratch(z, 1);
  tally::compare(at(z), all(x), tally::comparison::equal, 0.0, zeros);
  tally::inv(at(z), all(x), inverses);
  tally::where(at(z), zeros, all(z), inverses, all(z));
  return !any(z, zeros);
}

/// m_i = 1 where x_i breaks the constraint c_i: +-2, the sign of x_i; +-1, that or 0; else 0.
/// Returns whether all hold.
int constraint_mask(N_Vector c, N_Vector x, N_Vector m) {
  using enum tally::comparison;
  const tally::executor& where = at(m);
  const std::span<double> kind = scratch(m, 0), signs = scratch(m, 1), bound = scratch(m, 2);
  tally::abs(where, all(c), kind);
  tally::mul(where, all(c), all(x), signs);
  tally::compare(where, kind, greater, 0.5, bound);
  tally::compare(where, signs, less, 0.0, all(m));
  tally::mul(where, all(m), bound, all(m));
  tally::compare(where, kind, greater, 1.5, bound);
  tally::compare(where, signs, less_equal, 0.0, signs);
  tally::mul(where, signs, bound, signs);
  tally::maximum(where, all(m), signs, all(m));
  return !any(m, all(m));
}

/// The smallest x_i / y_i with y_i not 0.
double min_quotient(N_Vector x, N_Vector y) {
  const std::span<double> quotients = scratch(x, 0), bounds = scratch(x, 1);
  tally::div(at(x), all(x), all(y), quotients);
  tally::fill(at(x), big, bounds);
  tally::where(at(x), all(y), quotients, bounds, quotients);
  return min_of(x, quotients);
}

// --- Fused operations -----------------------------------------------------------------------------

std::vector<std::span<const double>> list(int n, N_Vector* x) {
  std::vector<std::span<const double>> vectors;
  for (int i = 0; i < n; ++i) vectors.push_back(all(x[i]));
  return vectors;
}

/// z = c_0 x_0 + c_1 x_1 + ..., where x_0 may be z.
int linear_combination(int n, double* c, N_Vector* x, N_Vector z) {
  const int updated = x[0] == z;
  const std::span<const double> factors(c + updated, static_cast<std::size_t>(n - updated));
  tally::multi_axpy(at(z), factors, list(n - updated, x + updated), updated ? c[0] : 0.0, all(z));
  return 0;
}

int dot_multi(int n, N_Vector x, N_Vector* y, double* results) {
  std::vector<tally::vector_pair<double, double>> pairs;
  for (int i = 0; i < n; ++i) pairs.push_back(tally::pair_of(all(y[i]), all(x)));
  const auto sums =
      reduced(x, [&](const auto&... l) { return over::multi_dot(l..., at(x), pairs); });
  std::copy(sums.begin(), sums.end(), results);
  return 0;
}

// --- Buffers --------------------------------------------------------------------------------------

int buffer_size(N_Vector x, sunindextype* bytes) {
  *bytes = static_cast<sunindextype>(of(x).size * sizeof(double));
  return 0;
}
int pack(N_Vector x, void* to) {
  tally::copy_bytes(at(x), of(x).data, to, of(x).size * sizeof(double));
  return 0;
}
int unpack(N_Vector x, void* from) {
  tally::copy_bytes(at(x), from, of(x).data, of(x).size * sizeof(double));
  return 0;
}

N_Vector with_operations(SUNContext context, content* made) {
  N_Vector v = N_VNewEmpty(context);
  v->content = made;
  auto& o = *v->ops;
  o.nvgetvectorid = id;
  o.nvclone = clone;
  o.nvcloneempty = clone_empty;
  o.nvdestroy = destroy;
  o.nvspace = space;
  o.nvgetarraypointer = array;
  o.nvgetdevicearraypointer = device_array;
  o.nvsetarraypointer = set_array;
  o.nvgetlength = length;
  o.nvgetlocallength = local_length;
  o.nvlinearsum = linear_sum;
  o.nvconst = constant;
  o.nvprod = product;
  o.nvdiv = quotient;
  o.nvscale = scale;
  o.nvabs = magnitude;
  o.nvinv = inverse;
  o.nvaddconst = add_constant;
  o.nvdotprod = dot;
  o.nvmaxnorm = max_norm;
  o.nvwrmsnorm = wrms_norm;
  o.nvwrmsnormmask = wrms_norm_mask;
  o.nvmin = minimum;
  o.nvwl2norm = wl2_norm;
  o.nvl1norm = l1_norm;
  o.nvcompare = compare;
  o.nvinvtest = inverse_test;
  o.nvconstrmask = constraint_mask;
  o.nvminquotient = min_quotient;
  // SUNDIALS loops over the standard operations for the other fused and vector array ones.
  o.nvlinearcombination = linear_combination;
  o.nvdotprodmulti = dot_multi;
  o.nvbufsize = buffer_size;
  o.nvbufpack = pack;
  o.nvbufunpack = unpack;
  return v;
}

}  // namespace

N_Vector new_vector(std::int64_t length, SUNContext context, const tally::executor& where) {
  N_Vector v =
      with_operations(context, new content{where, static_cast<std::size_t>(length), length, {}});
  auto& o = *v->ops;
  o.nvdotprodlocal = dot;
  o.nvdotprodmultilocal = dot_multi;
  o.nvmaxnormlocal = max_norm;
  o.nvminlocal = minimum;
  o.nvl1normlocal = l1_norm;
  o.nvinvtestlocal = inverse_test;
  o.nvconstrmasklocal = constraint_mask;
  o.nvminquotientlocal = min_quotient;
  o.nvwsqrsumlocal = weighted_squares;
  o.nvwsqrsummasklocal = weighted_squares_mask;
  allocate(v);
  return v;
}

#if TALLY_EXAMPLE_HAS_MPI
N_Vector new_vector(const tally::mpi::layout& over, SUNContext context,
                    const tally::executor& where) {
  N_Vector v = with_operations(
      context, new content{where, static_cast<std::size_t>(over.size()), over.total(), {}});
  of(v).over = over;
  allocate(v);
  return v;
}
#endif

std::span<double> elements(N_Vector v) { return all(v); }
const tally::executor& executor_of(N_Vector v) { return at(v); }

}  // namespace example
