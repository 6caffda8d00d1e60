#include "kvproof/properties/finding_file.h"

#include <fmt/format.h>

#include "kvproof/properties/case_file.h"
#include "kvproof/reference/names.h"

namespace kvproof {
namespace {

// Most kernels run on the host; the others have its names but for this.
std::string_view memory_suffix(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::cuda:
      return "-cuda";
    case MemoryKind::own:
      return "-own";
    case MemoryKind::host:
      break;
  }
  return "";
}

}  // namespace

std::string file_stem(const Subject& subject) {
  return fmt::format("{}{}-{}-{}", subject.name, memory_suffix(subject.memory), name_of(subject.dialect.layout),
                     subject.dialect_name);
}

void save_finding(const std::filesystem::path& path, const Subject& subject, const Case& c, const std::string& comment,
                  const std::string& finding) {
  FiledCase filed;
  filed.id = "finding";
  filed.comment = comment;
  filed.dialect_name = subject.dialect_name;
  filed.dialect = subject.dialect;
  filed.run = c;
  filed.expected = expected_runs(c, subject.dialect);
  filed.found_in = subject.title();
  filed.finding = finding;
  save_cases(path, {{}, {std::move(filed)}});
}

}  // namespace kvproof
