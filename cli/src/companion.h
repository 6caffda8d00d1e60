// Files that belong to the program and are loaded by single commands only.
#pragma once

#include <filesystem>
#include <string>

namespace kvproof::cli {

// Where `name` is: in lib/kvproof beside the program's folder, as it is installed, or at `built` from that folder, as it is
// built. Throws CannotRun with both places when it is at neither.
std::filesystem::path companion(const std::string& name, const std::filesystem::path& built);

}  // namespace kvproof::cli
