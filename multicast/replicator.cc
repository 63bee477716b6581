#include "multicast/replicator.h"

#include <cstring>

namespace tombolo::multicast {

TxPacket make_copy(const wire::Header& header, const std::byte* payload, std::uint32_t payload_bytes,
                   const BufferRef& keep) {
  TxPacket copy;
  std::memcpy(copy.header.data(), &header, sizeof header);
  copy.payload = payload;
  copy.payload_bytes = payload_bytes;
  copy.keep = keep.share();
  return copy;
}

void Replicator::count(std::size_t copies, std::uint32_t payload_bytes) {
  if (copies == 0) return;
  counters_.packets.add();
  counters_.copies.add(copies);
  counters_.payload_bytes_saved.add(std::uint64_t{payload_bytes} * (copies - 1));
}

}  // namespace tombolo::multicast
