#include <algorithm>
#include <array>

#include "kvproof/properties/detector.h"

namespace kvproof {
namespace {

// A kernel that did not come back has shown nothing to the property that was asked.
template <const Property& (*... wanted)()>
bool broke(const Property& property, const Breach& breach) {
  return !breach.ended && ((property.name == wanted().name) || ...);
}

bool in_a_guard(const WrongByte& wrong) {
  return wrong.area == Area::guard_before_pool || wrong.area == Area::guard_after_pool;
}

bool interfered(const Property& property, const Breach& breach) {
  return broke<untouched_bytes_stay>(property, breach) &&
         std::any_of(breach.wrong.begin(), breach.wrong.end(),
                     [](const WrongByte& wrong) { return wrong.area == Area::pool; });
}

bool left_the_pool(const Property& property, const Breach& breach) {
  return broke<untouched_bytes_stay>(property, breach) && std::any_of(breach.wrong.begin(), breach.wrong.end(), in_a_guard);
}

bool did_not_come_back(const Property&, const Breach& breach) { return breach.ended; }

}  // namespace

std::span<const Detector> detectors() {
  static const std::array all{
      Detector{'V', "values", "codes, scales and written pad bytes against the model", broke<values_exact>},
      Detector{'R', "rope", "rope values against the input's bits", broke<rope_copied>},
      Detector{'B', "scale bounds", "scales below that of zeros or above that of the largest input", broke<scale_in_bounds>},
      Detector{'N', "NaN codes", "NaN codes, and codes beyond M, from finite input", broke<no_nan_code>},
      Detector{'I', "non-interference", "bytes of the pool that no token owns", interfered},
      Detector{'G', "guards", "the memory on both sides of the pool", left_the_pool},
      Detector{'J', "input and indices", "what the kernel was given, and the memory beside it",
               broke<input_and_indices_stay>},
      Detector{'F', "far rows", "rows beyond 2, 4 and 8 GiB", broke<far_rows_land>},
      Detector{'v', "value relations",
               "tiles, signs, powers of two and stored values, related to each other without a model",
               broke<tiles_independent, sign_symmetry, scaling_by_a_power_of_two, error_within_half_a_unit,
                     stored_values_store_again>},
      Detector{'c', "call relations",
               "calls with the same rows in another order, split, moved, strided, of another index type",
               broke<permuting_tokens_changes_nothing, split_batch_equals_whole, moving_by_pages_moves_the_bytes,
                     index_types_agree, strided_input_right_or_refused, no_tokens_touch_nothing>},
      Detector{'d', "duplicates", "slots that several tokens name", broke<duplicates_end_as_one_contender>},
      Detector{'x', "invalid indices", "tokens that the dialect skips", broke<invalid_indices_follow_the_dialect>},
      Detector{'s', "sequences", "an engine's life with one pool", broke<sequences_follow_the_model>},
      Detector{'r', "repeats", "calls made again and again, from a captured graph, on two streams",
               broke<repeated_runs_agree, graph_capture_changes_nothing, two_streams_change_nothing>},
      Detector{'P', "proof", "rows of the domains of kvproof prove, as many of each as take a moment", nullptr},
      Detector{'L', "large shapes", "pages of thousands of slots, batches beyond 65,535 tokens", broke<large_shapes_land>},
      Detector{'E', "isolation", "kernels that crash, hang or fail", did_not_come_back},
  };
  return all;
}

}  // namespace kvproof
