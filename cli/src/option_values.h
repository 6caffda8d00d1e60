// Values of options that several commands take.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace kvproof::cli {

// More than 0 and at most a million. CLI11's own check tells a range of 300 digits.
CLI::Validator positive_number();

// A duration in seconds, or with ms, s, m or h.
CLI::Validator duration();

// --seed as given, or a fresh one where it is empty. Throws BadInput.
std::uint64_t seed_of(const std::string& text);

}  // namespace kvproof::cli
