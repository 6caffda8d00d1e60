// The reader of case files, which golden vectors and saved failures share: any text is a case file or is refused by name,
// and what was read is written and read again alike.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "kvproof/device/error.h"
#include "kvproof/properties/case_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  kvproof::CaseFile file;
  try {
    file = kvproof::parse_cases(text, "input");
  } catch (const kvproof::BadInput& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) {
      fmt::print(stderr, "a refusal of several lines: {}\n", error.what());
      std::abort();
    }
    return 0;
  }
  const std::string written = kvproof::write_cases(file);
  if (kvproof::write_cases(kvproof::parse_cases(written, "what was written")) != written) {
    fmt::print(stderr, "read again, the cases are others\n");
    std::abort();
  }
  return 0;
}
