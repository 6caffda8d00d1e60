#include "kvproof/properties/parse_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

constexpr int deepest = 32;  // case files go 6 deep

// In a text that is no JSON this may count amiss, but not before the byte at which the parser gives up.
void refuse_deep_nesting(const std::string& text, const std::string& name) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    depth += c == '[' || c == '{' ? 1 : (c == ']' || c == '}' ? -1 : 0);
    if (depth > deepest) {
      throw BadInput(fmt::format("{}: byte {}: nested {} deep, expected at most {}", name, i + 1, depth, deepest));
    }
  }
}

}  // namespace

nlohmann::ordered_json parse_json(const std::string& text, const std::string& name) {
  refuse_deep_nesting(text, name);
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    throw BadInput(fmt::format("{}: not JSON: byte {}", name, error.byte));
  } catch (const nlohmann::ordered_json::out_of_range&) {
    throw BadInput(fmt::format("{}: a number in it is beyond every double", name));
  }
}

}  // namespace kvproof
