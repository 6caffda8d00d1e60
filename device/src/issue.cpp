#include "issue.h"

#include "kvproof/device/error.h"
#include "kvproof/device/store_call.h"

namespace kvproof {

bool Answers::call(const Subject& subject, const kvproof_store_call& call, std::size_t step) {
  const char* message = nullptr;
  const std::int32_t status = subject.store(subject.state, &call, &message);
  const std::string text = message != nullptr ? message : "";
  ++calls_;
  switch (status) {
    case KVPROOF_STORED:
      return true;
    case KVPROOF_REFUSED:
      if (refused_.empty()) {
        message_ = text;
      }
      refused_.push_back(step);
      return true;
    default:
      fail(text.empty() ? "status " + std::to_string(status) + " without a message" : text);
      return false;
  }
}

void Answers::fail(std::string what) {
  failed_ = true;
  message_ = std::move(what);
}

void Answers::tell(Observation& seen) const {
  seen.refused_steps = refused_;
  seen.message = message_;
  seen.outcome = failed_ ? Outcome::failed : (calls_ != 0 && refused_.size() == calls_ ? Outcome::refused : Outcome::stored);
}

std::vector<kvproof_store_call> calls_of(const Launch& launch, const StoreShape& shape, const kvproof_store_call& whole) {
  std::vector<kvproof_store_call> calls;
  for (const Step& step : steps_of(launch, shape)) {
    const auto* tokens = std::get_if<StoreTokens>(&step);
    if (tokens == nullptr) {
      throw CannotRun("a slot can be copied between calls that are made in turn only");
    }
    calls.push_back(part_of(whole, tokens->first, tokens->tokens));
  }
  return calls;
}

}  // namespace kvproof
