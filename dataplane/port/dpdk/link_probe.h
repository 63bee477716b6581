#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace tombolo::dataplane {

/// A measurement of the way to a neighbour and back, by ICMP echo.
struct ProbeRequest {
  enum class Kind : std::uint8_t {
    kRoundTrip,  ///< One echo at a time: how long each takes.
    kRate,       ///< A train of echoes back to back: how far apart the answers come.
  };
  Kind kind = Kind::kRoundTrip;
  std::uint32_t neighbour = 0;       ///< A configured neighbour's IPv4 address.
  std::uint32_t count = 10;          ///< 1 to LinkProbe::kMaxEchoes; at least 2 for kRate.
  std::uint32_t frame_bytes = 98;    ///< Whole frames, Ethernet header included.
  Nanoseconds timeout_ns = kSecond;  ///< Without an answer for so long, an echo or the train's rest is lost.
};

struct ProbeResult {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  /// kRoundTrip: by the time of the worker's turns, so that an answer within one turn counts as 0. 0 without
  /// one.
  Nanoseconds min_rtt_ns = 0;
  Nanoseconds median_rtt_ns = 0;
  /// kRate: frame bits of all answers but the first, by the time from the first to the last: the rate of the
  /// slower direction. 0 when they came too close together to tell.
  std::uint64_t rate_bps = 0;
};

/// The logic of probes; frames are the port's affair. Control starts a probe and asks for its result; the
/// worker of queue 0 does it. `state_` hands everything over, in turn: nothing is used by both at once.
class LinkProbe {
 public:
  static constexpr std::uint32_t kMaxEchoes = 1024;
  /// Most requests that leave in one turn.
  static constexpr std::uint32_t kPerTurn = 16;

  // Control.
  /// Errors: kInvalidInput, naming the field; kUnavailable while a probe runs or its result was not taken.
  Status start(const ProbeRequest& request);
  /// The result, once; nothing while it is not there.
  std::optional<ProbeResult> take_result();

  // The worker.
  /// How many echoes to send now, from sequence number first_sequence on. The worker says how many left.
  struct Due {
    std::uint32_t count = 0;
    std::uint16_t first_sequence = 0;
    std::uint16_t identifier = 0;
  };
  Due due(Nanoseconds now_ns);
  void on_sent(std::uint32_t count, Nanoseconds now_ns);
  /// Whether the answer was one that this probe waits for.
  bool on_reply(std::uint32_t from_ipv4, std::uint16_t identifier, std::uint16_t sequence,
                Nanoseconds now_ns);
  /// When due() has something to do; kNever without a probe.
  Nanoseconds next_due_ns() const;
  const ProbeRequest& request() const { return request_; }

 private:
  enum class State : std::uint8_t { kIdle, kRequested, kRunning, kDone };

  void begin();
  void finish();
  void lose_outstanding(Nanoseconds now_ns);

  std::atomic<State> state_{State::kIdle};
  ProbeRequest request_;          ///< Control's until kRequested.
  std::uint16_t identifier_ = 0;  ///< Tells this probe's answers from a former one's.
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  std::uint32_t settled_ = 0;  ///< kRoundTrip: echoes answered or given up.
  Nanoseconds last_event_ns_ = 0;
  Nanoseconds retry_ns_ = 0;  ///< Nothing could leave: tried again then.
  Nanoseconds first_reply_ns_ = 0;
  Nanoseconds last_reply_ns_ = 0;
  std::array<bool, kMaxEchoes> answered_{};
  std::array<Nanoseconds, kMaxEchoes> rtt_ns_{};  ///< Of the first `received_`.
};

}  // namespace tombolo::dataplane
