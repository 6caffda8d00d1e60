#include "kvproof/proofs/module.h"

void kvproof_prove_addresses(kvproof::proofs::AddressProof* proof) { *proof = kvproof::proofs::prove_addresses(); }
