// Kinds of option values that several commands take.
#pragma once

#include <CLI/CLI.hpp>

namespace kvproof::cli {

// Seconds, or a number with ms, s, m or h.
CLI::AsNumberWithUnit duration();

}  // namespace kvproof::cli
