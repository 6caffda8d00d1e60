// Catalogues of planted defects that must be refused, one a value of CATALOGUE.
#include <cstddef>
#include <cstdint>

#include "kvproof/planted.h"

#define EMPTY 0
#define TWICE 1
#define NAMELESS 2
#define OTHER_SIZE 3
#define OTHER_KIND 4

const kvproof_planted_defect* kvproof_planted_defects(std::size_t* count) {
  constexpr std::uint32_t host = KVPROOF_SET(KVPROOF_MEMORY_HOST);
  static kvproof_planted_defect defects[]{
      {sizeof(kvproof_planted_defect), KVPROOF_DEFECT_ADDRESS, "blameless", "none at all", "", "", host, 0},
      {sizeof(kvproof_planted_defect), KVPROOF_DEFECT_ADDRESS, "another", "none either", "", "", host, 0},
  };
  *count = 2;
#if CATALOGUE == EMPTY
  *count = 0;
#elif CATALOGUE == TWICE
  defects[1].name = defects[0].name;
#elif CATALOGUE == NAMELESS
  defects[1].name = nullptr;
#elif CATALOGUE == OTHER_SIZE
  defects[0].size -= 8;
#elif CATALOGUE == OTHER_KIND
  defects[0].kind = 7;
#endif
  return defects;
}
