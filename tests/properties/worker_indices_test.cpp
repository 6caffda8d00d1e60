// Invalid indices for a kernel in a process of its own reach to the ends of their type, and are invalid all the same.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "kvproof/properties/indices.h"
#include "kvproof/reference/locate.h"
#include "planted.h"

namespace kvproof {
namespace {

constexpr std::int64_t pages = 3;
constexpr std::int64_t page_size = 16;
constexpr std::int64_t two_32 = std::int64_t{1} << 32;

std::set<std::int64_t> drawn(std::optional<IndexType> extremes_of) {
  const Subject subject = planted::subject(Layout::indexer, planted::right);
  Draw draw(9);
  std::set<std::int64_t> all;
  for (int i = 0; i < 2000; ++i) {
    for (const std::int64_t index : draw_indices(draw, IndexPattern::invalid, subject, 8, pages, page_size, extremes_of)) {
      EXPECT_NE(locate(index, pages, page_size, subject.dialect).fate, Fate::outside_contract);
      all.insert(index);
    }
  }
  return all;
}

TEST(ExtremeIndices, Int64ReachesItsEndsAndAliasesSlots) {
  const std::set<std::int64_t> all = drawn(IndexType::int64);
  for (const std::int64_t index :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), two_32 / 2, two_32 / 2 - 1,
        -two_32 / 2, two_32, two_32 + pages * page_size - 1, -two_32 + 5, std::int64_t{-1}}) {
    EXPECT_TRUE(all.contains(index)) << index;
  }
}

TEST(ExtremeIndices, Int32StaysWithinItsType) {
  const std::set<std::int64_t> all = drawn(IndexType::int32);
  EXPECT_EQ(*all.begin(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(*all.rbegin(), std::numeric_limits<std::int32_t>::max());
}

TEST(ExtremeIndices, WithoutIsolationTheyLieByThePool) {
  const std::set<std::int64_t> all = drawn(std::nullopt);
  EXPECT_GE(*all.begin(), -page_size - 1);
  EXPECT_LT(*all.rbegin(), (pages + 1) * page_size);
}

}  // namespace
}  // namespace kvproof
