// The vectors hold what they say, are the same at every call, and the oracle that confirms them can object.
#include "kvproof/properties/vectors.h"

#include <gtest/gtest.h>

#include <set>

#include "kvproof/device/error.h"

namespace kvproof {
namespace {

TEST(Vectors, AreTheSameAtEveryCall) {
  for (const NamedDialect& entry : dialects()) {
    EXPECT_EQ(write_cases(make_vectors(entry)), write_cases(make_vectors(entry)));
  }
}

TEST(Vectors, EveryDialectHasEveryFlagItCan) {
  for (const NamedDialect& entry : dialects()) {
    const CaseFile file = make_vectors(entry);
    std::set<std::string> wanted{"ZeroTile",   "BinadeEdge", "Rounding",    "SubnormalCode", "FloorNeighbour", "Extremes",
                                 "SignedZero", "WideInput",  "PageEdge",    "PageTail",      "PageStride",     "RowStride",
                                 "Int32Index", "EmptyBatch", "OddPageSize", "DuplicateIndex"};
    if (entry.dialect.layout == Layout::flashmla) {
      wanted.insert("RopeBits");
    }
    if (entry.dialect.nan != NanCode::unstated) {
      wanted.insert("NaN");
    }
    if (entry.dialect.infinity != Infinity::unstated) {
      wanted.insert("Infinity");
    }
    if (entry.fnuz) {
      wanted.insert("Fnuz");
    }
    for (const std::string& flag : wanted) {
      EXPECT_TRUE(file.flags.contains(flag)) << entry.name << " " << flag;
    }
    for (const FiledCase& filed : file.cases) {
      EXPECT_FALSE(filed.flags.empty()) << filed.id;
      EXPECT_FALSE(filed.comment.empty()) << filed.id;
    }
  }
}

TEST(Vectors, EveryByteIsConfirmedByTheOracle) {
  std::int64_t bytes = 0;
  for (const NamedDialect& entry : dialects()) {
    for (const FiledCase& filed : make_vectors(entry).cases) {
      bytes += confirm_with_oracle(filed);
    }
  }
  EXPECT_GT(bytes, 1'000'000);
}

TEST(Vectors, TheOracleObjectsToAnyChangedRun) {
  const CaseFile file = make_vectors(dialects().front());
  int objections = 0;
  int changes = 0;
  for (const FiledCase& good : file.cases) {
    for (std::size_t run = 0; run < good.expected.size(); ++run) {
      FiledCase bad = good;
      if (bad.expected[run].any_of.empty()) {
        continue;
      }
      bad.expected[run].any_of.back().front() ^= 0x04;
      ++changes;
      try {
        confirm_with_oracle(bad);
      } catch (const CannotRun&) {
        ++objections;
      }
    }
  }
  EXPECT_GT(changes, 300);
  EXPECT_EQ(objections, changes);
}

}  // namespace
}  // namespace kvproof
