// A corpus as a folder: one call a file, named after its bytes. libFuzzer's targets take the same files.
#pragma once

#include <filesystem>
#include <vector>

#include "kvproof/fuzz/fuzz_call.h"

namespace kvproof::fuzz {

// The calls of all files, in order of their names; a folder that is not there has none. Throws CannotRun when one cannot be
// read, BadInput when `folder` is a file or holds what is no call.
std::vector<FuzzCall> read_corpus(const std::filesystem::path& folder);

// Writes those that have no file yet, and the folder where there is none; returns how many it wrote. Throws CannotRun.
std::size_t write_corpus(const std::filesystem::path& folder, const std::vector<FuzzCall>& calls);

}  // namespace kvproof::fuzz
