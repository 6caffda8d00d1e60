// The one function of the module kvproof_solver.so, which brings the solver with it. Command and module are of one build.
#pragma once

#include "kvproof/proofs/addresses.h"

extern "C" void kvproof_prove_addresses(kvproof::proofs::AddressProof* proof);
