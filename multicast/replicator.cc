#include "multicast/replicator.h"

namespace tombolo::multicast {

void Replicator::count(std::size_t copies, std::uint32_t payload_bytes) {
  if (copies == 0) return;
  counters_.packets.add();
  counters_.copies.add(copies);
  counters_.payload_bytes_saved.add(std::uint64_t{payload_bytes} * (copies - 1));
}

}  // namespace tombolo::multicast
