// Any memory: a guard on each side of each buffer, in one allocation with it.
#include <algorithm>
#include <bit>

#include "fill_poison.h"
#include "ground.h"

namespace kvproof {

GuardedSpan place_given(std::uint8_t* room_begin, std::int64_t room, std::int64_t bytes, Placement placement) {
  const std::int64_t taken = (bytes + given_alignment - 1) / given_alignment * given_alignment;
  switch (placement) {
    case Placement::start_flush:
      return {room_begin, bytes, 0, given_guard};
    case Placement::end_flush:
      return {room_begin + room - taken, bytes, given_guard, taken - bytes};
    case Placement::end_loose:
      return {room_begin + given_guard, bytes, given_guard, room - given_guard - bytes};
    case Placement::start_loose:
      break;
  }
  const std::int64_t before = room - given_guard - taken;
  return {room_begin + before, bytes, before, room - before - bytes};
}

std::int64_t given_room(std::int64_t bytes, Placement placement) {
  const bool loose = placement == Placement::end_loose || placement == Placement::start_loose;
  return bytes + given_alignment + given_guard + (loose ? loose_guard : 0);
}

namespace {

class PlainGround final : public Ground {
 public:
  explicit PlainGround(Memory& memory) : memory_(memory) {}
  ~PlainGround() override {
    for (Buffer& buffer : buffers_) {
      release(buffer);
    }
  }

  GuardedSpan pool(const StoreShape& shape, const Poison& poison) override {
    const std::int64_t guard = Arena::plain_guard(shape);
    GuardedSpan region = room(buffers_[0], shape.pool_bytes(), guard, guard);
    image_.resize(static_cast<std::size_t>(region.all()));
    fill_poison(pool_poison(poison), -guard, image_.data(), region.all());
    memory_.copy_in(region.begin(), image_.data(), image_.size());
    return region;
  }

  GuardedSpan given(Given which, std::span<const std::uint8_t> bytes, const Poison& poison, Placement placement) override {
    GuardedSpan region = room(buffers_[which == Given::input ? 1 : 2], static_cast<std::int64_t>(bytes.size()),
                              placement == Placement::start_loose ? loose_guard : given_guard,
                              placement == Placement::end_loose ? loose_guard : given_guard);
    image_.resize(static_cast<std::size_t>(region.all()));
    const GuardedSpan image{image_.data() + region.before, region.size, region.before, region.after};
    fill_guards(poison, image);
    std::copy(bytes.begin(), bytes.end(), image.data);
    memory_.copy_in(region.begin(), image_.data(), image_.size());
    return region;
  }

  void collect(const GuardedSpan& region, GuardedBytes& bytes) override {
    bytes.before = region.before;
    bytes.after = region.after;
    bytes.bytes.resize(static_cast<std::size_t>(region.all()));
    memory_.copy_out(bytes.bytes.data(), region.begin(), bytes.bytes.size());
  }

 private:
  struct Buffer {
    void* pointer = nullptr;
    std::uint64_t capacity = 0;
  };

  void release(Buffer& buffer) {
    if (buffer.pointer != nullptr) {
      memory_.release(buffer.pointer);
      buffer = {};
    }
  }

  GuardedSpan room(Buffer& buffer, std::int64_t size, std::int64_t before, std::int64_t after) {
    const auto bytes = static_cast<std::uint64_t>(before + size + after);
    if (buffer.capacity < bytes) {
      release(buffer);
      const std::uint64_t capacity = std::bit_ceil(bytes);
      buffer.pointer = memory_.allocate(capacity);
      buffer.capacity = capacity;
    }
    return {static_cast<std::uint8_t*>(buffer.pointer) + before, size, before, after};
  }

  Memory& memory_;
  Buffer buffers_[3];
  std::vector<std::uint8_t> image_;
};

}  // namespace

std::unique_ptr<Ground> plain_ground(Memory& memory) { return std::make_unique<PlainGround>(memory); }

}  // namespace kvproof
