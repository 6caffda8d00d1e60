// Launching the calls of a run in the ways that only CUDA has.
#pragma once

#include <functional>

#include "issue.h"

namespace kvproof {

// Captures the calls on `stream`, the calls' own, into a graph. `afresh` makes the pool what it was before; the graph is
// launched over it twice, as an engine launches the graph of a decode step again and again.
void launch_captured(const Subject& subject, const std::vector<kvproof_store_call>& calls, void* stream,
                     const std::function<void()>& afresh, Answers& answers);

// Makes the calls in turn on `stream` and on a second one, neither of which begins before all calls are queued.
void launch_on_two_streams(const Subject& subject, const std::vector<kvproof_store_call>& calls, void* stream,
                           Answers& answers);

}  // namespace kvproof
