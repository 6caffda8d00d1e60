// The case file: saved failures and golden vectors in one JSON format (docs/case-format.md, corpus/schema).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kvproof/device/poison.h"
#include "kvproof/properties/case.h"

namespace kvproof {

// A run of pool bytes: written (`any_of` holds every string allowed; more than one for contended units), or, with `any_of`
// empty, `poison_bytes` bytes that keep their poison.
struct ExpectedRun {
  std::int64_t offset = 0;
  std::string what;
  std::vector<std::vector<std::uint8_t>> any_of;
  std::int64_t poison_bytes = 0;

  std::int64_t size() const { return any_of.empty() ? poison_bytes : static_cast<std::int64_t>(any_of.front().size()); }
  friend bool operator==(const ExpectedRun&, const ExpectedRun&) = default;
};

struct FiledCase {
  std::string id;
  std::string comment;
  std::vector<std::string> flags;
  std::string dialect_name;
  Dialect dialect;
  Case run;
  std::vector<ExpectedRun> expected;  // covers the whole pool, in order
  std::string found_in;               // of a saved failure: the kernel
  std::string finding;                // and what it did wrong
};

struct CaseFile {
  std::map<std::string, std::string> flags;  // what bug a vector with the flag catches
  std::vector<FiledCase> cases;
};

// The runs that the model expects of a case.
std::vector<ExpectedRun> expected_runs(const Case& c, const Dialect& dialect);

// The JSON text of a file.
std::string write_cases(const CaseFile& file);

// Writes a file, and its folder where there is none. Throws CannotRun.
void save_cases(const std::filesystem::path& path, const CaseFile& file);

// Reads a file. Throws BadInput that names the file, the place in it, the value and what was expected.
CaseFile read_cases(const std::filesystem::path& path);

// The same from a text; `name` stands for the file in messages.
CaseFile parse_cases(const std::string& text, const std::string& name);

// Throws BadInput when a filed case's expected bytes are not the model's: the file or this version of the model is wrong.
void confirm_with_model(const FiledCase& filed);

}  // namespace kvproof
