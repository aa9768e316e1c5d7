// Public workspaces.
#include <tally/error.hpp>
#include <tally/workspace.hpp>

#include "backends/backends.hpp"
#include "backends/common/floating_point_environment.hpp"
#include "src/check.hpp"

#include <utility>

namespace tally {
namespace {

void check_options(const check& check, const workspace_options& options) {
  using limits = workspace_options;
  if (options.stage_bytes != 0 && (options.stage_bytes < limits::min_stage_bytes ||
                                   options.stage_bytes > limits::max_stage_bytes)) {
    check.fail(errc::invalid_argument, "stage_bytes is ", options.stage_bytes, "; it can be ",
               limits::min_stage_bytes, " to ", limits::max_stage_bytes, ", or 0");
  }
  if (options.threads < 0 || options.threads > limits::max_threads) {
    check.fail(errc::invalid_argument, "threads is ", options.threads, "; it can be 1 to ",
               limits::max_threads, ", or 0");
  }
}

}  // namespace

workspace::workspace(const tally::executor& where, const workspace_options& options)
    : where_(where) {
  const backends::default_environment environment;
  const check check{"tally::workspace"};
  check_options(check, options);
  if (where.backend() == nullptr) {
    check.fail(errc::invalid_argument, "the executor is automatic, which has no memory of its own");
  }
  staged_ = backends::make_staged(where, options);
  if (staged_ != nullptr) where_.backend_ = staged_.get();
}

// See src/buffer.cpp.
workspace::~workspace() {
  const backends::default_environment environment;
  staged_.reset();
}
workspace::workspace(workspace&& other) noexcept
    : where_(std::exchange(other.where_, automatic())), staged_(std::move(other.staged_)) {}
workspace& workspace::operator=(workspace&& other) noexcept {
  const backends::default_environment environment;
  where_ = std::exchange(other.where_, automatic());
  staged_ = std::move(other.staged_);
  return *this;
}

tally::executor workspace::executor() const noexcept { return where_; }

}  // namespace tally
