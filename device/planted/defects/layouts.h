// Rows in another layout than the page's.
#pragma once

#include "planted/right.h"

namespace kvproof::planted {

struct LayoutDefect : Right {
  static constexpr Kind kind = Kind::address;
};

struct InterleavedLayout : LayoutDefect {
  static constexpr const char* name = "interleaved-layout";
  static constexpr const char* defect = "each slot's scales stand right behind its data, not in a plane of their own";
  static constexpr const char* reenacts = "interleaved instead of planar";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + slot * layout_shape(call.shape.layout).token_bytes();
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return data_at(call, page, slot) + layout_shape(call.shape.layout).data_bytes;
  }
};

struct SlotStride584 : LayoutDefect {
  static constexpr const char* name = "slot-stride-584";
  static constexpr const char* defect = "data is 584 bytes a slot, with the scale plane where it belongs: right for slot 0";
  static constexpr const char* reenacts = "slot stride 584";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return page * call.shape.page_stride + slot * 584;
  }
};

struct UnpaddedPageStride : LayoutDefect {
  static constexpr const char* name = "unpadded-page-stride";
  static constexpr const char* defect = "pages follow each other without their padding: right where there is none";
  static constexpr const char* reenacts = "unpadded page stride";
  KVPROOF_HD static std::int64_t wrong_by(const Call& call, std::int64_t page) {
    return page * (smallest_page_stride(call.shape.layout, call.shape.page_size) - call.shape.page_stride);
  }
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::data_at(call, page, slot) + wrong_by(call, page);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::scales_at(call, page, slot) + wrong_by(call, page);
  }
};

struct ScalesAliasedToFirst : LayoutDefect {
  static constexpr const char* name = "scales-aliased-to-first";
  static constexpr const char* defect = "the scale plane lacks its stride, so every page's scales land in the first one's";
  static constexpr const char* reenacts = "all layers' scales aliased to the first";
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t, std::int64_t slot) {
    return Right::scales_at(call, 0, slot);
  }
};

struct StrideTimesCompression : LayoutDefect {
  static constexpr const char* name = "stride-times-compression";
  static constexpr const char* defect =
      "the page stride is multiplied by the compression ratio 4 once more: right on page 0";
  static constexpr const char* reenacts = "stride x compression ratio";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::data_at(call, 4 * page, slot);
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::scales_at(call, 4 * page, slot);
  }
};

struct CodesShuffled16x16 : LayoutDefect {
  static constexpr const char* name = "codes-shuffled-16x16";
  static constexpr const char* defect =
      "codes of 16 tokens are stored in blocks of 16 by 16, as a matrix instruction wants them";
  static constexpr const char* reenacts = "16x16 shuffled codes";
  static constexpr std::uint32_t layouts = indexer_only;
  KVPROOF_HD static std::int64_t byte_at(const Call& call, std::int64_t, std::int64_t slot, int i) {
    if (call.shape.page_size % 16 != 0) {
      return i;
    }
    return slot / 16 * 2048 + i / 16 * 256 + slot % 16 * 16 + i % 16 - data_offset(call.shape.layout, slot);
  }
};

struct LastVectorTruncated : LayoutDefect {
  static constexpr const char* name = "last-vector-truncated";
  static constexpr const char* defect =
      "where the page stride is no multiple of 16, the last 16 bytes of a row are not written";
  static constexpr const char* reenacts = "last vector truncated when a stride is not a multiple of 16";
  KVPROOF_HD static bool writes_data(const Call& call, std::int64_t, int i) {
    return call.shape.page_stride % 16 == 0 || i < layout_shape(call.shape.layout).data_bytes - 16;
  }
};

struct PageBaseAlignedDown : LayoutDefect {
  static constexpr const char* name = "page-base-aligned-down";
  static constexpr const char* defect = "a page's base is taken as a multiple of 16, which an odd stride does not give";
  KVPROOF_HD static std::int64_t data_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::data_at(call, page, slot) - page * call.shape.page_stride % 16;
  }
  KVPROOF_HD static std::int64_t scales_at(const Call& call, std::int64_t page, std::int64_t slot) {
    return Right::scales_at(call, page, slot) - page * call.shape.page_stride % 16;
  }
};

struct LastVectorSwapped : LayoutDefect {
  static constexpr const char* name = "last-vector-swapped";
  static constexpr const char* defect = "one lane, that of a row's last 16 codes, stores its two halves the wrong way round";
  KVPROOF_HD static std::int64_t byte_at(const Call& call, std::int64_t, std::int64_t, int i) {
    const int codes = layout_shape(call.shape.layout).codes;
    return i >= codes - 16 && i < codes ? i ^ 8 : i;
  }
};

struct LastScaleMissing : LayoutDefect {
  static constexpr const char* name = "last-scale-missing";
  static constexpr const char* defect = "six of the seven scale bytes are stored";
  static constexpr std::uint32_t layouts = flashmla_only;
  KVPROOF_HD static bool writes_scale(const Call&, std::int64_t, int i) { return i != 6; }
};

struct PadLeftAlone : LayoutDefect {
  static constexpr const char* name = "pad-left-alone";
  static constexpr const char* defect = "the pad byte keeps what it held, where the dialect writes 0";
  static constexpr std::uint32_t layouts = flashmla_only;
  static constexpr const char* dialect = "vllm-cuda";
  KVPROOF_HD static bool writes_scale(const Call&, std::int64_t, int i) { return i != 7; }
};

}  // namespace kvproof::planted
