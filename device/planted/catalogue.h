// Every planted defect, each known to the detectors by its name.
#pragma once

#include "planted/defects/endings.h"
#include "planted/defects/indices.h"
#include "planted/defects/offsets.h"
#include "planted/defects/over_reads.h"
#include "planted/defects/strays.h"

namespace kvproof::planted {

template <class... Defects>
struct List {
  static constexpr std::size_t count = sizeof...(Defects);
};

using Catalogue = List<OffsetInt32, OffsetUint32, MinusOneByShift, MinusOneByTruncation, TailWriter, PadWriter, InputWriter,
                       IndexOverReader, InputOverReader, EndlessLoop, IllegalAddress, Abort>;

}  // namespace kvproof::planted
