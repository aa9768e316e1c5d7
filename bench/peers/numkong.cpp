// NumKong, on the loader's path or in the folder NUMKONG_ROOT: dot products of short types, on one
// thread.
#include "bench/peers/library.hpp"
#include "bench/peers/peers.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace bench::peers {
namespace {

const library& find_numkong() {
  static const library l = [] {
    const char* const root = std::getenv("NUMKONG_ROOT");
    return library{(root != nullptr ? std::string(root) + "/lib/" : "") + "libnumkong.so"};
  }();
  return l;
}

/// Null unless NumKong sums in more digits.
template <class X>
constexpr const char* function_of = std::is_same_v<X, tally::float16>    ? "nk_dot_f16"
                                    : std::is_same_v<X, tally::bfloat16> ? "nk_dot_bf16"
                                    : std::is_same_v<X, std::int8_t>     ? "nk_dot_i8"
                                                                         : nullptr;

}  // namespace

contenders numkong(const workload& w) {
  contenders list;
  const library& l = find_numkong();
  if (!l) return list;
  visit(w, [&]<class X, class Y, class A>(std::span<const X> x, std::span<const Y> y,
                                          std::type_identity<A>) {
    if constexpr (std::is_same_v<X, Y> && function_of<X> != nullptr) {
      using result = std::conditional_t<std::is_integral_v<X>, std::int32_t, float>;
      using dot = void(const X*, const Y*, std::size_t, result*);
      list.push_back(on_host("NumKong", "", w, [x, y, f = l.function<dot>(function_of<X>)] {
        result r;
        f(x.data(), y.data(), x.size(), &r);
        return static_cast<A>(r);
      }));
    }
  });
  return sequential(std::move(list));
}

}  // namespace bench::peers
