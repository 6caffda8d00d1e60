// One arena for each memory that the chosen kernels live in, made when first needed.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kvproof/device/arena.h"

namespace kvproof::cli {

class Arenas {
 public:
  Arena& of(const Subject& subject);

  // The devices used so far, joined by ", ".
  const std::string& devices() const { return devices_; }

 private:
  std::map<std::string, std::unique_ptr<Arena>> arenas_;
  std::string devices_;
};

}  // namespace kvproof::cli
