#pragma once

#include <cstdint>
#include <span>

#include "base/clock.h"
#include "protocol/drop_reason.h"
#include "protocol/link/receiver.h"
#include "protocol/link/rtt.h"
#include "protocol/link/sender.h"
#include "protocol/wire/hello.h"

namespace tombolo::link {

struct PeerConfig {
  std::uint32_t session = 0;         ///< This node's own; grows with each restart; never 0.
  std::uint32_t window = 0;          ///< Packets outstanding at most, each way; a power of two.
  std::uint32_t first_sequence = 0;  ///< The first packet's number.
  Nanoseconds initial_rtt_ns = kMillisecond;
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  std::uint32_t missed_hellos = 3;  ///< Silence of so many intervals means that the peer is down.
};

/// One neighbour in one lane: sessions, liveness and RTT round a Sender and a Receiver. Pure: takes events
/// and the time, says what is due; the caller sends. Edges and islands use the same class.
///
/// Two nodes are up towards each other once each has heard a HELLO that names its own session. A newer
/// session of the peer starts both directions afresh; whatever still arrives from the older one is refused
/// (invariant I7). After silence the same session goes on where it stood: nothing that arrived arrives again.
class Peer {
 public:
  explicit Peer(const PeerConfig& config);

  /// Whether a packet that is not a HELLO may be used: kNone, kUnknownSession, kOldSession. Remembers that
  /// the peer lives and when it sent this.
  DropReason admit(const wire::Header& header, Nanoseconds now_ns);

  struct HelloOutcome {
    DropReason refused = DropReason::kNone;
    bool became_up = false;  ///< State that the peer must know (grants) has to be sent again.
  };
  HelloOutcome on_hello(const wire::Header& header, const wire::Hello& hello, Nanoseconds now_ns);

  /// Returns how many sequences were written to `repairs`.
  std::size_t on_feedback(const wire::Feedback& feedback, Nanoseconds now_ns,
                          std::span<std::uint32_t> repairs);

  /// Makes a HELLO due at once: there is news that it carries.
  void announce() { answer_ = true; }

  bool hello_due(Nanoseconds now_ns) const { return now_ns >= next_hello_ns(); }
  bool feedback_due(Nanoseconds now_ns) const { return up_ && now_ns >= receiver_.next_feedback_ns(); }
  wire::Hello make_hello(Nanoseconds now_ns);
  void make_feedback(wire::Feedback& feedback, Nanoseconds now_ns);

  /// Notices silence: true in the turn in which the peer goes down; what was kept for it is dropped.
  bool expire(Nanoseconds now_ns);
  /// How long a silence that is.
  Nanoseconds silence_ns() const { return config_.missed_hellos * config_.hello_interval_ns; }
  /// The next moment at which hello_due, feedback_due or expire may change.
  Nanoseconds next_timer_ns() const;

  bool up() const { return up_; }
  std::uint32_t remote_session() const { return remote_session_; }
  Nanoseconds rtt_ns() const { return rtt_.smoothed_ns(); }
  Sender& sender() { return sender_; }
  Receiver& receiver() { return receiver_; }
  const Sender& sender() const { return sender_; }
  const Receiver& receiver() const { return receiver_; }

 private:
  Nanoseconds next_hello_ns() const;
  void hear(const wire::Header& header, Nanoseconds now_ns);
  void sample_rtt(std::uint32_t echo_timestamp_us, std::uint32_t echo_delay_us, Nanoseconds now_ns);
  void pace_timers();
  std::uint32_t echo_delay_us(Nanoseconds now_ns) const;

  PeerConfig config_;
  RttEstimator rtt_;
  Sender sender_;
  Receiver receiver_;
  std::uint32_t remote_session_ = 0;  ///< 0: never heard.
  bool up_ = false;
  bool started_ = false;      ///< The receiver follows the stream of the peer's present session.
  bool answer_ = true;        ///< The peer lacks our HELLO; the first one is due at once.
  Nanoseconds hello_ns_ = 0;  ///< When the next regular HELLO is due.
  Nanoseconds heard_ns_ = 0;
  std::uint32_t heard_timestamp_us_ = 0;
  bool heard_timestamp_ = false;
};

/// The low 32 bits of the microseconds: what headers carry.
constexpr std::uint32_t timestamp_us(Nanoseconds now_ns) {
  return static_cast<std::uint32_t>(now_ns / kMicrosecond);
}

}  // namespace tombolo::link
