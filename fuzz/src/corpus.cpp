#include "kvproof/fuzz/corpus.h"

#include <algorithm>

#include "kvproof/fuzz/mutate.h"

namespace kvproof::fuzz {

// The newest calls are drawn more often: what lies beside them has been tried least.
const FuzzCall& Corpus::any(Draw& draw) const {
  const auto size = static_cast<std::int64_t>(calls_.size());
  const std::int64_t newest = std::max<std::int64_t>(0, size - 32);
  return calls_[static_cast<std::size_t>(draw.one_in(3) ? draw.between(newest, size - 1) : draw.below(size))];
}

FuzzCall Corpus::next(Draw& draw) const {
  // Every second call is drawn afresh: it holds more classes than a changed one, and shallow defects are met sooner.
  if (calls_.empty() || draw.one_in(2)) {
    return drawn_call(draw);
  }
  FuzzCall call = draw.one_in(4) ? crossed(draw, any(draw), any(draw)) : any(draw);
  mutate(draw, call);
  return call;
}

bool Corpus::offer(const FuzzCall& call, const std::vector<std::uint16_t>& features) {
  const auto tokens = static_cast<std::uint8_t>(call.tokens.size() + 1);
  bool kept = false;
  for (const std::uint16_t feature : features) {
    std::uint8_t& fewest = fewest_tokens_[feature];
    features_ += fewest == 0 ? 1 : 0;
    // Half as many tokens, so that a corpus does not turn over for every token less.
    if (fewest == 0 || 2 * tokens <= fewest) {
      fewest = tokens;
      kept = true;
    }
  }
  if (kept) {
    calls_.push_back(call);
  }
  return kept;
}

}  // namespace kvproof::fuzz
