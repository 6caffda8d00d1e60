// A finding is found again: under a name that no other kernel's findings have, with what it says of the kernel.
#include "kvproof/properties/finding_file.h"

#include <gtest/gtest.h>

#include "kvproof/device/error.h"
#include "kvproof/properties/case_file.h"
#include "kvproof/properties/vectors.h"
#include "kvproof/reference/dialects.h"
#include "planted.h"

namespace kvproof {
namespace {

TEST(FindingFile, KernelsOfOneNameAreToldApartByMemoryLayoutAndDialect) {
  Subject subject = planted::subject(Layout::flashmla, planted::right);
  subject.name = "mine";
  EXPECT_EQ(file_stem(subject), "mine-flashmla-strict");
  subject.memory = MemoryKind::cuda;
  EXPECT_EQ(file_stem(subject), "mine-cuda-flashmla-strict");
  subject.memory = MemoryKind::own;
  subject.dialect.layout = Layout::indexer;
  subject.dialect_name = "custom";
  EXPECT_EQ(file_stem(subject), "mine-own-indexer-custom");
}

TEST(FindingFile, WhatIsSavedNamesTheKernelAndComesBack) {
  const Subject subject = planted::subject(Layout::flashmla, planted::right);
  const Case c = make_vectors(*find_dialect("strict", Layout::flashmla)).cases.front().run;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "kvproof-finding-file-test";
  const std::filesystem::path path = folder / "deeper" / "finding.json";
  std::filesystem::remove_all(folder);
  save_finding(path, subject, c, "looked for", "one byte wrong");
  const CaseFile file = read_cases(path);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(file.cases.size(), 1U);
  const FiledCase& filed = file.cases.front();
  confirm_with_model(filed);
  EXPECT_EQ(filed.run, c);
  EXPECT_EQ(filed.comment, "looked for");
  EXPECT_EQ(filed.found_in, subject.title());
  EXPECT_EQ(filed.finding, "one byte wrong");
  EXPECT_THROW(save_finding("/proc/nowhere/finding.json", subject, c, "", ""), CannotRun);
}

}  // namespace
}  // namespace kvproof
