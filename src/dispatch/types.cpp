#include <tally/types.hpp>

#include <array>

namespace tally {
namespace {

constexpr std::array<std::string_view, type_count> names = {
    "bool",     "int8",    "uint8",   "int32",     "int64",     "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128"};

template <class... T>
constexpr std::array<std::size_t, sizeof...(T)> sizes(type_list<T...>) {
  return {sizeof(T)...};
}

}  // namespace

std::string_view name(type element) noexcept { return names[static_cast<std::size_t>(element)]; }

std::size_t size_of(type element) noexcept {
  static constexpr auto table = sizes(element_types{});
  return table[static_cast<std::size_t>(element)];
}

}  // namespace tally
