// How a person names a kernel.
#pragma once

#include <string>

namespace kvproof {

struct NamedKernel {
  std::string file;  // the plug-in; empty for a built-in kernel
  std::string name;  // empty for any
};

// Of FILE.so, FILE.so:NAME or NAME. A file is what has a folder or ends as shared libraries do.
NamedKernel named_kernel(const std::string& text);

}  // namespace kvproof
