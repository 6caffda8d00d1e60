#include "option_kinds.h"

#include <map>
#include <string>

namespace kvproof::cli {

CLI::AsNumberWithUnit duration() {
  return CLI::AsNumberWithUnit(std::map<std::string, double>{{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}});
}

}  // namespace kvproof::cli
