// Where bytes lie.
#include "kvproof/reference/layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace kvproof {
namespace {

TEST(LayoutFacts, ProductionPageStrides) {
  EXPECT_EQ(production_page_stride(Layout::flashmla, 2), 1728);
  EXPECT_EQ(production_page_stride(Layout::flashmla, 64), 37440);
  EXPECT_EQ(production_page_stride(Layout::flashmla, 128), 74880);
  EXPECT_EQ(production_page_stride(Layout::flashmla, 256), 149760);
  EXPECT_EQ(production_page_stride(Layout::indexer, 64), 8448);
  EXPECT_EQ(smallest_page_stride(Layout::flashmla, 64), 584 * 64);
  EXPECT_EQ(smallest_page_stride(Layout::indexer, 64), 132 * 64);
}

TEST(LayoutFacts, RowsHoldTheirParts) {
  const LayoutShape flashmla = layout_shape(Layout::flashmla);
  EXPECT_EQ(flashmla.row_values, 512);
  EXPECT_EQ(flashmla.codes, 448);
  EXPECT_EQ(flashmla.rope, 64);
  EXPECT_EQ(flashmla.tiles * flashmla.tile, 448);
  EXPECT_EQ(flashmla.token_bytes(), 584);
  const LayoutShape indexer = layout_shape(Layout::indexer);
  EXPECT_EQ(indexer.row_values, 128);
  EXPECT_EQ(indexer.codes, 128);
  EXPECT_EQ(indexer.rope, 0);
  EXPECT_EQ(indexer.tiles * indexer.tile, 128);
  EXPECT_EQ(indexer.token_bytes(), 132);
}

// The map of a page, drawn from the table of bytes, slot by slot.
std::vector<PagePlace> map_of_page(Layout layout, int page_size, int page_stride) {
  std::vector<PagePlace> map(static_cast<std::size_t>(page_stride), PagePlace{Region::tail, -1, -1, -1, -1});
  const auto place = [&](std::int64_t at, PagePlace what) { map.at(static_cast<std::size_t>(at)) = what; };
  for (int slot = 0; slot < page_size; ++slot) {
    if (layout == Layout::flashmla) {
      for (int i = 0; i < 448; ++i) {
        place(slot * 576 + i, {Region::code, slot, i / 64, i % 64, -1});
      }
      for (int i = 0; i < 128; ++i) {
        place(slot * 576 + 448 + i, {Region::rope, slot, -1, i / 2, i % 2});
      }
      for (int tile = 0; tile < 7; ++tile) {
        place(page_size * 576 + slot * 8 + tile, {Region::scale, slot, tile, -1, 0});
      }
      place(page_size * 576 + slot * 8 + 7, {Region::pad, slot, -1, -1, -1});
    } else {
      for (int i = 0; i < 128; ++i) {
        place(slot * 128 + i, {Region::code, slot, 0, i, -1});
      }
      for (int byte = 0; byte < 4; ++byte) {
        place(page_size * 128 + slot * 4 + byte, {Region::scale, slot, 0, -1, byte});
      }
    }
  }
  return map;
}

TEST(LayoutFacts, EveryByteOfAPageIsWhatTheTableSays) {
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    for (const int page_size : {1, 2, 3, 64, 100, 256}) {
      const auto page_stride = static_cast<int>(production_page_stride(layout, page_size)) + 576;
      const std::vector<PagePlace> map = map_of_page(layout, page_size, page_stride);
      int compared = 0;
      for (int offset = 0; offset < page_stride; ++offset, ++compared) {
        const PagePlace expected = map[static_cast<std::size_t>(offset)];
        const PagePlace found = place_in_page(layout, page_size, offset);
        ASSERT_EQ(found.region, expected.region) << offset;
        ASSERT_EQ(found.slot, expected.slot) << offset;
        ASSERT_EQ(found.tile, expected.tile) << offset;
        ASSERT_EQ(found.element, expected.element) << offset;
        ASSERT_EQ(found.byte, expected.byte) << offset;
        const LayoutShape shape = layout_shape(layout);
        if (found.region == Region::code) {
          ASSERT_EQ(data_offset(layout, found.slot) + found.tile * shape.tile + found.element, offset);
        } else if (found.region == Region::rope) {
          ASSERT_EQ(data_offset(layout, found.slot) + shape.codes + 2 * found.element + found.byte, offset);
        } else if (found.region == Region::scale) {
          ASSERT_EQ(scale_offset(layout, found.slot, page_size) + found.tile * shape.bytes_per_scale + found.byte, offset);
        }
      }
      EXPECT_EQ(compared, page_stride);
    }
  }
}

}  // namespace
}  // namespace kvproof
