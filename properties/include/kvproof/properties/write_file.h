// Bytes to a file.
#pragma once

#include <filesystem>
#include <string_view>

namespace kvproof {

// Writes the file, in a folder that is there. Throws CannotRun.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// The same, and makes the folder where there is none.
void write_file_and_folder(const std::filesystem::path& path, std::string_view bytes);

}  // namespace kvproof
