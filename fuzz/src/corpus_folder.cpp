#include "kvproof/fuzz/corpus_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "kvproof/device/error.h"
#include "kvproof/fuzz/call_format.h"
#include "kvproof/properties/fnv1a.h"
#include "kvproof/properties/write_file.h"

namespace kvproof::fuzz {
namespace {

namespace fs = std::filesystem;

FuzzCall read_call(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes(most_call_bytes);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.is_open() || file.bad()) {
    throw CannotRun(fmt::format("{}: cannot be read", path.string()));
  }
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return decoded_call(bytes);
}

}  // namespace

std::vector<FuzzCall> read_corpus(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    return {};
  }
  if (!fs::is_directory(folder, error)) {
    throw BadInput(fmt::format("{}: a file, expected a folder", folder.string()));
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    // New calls are written here too: not into a folder of something else.
    if (!entry.is_regular_file(error) || entry.file_size(error) > most_call_bytes) {
      throw BadInput(fmt::format("{}: expected calls alone in {}, files of at most {} bytes", entry.path().string(),
                                 folder.string(), most_call_bytes));
    }
    files.push_back(entry.path());
  }
  if (error) {
    throw CannotRun(fmt::format("{}: {}", folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  std::vector<FuzzCall> calls;
  for (const fs::path& path : files) {
    calls.push_back(read_call(path));
  }
  return calls;
}

std::size_t write_corpus(const fs::path& folder, const std::vector<FuzzCall>& calls) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw CannotRun(fmt::format("{}: {}", folder.string(), error.message()));
  }
  std::size_t written = 0;
  for (const FuzzCall& call : calls) {
    const std::vector<std::uint8_t> bytes = encoded_call(call);
    const fs::path path = folder / fmt::format("{:016x}", fnv1a(bytes));
    if (fs::exists(path, error)) {
      continue;
    }
    write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    ++written;
  }
  return written;
}

}  // namespace kvproof::fuzz
