// A descriptor with any dialect at all: it is refused by name, or becomes a kernel whose dialect does not contradict itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kvproof/device/error.h"
#include "kvproof/device/subject.h"
#include "kvproof/reference/dialects.h"

namespace {

std::int32_t never_called(void*, const kvproof_store_call*, const char**) { std::abort(); }

}  // namespace

// The first byte chooses the layout and whether the rest is a dialect's fields or its name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  kvproof_dialect fields{};
  std::memcpy(&fields, data + 1, std::min(size - 1, sizeof fields));
  // Most inputs are to pass this one: any other size is refused at once.
  fields.size = data[0] & 4 ? fields.size : static_cast<std::uint32_t>(sizeof fields);
  const std::string name(reinterpret_cast<const char*>(data + 1), size - 1);
  kvproof_kernel kernel{};
  kernel.size = sizeof kernel;
  kernel.layouts = KVPROOF_SET(data[0] & 1U);
  kernel.name = "fuzzed";
  kernel.dialect = data[0] & 2 ? name.c_str() : nullptr;
  kernel.fields = data[0] & 2 ? nullptr : &fields;
  kernel.input_types = KVPROOF_SET(KVPROOF_BF16);
  kernel.index_types = KVPROOF_SET(KVPROOF_INT64);
  kernel.fp8_types = KVPROOF_SET(KVPROOF_E4M3FN);
  kernel.store = &never_called;
  try {
    for (const kvproof::Subject& subject : kvproof::subjects_of(&kernel, 1, "input", nullptr)) {
      if (const auto contradiction = kvproof::dialect_contradiction(subject.dialect)) {
        fmt::print(stderr, "taken, though {}\n", *contradiction);
        std::abort();
      }
    }
  } catch (const kvproof::BadInput&) {
  }
  return 0;
}
