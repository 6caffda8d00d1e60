// What the store targets share: the production kernels of one layout on the host, one for each dialect.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <deque>

#include "extra_counters.h"
#include "kvproof/fuzz/call_format.h"
#include "kvproof/fuzz/heap_store.h"
#include "kvproof/properties/describe.h"

// Freed buffers are of no use to a target that frees them all: a small quarantine keeps memory warm.
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=1"; }

namespace kvproof::fuzz {

class StoreTarget {
 public:
  explicit StoreTarget(Layout layout) {
    for (Subject& subject : builtin_host_subjects()) {
      if (subject.dialect.layout == layout) {
        subjects_.push_back(std::move(subject));
        stores_.emplace_back(subjects_.back(),
                             CaseLimits{.largest_pool = 32 << 10, .largest_page_size = 256, .extreme_indices = true});
      }
    }
  }

  void run(std::span<const std::uint8_t> bytes) {
    decode_call(bytes, call_);
    HeapStore& store = stores_[call_.kernel % stores_.size()];
    const auto wrong = store.run(call_);
    count_features(call_, store.made(), store.subject().dialect);
    if (wrong) {
      fmt::print(stderr, "{}: {}\n  call: {}\n", store.subject().title(), *wrong, describe_call(store.made()));
      std::abort();
    }
  }

 private:
  std::deque<Subject> subjects_;  // which the stores refer to
  std::deque<HeapStore> stores_;
  FuzzCall call_;
};

}  // namespace kvproof::fuzz
