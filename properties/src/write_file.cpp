#include "kvproof/properties/write_file.h"

#include <fmt/format.h>

#include <fstream>

#include "kvproof/device/error.h"

namespace kvproof {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) {
    throw CannotRun(fmt::format("{}: cannot be written", path.string()));
  }
}

void write_file_and_folder(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code error;  // where there is no folder, the file is not written either
  std::filesystem::create_directories(path.parent_path(), error);
  write_file(path, bytes);
}

}  // namespace kvproof
