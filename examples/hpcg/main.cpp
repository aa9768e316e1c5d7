// HPCG (https://github.com/hpcg-benchmark/hpcg) on Tally: runs the benchmark with the three
// functions of kernels.cpp, on each executor that reaches host memory, for openmp on 1, 2 and 3
// threads. Smoother and grid transfers are HPCG's own; its matrix is used in place.
//
// Each line has HPCG's verdict, VALID or not, and a hash of the bits of the run's products, updates
// and sums. Fails where a run is invalid or hashes differ.
//
// Build with HPCG's sources, without MPI and HPCG's OpenMP:
//
//   git clone https://github.com/hpcg-benchmark/hpcg
//   cmake -S . -B build/hpcg -DTALLY_HPCG_SOURCE=$PWD/hpcg
//   cmake --build build/hpcg --target tally_hpcg
//   build/hpcg/examples/hpcg/hpcg --nx=32
#include "kernels.hpp"

#include <common/executors.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

int hpcg_main(int argc, char** argv);  // HPCG's main, renamed

namespace {

namespace fs = std::filesystem;

/// Whether HPCG reports a valid result.
bool is_valid(const fs::path& folder) {
  for (const fs::path& file : fs::directory_iterator(folder)) {
    std::ifstream report(file);
    for (std::string line; std::getline(report, line);) {
      if (line.find("HPCG result is VALID") != line.npos) return true;
    }
  }
  return false;
}

/// A temporary folder, removed at the end.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = fs::temp_directory_path() / "hpcg.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made");
    path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> words(argv, argv + argc);
  if (words.size() == 1) words.push_back("--nx=16");
  words.push_back("--rt=0");  // one solution: longer runs repeat it
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::optional<std::uint64_t> hash;
  bool agree = true;
  for (const tally::executor& where : example::host_executors()) {
    const scratch_folder folder;
    fs::current_path(folder.path());
    example::begin_run(where);
    const int status = hpcg_main(static_cast<int>(words.size()), arguments.data());
    const std::uint64_t here = example::end_run();
    const bool valid = status == 0 && is_valid(folder.path());
    fs::current_path(fs::temp_directory_path());
    std::printf("%-36s %-9s %016llx\n", where.description().c_str(), valid ? "VALID" : "NOT VALID",
                static_cast<unsigned long long>(here));
    agree = agree && valid && here == hash.value_or(here);
    hash = hash.value_or(here);
  }
  std::puts(agree ? "All runs are valid and have equal bits." : "Runs DIFFER or are not valid.");
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
} catch (const std::exception& e) {
  std::fprintf(stderr, "hpcg: %s\n", e.what());
  return EXIT_FAILURE;
}
