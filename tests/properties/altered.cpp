#include "altered.h"

#include <stdexcept>

namespace kvproof {
namespace {

std::int32_t store_altered(void* state, const kvproof_store_call* call, const char** message) {
  const auto& altered = *static_cast<const Altered*>(state);
  kvproof_store_call changed = *call;
  altered.before(changed);
  const std::int32_t status = altered.right.store(altered.right.state, &changed, message);
  if (status == KVPROOF_STORED) {
    altered.after(*call);
  }
  return status;
}

}  // namespace

Subject strict_of(const std::vector<Subject>& subjects, Layout layout) {
  for (const Subject& subject : subjects) {
    if (subject.dialect_name == "strict" && subject.dialect.layout == layout) {
      return subject;
    }
  }
  throw std::runtime_error("no strict kernel");
}

Subject subject_of(Altered& altered) {
  Subject subject = altered.right;
  subject.store = store_altered;
  subject.state = &altered;
  return subject;
}

std::uint8_t* pool_of(const kvproof_store_call& call) { return static_cast<std::uint8_t*>(call.cache); }

Case zero_case(Layout layout, std::int64_t pages, std::int64_t page_size, std::int64_t page_stride,
               std::vector<std::int64_t> indices) {
  Case c;
  c.shape.layout = layout;
  c.shape.pages = pages;
  c.shape.page_size = page_size;
  c.shape.page_stride = page_stride;
  c.shape.tokens = static_cast<std::int64_t>(indices.size());
  c.shape.row_stride = c.shape.row_bytes();
  c.indices = std::move(indices);
  c.input.resize(static_cast<std::size_t>(c.shape.input_bytes()));
  return c;
}

}  // namespace kvproof
