#include "dataplane/port/dpdk/link_probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "dataplane/port/dpdk/control_frame.h"

namespace tombolo::dataplane {
namespace {

constexpr Nanoseconds kRetryInterval = kMillisecond;

}  // namespace

// lint: control's side, not on the way of packets
Status LinkProbe::start(const ProbeRequest& request) {
  const bool is_rate = request.kind == ProbeRequest::Kind::kRate;
  if (request.count < (is_rate ? 2U : 1U) || request.count > kMaxEchoes)
    return invalid_input(
        fmt::format("{} echoes: must be {} to {}", request.count, is_rate ? 2 : 1, kMaxEchoes));
  if (request.frame_bytes < kMinEchoFrameBytes)
    return invalid_input(
        fmt::format("echoes of {} bytes: must be at least {}", request.frame_bytes, kMinEchoFrameBytes));
  if (request.timeout_ns == 0) return invalid_input("timeout 0: must be positive");
  if (state_.load(std::memory_order_acquire) != State::kIdle)
    return Error{ErrorCode::kUnavailable, "another measurement runs on this port"};
  request_ = request;
  state_.store(State::kRequested, std::memory_order_release);
  return ok_status();
}

std::optional<ProbeResult> LinkProbe::take_result() {
  if (state_.load(std::memory_order_acquire) != State::kDone) return std::nullopt;
  ProbeResult result;
  result.sent = sent_;
  result.received = received_;
  if (request_.kind == ProbeRequest::Kind::kRoundTrip && received_ > 0) {
    std::sort(rtt_ns_.begin(), rtt_ns_.begin() + received_);
    result.min_rtt_ns = rtt_ns_[0];
    result.median_rtt_ns = rtt_ns_[received_ / 2];
  }
  if (request_.kind == ProbeRequest::Kind::kRate && last_reply_ns_ > first_reply_ns_) {
    const double bits = static_cast<double>(received_ - 1) * request_.frame_bytes * kBitsPerByte;
    result.rate_bps = static_cast<std::uint64_t>(
        bits * kSecond / static_cast<double>(last_reply_ns_ - first_reply_ns_) + 0.5);
  }
  state_.store(State::kIdle, std::memory_order_release);
  return result;
}

void LinkProbe::begin() {
  ++identifier_;
  sent_ = received_ = settled_ = 0;
  last_event_ns_ = first_reply_ns_ = last_reply_ns_ = retry_ns_ = 0;
  answered_.fill(false);
  state_.store(State::kRunning, std::memory_order_relaxed);
}

void LinkProbe::finish() { state_.store(State::kDone, std::memory_order_release); }

/// Gives up what has waited too long. Ends the probe when nothing is left to wait for.
void LinkProbe::lose_outstanding(Nanoseconds now_ns) {
  const bool is_late = now_ns - last_event_ns_ >= request_.timeout_ns;
  if (request_.kind == ProbeRequest::Kind::kRoundTrip) {
    if (settled_ < sent_ && is_late) settled_ = sent_;
    if (settled_ == request_.count) finish();
    return;
  }
  if (sent_ > 0 && (received_ == request_.count || is_late)) finish();
}

LinkProbe::Due LinkProbe::due(Nanoseconds now_ns) {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kRequested) {
    begin();
    last_event_ns_ = now_ns;
  } else if (state != State::kRunning) {
    return {};
  }
  lose_outstanding(now_ns);
  if (state_.load(std::memory_order_relaxed) == State::kDone) return {};
  if (now_ns < retry_ns_) return {};
  Due due;
  due.first_sequence = static_cast<std::uint16_t>(sent_);
  due.identifier = identifier_;
  if (request_.kind == ProbeRequest::Kind::kRate)
    due.count = std::min(kPerTurn, request_.count - sent_);
  else
    due.count = settled_ == sent_ && sent_ < request_.count ? 1 : 0;
  return due;
}

void LinkProbe::on_sent(std::uint32_t count, Nanoseconds now_ns) {
  if (count == 0) {
    // Nothing can leave: after the timeout the probe ends with what it has.
    retry_ns_ = now_ns + kRetryInterval;
    if (now_ns - last_event_ns_ >= request_.timeout_ns) finish();
    return;
  }
  sent_ += count;
  last_event_ns_ = now_ns;
}

bool LinkProbe::on_reply(std::uint32_t from_ipv4, std::uint16_t identifier, std::uint16_t sequence,
                         Nanoseconds now_ns) {
  if (state_.load(std::memory_order_acquire) != State::kRunning) return false;
  if (from_ipv4 != request_.neighbour || identifier != identifier_ || sequence >= sent_) return false;
  if (answered_[sequence]) return false;
  const bool is_round_trip = request_.kind == ProbeRequest::Kind::kRoundTrip;
  // An answer that was given up would be measured against the wrong request.
  if (is_round_trip && sequence < settled_) return false;
  answered_[sequence] = true;
  if (is_round_trip) {
    rtt_ns_[received_] = now_ns - last_event_ns_;
    settled_ = sent_;
  }
  if (received_++ == 0) first_reply_ns_ = now_ns;
  last_reply_ns_ = now_ns;
  last_event_ns_ = now_ns;
  return true;
}

Nanoseconds LinkProbe::next_due_ns() const {
  const State state = state_.load(std::memory_order_acquire);
  if (state == State::kRequested) return 0;
  if (state != State::kRunning) return kNever;
  const bool is_round_trip = request_.kind == ProbeRequest::Kind::kRoundTrip;
  if (is_round_trip ? settled_ == sent_ : sent_ < request_.count || received_ == request_.count)
    return retry_ns_;
  return last_event_ns_ + request_.timeout_ns;
}

}  // namespace tombolo::dataplane
