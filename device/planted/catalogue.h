// Every planted defect, each known to the detectors by its name.
#pragma once

#include "planted/defects/batches.h"
#include "planted/defects/codes.h"
#include "planted/defects/drifts.h"
#include "planted/defects/endings.h"
#include "planted/defects/indices.h"
#include "planted/defects/layouts.h"
#include "planted/defects/offsets.h"
#include "planted/defects/over_reads.h"
#include "planted/defects/races.h"
#include "planted/defects/ropes.h"
#include "planted/defects/scales.h"
#include "planted/defects/strays.h"
#include "planted/defects/streams.h"

namespace kvproof::planted {

template <class... Defects>
struct List {
  static constexpr std::size_t count = sizeof...(Defects);
};

// In parts, so that compilers can take them side by side.
using Scales = List<ScalePlusOneAlways, ScaleFloorForCeil, ScaleRoundToNearest, ScaleMaskedPlusOne, ScaleFrexpDoubles,
                    ScaleLog2ThenCeil, ScaleNoFloor, ScaleFloorOnRatio, ScaleFloorAdded, ScaleRawForPowerOfTwo,
                    ScaleExponentNotClamped, RatioByReciprocal, AmaxSkipsLastElement, AmaxIncludesRope, AmaxRoundedToBf16,
                    AmaxTakesNan, InverseWithoutFloor, InverseOfUnroundedScale, FnuzLimitOfFn, FnuzLimitOfAnotherPort>;
using Codes =
    List<CodeSaturatesAt256, CodeHalfAway, CodeHalfUp, CodeThroughFp16, CodeSubnormalsFlushed, CodeBelowSmallestFlushed,
         CodeClampMissing, FnuzBiasOfFn, FnuzNegativeZero, CodeSignOfZeroLost, CodeByReciprocal, ReciprocalOneUlpLow,
         ReciprocalBeyondDeclared, CodesTwoUpUnderDeclared, ScaleUlpUnderDeclared, CodeByLimitOverAmax, NanCodeSigned,
         NanSaturates, Fp16SubnormalsFlushed, Fp32ReadAsBf16>;
using Ropes =
    List<RopeNanQuieted, RopeTruncated, RopeTiesAway, RopeSubnormalsFlushed, RopeThroughFp16, RopeNegativeZeroLost>;
using Addresses =
    List<InterleavedLayout, SlotStride584, UnpaddedPageStride, ScalesAliasedToFirst, StrideTimesCompression,
         CodesShuffled16x16, LastVectorTruncated, PageBaseAlignedDown, LastVectorSwapped, LastScaleMissing, PadLeftAlone,
         OffsetInt32, OffsetUint32, ScalePlaneUint32, RopeViewInt32, StrideInt32, MinusOneByShift, MinusOneByTruncation,
         MinusOneIsLastRow, OnlyMinusOneSkipped, SlotZeroSkipped, SlotZeroWritten, CapacityOffByOne, IndexInt32,
         Int64ReadAsInt32, PageSizeByShift, SlotUint8, ScaleOfPaddingInSlotZero, TailWriter, PadWriter, InputWriter,
         IndexWriter, PageClearedBySlotZero, IllegalAddress>;
using Batches =
    List<BlocksBeyond65535, MiddleBatchTail, LastBlockDropped, LastBlockNotMasked, PaddedBeyondIndices, LastBlockBeforeFirst,
         EmptyGrid, EmptyBatchWrites, InputStrideIgnored, IndexOverReader, InputOverReader, EndlessLoop, Abort>;
using Races = List<RopeOfTwoOwners, TornRow, TornTile, FirstDuplicateWins, SharedScratch>;
using Drifts = List<DriftsAfter64Launches, EveryThirdLaunch, PlanOfFirstStride, TokensOfFirstLaunch>;
using Streams = List<ReplayTakenForDone, OneScratchForAll>;

// A kernel with the right steps in each dialect that a defect speaks: what no detector may accuse.
struct Control : Right {
  static constexpr const char* name = "right";
  static constexpr const char* defect = "none";
  static constexpr Kind kind = Kind::arithmetic;
};
struct ControlPadWritten : Control {
  static constexpr std::uint32_t layouts = flashmla_only;
  static constexpr const char* dialect = "vllm-cuda";
};
struct ControlDummySlot : Control {
  static constexpr std::uint32_t layouts = flashmla_only;
  static constexpr bool dummy_slot = true;
};
struct ControlDivides : Control {
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "vllm-indexer";
  static constexpr std::uint32_t fp8_types = fn_only;
};
struct ControlPowerOfTwo : Control {
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "vllm-indexer-ue8m0";
  static constexpr std::uint32_t fp8_types = fn_only;
};
struct ControlLmdeploy : Control {
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "lmdeploy";
  static constexpr std::uint32_t fp8_types = fn_only;
};
// As wrong as its dialect declares, one way or the other or not at all.
struct ControlDeclared : Control {
  static constexpr std::uint32_t layouts = indexer_only;
  static constexpr const char* dialect = "sglang-triton";
  KVPROOF_HD static TileScale scale(const Call& call, F32 amax) {
    TileScale scale = Right::scale(call, amax);
    scale.operand = off_by(scale.operand, static_cast<int>((scale.operand >> 3) % 3) - 1);
    return scale;
  }
};
using Controls =
    List<Control, ControlPadWritten, ControlDummySlot, ControlDivides, ControlPowerOfTwo, ControlLmdeploy, ControlDeclared>;

}  // namespace kvproof::planted
