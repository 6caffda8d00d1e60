// Case files come back as they were written, and whatever is wrong with one is named.
#include "kvproof/properties/case_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kvproof/device/error.h"
#include "kvproof/properties/vectors.h"
#include "kvproof/reference/dialects.h"

namespace kvproof {
namespace {

using Json = nlohmann::ordered_json;

CaseFile strict_vectors() { return make_vectors(*find_dialect("strict", Layout::flashmla)); }

TEST(CaseFile, EveryVectorSurvivesTheRoundTrip) {
  std::size_t cases = 0;
  for (const NamedDialect& entry : dialects()) {
    const CaseFile file = make_vectors(entry);
    const CaseFile again = parse_cases(write_cases(file), "again");
    ASSERT_EQ(again.cases.size(), file.cases.size());
    EXPECT_EQ(again.flags, file.flags);
    for (std::size_t i = 0; i < file.cases.size(); ++i, ++cases) {
      EXPECT_EQ(again.cases[i].run, file.cases[i].run);
      EXPECT_EQ(again.cases[i].dialect, file.cases[i].dialect);
      EXPECT_EQ(again.cases[i].expected, file.cases[i].expected);
      EXPECT_EQ(again.cases[i].id, file.cases[i].id);
      confirm_with_model(again.cases[i]);
    }
  }
  EXPECT_GT(cases, 300U);
}

TEST(CaseFile, ExtremeIndicesAreKeptExactly) {
  CaseFile file = strict_vectors();
  file.cases.resize(1);
  FiledCase& filed = file.cases.front();
  filed.run.indices[0] = INT64_MIN;
  filed.expected = expected_runs(filed.run, filed.dialect);
  EXPECT_EQ(parse_cases(write_cases(file), "x").cases.front().run.indices[0], INT64_MIN);
}

// What is said about a text; nothing where it is taken.
std::string complaint_of(const std::string& text, const std::string& name) {
  try {
    parse_cases(text, name);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

// Each change to a good file, and the words that must be in the complaint.
struct Malformed {
  const char* name;
  void (*change)(Json&);
  const char* complaint;
};

class MalformedFile : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedFile, IsNamedInOneLine) {
  CaseFile file = strict_vectors();
  file.cases.resize(2);
  Json json = Json::parse(write_cases(file));
  GetParam().change(json);
  const std::string text = complaint_of(json.dump(), "bad.json");
  EXPECT_EQ(text.find("bad.json"), 0U) << text;
  EXPECT_NE(text.find(GetParam().complaint), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  EXPECT_LT(text.size(), 500U) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Each, MalformedFile,
    ::testing::Values(
        Malformed{"format", [](Json& j) { j["format"] = "other"; }, ".format: \"other\": expected \"kvproof-cases\""},
        Malformed{"version", [](Json& j) { j["version"] = 2; }, ".version: 2: expected an integer from 1 to 1"},
        Malformed{"no_cases", [](Json& j) { j["cases"] = Json::array(); }, ".cases: []: expected at least one case"},
        Malformed{"cases_type", [](Json& j) { j["cases"] = 7; }, ".cases: 7: expected an array"},
        Malformed{"unknown_member", [](Json& j) { j["cases"][0]["colour"] = 1; }, ".cases[0]: unknown member \"colour\""},
        Malformed{"missing_member", [](Json& j) { j["cases"][1].erase("call"); }, ".cases[1]: no member \"call\""},
        Malformed{"twice", [](Json& j) { j["cases"][1]["id"] = j["cases"][0]["id"]; }, "expected an id that no other case"},
        Malformed{"flag", [](Json& j) { j["cases"][0]["flags"][0] = "Nope"; },
                  "expected flags that the file explains, not Nope"},
        Malformed{"layout", [](Json& j) { j["cases"][0]["call"]["layout"] = "planar"; },
                  "expected a layout: flashmla, indexer"},
        Malformed{"layouts_differ", [](Json& j) { j["cases"][0]["call"]["layout"] = "indexer"; },
                  "the dialect is of layout flashmla"},
        Malformed{"dialect", [](Json& j) { j["cases"][0]["dialect"]["name"] = "sglang"; }, "expected custom or a dialect"},
        Malformed{"dialect_fields", [](Json& j) { j["cases"][0]["dialect"]["pad"] = "zero"; },
                  "the fields are not those of dialect strict"},
        Malformed{"scale", [](Json& j) { j["cases"][0]["dialect"]["scale"] = "fp32"; },
                  "scale fp32 does not fit layout flashmla"},
        Malformed{"floor", [](Json& j) { j["cases"][0]["dialect"]["floor_value"] = "1e-4"; }, "expected \"0x\" and 1 to 8"},
        Malformed{"hex", [](Json& j) { j["cases"][0]["call"]["input"] = "0G"; },
                  "expected pairs of lower-case hexadecimal digits"},
        Malformed{"odd_hex", [](Json& j) { j["cases"][0]["call"]["input"] = "012"; }, "expected pairs of lower-case"},
        Malformed{"input_short", [](Json& j) { j["cases"][0]["call"]["input"] = "00"; }, "input: 1 bytes, expected 1024"},
        Malformed{"stride", [](Json& j) { j["cases"][0]["call"]["page_stride"] = 1000; },
                  "page stride 1000: expected at least 1168"},
        Malformed{"row_stride", [](Json& j) { j["cases"][0]["call"]["row_stride"] = 1022; },
                  "row stride 1022: expected at least 1024"},
        Malformed{"row_stride_large", [](Json& j) { j["cases"][0]["call"]["row_stride"] = std::int64_t{1} << 50; },
                  "row stride 1125899906842624: expected at most 2^40"},
        Malformed{"page_size", [](Json& j) { j["cases"][0]["call"]["page_size"] = 0; }, "page size 0: expected 1 to"},
        Malformed{"pages", [](Json& j) { j["cases"][0]["call"]["pages"] = -1; }, "expected an integer from 0"},
        Malformed{"fraction", [](Json& j) { j["cases"][0]["call"]["pages"] = 1.5; }, "1.5: expected an integer"},
        Malformed{"huge", [](Json& j) { j["cases"][0]["call"]["pages"] = std::int64_t{1} << 39; }, "a pool of"},
        Malformed{"overflow", [](Json& j) { j["cases"][0]["call"]["page_stride"] = INT64_MAX; }, "exceed 2^50 bytes"},
        Malformed{"index", [](Json& j) { j["cases"][0]["call"]["indices"][0] = 3; }, "3: expected a string"},
        Malformed{"index_text", [](Json& j) { j["cases"][0]["call"]["indices"][0] = "3x"; }, "expected a decimal integer"},
        Malformed{"index_count", [](Json& j) { j["cases"][0]["call"]["indices"].push_back("1"); },
                  "indices: 2 values, expected 1"},
        Malformed{"seed", [](Json& j) { j["cases"][0]["poison"]["seed"] = "12"; }, "expected \"0x\" and 1 to 16"},
        Malformed{"gap", [](Json& j) { j["cases"][0]["expected"].erase(1); },
                  "runs follow each other without gap or overlap"},
        Malformed{"short_pool", [](Json& j) { j["cases"][0]["expected"].erase(j["cases"][0]["expected"].size() - 1); },
                  "bytes in all, expected 3456"},
        Malformed{"two_kinds", [](Json& j) { j["cases"][0]["expected"][0]["bytes"] = "00"; }, "expected exactly one"},
        Malformed{"beyond", [](Json& j) { j["cases"][0]["expected"][0]["poison"] = 1 << 30; }, "the pool has 3456"},
        Malformed{"nesting", [](Json& j) { j["cases"][0]["call"] = Json::array({1}); }, "expected an object"}),
    [](const ::testing::TestParamInfo<Malformed>& malformed) { return malformed.param.name; });

TEST(CaseFile, TextThatIsNoJsonIsNamed) {
  for (const char* text : {"", "{", "[1,", "nonsense", "{\"version\": 1e999}", "{\"format\": \"kvproof-cases\"} trailing"}) {
    EXPECT_THROW(parse_cases(text, "x"), BadInput) << text;
  }
  EXPECT_THROW(read_cases("/nowhere/at/all.json"), BadInput);
  EXPECT_THROW(read_cases("/"), BadInput);
}

TEST(CaseFile, NestingWithoutEndIsNamedToo) {
  for (const std::size_t depth : {33, 100'000, 2'000'000}) {
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    for (const std::string& text :
         {R"({"format": )" + deep + R"(, "version": 1, "generator": "", "flags": {}, "cases": []})", deep,
          std::string(depth, '['), R"(["brackets in a string: \\\"[", )" + deep + "]"}) {
      const std::string said = complaint_of(text, "deep.json");
      EXPECT_EQ(said.find("deep.json: byte "), 0U) << said;
      EXPECT_NE(said.find("nested 33 deep, expected at most 32"), std::string::npos) << said;
    }
  }
}

TEST(CaseFile, BracketsInAStringAreNoNesting) {
  CaseFile file = strict_vectors();
  file.cases.front().comment = std::string(100, '[') + "\\\"" + std::string(100, '{');
  EXPECT_EQ(parse_cases(write_cases(file), "x").cases.front().comment, file.cases.front().comment);
}

TEST(CaseFile, AFileThatDisagreesWithTheModelIsRefused) {
  CaseFile file = strict_vectors();
  FiledCase& filed = file.cases[2];
  for (ExpectedRun& run : filed.expected) {
    if (!run.any_of.empty()) {
      run.any_of.front().back() ^= 1;
      break;
    }
  }
  EXPECT_THROW(confirm_with_model(filed), BadInput);
}

}  // namespace
}  // namespace kvproof
