#include <tally/operands/result.hpp>

#include "src/check.hpp"

namespace tally::detail {

void refuse_result(const char* function, std::size_t size, std::ptrdiff_t increment,
                   std::size_t needed) {
  const check check{function};
  if (size != needed) {
    check.fail(errc::size_mismatch, "result has ", size, size == 1 ? " element" : " elements",
               " and should have ", needed);
  }
  check.fail(errc::size_mismatch, "result has increment ", static_cast<std::int64_t>(increment),
             " and should have 1");
}

}  // namespace tally::detail
