// Parts of a host executor's work, as calls of function objects.
#pragma once

#include "backends/backends.hpp"

#include <cstddef>
#include <utility>

namespace tally {

/// Calls prepare(parts), then f(part, first, n) for the parts of a range, on the executor's
/// threads. f must not throw.
template <class Prepare, class F>
void for_each_part(const executor& host, const char* function, std::size_t size,
                   const Prepare& prepare, const F& f) {
  const std::pair<const Prepare&, const F&> both(prepare, f);
  using pair = decltype(both);
  const part_calls calls{
      const_cast<void*>(static_cast<const void*>(&both)),
      [](void* context, std::size_t part, std::size_t first, std::size_t n) {
        static_cast<pair*>(context)->second(part, first, n);
      },
      [](void* context, std::size_t parts) { static_cast<pair*>(context)->first(parts); }};
  backends::for_each_part(host, function, size, calls);
}

template <class F>
void for_each_part(const executor& host, const char* function, std::size_t size, const F& f) {
  for_each_part(host, function, size, [](std::size_t) {}, f);
}

}  // namespace tally
