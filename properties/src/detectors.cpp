#include <algorithm>
#include <array>

#include "kvproof/properties/detector.h"

namespace kvproof {
namespace {

bool in_a_guard(const WrongByte& wrong) { return wrong.area == Area::guard_before_pool || wrong.area == Area::guard_after_pool; }

// A kernel that did not come back has shown nothing to the property that was asked.
template <const Property& (*wanted)()>
bool broke(const Property& property, const Breach& breach) {
  return property.name == wanted().name && !breach.ended;
}

bool interfered(const Property& property, const Breach& breach) {
  return broke<untouched_bytes_stay>(property, breach) && std::any_of(breach.wrong.begin(), breach.wrong.end(), [](auto& w) {
           return w.area == Area::pool;
         });
}

bool left_the_pool(const Property& property, const Breach& breach) {
  return broke<untouched_bytes_stay>(property, breach) && std::any_of(breach.wrong.begin(), breach.wrong.end(), in_a_guard);
}

bool did_not_come_back(const Property&, const Breach& breach) { return breach.ended; }

}  // namespace

std::span<const Detector> detectors() {
  static const std::array all{
      Detector{"values", "codes, scales and written pad bytes against the model", broke<values_exact>},
      Detector{"rope", "rope values against the input's bits", broke<rope_copied>},
      Detector{"scale bounds", "scales below that of zeros or above that of the largest input", broke<scale_in_bounds>},
      Detector{"NaN codes", "NaN codes, and codes beyond M, from finite input", broke<no_nan_code>},
      Detector{"non-interference", "bytes of the pool that no token owns", interfered},
      Detector{"guards", "the memory on both sides of the pool", left_the_pool},
      Detector{"input and indices", "what the kernel was given, and the memory beside it", broke<input_and_indices_stay>},
      Detector{"far rows", "rows beyond 2 and 4 GiB", broke<far_rows_land>},
      Detector{"isolation", "kernels that crash, hang or fail", did_not_come_back},
  };
  return all;
}

}  // namespace kvproof
