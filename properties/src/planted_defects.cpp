#include "kvproof/properties/planted_defects.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <set>

#include "kvproof/device/error.h"
#include "kvproof/planted.h"

namespace kvproof {
namespace {

std::string kind_of(std::uint32_t kind, const std::string& name) {
  constexpr std::array<const char*, 5> kinds{"arithmetic", "address", "race", "batch", "drift"};
  if (kind >= kinds.size()) {
    throw BadInput(fmt::format("planted defect {}: kind {}, expected 0 to {}", name, kind, kinds.size() - 1));
  }
  return kinds[kind];
}

}  // namespace

std::vector<PlantedDefect> planted_defects(const std::string& file) {
  // Kept: its texts are copied, but what it has registered with the CUDA runtime may not go.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw CannotRun(fmt::format("{}: it does not load: {}", file, dlerror()));
  }
  void* symbol = dlsym(library, "kvproof_planted_defects");
  if (symbol == nullptr) {
    throw BadInput(fmt::format("{}: expected it to export kvproof_planted_defects", file));
  }
  std::size_t count = 0;
  const kvproof_planted_defect* given = reinterpret_cast<decltype(&kvproof_planted_defects)>(symbol)(&count);
  if (given == nullptr || count == 0) {
    // Else all of nothing would be caught.
    throw BadInput(fmt::format("{}: its catalogue names no planted defect, expected at least one", file));
  }
  std::vector<PlantedDefect> defects;
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    const kvproof_planted_defect& one = given[i];
    if (one.size != sizeof one) {
      throw BadInput(fmt::format("{}: a planted defect of {} bytes, expected {}", file, one.size, sizeof one));
    }
    if (one.name == nullptr || *one.name == 0 || one.defect == nullptr || *one.defect == 0) {
      throw BadInput(fmt::format("{}: planted defect {}: expected a name and a sentence on the defect", file, i));
    }
    if (!names.insert(one.name).second) {
      throw BadInput(fmt::format("{}: planted defect {} is there twice", file, one.name));
    }
    defects.push_back(
        {one.name, kind_of(one.kind, one.name), one.defect, one.reenacts == nullptr ? "" : one.reenacts,
         (one.machines & KVPROOF_SET(KVPROOF_MEMORY_HOST)) != 0, (one.machines & KVPROOF_SET(KVPROOF_MEMORY_CUDA)) != 0,
         (one.by_chance & KVPROOF_SET(KVPROOF_MEMORY_HOST)) != 0, (one.by_chance & KVPROOF_SET(KVPROOF_MEMORY_CUDA)) != 0});
  }
  return defects;
}

}  // namespace kvproof
