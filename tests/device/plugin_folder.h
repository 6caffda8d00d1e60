// The plug-ins that the build made for these tests.
#pragma once

#include <string>

namespace kvproof {

inline std::string plugin_path(const std::string& name) {
  return std::string(PLUGIN_FOLDER) + "/plugin_" + name + PLUGIN_SUFFIX;
}

}  // namespace kvproof
