#include "companion.h"

#include <fmt/format.h>

#include "kvproof/device/error.h"

namespace kvproof::cli {

std::filesystem::path companion(const std::string& name, const std::filesystem::path& built) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path installed = here.parent_path() / "lib" / "kvproof" / name;
  const std::filesystem::path beside = (here / built).lexically_normal();
  for (const std::filesystem::path& place : {beside, installed}) {
    if (std::filesystem::exists(place)) {
      return place;
    }
  }
  throw CannotRun(fmt::format("{}: expected at {} or {}", name, installed.string(), beside.string()));
}

}  // namespace kvproof::cli
