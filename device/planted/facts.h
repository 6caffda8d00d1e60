// What a defect says about itself, and which calls its kernel takes unless it says otherwise.
#pragma once

#include <cstdint>

#include "kvproof/kernel.h"
#include "kvproof/planted.h"

namespace kvproof::planted {

inline constexpr std::uint32_t flashmla_only = KVPROOF_SET(KVPROOF_LAYOUT_FLASHMLA);
inline constexpr std::uint32_t indexer_only = KVPROOF_SET(KVPROOF_LAYOUT_INDEXER);
inline constexpr std::uint32_t fn_only = KVPROOF_SET(KVPROOF_E4M3FN);
inline constexpr std::uint32_t fnuz_only = KVPROOF_SET(KVPROOF_E4M3FNUZ);
inline constexpr std::uint32_t on_host = KVPROOF_SET(KVPROOF_MEMORY_HOST);
inline constexpr std::uint32_t on_cuda = KVPROOF_SET(KVPROOF_MEMORY_CUDA);

enum class Kind : std::uint32_t {
  arithmetic = KVPROOF_DEFECT_ARITHMETIC,
  address = KVPROOF_DEFECT_ADDRESS,
  race = KVPROOF_DEFECT_RACE,
  batch = KVPROOF_DEFECT_BATCH,
  drift = KVPROOF_DEFECT_DRIFT
};

// A defect has a `name`, one sentence `defect` and a `kind`; the rest is said where it differs.
struct Facts {
  static constexpr const char* reenacts = "";  // the public class of defects, where it is one
  static constexpr const char* seen_by = "";   // the property that alone can see it, where that is so
  static constexpr std::uint32_t layouts = flashmla_only | indexer_only;
  static constexpr const char* dialect = "strict";
  static constexpr bool dummy_slot = false;  // the dialect, but with slot 0 skipped as the dummy: in its fields, one layout
  static constexpr std::uint32_t input_types =
      KVPROOF_SET(KVPROOF_BF16) | KVPROOF_SET(KVPROOF_FP16) | KVPROOF_SET(KVPROOF_FP32);
  static constexpr std::uint32_t fp8_types = fn_only | fnuz_only;
  static constexpr std::uint32_t machines = on_host | on_cuda;
  static constexpr std::uint32_t by_chance = 0;  // the machines where it depends on which thread comes first what shows
  static constexpr int duplicates = -1;  // what the machine's threads give: the last token on the host, any byte on CUDA
};

}  // namespace kvproof::planted
