// What commands print and write about results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kvproof/properties/check.h"

namespace kvproof::cli {

using Json = nlohmann::ordered_json;

// "12.3 M", "4.56 G".
std::string counted(std::int64_t count);

// "12.3 MB": powers of 1000.
std::string bytes_counted(std::int64_t bytes);

// A text as a shell takes it, quoted where it must be.
std::string shell_quoted(const std::string& argument);

// Prints the first places of a breach, indented, and how many more there are.
void print_places(const Breach& breach);

// Prints how many codes were accepted only for the dialect's declared error, and one of them; nothing if none was.
void print_explained(std::int64_t codes, int ulp, const std::string& example);

// A breach with every wrong byte.
Json breach_json(const Breach& breach);

// Writes a JSON file, or throws CannotRun.
void write_json(const std::filesystem::path& path, const Json& json);

// Throws CannotRun where write_json could not write to `path`, to be asked before hours of work; an empty one is none.
void expect_writable(const std::string& path);

// Throws CannotRun where no file could be put into `folder`, which need not be there yet; an empty one is none.
void expect_folder(const std::string& folder);

}  // namespace kvproof::cli
