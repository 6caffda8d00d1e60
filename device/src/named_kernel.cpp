#include "kvproof/device/named_kernel.h"

namespace kvproof {
namespace {

bool is_file(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".so") || text.find(".so.") != std::string::npos;
}

}  // namespace

NamedKernel named_kernel(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && is_file(text.substr(0, colon))) {
    return {text.substr(0, colon), text.substr(colon + 1)};
  }
  return is_file(text) ? NamedKernel{text, ""} : NamedKernel{"", text};
}

}  // namespace kvproof
