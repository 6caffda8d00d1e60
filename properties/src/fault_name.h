// What a device broke of that does not tell an address: the same case again, with input or indices amid readable memory.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kvproof/properties/case_runner.h"

namespace kvproof {

// Runs the case anew while one buffer lies loose in runs of the placement under which the device broke.
using RunLoose = std::function<CaseOutcome(Given which)>;

// "it reads past the end of the indices: with memory there the same run breaks nothing". Nothing where the run breaks the
// device whichever buffer lies loose, or with neither. `whole`: the runs compare the memory beside the buffers.
std::optional<std::string> fault_name(Placement broke, bool whole, const RunLoose& run);

}  // namespace kvproof
