// Indices that are invalid, too wide or too far: where each kind of arithmetic lands.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kvproof/reference/dialects.h"
#include "kvproof/reference/store.h"

namespace kvproof {
namespace {

// The offsets that a store of one row of ones writes to.
std::set<std::int64_t> offsets_of(std::int64_t index, Layout layout, const Dialect& dialect, std::int64_t pages,
                                  std::int64_t page_size, std::int64_t page_stride = 0) {
  StoreShape shape;
  shape.layout = layout;
  shape.tokens = 1;
  shape.row_stride = shape.row_bytes();
  shape.pages = pages;
  shape.page_size = page_size;
  shape.page_stride = page_stride == 0 ? production_page_stride(layout, page_size) : page_stride;
  std::vector<std::uint8_t> input;
  while (static_cast<std::int64_t>(input.size()) < shape.row_stride) {
    input.insert(input.end(), {0x80, 0x3F});
  }
  std::vector<std::uint8_t> indices;
  for (int byte = 0; byte < 8; ++byte) {
    indices.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(index) >> (8 * byte)));
  }
  std::set<std::int64_t> offsets;
  store(shape, dialect, input.data(), indices.data(), [&](std::int64_t offset, std::uint8_t) { offsets.insert(offset); });
  return offsets;
}

std::set<std::int64_t> range(std::int64_t first, std::int64_t last) {
  std::set<std::int64_t> all;
  for (std::int64_t offset = first; offset <= last; ++offset) {
    all.insert(offset);
  }
  return all;
}

std::set<std::int64_t> both(std::set<std::int64_t> one, const std::set<std::int64_t>& other) {
  one.insert(other.begin(), other.end());
  return one;
}

Dialect with_offsets(Layout layout, Width width) {
  Dialect d = find_dialect("strict", layout)->dialect;
  d.offset_width = width;
  return d;
}

TEST(Indices, MinusOneByShiftAndMaskIsTheLastSlotOfThePageBefore) {
  const Dialect& flashmla = find_dialect("sglang-cuda", Layout::flashmla)->dialect;
  const Location at = locate(-1, 4, 64, flashmla);
  EXPECT_EQ(at.fate, Fate::outside_contract);
  EXPECT_EQ(at.page, -1);
  EXPECT_EQ(at.slot, 63);
  EXPECT_EQ(offsets_of(-1, Layout::flashmla, flashmla, 4, 64),
            both(range(-37440 + 63 * 576, -37440 + 64 * 576 - 1), range(-37440 + 64 * 576 + 63 * 8, -37440 + 64 * 584 - 2)));
  EXPECT_EQ(offsets_of(-1, Layout::indexer, find_dialect("sglang-cuda", Layout::indexer)->dialect, 4, 64),
            both(range(-8448 + 63 * 128, -8448 + 64 * 128 - 1), range(-4, -1)));
}

TEST(Indices, MinusOneByTruncatingDivisionIsSlotMinusOneOfPageZero) {
  const Dialect& flashmla = find_dialect("sglang-triton", Layout::flashmla)->dialect;
  const Location at = locate(-1, 4, 64, flashmla);
  EXPECT_EQ(at.fate, Fate::outside_contract);
  EXPECT_EQ(at.page, 0);
  EXPECT_EQ(at.slot, -1);
  EXPECT_EQ(offsets_of(-1, Layout::flashmla, flashmla, 4, 64), both(range(-576, -1), range(36856, 36862)));
  EXPECT_EQ(offsets_of(-1, Layout::indexer, find_dialect("sglang-triton", Layout::indexer)->dialect, 4, 64),
            both(range(-128, -1), range(8188, 8191)));
  // The in-bounds bytes are the last rope values of the last slot.
  const PagePlace place = place_in_page(Layout::flashmla, 64, 36856);
  EXPECT_EQ(place.region, Region::rope);
  EXPECT_EQ(place.slot, 63);
}

TEST(Indices, NarrowedIndicesAlias) {
  Dialect d = find_dialect("strict", Layout::flashmla)->dialect;
  const std::int64_t far = (std::int64_t{1} << 32) + 5;
  EXPECT_EQ(locate(far, 4, 64, d).fate, Fate::skipped);
  d.index_width = Width::int32;
  EXPECT_EQ(locate(far, 4, 64, d).fate, Fate::stored);
  EXPECT_EQ(locate(far, 4, 64, d).page, 0);
  EXPECT_EQ(locate(far, 4, 64, d).slot, 5);
  EXPECT_EQ(offsets_of(far, Layout::flashmla, d, 4, 64), offsets_of(5, Layout::flashmla, d, 4, 64));
  EXPECT_EQ(locate((std::int64_t{1} << 32) - 1, 4, 64, d).fate, Fate::skipped);  // it has become -1
}

TEST(Indices, EachPolicySkipsWhatItSays) {
  Dialect d;
  const auto fates = [&](InvalidIndex policy) {
    d.invalid = policy;
    std::vector<Fate> all;
    for (const std::int64_t index : {-2, -1, 0, 1, 255, 256}) {
      all.push_back(locate(index, 4, 64, d).fate);
    }
    return all;
  };
  constexpr Fate out = Fate::outside_contract;
  constexpr Fate skip = Fate::skipped;
  constexpr Fate put = Fate::stored;
  using Fates = std::vector<Fate>;
  EXPECT_EQ(fates(InvalidIndex::precondition), (Fates{out, out, put, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::unguarded), (Fates{out, out, put, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::trap), (Fates{out, out, put, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::minus_one), (Fates{out, skip, put, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::negative), (Fates{skip, skip, put, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::non_positive), (Fates{skip, skip, skip, put, put, out}));
  EXPECT_EQ(fates(InvalidIndex::outside), (Fates{skip, skip, put, put, put, skip}));
}

// The bytes of a row that a 32-bit offset puts elsewhere, by what they are.
struct Wrapped {
  int data = 0;  // codes
  int rope = 0;
  int scale = 0;
};

Wrapped wrapped_bytes(std::int64_t index, Layout layout, std::int64_t page_size, Width width) {
  const LayoutShape shape = layout_shape(layout);
  const std::int64_t page_stride = production_page_stride(layout, page_size);
  const std::int64_t page = index / page_size;
  const std::int64_t slot = index % page_size;
  Wrapped wrapped;
  const auto moves = [&](std::int64_t within, int view) {
    return byte_offset(page, page_stride, within, view, width) != page * page_stride + within ? 1 : 0;
  };
  for (int i = 0; i < shape.codes; ++i) {
    wrapped.data += moves(data_offset(layout, slot) + i, 1);
  }
  for (int i = 0; i < 2 * shape.rope; ++i) {
    wrapped.rope += moves(data_offset(layout, slot) + shape.codes + i, 2);
  }
  for (int i = 0; i < shape.tiles * shape.bytes_per_scale; ++i) {
    wrapped.scale += moves(scale_offset(layout, slot, page_size) + i, shape.bytes_per_scale);
  }
  return wrapped;
}

// The first index from which on `is_wrapped` holds, within the four pages around `near`.
template <class IsWrapped>
std::int64_t first_index(std::int64_t near, std::int64_t page_size, IsWrapped is_wrapped) {
  const std::int64_t start = (near / page_size - 2) * page_size;
  for (std::int64_t index = start; index < start + 4 * page_size; ++index) {
    if (is_wrapped(index)) {
      return index;
    }
  }
  return -1;
}

TEST(Indices, ThirtyTwoBitOffsetsWrapFirstAtTheStatedIndices) {
  const auto any = [](Layout layout, std::int64_t page_size) {
    return [layout, page_size](std::int64_t index) {
      const Wrapped w = wrapped_bytes(index, layout, page_size, Width::int32);
      return w.data + w.rope + w.scale != 0;
    };
  };
  EXPECT_EQ(first_index(3670784, 256, any(Layout::flashmla, 256)), 3670784);
  EXPECT_EQ(first_index(3670912, 64, any(Layout::flashmla, 64)), 3670912);
  EXPECT_EQ(first_index(3670912, 128, any(Layout::flashmla, 128)), 3670912);
  EXPECT_EQ(first_index(16268816, 64, any(Layout::indexer, 64)), 16268816);
  const auto rope = [](std::int64_t index) { return wrapped_bytes(index, Layout::flashmla, 256, Width::int32).rope != 0; };
  EXPECT_EQ(first_index(7341824, 256, rope), 7341824);
  const auto scale = [](std::int64_t index) { return wrapped_bytes(index, Layout::indexer, 64, Width::int32).scale != 0; };
  EXPECT_EQ(first_index(65075200, 64, scale), 65075200);
}

TEST(Indices, BetweenTwoAndFourGigabytesTheRopeIsRightAndTheRestLandsBelowTheBuffer) {
  const std::int64_t index = 5'000'000;
  const Dialect d = with_offsets(Layout::flashmla, Width::int32);
  const Wrapped w = wrapped_bytes(index, Layout::flashmla, 64, Width::int32);
  EXPECT_EQ(w.data, 448);
  EXPECT_EQ(w.scale, 7);
  EXPECT_EQ(w.rope, 0);
  int below = 0;
  int right = 0;
  const std::int64_t page = index / 64 * 37440;
  for (const std::int64_t offset : offsets_of(index, Layout::flashmla, d, 100'000, 64)) {
    below += offset < 0 ? 1 : 0;
    right += offset >= page && offset < page + 37440 ? 1 : 0;
  }
  EXPECT_EQ(below, 455);
  EXPECT_EQ(right, 128);
}

TEST(Indices, UnsignedOffsetsWrapToTheFrontOfThePool) {
  const Dialect d = with_offsets(Layout::flashmla, Width::uint32);
  const std::int64_t index = 7'400'000;  // beyond 4 GiB
  const std::int64_t turn = std::int64_t{1} << 32;
  for (const std::int64_t offset : offsets_of(index, Layout::flashmla, d, 200'000, 64)) {
    EXPECT_GE(offset, 0);
    EXPECT_LT(offset, 2 * turn);
  }
  EXPECT_EQ(*offsets_of(index, Layout::flashmla, d, 200'000, 64).begin(), index / 64 * 37440 + index % 64 * 576 - turn);
  const Wrapped below = wrapped_bytes(5'000'000, Layout::flashmla, 64, Width::uint32);
  EXPECT_EQ(below.data + below.rope + below.scale, 0);
}

TEST(Indices, PackedCachesWrapAtPage2048) {
  const auto first_byte = [](std::int64_t page) { return byte_offset(page, 1 << 20, 0, 1, Width::int32); };
  EXPECT_EQ(first_byte(2047), std::int64_t{2047} << 20);
  EXPECT_EQ(first_byte(2048), -(std::int64_t{1} << 31));
}

TEST(Indices, ArraysReadSignExtendedInBothWidths) {
  const std::uint8_t bytes[] = {0xFF, 0xFF, 0xFF, 0xFF, 0x05, 0x00, 0x00, 0x00,
                                0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  EXPECT_EQ(index_at(bytes, IndexType::int32, 0), -1);
  EXPECT_EQ(index_at(bytes, IndexType::int32, 1), 5);
  EXPECT_EQ(index_at(bytes, IndexType::int64, 0), 0x5FFFFFFFFLL);
  EXPECT_EQ(index_at(bytes, IndexType::int64, 1), -2);
}

}  // namespace
}  // namespace kvproof
