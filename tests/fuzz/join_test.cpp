// Joined cases: each call's rows land in pages of their own, and what is no slot stays none.
#include "kvproof/fuzz/join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>

#include "kvproof/fuzz/case_maker.h"
#include "kvproof/fuzz/mutate.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/reference/locate.h"

namespace kvproof::fuzz {
namespace {

// Cases of one shape, drawn until there are `count`.
std::vector<Case> one_shape(const Subject& subject, Draw& draw, std::size_t count) {
  CaseMaker maker(subject, {.extreme_indices = true});
  const FuzzCall leader = drawn_call(draw);
  std::vector<Case> cases{maker.made(leader)};
  while (cases.size() < count) {
    cases.push_back(maker.made(in_shape_of(leader, drawn_call(draw))));
  }
  return cases;
}

TEST(Join, every_token_keeps_its_row_and_its_place_in_its_own_pages) {
  Draw draw(1);
  std::size_t stored = 0;
  for (const Subject& subject : builtin_host_subjects()) {
    for (int round = 0; round < 50; ++round) {
      const std::vector<Case> cases = one_shape(subject, draw, 5);
      const Case all = joined(cases, subject.dialect);
      ASSERT_EQ(case_contradiction(all, subject.dialect), std::nullopt) << subject.title();
      std::size_t token = 0;
      std::int64_t first_page = 0;
      for (const Case& c : cases) {
        StoreShape shape = all.shape;
        shape.tokens = c.shape.tokens;
        shape.pages = c.shape.pages;
        ASSERT_EQ(shape, c.shape);
        for (std::int64_t i = 0; i < c.shape.tokens; ++i, ++token) {
          const auto its = c.input.begin() + i * c.shape.row_stride;
          const auto joint = all.input.begin() + static_cast<std::ptrdiff_t>(token) * all.shape.row_stride;
          ASSERT_TRUE(std::equal(its, its + c.shape.row_bytes(), joint));
          const Location alone =
              locate(c.indices[static_cast<std::size_t>(i)], c.shape.pages, c.shape.page_size, subject.dialect);
          const Location there = locate(all.indices[token], all.shape.pages, all.shape.page_size, subject.dialect);
          ASSERT_EQ(there.fate, alone.fate) << c.indices[static_cast<std::size_t>(i)];
          if (alone.fate == Fate::stored) {
            ASSERT_EQ(there.page, first_page + alone.page);
            ASSERT_EQ(there.slot, alone.slot);
            ++stored;
          }
        }
        first_page += c.shape.pages;
      }
      ASSERT_EQ(token, all.indices.size());
      ASSERT_EQ(first_page, all.shape.pages);
    }
  }
  EXPECT_GT(stored, 1000U);
}

TEST(Join, an_index_just_beyond_a_case_is_just_beyond_all_of_them) {
  const Subject subject = builtin_host_subjects().front();
  Draw draw(2);
  std::vector<Case> cases = one_shape(subject, draw, 3);
  for (Case& c : cases) {
    std::fill(c.indices.begin(), c.indices.end(), c.shape.capacity());
  }
  cases.front().shape.tokens = 1;
  cases.front().indices = {-1};
  cases.front().input.resize(static_cast<std::size_t>(cases.front().shape.input_bytes()));
  const Case all = joined(cases, subject.dialect);
  EXPECT_EQ(all.indices.front(), -1);
  EXPECT_TRUE(std::all_of(all.indices.begin() + 1, all.indices.end(),
                          [&](std::int64_t index) { return index == all.shape.capacity(); }));
}

}  // namespace
}  // namespace kvproof::fuzz
