// Far pools come in groups, and take their part of the time whatever one of them takes.
#include "kvproof/fuzz/far_turns.h"

#include <gtest/gtest.h>

namespace kvproof::fuzz {
namespace {

using std::chrono::milliseconds;

TEST(FarTurns, groups_take_a_quarter_of_the_time) {
  for (const milliseconds far_takes : {milliseconds(1), milliseconds(40), milliseconds(1000)}) {
    FarTurns turns;
    FarTurns::Duration far{};
    FarTurns::Duration all{};
    int in_group = 0;
    while (all < std::chrono::hours(1)) {
      const bool is_far = turns.far();
      const FarTurns::Duration took = is_far ? far_takes : milliseconds(3);
      turns.took(took);
      all += took;
      if (is_far) {
        far += took;
        ++in_group;
      }
      if (is_far && !turns.far()) {
        EXPECT_EQ(in_group, FarTurns::group);
        in_group = 0;
      }
    }
    EXPECT_NEAR(static_cast<double>(far.count()) / static_cast<double>(all.count()), 0.25, 0.03) << far_takes.count();
  }
}

TEST(FarTurns, a_turn_without_calls_is_passed) {
  FarTurns turns;
  EXPECT_FALSE(turns.far());
  turns.took(milliseconds(1));
  EXPECT_TRUE(turns.far());
  turns.pass();
  EXPECT_FALSE(turns.far());
  turns.took(milliseconds(1));
  EXPECT_TRUE(turns.far());
}

}  // namespace
}  // namespace kvproof::fuzz
