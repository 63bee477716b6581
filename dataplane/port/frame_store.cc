#include "dataplane/port/frame_store.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"

namespace tombolo::dataplane {
namespace {

/// Room for every standard packet (an Ethernet MTU of 1500), and for every jumbo packet.
constexpr std::array<std::uint32_t, 2> kRoomBytes{1536, kMaxPacketBytes};
/// The packet size that a reserve assumes: below what data packets have, as short ones are among them.
constexpr std::array<std::uint64_t, 2> kTypicalBytes{1024, 4096};
constexpr std::uint64_t kLeastFrames = 256;
constexpr std::uint64_t kMostReservedFrames = 1U << 18;
constexpr std::uint64_t kGrowthFrames = 1024;
/// Slabs beyond this many would make the list itself allocate.
constexpr std::size_t kReservedSlabs = 64;

}  // namespace

FrameStore::FrameStore(std::uint64_t flight_bytes) {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    classes_[i].stride = sizeof(Frame) + kRoomBytes[i];
    classes_[i].slabs.reserve(kReservedSlabs);
    const std::uint64_t frames = kLeastFrames + flight_bytes / kTypicalBytes[i];
    // What cannot be had now is asked for again when it is needed, and counted then.
    add_slab(classes_[i], std::min(frames, kMostReservedFrames));
  }
}

Frame* FrameStore::allocate(std::uint32_t bytes) {
  CHECK(bytes <= kRoomBytes.back());
  const std::uint8_t index = bytes <= kRoomBytes.front() ? 0 : 1;
  SizeClass& size_class = classes_[index];
  if (Frame* frame = size_class.free; frame != nullptr) {
    size_class.free = frame->next;
    return frame;
  }
  if (size_class.fresh == size_class.fresh_end) {
    growths_.add();
    if (!add_slab(size_class, kGrowthFrames)) return nullptr;
  }
  Frame* frame = new (size_class.fresh) Frame;
  frame->size_class = index;
  size_class.fresh += size_class.stride;
  return frame;
}

void FrameStore::recycle(Frame* frame) {
  SizeClass& size_class = classes_[frame->size_class];
  frame->next = size_class.free;
  size_class.free = frame;
}

bool FrameStore::add_slab(SizeClass& size_class, std::uint64_t frames) {
  MappedMemory slab = MappedMemory::map(frames * size_class.stride);
  if (slab.data() == nullptr) return false;
  size_class.fresh = slab.data();
  size_class.fresh_end = slab.data() + frames * size_class.stride;
  size_class.slabs.push_back(std::move(slab));
  return true;
}

}  // namespace tombolo::dataplane
