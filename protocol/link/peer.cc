#include "protocol/link/peer.h"

#include <algorithm>

#include "base/check.h"
#include "base/serial.h"

namespace tombolo::link {
namespace {

/// Acknowledgements of a slow stream wait this long for company, and a short link is not asked any sooner
/// where it stands: on one with a packet every few milliseconds both would otherwise outnumber the data. Gaps
/// never wait.
constexpr Nanoseconds kFeedbackInterval = 10 * kMillisecond;
/// No path takes longer. An echo that says so is wrong, as is one from the future (a distance of almost 2^32
/// microseconds); believed, it would hold up repairs for as long.
constexpr Nanoseconds kLongestRtt = 10 * kSecond;

}  // namespace

Peer::Peer(const PeerConfig& config)
    : config_(config),
      rtt_(config.initial_rtt_ns),
      sender_(config.window, config.first_sequence),
      receiver_(config.window) {
  CHECK(config.session != 0);
  pace_timers();
}

DropReason Peer::admit(const wire::Header& header, Nanoseconds now_ns) {
  if (header.session != remote_session_) {
    const bool older = remote_session_ != 0 && serial_before(header.session, remote_session_);
    return older ? DropReason::kOldSession : DropReason::kUnknownSession;
  }
  if (!up_) return DropReason::kUnknownSession;
  hear(header, now_ns);
  return DropReason::kNone;
}

Peer::HelloOutcome Peer::on_hello(const wire::Header& header, const wire::Hello& hello, Nanoseconds now_ns) {
  const std::uint32_t session = header.session;
  if (remote_session_ != 0 && serial_before(session, remote_session_))
    return {DropReason::kOldSession, false};
  if (session != remote_session_) {
    remote_session_ = session;
    up_ = false;
    started_ = false;
    sender_.reset();
    answer_ = true;
  }
  hear(header, now_ns);
  if (hello.peer_session != config_.session) {
    answer_ = true;  // The peer does not know us yet, or knows our former life and echoes that one's clock.
    return {};
  }
  sample_rtt(hello.echo_timestamp_us, hello.echo_delay_us, now_ns);
  if (!started_) receiver_.start(hello.first_sequence);
  started_ = true;
  receiver_.on_position(hello.first_sequence, hello.next_sequence);
  if (up_) return {};
  up_ = true;
  answer_ = true;
  return {DropReason::kNone, true};
}

std::size_t Peer::on_feedback(const wire::Feedback& feedback, Nanoseconds now_ns,
                              std::span<std::uint32_t> repairs) {
  if (feedback.peer_session != config_.session) return 0;
  sample_rtt(feedback.echo_timestamp_us, feedback.echo_delay_us, now_ns);
  return sender_.on_feedback(feedback, rtt_.smoothed_ns(), now_ns, repairs);
}

wire::Hello Peer::make_hello(Nanoseconds now_ns) {
  wire::Hello hello{};
  hello.peer_session = remote_session_;
  hello.next_sequence = sender_.next_sequence();
  hello.first_sequence = sender_.first_sequence();
  hello.echo_timestamp_us = heard_timestamp_us_;
  hello.echo_delay_us = echo_delay_us(now_ns);
  answer_ = false;
  hello_ns_ = now_ns + config_.hello_interval_ns;
  if (up_) sender_.on_probe(now_ns);
  return hello;
}

void Peer::make_feedback(wire::Feedback& feedback, Nanoseconds now_ns) {
  feedback.peer_session = remote_session_;
  feedback.echo_timestamp_us = heard_timestamp_us_;
  feedback.echo_delay_us = echo_delay_us(now_ns);
  receiver_.report(feedback, now_ns);
}

bool Peer::expire(Nanoseconds now_ns) {
  if (!up_ || now_ns < heard_ns_ + silence_ns()) return false;
  up_ = false;
  sender_.reset();
  return true;
}

Nanoseconds Peer::next_timer_ns() const {
  Nanoseconds next_ns = next_hello_ns();
  if (up_) {
    next_ns = std::min(next_ns, receiver_.next_feedback_ns());
    next_ns = std::min(next_ns, heard_ns_ + silence_ns());
  }
  return next_ns;
}

Nanoseconds Peer::next_hello_ns() const {
  if (answer_) return 0;
  return up_ ? std::min(hello_ns_, sender_.next_probe_ns()) : hello_ns_;
}

void Peer::hear(const wire::Header& header, Nanoseconds now_ns) {
  heard_ns_ = now_ns;
  heard_timestamp_us_ = header.timestamp_us;
  heard_timestamp_ = true;
}

void Peer::sample_rtt(std::uint32_t echo_timestamp_us, std::uint32_t echo_delay_us, Nanoseconds now_ns) {
  if (echo_delay_us == wire::kNoEcho) return;
  const std::uint32_t elapsed_us = timestamp_us(now_ns) - echo_timestamp_us;
  const Nanoseconds sample_ns = Nanoseconds{elapsed_us - echo_delay_us} * kMicrosecond;
  if (sample_ns > kLongestRtt) return;
  rtt_.add_sample(sample_ns);
  pace_timers();
}

void Peer::pace_timers() {
  receiver_.set_feedback_interval(kFeedbackInterval);
  sender_.set_probe_interval(std::max(rtt_.smoothed_ns() / 4, kFeedbackInterval));
}

std::uint32_t Peer::echo_delay_us(Nanoseconds now_ns) const {
  if (!heard_timestamp_) return wire::kNoEcho;
  return static_cast<std::uint32_t>((now_ns - heard_ns_) / kMicrosecond);
}

}  // namespace tombolo::link
