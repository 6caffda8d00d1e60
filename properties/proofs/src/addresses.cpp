#include "kvproof/proofs/addresses.h"

#include <fmt/format.h>

#include "kvproof/proofs/lemmas.h"
#include "kvproof/proofs/map.h"

namespace kvproof::proofs {

AddressProof prove_addresses() {
  z3::context context;
  Questions questions(context);
  ask_lemmas(questions);
  for (const Layout layout : {Layout::flashmla, Layout::indexer}) {
    ask_map(questions, kernel_map(layout));
  }
  ask_narrow(questions);
  unsigned major = 0;
  unsigned minor = 0;
  unsigned build = 0;
  unsigned revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return {fmt::format("Z3 {}.{}.{}", major, minor, build), std::move(questions.asked())};
}

}  // namespace kvproof::proofs
