#include "dataplane/worker/worker.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "protocol/wire/packet.h"

namespace tombolo::dataplane {

Worker::Worker(Parts parts, std::span<const std::unique_ptr<Transmitter>> transmitters)
    : parts_(std::move(parts)), transmitters_(transmitters) {}

Worker::Turn Worker::turn(Nanoseconds now_ns) {
  install_epochs(now_ns);
  Turn turn;
  turn.received = receive_from_ports(now_ns) + receive_from_workers(now_ns);
  if (has_handed_over()) turn.next_ns = now_ns;
  for (const auto& lane : parts_.lanes) turn.next_ns = std::min(turn.next_ns, lane->turn(now_ns));
  for (const auto& transmitter : transmitters_) transmitter->flush(now_ns);
  counters_.turns.add();
  if (turn.received == 0) counters_.idle_turns.add();
  return turn;
}

std::uint64_t Worker::transmit_refused() const {
  std::uint64_t refused = 0;
  for (const auto& transmitter : transmitters_) refused += transmitter->refused();
  return refused;
}

std::size_t Worker::receive_from_ports(Nanoseconds now_ns) {
  if (!parts_.receives) return 0;
  std::size_t received = 0;
  for (Port* const port : parts_.ports) {
    const std::size_t count = port->receive(parts_.queue, burst_, now_ns);
    for (std::size_t i = 0; i < count; ++i) dispatch(burst_[i], now_ns);
    received += count;
  }
  return received;
}

std::size_t Worker::receive_from_workers(Nanoseconds now_ns) {
  std::size_t received = 0;
  for (HandOverQueue* const queue : parts_.from) {
    if (queue == nullptr) continue;
    HandOver handed;
    for (std::size_t i = 0; i < kBurst && queue->pop(handed); ++i, ++received) {
      RxPacket packet{handed.from, handed.lane, handed.bytes, BufferRef::adopt(handed.buffer)};
      dispatch(packet, now_ns);
    }
  }
  return received;
}

/// Whether another worker's packets still wait: more came than one turn takes.
bool Worker::has_handed_over() const {
  return std::any_of(parts_.from.begin(), parts_.from.end(),
                     [](HandOverQueue* queue) { return queue != nullptr && queue->read_available() > 0; });
}

void Worker::install_epochs(Nanoseconds now_ns) {
  Installation installation;
  while (parts_.installations->pop(installation)) {
    auto replaced = installation.lane->install(std::unique_ptr<LaneEpoch>(installation.epoch), now_ns);
    // Control sizes the way back like the way in, so there is always room.
    CHECK(parts_.retired->push({installation.lane, replaced.release()}));
  }
}

/// Gives the packet to its lane, here or at the worker that owns it.
void Worker::dispatch(RxPacket& packet, Nanoseconds now_ns) {
  if (Lane* const lane = own_lane(packet); lane != nullptr) {
    lane->receive(packet, now_ns);
    packet.buffer.reset();
    return;
  }
  const std::size_t owner = packet.lane % parts_.to.size();
  HandOverQueue* const queue = owner == parts_.index ? nullptr : parts_.to[owner];
  if (queue == nullptr) {
    counters_.drops.add(DropReason::kWrongLane);  // A lane that the edge does not have.
  } else if (queue->write_available() == 0) {
    counters_.drops.add(DropReason::kHandOverFull);
  } else {
    queue->push({packet.from, packet.lane, packet.bytes, packet.buffer.detach()});
    counters_.handed_over.add();
  }
  packet.buffer.reset();
}

/// The lane of the packet's job; nullptr if another worker has it. A packet that names no job of this edge is
/// for the first one's lane to refuse.
Lane* Worker::own_lane(const RxPacket& packet) const {
  const std::size_t workers = parts_.to.size();
  const std::size_t jobs = parts_.jobs.size();
  const std::size_t first = packet.lane / workers * jobs;
  if (packet.lane % workers != parts_.index || first >= parts_.lanes.size()) return nullptr;
  if (jobs == 1) return parts_.lanes[first].get();
  const auto job = wire::peek_job(std::span<const std::byte>(packet.buffer.data(), packet.bytes));
  const auto found = job ? std::find(parts_.jobs.begin(), parts_.jobs.end(), *job) : parts_.jobs.end();
  return parts_.lanes[first + (found == parts_.jobs.end() ? 0 : found - parts_.jobs.begin())].get();
}

}  // namespace tombolo::dataplane
