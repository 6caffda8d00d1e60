#include <fmt/format.h>

#include <algorithm>

#include "kvproof/device/error.h"
#include "kvproof/oracle/store.h"
#include "kvproof/properties/vectors.h"

namespace kvproof {

std::int64_t confirm_with_oracle(const FiledCase& filed) {
  const auto differs = [&](std::int64_t offset, const std::string& why) {
    throw CannotRun(fmt::format("case {}: the oracle differs at offset {}: {}", filed.id, offset, why));
  };
  const std::vector<OracleUnit> units = oracle_store(filed.run, filed.dialect);
  std::size_t next = 0;
  std::int64_t bytes = 0;
  for (const ExpectedRun& run : filed.expected) {
    bytes += run.size();
    const bool oracle_writes = next < units.size() && units[next].offset < run.offset + run.size();
    if (run.any_of.empty()) {
      if (oracle_writes) {
        differs(units[next].offset, "it writes what must stay untouched");
      }
      continue;
    }
    if (!oracle_writes || units[next].offset != run.offset) {
      differs(run.offset, fmt::format("it does not write {}", run.what));
    }
    const auto& contenders = units[next].contenders;
    for (const auto& bytes_allowed : run.any_of) {
      if (std::find(contenders.begin(), contenders.end(), bytes_allowed) == contenders.end()) {
        differs(run.offset, fmt::format("{} has other bytes", run.what));
      }
    }
    for (const auto& contender : contenders) {
      if (std::find(run.any_of.begin(), run.any_of.end(), contender) == run.any_of.end()) {
        differs(run.offset, fmt::format("{} lacks a contender", run.what));
      }
    }
    ++next;
  }
  if (next != units.size()) {
    differs(units[next].offset, "it writes more");
  }
  return bytes;
}

}  // namespace kvproof
