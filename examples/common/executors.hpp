// Executors by command-line name, and those for host memory.
#pragma once

#include <tally/tally.hpp>

#include <common/command_line.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace example {

/// Parses names such as openmp:8.
inline std::optional<tally::executor> parse_executor(std::string_view word) {
  const std::size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const auto number = [&](int otherwise) {
    return colon == word.npos ? otherwise : parse<int>(word.substr(colon + 1));
  };
  if (word == "serial") return tally::serial();
  if (word == "simd") return tally::simd();
  if (name == "openmp") return tally::openmp({.threads = number(0)});
  if (name == "cuda") return tally::cuda({.device = number(-1)});
  if (word == "kokkos") return tally::kokkos();
  return {};
}

/// openmp on 1, 2 and 3 threads.
inline std::vector<tally::executor> host_executors() {
  std::vector<tally::executor> all;
  for (const tally::executor& where : tally::executors()) {
    if (where.name() == "openmp") {
      for (const int threads : {1, 2, 3}) all.push_back(tally::openmp({.threads = threads}));
    } else if (where.reaches_host_memory()) {
      all.push_back(where);
    }
  }
  return all;
}

}  // namespace example
