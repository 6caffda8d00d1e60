// Findings as files: one case that a kernel stores wrongly, and what was wrong, for `replay` to run again.
#pragma once

#include <filesystem>
#include <string>

#include "kvproof/device/subject.h"
#include "kvproof/properties/case.h"

namespace kvproof {

// What the names of a kernel's findings begin with: its name, where its memory lives unless on the host, layout and dialect.
std::string file_stem(const Subject& subject);

// Writes the file, and its folder where there is none. `comment` says what was being looked for, `finding` what `subject`
// did wrong. Throws CannotRun.
void save_finding(const std::filesystem::path& path, const Subject& subject, const Case& c, const std::string& comment,
                  const std::string& finding);

}  // namespace kvproof
