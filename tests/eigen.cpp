// Eigen's vectors, maps, rows, columns and segments are operands; matrices and expressions are not.
#include <tally/tally.hpp>

#include <Eigen/Core>

#include <complex>
#include <cstdio>
#include <vector>

namespace {

int failed = 0;

void expect(bool condition, const char* text) {
  if (condition) return;
  ++failed;
  std::printf("not so: %s\n", text);
}
#define EXPECT(condition) expect(condition, #condition)

template <class V>
auto copied(const V& v) {
  std::vector<typename V::Scalar> all;
  for (Eigen::Index i = 0; i < v.size(); ++i) all.push_back(v(i));
  return all;
}
template <class V>
bool is_operand(const V& v) {
  return tally::sum(v) == tally::sum(copied(v));
}

using matrix = Eigen::MatrixXd;
static_assert(!tally::vector_operand<matrix>);
static_assert(!tally::vector_operand<decltype(matrix().block(0, 0, 1, 1))>);
static_assert(!tally::vector_operand<decltype(Eigen::VectorXd() + Eigen::VectorXd())>);
static_assert(!tally::vector_operand<decltype(Eigen::VectorXd().reverse())>);
static_assert(tally::vector_output<Eigen::VectorXd&>);
static_assert(tally::vector_output<Eigen::Map<Eigen::VectorXd>>);
static_assert(!tally::vector_output<Eigen::Map<const Eigen::VectorXd>>);
static_assert(!tally::vector_output<const Eigen::VectorXd&>);

}  // namespace

int main() {
  Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(1000, 0, 1);
  matrix m = matrix::Random(40, 30);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_rows = m;
  EXPECT(is_operand(x));
  EXPECT(is_operand(Eigen::Vector3d(1, 2, 3)));
  EXPECT(is_operand(Eigen::RowVectorXf(Eigen::RowVectorXf::Ones(10))));
  EXPECT(is_operand(Eigen::ArrayXf(Eigen::ArrayXf::Ones(10))));
  EXPECT(is_operand(Eigen::VectorXcd(Eigen::VectorXcd::Ones(5))));
  EXPECT(is_operand(m.col(3)) && is_operand(m.row(3)));
  EXPECT(is_operand(by_rows.col(3)) && is_operand(by_rows.row(3)));
  EXPECT(is_operand(m.diagonal()));
  EXPECT(is_operand(x.head(10)) && is_operand(x.segment(3, 50)) && is_operand(m.col(2).tail(4)));

  std::vector<double> plain = copied(x);
  const std::vector<double> constant = plain;
  EXPECT(is_operand(Eigen::Map<Eigen::VectorXd>(plain.data(), 1000)));
  EXPECT(is_operand(Eigen::Map<const Eigen::VectorXd>(constant.data(), 1000)));
  Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<2>> second(plain.data(), 500);
  Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>> third(plain.data(), 300,
                                                             Eigen::InnerStride<>(3));
  EXPECT(is_operand(second) && is_operand(third));
  EXPECT(tally::dot(second, second) == tally::dot(copied(second), copied(second)));

  Eigen::VectorXd y = Eigen::VectorXd::Ones(500);
  tally::axpy(2.0, y, second);
  EXPECT(plain[2] == constant[2] + 2 && plain[3] == constant[3]);
  tally::fill(0.5, m.row(1));
  EXPECT(m(1, 0) == 0.5 && m(1, 29) == 0.5 && m(0, 29) != 0.5);
  tally::transform(y, y, [](double v) { return v + 1; });
  EXPECT(y[499] == 2);
  std::printf("%d failed\n", failed);
  return failed != 0;
}
