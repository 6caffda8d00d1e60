// JSON that others wrote, of whatever it may hold.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kvproof {

// Throws BadInput that names `name` where `text` is no JSON, or nested deeper than any file of ours: the library copies
// values by recursion, and would run out of stack.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& name);

}  // namespace kvproof
