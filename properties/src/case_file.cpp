#include "kvproof/properties/case_file.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "kvproof/device/error.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/properties/parse_json.h"
#include "kvproof/properties/write_file.h"
#include "kvproof/reference/dialects.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "kvproof-cases";
constexpr int format_version = 1;

std::string hex(const std::vector<std::uint8_t>& bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Json dialect_json(const std::string& name, const Dialect& d) {
  return {{"name", name},
          {"layout", name_of(d.layout)},
          {"floor", name_of(d.floor)},
          {"floor_value", fmt::format("0x{:08X}", d.floor_value)},
          {"ratio", name_of(d.ratio)},
          {"scale", name_of(d.scale)},
          {"quantise", name_of(d.quantise)},
          {"fnuz_limit", d.fnuz_limit},
          {"pad", name_of(d.pad)},
          {"invalid", name_of(d.invalid)},
          {"division", name_of(d.division)},
          {"index_width", name_of(d.index_width)},
          {"offset_width", name_of(d.offset_width)},
          {"nan", name_of(d.nan)},
          {"infinity", name_of(d.infinity)},
          {"reciprocal_ulp", d.reciprocal_ulp}};
}

Json case_json(const FiledCase& filed) {
  const StoreShape& s = filed.run.shape;
  Json indices = Json::array();
  for (const std::int64_t index : filed.run.indices) {
    indices.push_back(std::to_string(index));
  }
  Json expected = Json::array();
  for (const ExpectedRun& run : filed.expected) {
    Json entry{{"offset", run.offset}, {"what", run.what}};
    if (run.any_of.empty()) {
      entry["poison"] = run.poison_bytes;
    } else if (run.any_of.size() == 1) {
      entry["bytes"] = hex(run.any_of.front());
    } else {
      for (const auto& bytes : run.any_of) {
        entry["any_of"].push_back(hex(bytes));
      }
    }
    expected.push_back(std::move(entry));
  }
  Json result{{"id", filed.id},
              {"comment", filed.comment},
              {"flags", filed.flags},
              {"dialect", dialect_json(filed.dialect_name, filed.dialect)},
              {"call",
               {{"layout", name_of(s.layout)},
                {"fp8", name_of(s.fp8)},
                {"input_type", name_of(s.input_type)},
                {"index_type", name_of(s.index_type)},
                {"tokens", s.tokens},
                {"row_stride", s.row_stride},
                {"pages", s.pages},
                {"page_size", s.page_size},
                {"page_stride", s.page_stride},
                {"input", hex(filed.run.input)},
                {"indices", std::move(indices)}}},
              {"poison", {{"seed", fmt::format("0x{:016x}", filed.run.poison_seed)}, {"complement", false}}},
              {"expected", std::move(expected)}};
  if (!filed.found_in.empty()) {
    result["finding"] = {{"kernel", filed.found_in}, {"summary", filed.finding}};
  }
  return result;
}

// A value of the file with its path, so that every complaint names the place.
class Node {
 public:
  Node(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void complain(const std::string& expected) const {
    // Not the whole of what may be long.
    std::string shown = json_.is_structured() && !json_.empty() ? std::string(json_.is_array() ? "an array" : "an object")
                                                                : json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > 60) {
      shown = shown.substr(0, 57) + "...";
    }
    throw BadInput(fmt::format("{}: {}: expected {}", path_, shown, expected));
  }

  // An object with no member but these; `optional` ones may be absent.
  void object(std::initializer_list<std::string_view> required,
              std::initializer_list<std::string_view> optional = {}) const {
    if (!json_.is_object()) {
      complain("an object");
    }
    for (const std::string_view name : required) {
      if (!json_.contains(name)) {
        throw BadInput(fmt::format("{}: no member \"{}\"", path_, name));
      }
    }
    for (const auto& [name, value] : json_.items()) {
      const auto is = [&key = name](std::string_view known) { return known == key; };
      if (std::none_of(required.begin(), required.end(), is) && std::none_of(optional.begin(), optional.end(), is)) {
        throw BadInput(fmt::format("{}: unknown member \"{}\"", path_, name));
      }
    }
  }

  bool has(std::string_view name) const { return json_.contains(name); }
  Node at(std::string_view name) const { return {json_.at(std::string(name)), fmt::format("{}.{}", path_, name)}; }

  template <class Each>
  void each(Each take) const {
    if (!json_.is_array()) {
      complain("an array");
    }
    for (std::size_t i = 0; i < json_.size(); ++i) {
      take(Node(json_[i], fmt::format("{}[{}]", path_, i)));
    }
  }

  const std::string& text() const {
    if (!json_.is_string()) {
      complain("a string");
    }
    return json_.get_ref<const std::string&>();
  }

  std::int64_t integer(std::int64_t least, std::int64_t most) const {
    const bool fits = json_.is_number_unsigned() ? json_.get<std::uint64_t>() <=
                                                       static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                                                 : json_.is_number_integer();
    if (!fits || json_.get<std::int64_t>() < least || json_.get<std::int64_t>() > most) {
      complain(fmt::format("an integer from {} to {}", least, most));
    }
    return json_.get<std::int64_t>();
  }

  bool boolean() const {
    if (!json_.is_boolean()) {
      complain("true or false");
    }
    return json_.get<bool>();
  }

  template <class Enum>
  Enum one_of() const {
    const auto value = named<Enum>(text());
    if (!value) {
      complain(fmt::format("a {}: {}", Names<Enum>::what, names_of<Enum>()));
    }
    return *value;
  }

  // "0x" and hexadecimal digits of at most `bits` bits.
  std::uint64_t hexadecimal(int bits) const {
    const std::string& digits = text();
    std::uint64_t value = 0;
    const char* end = digits.data() + digits.size();
    if (digits.size() < 3 || digits.size() > 2 + static_cast<std::size_t>(bits) / 4 || digits.compare(0, 2, "0x") != 0) {
      complain(fmt::format("\"0x\" and 1 to {} hexadecimal digits", bits / 4));
    }
    const auto [stop, error] = std::from_chars(digits.data() + 2, end, value, 16);
    if (error != std::errc{} || stop != end) {
      complain(fmt::format("\"0x\" and 1 to {} hexadecimal digits", bits / 4));
    }
    return value;
  }

  std::int64_t decimal() const {
    const std::string& digits = text();
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (digits.empty() || error != std::errc{} || stop != end) {
      complain("a decimal integer of 64 bits in a string");
    }
    return value;
  }

  std::vector<std::uint8_t> bytes() const {
    const std::string& digits = text();
    const auto nibble = [&](char digit) -> unsigned {
      if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
      }
      if (digit >= 'a' && digit <= 'f') {
        return static_cast<unsigned>(digit - 'a' + 10);
      }
      complain("pairs of lower-case hexadecimal digits");
    };
    if (digits.size() % 2 != 0) {
      complain("pairs of lower-case hexadecimal digits");
    }
    std::vector<std::uint8_t> result(digits.size() / 2);
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<std::uint8_t>((nibble(digits[2 * i]) << 4) | nibble(digits[2 * i + 1]));
    }
    return result;
  }

  const std::string& path() const { return path_; }

 private:
  const Json& json_;
  std::string path_;
};

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

Dialect read_dialect(const Node& node, std::string& name) {
  node.object({"name", "layout", "floor", "floor_value", "ratio", "scale", "quantise", "fnuz_limit", "pad", "invalid",
               "division", "index_width", "offset_width", "nan", "infinity", "reciprocal_ulp"});
  name = node.at("name").text();
  Dialect d;
  d.layout = node.at("layout").one_of<Layout>();
  d.floor = node.at("floor").one_of<Floor>();
  d.floor_value = static_cast<F32>(node.at("floor_value").hexadecimal(32));
  d.ratio = node.at("ratio").one_of<Ratio>();
  d.scale = node.at("scale").one_of<Scale>();
  d.quantise = node.at("quantise").one_of<Quantise>();
  d.fnuz_limit = static_cast<int>(node.at("fnuz_limit").integer(224, 240));
  d.pad = node.at("pad").one_of<Pad>();
  d.invalid = node.at("invalid").one_of<InvalidIndex>();
  d.division = node.at("division").one_of<Division>();
  d.index_width = node.at("index_width").one_of<Width>();
  d.offset_width = node.at("offset_width").one_of<Width>();
  d.nan = node.at("nan").one_of<NanCode>();
  d.infinity = node.at("infinity").one_of<Infinity>();
  d.reciprocal_ulp = static_cast<int>(node.at("reciprocal_ulp").integer(0, 4));
  if (const auto contradiction = dialect_contradiction(d)) {
    throw BadInput(fmt::format("{}: {}", node.path(), *contradiction));
  }
  if (name != "custom") {
    const NamedDialect* known = find_dialect(name, d.layout);
    if (known == nullptr) {
      node.at("name").complain(fmt::format("custom or a dialect of layout {}: {}", name_of(d.layout), dialect_names()));
    }
    if (known->dialect != d) {
      throw BadInput(
          fmt::format("{}: the fields are not those of dialect {}, expected them or the name custom", node.path(), name));
    }
  }
  return d;
}

Case read_call(const Node& node) {
  node.object({"layout", "fp8", "input_type", "index_type", "tokens", "row_stride", "pages", "page_size", "page_stride",
               "input", "indices"});
  Case c;
  c.shape.layout = node.at("layout").one_of<Layout>();
  c.shape.fp8 = node.at("fp8").one_of<Fp8>();
  c.shape.input_type = node.at("input_type").one_of<ElementType>();
  c.shape.index_type = node.at("index_type").one_of<IndexType>();
  c.shape.tokens = node.at("tokens").integer(0, any);
  c.shape.row_stride = node.at("row_stride").integer(0, any);
  c.shape.pages = node.at("pages").integer(0, any);
  c.shape.page_size = node.at("page_size").integer(0, any);
  c.shape.page_stride = node.at("page_stride").integer(0, any);
  c.input = node.at("input").bytes();
  node.at("indices").each([&](const Node& index) { c.indices.push_back(index.decimal()); });
  return c;
}

// A pool that a case file may describe: what `replay` has to allocate.
constexpr std::int64_t largest_filed_pool = std::int64_t{1} << 34;

std::vector<ExpectedRun> read_expected(const Node& node, std::int64_t pool_bytes) {
  std::vector<ExpectedRun> runs;
  std::int64_t at = 0;
  node.each([&](const Node& entry) {
    entry.object({"offset", "what"}, {"bytes", "any_of", "poison"});
    ExpectedRun run;
    run.offset = entry.at("offset").integer(0, any);
    run.what = entry.at("what").text();
    const int kinds = (entry.has("bytes") ? 1 : 0) + (entry.has("any_of") ? 1 : 0) + (entry.has("poison") ? 1 : 0);
    if (kinds != 1) {
      throw BadInput(fmt::format("{}: {} of bytes, any_of and poison, expected exactly one", entry.path(), kinds));
    }
    if (entry.has("bytes")) {
      run.any_of.push_back(entry.at("bytes").bytes());
    } else if (entry.has("any_of")) {
      entry.at("any_of").each([&](const Node& bytes) {
        run.any_of.push_back(bytes.bytes());
        if (run.any_of.back().size() != run.any_of.front().size()) {
          bytes.complain(fmt::format("{} bytes, as many as its first string", run.any_of.front().size()));
        }
      });
      if (run.any_of.empty()) {
        entry.at("any_of").complain("at least one string");
      }
    } else {
      run.poison_bytes = entry.at("poison").integer(1, any);
    }
    if (run.offset != at) {
      throw BadInput(fmt::format("{}: offset {}, expected {}: runs follow each other without gap or overlap", entry.path(),
                                 run.offset, at));
    }
    if (run.size() < 1 || run.size() > pool_bytes - at) {
      throw BadInput(fmt::format("{}: {} bytes at offset {}, expected 1 to {}: the pool has {}", entry.path(), run.size(),
                                 at, pool_bytes - at, pool_bytes));
    }
    at += run.size();
    runs.push_back(std::move(run));
  });
  if (at != pool_bytes) {
    throw BadInput(fmt::format("{}: {} bytes in all, expected {} (pages * page_stride)", node.path(), at, pool_bytes));
  }
  return runs;
}

FiledCase read_case(const Node& node) {
  node.object({"id", "comment", "flags", "dialect", "call", "poison", "expected"}, {"finding"});
  FiledCase filed;
  filed.id = node.at("id").text();
  filed.comment = node.at("comment").text();
  node.at("flags").each([&](const Node& flag) { filed.flags.push_back(flag.text()); });
  filed.dialect = read_dialect(node.at("dialect"), filed.dialect_name);
  filed.run = read_call(node.at("call"));
  const Node poison = node.at("poison");
  poison.object({"seed", "complement"});
  filed.run.poison_seed = poison.at("seed").hexadecimal(64);
  if (poison.at("complement").boolean()) {
    poison.at("complement").complain("false: a run under the complementary poison follows from it");
  }
  if (const auto contradiction = case_contradiction(filed.run, filed.dialect)) {
    throw BadInput(fmt::format("{}.call: {}", node.path(), *contradiction));
  }
  if (filed.run.shape.pool_bytes() > largest_filed_pool) {
    throw BadInput(fmt::format("{}.call: a pool of {} bytes, expected at most {}", node.path(), filed.run.shape.pool_bytes(),
                               largest_filed_pool));
  }
  filed.expected = read_expected(node.at("expected"), filed.run.shape.pool_bytes());
  if (node.has("finding")) {
    const Node finding = node.at("finding");
    finding.object({"kernel", "summary"});
    filed.found_in = finding.at("kernel").text();
    filed.finding = finding.at("summary").text();
  }
  return filed;
}

}  // namespace

std::string write_cases(const CaseFile& file) {
  Json cases = Json::array();
  for (const FiledCase& filed : file.cases) {
    cases.push_back(case_json(filed));
  }
  const Json json{{"format", format_name},
                  {"version", format_version},
                  {"generator", "kvproof " KVPROOF_VERSION},
                  {"flags", file.flags},
                  {"cases", std::move(cases)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

CaseFile parse_cases(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  const Node top(json, name);
  top.object({"format", "version", "generator", "flags", "cases"});
  if (top.at("format").text() != format_name) {
    top.at("format").complain(fmt::format("\"{}\"", format_name));
  }
  top.at("version").integer(format_version, format_version);
  top.at("generator").text();
  CaseFile file;
  if (!json["flags"].is_object()) {
    top.at("flags").complain("an object");
  }
  for (const auto& [flag, prose] : json["flags"].items()) {
    file.flags[flag] = top.at("flags").at(flag).text();
  }
  std::set<std::string> ids;
  top.at("cases").each([&](const Node& node) {
    file.cases.push_back(read_case(node));
    const FiledCase& filed = file.cases.back();
    if (!ids.insert(filed.id).second) {
      node.at("id").complain("an id that no other case of the file has");
    }
    for (const std::string& flag : filed.flags) {
      if (!file.flags.contains(flag)) {
        node.at("flags").complain(fmt::format("flags that the file explains, not {}", flag));
      }
    }
  });
  if (file.cases.empty()) {
    top.at("cases").complain("at least one case");
  }
  return file;
}

CaseFile read_cases(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw BadInput(fmt::format("{}: a folder, expected a case file", path.string()));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw BadInput(fmt::format("{}: no such file, expected a case file", path.string()));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return parse_cases(text.str(), path.string());
}

void save_cases(const std::filesystem::path& path, const CaseFile& file) { write_file_and_folder(path, write_cases(file)); }

}  // namespace kvproof
