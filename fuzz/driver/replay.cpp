// Runs a fuzz target over files, without libFuzzer: in every build, so that targets never rot.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int bad_input = 2;
constexpr int cannot_run = 3;

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return {path};
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::string(argv[1]) == "--help") {
    fmt::print(argc < 2 ? stderr : stdout, "usage: {} FILE|FOLDER...\n\nRuns the fuzz target over each file.\n", argv[0]);
    return argc < 2 ? bad_input : 0;
  }
  std::size_t ran = 0;
  for (int i = 1; i < argc; ++i) {
    if (!fs::exists(argv[i])) {
      fmt::print(stderr, "{}: {}: no such file or folder\n", argv[0], argv[i]);
      return bad_input;
    }
    for (const fs::path& path : files_of(argv[i])) {
      std::ifstream file(path, std::ios::binary);
      const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
      if (file.bad() || !file.is_open()) {
        fmt::print(stderr, "{}: {} cannot be read\n", argv[0], path.string());
        return cannot_run;
      }
      // An exact-size copy: an over-read of the target's own is seen too.
      const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++ran;
    }
  }
  if (ran == 0) {
    fmt::print(stderr, "{}: no input in the folders given\n", argv[0]);
    return cannot_run;
  }
  fmt::print("{} inputs ran\n", ran);
  return 0;
}
