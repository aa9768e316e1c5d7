// The file of results: Google Benchmark's JSON of all runs, one after another.
#pragma once

#include <benchmark/benchmark.h>

#include <fstream>
#include <map>
#include <string>

namespace bench {

/// Each call of RunSpecifiedBenchmarks reports here as if it were the only one; the file has one
/// head and one end. Of the repetitions it keeps median and minimum.
class results : public benchmark::JSONReporter {
 public:
  explicit results(const std::string& path);
  ~results() override;

  /// Seconds a call, by the names of this and all earlier runs.
  const std::map<std::string, double>& medians() const { return medians_; }

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override {}

 private:
  std::ofstream file_;
  bool begun_ = false;
  std::map<std::string, double> medians_;
};

}  // namespace bench
