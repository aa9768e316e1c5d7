#include "bench/results.hpp"

#include <stdexcept>

namespace bench {

results::results(const std::string& path) : file_(path) {
  if (!file_) throw std::runtime_error("can't write " + path);
  SetOutputStream(&file_);
}

results::~results() {
  if (begun_) JSONReporter::Finalize();
}

bool results::ReportContext(const Context& context) {
  if (begun_) return true;
  begun_ = true;
  return JSONReporter::ReportContext(context);
}

void results::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> kept;
  for (const Run& run : runs) {
    if (run.aggregate_name != "median" && run.aggregate_name != "min") continue;
    if (run.aggregate_name == "median") {
      medians_[run.run_name.function_name] =
          run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
    }
    kept.push_back(run);
  }
  JSONReporter::ReportRuns(kept);
  file_.flush();  // keeps measurements whatever happens next
}

}  // namespace bench
