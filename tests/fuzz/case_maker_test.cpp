// Every call is a case that its kernel may be given, and the classes reach what they name.
#include "kvproof/fuzz/case_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kvproof/fuzz/mutate.h"
#include "kvproof/properties/expectation.h"
#include "kvproof/reference/model.h"

namespace kvproof::fuzz {
namespace {

TEST(CaseMaker, every_call_is_within_every_kernels_contract) {
  for (const bool far : {false, true}) {
    for (const Subject& subject : builtin_host_subjects()) {
      CaseMaker maker(subject, {.far_pools = far, .extreme_indices = far});
      Draw draw(far ? 5 : 4);
      for (int round = 0; round < 400; ++round) {
        const Case c = maker.made(drawn_call(draw));
        ASSERT_EQ(case_contradiction(c, subject.dialect), std::nullopt) << subject.title();
        ASSERT_TRUE(far || c.shape.pool_bytes() <= CaseLimits{}.largest_pool || c.shape.pages == 1);
      }
    }
  }
}

TEST(CaseMaker, a_banked_row_is_what_the_model_stores) {
  const Subject subject = builtin_host_subjects().front();
  CaseMaker maker(subject, {});
  Draw draw(6);
  for (int round = 0; round < 200; ++round) {
    const FuzzCall call = drawn_call(draw);
    const Case c = maker.made(call);
    for (std::size_t token = 0; token < c.indices.size(); ++token) {
      const BankRow& row = maker.row(call, token, c.shape);
      RowImage image;
      model::encode_row(c.input.data() + static_cast<std::int64_t>(token) * c.shape.row_stride, c.shape.input_type,
                        subject.dialect, c.shape.fp8, &image);
      ASSERT_TRUE(std::equal(image.data, image.data + sizeof image.data, row.image.data));
      ASSERT_TRUE(std::equal(image.scales, image.scales + sizeof image.scales, row.image.scales));
    }
  }
}

TEST(CaseMaker, page_sizes_are_also_multiples_of_four) {
  const Subject subject = builtin_host_subjects().front();
  CaseMaker maker(subject, {});
  std::set<std::int64_t> sizes;
  Draw draw(7);
  for (int round = 0; round < 5'000; ++round) {
    sizes.insert(maker.made(drawn_call(draw)).shape.page_size);
  }
  for (std::int64_t size = 4; size <= 256; size += 4) {
    EXPECT_TRUE(sizes.contains(size)) << size;
  }
}

TEST(CaseMaker, duplicates_are_kept_from_a_kernel_that_forbids_them) {
  Subject subject = builtin_host_subjects().front();
  subject.duplicates = Duplicates::forbidden;
  CaseMaker maker(subject, {});
  Draw draw(7);
  std::size_t most = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Case c = maker.made(drawn_call(draw));
    std::set<std::int64_t> slots;
    for (const std::int64_t index : c.indices) {
      const Location at = locate(index, c.shape.pages, c.shape.page_size, subject.dialect);
      ASSERT_TRUE(at.fate != Fate::stored || slots.insert(at.page * c.shape.page_size + at.slot).second);
    }
    most = std::max(most, slots.size());
  }
  EXPECT_GT(most, 10U);
}

TEST(CaseMaker, index_classes_reach_what_they_name) {
  const Subject subject = builtin_host_subjects().front();  // strict: every index is allowed
  ASSERT_EQ(subject.dialect.invalid, InvalidIndex::outside);
  CaseMaker maker(subject, {.far_pools = true, .extreme_indices = true});
  FuzzCall call;
  call.index_type = 1;
  call.page_stride = PageStride::packed_layers;
  call.pages = 6;
  const auto index = [&](IndexClass of, std::uint16_t number) {
    call.tokens = {{of, number, ValueClass::zeros, 0}};
    return maker.made(call).indices.front();
  };
  const StoreShape s = maker.made(call).shape;
  ASSERT_EQ(s.index_type, IndexType::int64);
  ASSERT_GT(s.pool_bytes(), std::int64_t{8} << 30);
  EXPECT_EQ(index(IndexClass::last, 9), s.capacity() - 1);
  EXPECT_EQ(index(IndexClass::capacity, 9), s.capacity());
  EXPECT_EQ(index(IndexClass::minus_one, 9), -1);
  EXPECT_EQ(index(IndexClass::alias_above, 5), (std::int64_t{1} << 32) + 5);
  EXPECT_EQ(index(IndexClass::int64_smallest, 0), INT64_MIN);
  EXPECT_EQ(index(IndexClass::int32_largest, 0), INT32_MAX);
  std::set<bool> sides;
  for (std::uint16_t number = 0; number < 3; ++number) {
    const std::int64_t page = index(IndexClass::across_2_32, number) / s.page_size;
    sides.insert(page * s.page_stride >= std::int64_t{1} << 32);
  }
  EXPECT_EQ(sides.size(), 2U) << "slots on both sides of 4 GiB";
}

}  // namespace
}  // namespace kvproof::fuzz
