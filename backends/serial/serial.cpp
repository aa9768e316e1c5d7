// What needs no kernels: host memory, the caller's functions, and the joining of nodes.
#include "backends/serial/serial.hpp"

#include "backends/common/order/node_sum.hpp"

#include <cstring>
#include <new>

namespace tally::backends::serial {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

constinit const backend instance;

std::string backend::describe(const executor&) const { return {}; }

bool backend::reaches(const executor&, const place& memory) const { return memory.host; }

void* backend::allocate(const executor&, std::size_t bytes, reach) const {
  return ::operator new(bytes, alignment);
}

void backend::deallocate(const executor&, void* memory, reach) const noexcept {
  ::operator delete(memory, alignment);
}

void backend::copy_bytes(const executor&, const void* from, void* to, std::size_t bytes) const {
  std::memmove(to, from, bytes);
}

void backend::pin(const executor&, void*, std::size_t) const {}

void backend::unpin(const executor&, void*) const {}

std::shared_ptr<const backends::backend> backend::make_staged(const executor&,
                                                              const workspace_options&) const {
  return nullptr;
}

/// The whole range is one part.
void backend::for_each_part(const executor&, const char*, std::size_t size,
                            const part_calls& calls) const {
  calls.prepare(calls.context, size > 0 ? 1 : 0);
  if (size > 0) calls.run(calls.context, 0, 0, size);
  calls.finish(calls.context);
}

void backend::join_nodes(const executor&, const join_arguments& a) const {
  with_node(a.shape.what, a.shape.accumulator, [&]<summand what, class A>() {
    using Sum = node_sum<what, A>;
    using R = real_t<A>;
    const auto* const nodes = static_cast<const Sum*>(a.nodes);
    R* to = static_cast<R*>(a.results);
    for (std::size_t f = 0; f < a.shape.fields; ++f) {
      joined_nodes<Sum> all;
      for (const join_step& step : a.steps) {
        all.take(nodes[static_cast<std::size_t>(step.node) * a.shape.fields + f], step.additions);
      }
      const complex_number<R> result =
          finish_node<what, A>(all.count > 0 ? all.held[0] : Sum{}, a.conjugated);
      *to++ = result.re;
      if (result_parts<what, A> == 2) *to++ = result.im;
    }
  });
}

}  // namespace tally::backends::serial
