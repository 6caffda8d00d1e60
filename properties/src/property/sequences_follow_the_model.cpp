// An engine's life with one pool: append, overwrite, copy a page, evict and reuse, a padded graph batch.
// After all of it every row is the model's.
#include <algorithm>
#include <map>

#include "../derive.h"
#include "kvproof/properties/property.h"

namespace kvproof {
namespace {

// Sequences of tokens in pages of one pool. What happens at each token is drawn from the case's seed and the token's own
// index, so that a case with fewer tokens still makes the same moves for those that are left.
class Engine {
 public:
  explicit Engine(Rig& rig) : rig_(rig), run_(rig.given()), used_(static_cast<std::size_t>(run_.shape.pages), 0) {}

  void live() {
    for (std::int64_t token = 0; token < run_.shape.tokens; ++token) {
      const auto index = static_cast<std::uint64_t>(run_.indices[static_cast<std::size_t>(token)]);
      Draw draw(rig_.given().poison_seed ^ (index * 0x9E3779B97F4A7C15ULL));
      if (token > first_ && draw.one_in(3)) {
        end_call();
        if (draw.one_in(3)) {
          copy(draw);
        }
      }
      run_.indices[static_cast<std::size_t>(token)] = place(draw);
      ++pending_;
    }
    end_call();
  }

  const Case& run() const { return run_; }
  Launch launch() const {
    Launch all;
    all.steps = steps_;
    return all;
  }

 private:
  std::int64_t capacity() const { return run_.shape.capacity(); }
  Fate fate(std::int64_t index) const {
    return locate(index, run_.shape.pages, run_.shape.page_size, rig_.subject().dialect).fate;
  }
  bool free_in_call(std::int64_t slot) const { return std::find(call_.begin(), call_.end(), slot) == call_.end(); }

  // The index that the next token of the call gets.
  std::int64_t place(Draw& draw) {
    switch (draw.below(8)) {
      case 0:  // a padding row of a graph batch
        if (fate(0) == Fate::skipped || rig_.subject().duplicates != Duplicates::forbidden) {
          return take(0);
        }
        break;
      case 1:
        if (fate(-1) == Fate::skipped) {
          return -1;
        }
        break;
      case 2:
      case 3:  // a token recomputed in its slot
        if (!stored_.empty()) {
          const std::int64_t slot = draw.of(stored_);
          if (free_in_call(slot)) {
            return take(slot);
          }
        }
        break;
      case 4:  // a sequence is evicted: its page is the next to be filled
        used_[static_cast<std::size_t>(draw.below(run_.shape.pages))] = 0;
        break;
      default:
        break;
    }
    return append(draw);
  }

  // The next slot of some page; of a full pool, one that is evicted.
  std::int64_t append(Draw& draw) {
    const std::int64_t from = draw.below(run_.shape.pages);
    for (std::int64_t i = 0; i < run_.shape.pages; ++i) {
      const std::int64_t page = (from + i) % run_.shape.pages;
      std::int64_t& used = used_[static_cast<std::size_t>(page)];
      for (; used < run_.shape.page_size; ++used) {
        const std::int64_t slot = page * run_.shape.page_size + used;
        if (fate(slot) == Fate::stored && free_in_call(slot)) {
          ++used;
          return take(slot);
        }
      }
    }
    std::fill(used_.begin(), used_.end(), 0);
    // Every slot was taken since the last eviction: the batch goes on in a new call.
    for (std::int64_t slot = 0; slot < capacity(); ++slot) {
      if (fate(slot) == Fate::stored && free_in_call(slot)) {
        return take(slot);
      }
    }
    end_call();
    return take(capacity() - 1);
  }

  std::int64_t take(std::int64_t slot) {
    if (fate(slot) == Fate::stored) {
      call_.push_back(slot);
    }
    return slot;
  }

  // A shared prefix is copied page by page, and the copy goes on by itself; in its own page a row is copied alone.
  void copy(Draw& draw) {
    if (stored_.empty()) {
      return;
    }
    const std::int64_t row = draw.of(stored_);
    const std::int64_t page = row / run_.shape.page_size;
    const std::int64_t other = draw.below(run_.shape.pages);
    if (page == other) {
      copy(row, page * run_.shape.page_size + draw.below(run_.shape.page_size));
      return;
    }
    const std::vector<std::int64_t> rows = stored_;
    for (const std::int64_t slot : rows) {
      if (slot / run_.shape.page_size == page) {
        copy(slot, other * run_.shape.page_size + slot % run_.shape.page_size);
      }
    }
    used_[static_cast<std::size_t>(other)] = used_[static_cast<std::size_t>(page)];
  }

  void copy(std::int64_t from, std::int64_t to) {
    if (from != to && fate(to) == Fate::stored) {
      steps_.emplace_back(CopySlot{from, to});
      remember(to);
    }
  }

  void end_call() {
    if (pending_ == 0) {
      return;
    }
    steps_.emplace_back(StoreTokens{first_, pending_});
    for (const std::int64_t slot : call_) {
      remember(slot);
    }
    call_.clear();
    first_ += pending_;
    pending_ = 0;
  }

  void remember(std::int64_t slot) {
    if (std::find(stored_.begin(), stored_.end(), slot) == stored_.end()) {
      stored_.push_back(slot);
    }
  }

  Rig& rig_;
  Case run_;
  std::vector<std::int64_t> used_;    // slots of each page that are in use
  std::vector<std::int64_t> stored_;  // slots that hold a row
  std::vector<std::int64_t> call_;    // slots of the call at hand
  std::vector<Step> steps_;
  std::int64_t first_ = 0;    // token of the call at hand
  std::int64_t pending_ = 0;  // its tokens so far
};

std::optional<Breach> over_runs(Rig& rig) {
  Engine engine(rig);
  engine.live();
  const Trial trial = rig.judged(engine.run(), engine.launch());
  const auto& refused = trial.seen[0].refused_steps;
  if (!refused.empty()) {
    return std::nullopt;  // what was copied from a slot that was never stored is not known
  }
  const auto is_call = [](const Step& step) { return std::holds_alternative<StoreTokens>(step); };
  const std::vector<Step> steps = engine.launch().steps;
  rig.exercised_if(trial.codes() > 0 && std::count_if(steps.begin(), steps.end(), is_call) > 1);
  return any_wrong_byte(trial);
}

}  // namespace

const Property& sequences_follow_the_model() {
  static const Property property{
      .name = "sequences_follow_the_model",
      .promise =
          "after an engine has appended, overwritten, copied, evicted and padded in one pool, every row is the model's",
      .catches =
          "a slot that keeps part of its earlier row, a call that relies on what the last one left: tests store once, to a "
          "fresh pool",
      .focus = {.most_tokens = 48, .fresh_rows = false},
      .exercised_by = "two calls into one pool, with none refused",
      .over_runs = over_runs,
  };
  return property;
}

}  // namespace kvproof
