// Changes of a fuzzed call, each of one meaning: a token more, another index class, a neighbouring number, another stride.
#pragma once

#include "kvproof/fuzz/fuzz_call.h"
#include "kvproof/properties/draw.h"

namespace kvproof::fuzz {

// A call drawn without looking at any other: what guided changes are measured against.
FuzzCall drawn_call(Draw& draw);

// One to four changes.
void mutate(Draw& draw, FuzzCall& call);

// The shape of one and tokens of both.
FuzzCall crossed(Draw& draw, const FuzzCall& a, const FuzzCall& b);

}  // namespace kvproof::fuzz
