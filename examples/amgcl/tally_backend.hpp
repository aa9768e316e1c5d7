// A backend for AMGCL: vectors and matrices in an executor's memory, each operation one call of
// Tally. Solvers on it have the same bits on every executor.
//
// Smoothers of these operations run on it: spai0, damped_jacobi, chebyshev. Those that traverse
// rows in sequence (Gauss-Seidel, ILU) need AMGCL's own backend.
#pragma once

#include <tally/tally.hpp>

#include <amgcl/backend/builtin.hpp>
#include <amgcl/solver/skyline_lu.hpp>
#include <amgcl/value_type/complex.hpp>
#include <common/placed.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace example {

/// AMGCL's vector.
template <class Value>
using amgcl_vector = placed<Value>;

/// AMGCL's matrix, with a plan for its products.
template <class Value>
class amgcl_matrix {
 public:
  using value_type = Value;
  using host_matrix = typename amgcl::backend::builtin<Value>::matrix;
  using index = typename host_matrix::col_type;

  amgcl_matrix(const tally::executor& where, std::shared_ptr<const host_matrix> host)
      : host_(std::move(host)),
        offsets_(where, {host_->ptr, host_->nrows + 1}),
        columns_(where, {host_->col, host_->nnz}),
        values_(where, {host_->val, host_->nnz}),
        view_{host_->nrows, host_->ncols, *offsets_, *columns_, *values_},
        plan_(where, view_) {}

  std::size_t rows() const { return view_.rows; }
  std::size_t cols() const { return view_.columns; }
  std::size_t nonzeros() const { return view_.values.size(); }

  const tally::csr_view<Value, index, index>& view() const { return view_; }
  const tally::spmv_plan& plan() const { return plan_; }

 private:
  std::shared_ptr<const host_matrix> host_;
  readable<index> offsets_;
  readable<index> columns_;
  readable<Value> values_;
  tally::csr_view<Value, index, index> view_;
  tally::spmv_plan plan_;
};

/// The coarsest level's solver, AMGCL's own, on the host.
template <class Value>
class amgcl_direct_solver : public amgcl::solver::skyline_lu<Value> {
  using host_solver = amgcl::solver::skyline_lu<Value>;

 public:
  using host_solver::host_solver;

  void operator()(const amgcl_vector<Value>& rhs, amgcl_vector<Value>& x) const {
    std::vector<Value> solution(x.size());
    host_solver::operator()(rhs.on_host(), solution);
    x.assign(solution);
  }
};

/// `Backend` of AMGCL's templates.
template <class Value>
struct tally_backend {
  using host = amgcl::backend::builtin<Value>;
  using value_type = Value;
  using index_type = typename host::index_type;
  using col_type = typename host::col_type;
  using ptr_type = typename host::ptr_type;
  using matrix = amgcl_matrix<Value>;
  using vector = amgcl_vector<Value>;
  using matrix_diagonal = vector;
  using direct_solver = amgcl_direct_solver<Value>;
  using provides_row_iterator = std::false_type;

  struct params {
    tally::executor where = tally::automatic();
  };

  static std::string name() { return "tally"; }

  static std::shared_ptr<matrix> copy_matrix(std::shared_ptr<typename host::matrix> a,
                                             const params& chosen) {
    return std::make_shared<matrix>(chosen.where, std::move(a));
  }
  static std::shared_ptr<vector> copy_vector(const typename host::vector& x, const params& chosen) {
    return std::make_shared<vector>(chosen.where,
                                    std::vector<Value>(x.data(), x.data() + x.size()));
  }
  static std::shared_ptr<vector> copy_vector(std::shared_ptr<typename host::vector> x,
                                             const params& chosen) {
    return copy_vector(*x, chosen);
  }
  static std::shared_ptr<vector> create_vector(std::size_t n, const params& chosen) {
    return std::make_shared<vector>(chosen.where, n);
  }
  static std::shared_ptr<direct_solver> create_solver(std::shared_ptr<typename host::matrix> a,
                                                      const params&) {
    return std::make_shared<direct_solver>(*a);
  }
};

}  // namespace example

namespace amgcl::backend {

template <class Alpha, class Value, class Beta>
struct spmv_impl<Alpha, example::amgcl_matrix<Value>, example::amgcl_vector<Value>, Beta,
                 example::amgcl_vector<Value>> {
  static void apply(Alpha alpha, const example::amgcl_matrix<Value>& a,
                    const example::amgcl_vector<Value>& x, Beta beta,
                    example::amgcl_vector<Value>& y) {
    tally::spmv(y.where(), a.plan(), alpha, a.view(), x, beta, y);
  }
};

template <class Value>
struct residual_impl<example::amgcl_matrix<Value>, example::amgcl_vector<Value>,
                     example::amgcl_vector<Value>, example::amgcl_vector<Value>> {
  static void apply(const example::amgcl_vector<Value>& rhs, const example::amgcl_matrix<Value>& a,
                    const example::amgcl_vector<Value>& x, example::amgcl_vector<Value>& r) {
    tally::spmv(r.where(), a.plan(), -1, a.view(), x, 1, rhs, r);
  }
};

template <class Value>
struct clear_impl<example::amgcl_vector<Value>> {
  static void apply(example::amgcl_vector<Value>& x) { tally::fill(x.where(), 0, x); }
};

template <class Value>
struct copy_impl<example::amgcl_vector<Value>, example::amgcl_vector<Value>> {
  static void apply(const example::amgcl_vector<Value>& x, example::amgcl_vector<Value>& y) {
    tally::copy(y.where(), x, y);
  }
};

template <class Value>
struct inner_product_impl<example::amgcl_vector<Value>, example::amgcl_vector<Value>> {
  static Value get(const example::amgcl_vector<Value>& x, const example::amgcl_vector<Value>& y) {
    return tally::dot(x.where(), y, x, tally::conjugate::x);  // AMGCL conjugates the second
  }
};

template <class Alpha, class Value, class Beta>
struct axpby_impl<Alpha, example::amgcl_vector<Value>, Beta, example::amgcl_vector<Value>> {
  static void apply(Alpha alpha, const example::amgcl_vector<Value>& x, Beta beta,
                    example::amgcl_vector<Value>& y) {
    tally::axpby(y.where(), alpha, x, beta, y);
  }
};

template <class Alpha, class Value, class Beta, class Gamma>
struct axpbypcz_impl<Alpha, example::amgcl_vector<Value>, Beta, example::amgcl_vector<Value>, Gamma,
                     example::amgcl_vector<Value>> {
  static void apply(Alpha alpha, const example::amgcl_vector<Value>& x, Beta beta,
                    const example::amgcl_vector<Value>& y, Gamma gamma,
                    example::amgcl_vector<Value>& z) {
    tally::axpbypcz(z.where(), alpha, x, beta, y, gamma, z);
  }
};

template <class Alpha, class Value, class Beta>
struct vmul_impl<Alpha, example::amgcl_vector<Value>, example::amgcl_vector<Value>, Beta,
                 example::amgcl_vector<Value>> {
  static void apply(Alpha alpha, const example::amgcl_vector<Value>& x,
                    const example::amgcl_vector<Value>& y, Beta beta,
                    example::amgcl_vector<Value>& z) {
    tally::axypbz(z.where(), alpha, x, y, beta, z);
  }
};

}  // namespace amgcl::backend
