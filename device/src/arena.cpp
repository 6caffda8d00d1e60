#include "kvproof/device/arena.h"

#include <fmt/format.h>

#include <algorithm>

#include "ground.h"
#include "issue.h"
#include "kvproof/device/error.h"
#include "kvproof/device/store_call.h"
#if defined(KVPROOF_HAS_CUDA)
#include "launch_cuda.h"
#endif

namespace kvproof {
namespace {

constexpr std::int64_t smallest_plain_guard = 64 * 1024;
constexpr std::int64_t guard_unit = 256;  // keeps the buffer's own alignment
constexpr std::int64_t smallest_reach = std::int64_t{64} << 20;

Poison reseeded(const Poison& poison, std::uint64_t salt) { return {poison.seed ^ salt, poison.complement}; }

std::unique_ptr<Ground> mirrored(Memory& memory, std::int64_t reach, const ArenaOptions& options) {
  switch (memory.kind()) {
    case MemoryKind::host:
      return host_ground(reach, options.largest_dense);
    case MemoryKind::cuda:
      return cuda_ground(memory, reach);
    case MemoryKind::own:
      break;
  }
  return nullptr;
}

#if defined(KVPROOF_HAS_CUDA)
void require_cuda_memory(const Memory& memory) {
  if (memory.kind() != MemoryKind::cuda) {
    throw CannotRun("graphs and streams: the kernel's memory is not CUDA's");
  }
}
#endif

void copy_slot(Memory& memory, const StoreShape& shape, bool with_pad, std::uint8_t* pool, const CopySlot& slots) {
  const LayoutShape layout = layout_shape(shape.layout);
  const auto copy = [&](auto offset_of, int count) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    memory.copy_out(bytes.data(), pool + offset_of(slots.from), bytes.size());
    memory.copy_in(pool + offset_of(slots.to), bytes.data(), bytes.size());
  };
  const auto page_of = [&](std::int64_t slot) { return slot / shape.page_size * shape.page_stride; };
  copy([&](std::int64_t slot) { return page_of(slot) + data_offset(shape.layout, slot % shape.page_size); },
       layout.data_bytes);
  copy(
      [&](std::int64_t slot) { return page_of(slot) + scale_offset(shape.layout, slot % shape.page_size, shape.page_size); },
      layout.scale_bytes - (with_pad ? 0 : layout.pad));
}

void fail_overrun(const SparsePool& pool, Observation& seen) {
  if (pool.overrun && seen.outcome == Outcome::stored) {
    seen.outcome = Outcome::failed;
    seen.message = fmt::format("it read or wrote {} MiB and more of a pool of {} MiB, which its tokens do not explain",
                               static_cast<std::int64_t>(pool.touched.size()) * pool.page_bytes >> 20, pool.size >> 20);
  }
}

std::string mib(std::int64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

Poison pool_poison(const Poison& poison) { return poison; }
Poison input_poison(const Poison& poison) { return reseeded(poison, 0x696E707574ULL); }
Poison indices_poison(const Poison& poison) { return reseeded(poison, 0x696E6469636573ULL); }
Poison mirror_poison(const Poison& poison, bool after) {
  return reseeded(poison, after ? 0x6166746572ULL : 0x6265666F7265ULL);
}

Arena::Arena(std::unique_ptr<Memory> memory, const ArenaOptions& options) : memory_(std::move(memory)) {
  std::string reason;
  for (std::int64_t reach = options.reach; ground_ == nullptr && reach >= smallest_reach; reach /= 2) {
    try {
      ground_ = mirrored(*memory_, reach, options);
      if (ground_ == nullptr) {
        break;
      }
      if (reach != options.reach) {
        note_ = fmt::format("guards of {} instead of {}: {}", mib(reach), mib(options.reach), reason);
      }
    } catch (const CannotRun& error) {
      reason = error.what();
    }
  }
  if (ground_ == nullptr) {
    ground_ = plain_ground(*memory_);
    if (reason.empty() && memory_->kind() != MemoryKind::own) {
      reason =
          fmt::format("a reach of {} was asked for, far guards have at least {}", mib(options.reach), mib(smallest_reach));
    }
    note_ = reason.empty() ? "" : fmt::format("plain guards: {}", reason);
  }
}

Arena::~Arena() = default;

std::int64_t Arena::plain_guard(const StoreShape& shape) {
  const std::int64_t wanted = std::max(smallest_plain_guard, 2 * shape.page_stride);
  return (wanted + guard_unit - 1) / guard_unit * guard_unit;
}

bool Arena::runs_in_place() const { return ground_->mirrors().has_value(); }

std::int64_t Arena::reach() const { return ground_->reach(); }

std::string Arena::device() const {
  return note_.empty() ? memory_->device() : fmt::format("{} ({})", memory_->device(), note_);
}

Observation Arena::run_in_place(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                                std::span<const std::uint8_t> indices, const Poison& poison, Placement placement,
                                const Launch& launch) {
  Observation seen;
  seen.poison = poison;
  placement_ = placement;
  OnDevice& device = seen.device.emplace();
  device.stream = memory_->stream();
  const auto placement_of = [&](Given which) {
    const bool loose = loosened_ && loosened_->which == which && loosened_->flush == placement;
    return loose ? loose_of(placement) : placement;
  };
  const auto lay_out = [&] {
    device.pool = ground_->pool(shape, poison);
    device.input = ground_->given(Given::input, input, input_poison(poison), placement_of(Given::input));
    device.indices = ground_->given(Given::indices, indices, indices_poison(poison), placement_of(Given::indices));
    if (const auto mirrors = ground_->mirrors()) {
      device.mirrors = *mirrors;
    }
  };
  lay_out();
  const kvproof_store_call whole =
      store_call(shape, device.pool.data, device.input.data, device.indices.data, device.stream);
  Answers answers;
  switch (launch.mode) {
    case LaunchMode::in_turn:
      in_turn(subject, shape, whole, launch, answers);
      break;
#if defined(KVPROOF_HAS_CUDA)
    case LaunchMode::captured:
      require_cuda_memory(*memory_);
      launch_captured(subject, calls_of(launch, shape, whole), device.stream, lay_out, answers);
      break;
    case LaunchMode::two_streams:
      require_cuda_memory(*memory_);
      launch_on_two_streams(subject, calls_of(launch, shape, whole), device.stream, answers);
      break;
#else
    default:
      throw CannotRun("graphs and streams: this build has no CUDA");
#endif
  }
  memory_->synchronize();
  answers.tell(seen);
  return seen;
}

void Arena::in_turn(const Subject& subject, const StoreShape& shape, const kvproof_store_call& whole, const Launch& launch,
                    Answers& answers) {
  const std::vector<Step> steps = steps_of(launch, shape);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto* copied = std::get_if<CopySlot>(&steps[i])) {
      memory_->synchronize();
      copy_slot(*memory_, shape, subject.dialect.pad == Pad::zero, static_cast<std::uint8_t*>(whole.cache), *copied);
      continue;
    }
    const auto& tokens = std::get<StoreTokens>(steps[i]);
    kvproof_store_call call = part_of(whole, tokens.first, tokens.tokens);
    if (launch.null_when_empty && tokens.tokens == 0) {
      call.input = nullptr;
      call.index = nullptr;
    }
    if (!answers.call(subject, call, i)) {
      return;
    }
  }
}

Observation Arena::run(const Subject& subject, const StoreShape& shape, std::span<const std::uint8_t> input,
                       std::span<const std::uint8_t> indices, const Poison& poison, Placement placement,
                       const Launch& launch) {
  Observation seen = run_in_place(subject, shape, input, indices, poison, placement, launch);
  collect(seen);
  seen.device.reset();
  return seen;
}

void Arena::collect(Observation& seen) {
  const OnDevice& device = seen.device.value();
  seen.sparse = ground_->sparse_pool();
  if (seen.sparse) {
    fail_overrun(*seen.sparse, seen);
  } else {
    ground_->collect(device.pool, seen.pool);
  }
  ground_->collect(device.input, seen.input);
  ground_->collect(device.indices, seen.indices);
  seen.far = ground_->far();
}

void Arena::copy_pool(Observation& seen) {
  if (const auto sparse = ground_->sparse_pool()) {
    if (sparse->size > most_expanded) {
      throw CannotRun(
          fmt::format("a pool of {}: runs are compared in host pools of at most {}", mib(sparse->size), mib(most_expanded)));
    }
    fail_overrun(*sparse, seen);
    seen.pool = {};
    seen.pool.bytes.resize(static_cast<std::size_t>(sparse->size));
    for (const TouchedPage& page : sparse->touched) {
      const std::int64_t begin = std::max<std::int64_t>(0, page.offset);
      const std::int64_t end = std::min(sparse->size, page.offset + sparse->page_bytes);
      if (begin < end) {
        sparse->copy(begin, end - begin, seen.pool.bytes.data() + begin);
      }
    }
    return;
  }
  GuardedSpan pool = seen.device.value().pool;
  pool.before = 0;
  pool.after = 0;
  ground_->collect(pool, seen.pool);
}

}  // namespace kvproof
