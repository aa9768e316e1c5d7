#include "bindings/blas/gemv.hpp"

#include <cctype>
#include <cstdint>
#include <string>

// Error routines of netlib's BLAS, of any other, and of the program, which may replace them.
extern "C" {
[[gnu::weak]] void xerbla_(const char* name, const void* argument, std::size_t length);
[[gnu::weak]] void xerbla_64_(const char* name, const void* argument, std::size_t length);
[[gnu::weak]] void cblas_xerbla(int argument, const char* name, const char* format, ...);
[[gnu::weak]] extern int RowMajorStrg;  // netlib's, which tells its cblas_xerbla to swap m and n
}

namespace tally::blas {
namespace {

[[noreturn]] void stop_at(const std::string& name, int argument) {
  stop(name.c_str(), ("argument " + std::to_string(argument) + " is invalid").c_str());
}

}  // namespace

void report_fortran(char type, int argument) noexcept {
  const std::string name = {static_cast<char>(std::toupper(type)), 'G', 'E', 'M', 'V', ' '};
  const std::int64_t number = argument;  // on little-endian machines also one of 32 bits
  if (xerbla_ != nullptr) return xerbla_(name.data(), &number, name.size());
  if (xerbla_64_ != nullptr) return xerbla_64_(name.data(), &number, name.size());
  stop_at(name.substr(0, 5), argument);
}

void report_c(char type, int argument, bool by_rows) noexcept {
  const std::string name = std::string("cblas_") + type + "gemv";
  const bool is_size = argument == 3 || argument == 4;
  const int as_given = by_rows && is_size ? 7 - argument : argument;
  if (cblas_xerbla == nullptr) stop_at(name, as_given);
  if (&RowMajorStrg == nullptr) return cblas_xerbla(as_given, name.c_str(), "");
  RowMajorStrg = by_rows;
  cblas_xerbla(argument, name.c_str(), "");
  RowMajorStrg = 0;
}

}  // namespace tally::blas
