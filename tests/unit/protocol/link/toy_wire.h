#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/random.h"
#include "protocol/link/peer.h"

namespace tombolo::link {

/// What a wire between two nodes does to packets; both directions alike.
struct ToyWire {
  double loss = 0;
  double duplicate = 0;
  Nanoseconds delay_ns = 5 * kMillisecond;
  Nanoseconds jitter_ns = 0;  ///< Uniform; packets overtake each other.
};

/// Two Peers and an application on each that sends numbered packets and counts what arrives. Virtual time;
/// all chance comes from the one generator.
class ToyNetwork {
 public:
  struct Item {
    std::uint32_t by_session = 0;   ///< The sender's when it was sent.
    std::uint32_t for_session = 0;  ///< The receiver's as the sender knew it then.
  };
  struct Node {
    explicit Node(const PeerConfig& peer_config) : config(peer_config), peer(peer_config) {}
    PeerConfig config;
    Peer peer;
    std::uint32_t to_send = 0;         ///< Items still to be sent.
    Nanoseconds send_ns = 0;           ///< When the next may leave.
    std::vector<Item> sent;            ///< By item number.
    std::map<std::uint32_t, int> got;  ///< Times each item of the other node was kept, over all lives.
    std::uint64_t repairs = 0;
    std::map<std::uint32_t, Nanoseconds> repaired_ns;  ///< By sequence: when last.
    std::uint64_t early_repairs = 0;                   ///< Sooner than a round trip after the one before.
  };

  ToyNetwork(Random& random, const ToyWire& wire, std::uint32_t window) : random_(random), wire_(wire) {
    for (std::uint32_t session : {100u, 200u}) nodes_.emplace_back(config(session, window));
  }

  Node& node(int i) { return nodes_[static_cast<std::size_t>(i)]; }
  Nanoseconds now_ns() const { return now_ns_; }
  /// The receivers check a packet and keep it only with this chance.
  void refuse(double chance) { refuse_ = chance; }
  /// Losses are reported, and nobody does anything about it.
  void stop_repairs() { repairs_ = false; }
  /// Nothing from node `from` arrives as long as this is on.
  void block(int from, bool on) { blocked_[static_cast<std::size_t>(from)] = on; }

  /// A new life of the node: a new session, numbers from somewhere else, nothing remembered.
  void restart(int i) {
    Node& old = node(i);
    PeerConfig next = config(old.config.session + 1, old.config.window);
    old.config = next;
    old.peer = Peer(next);
  }

  void run_until(Nanoseconds end_ns) {
    while (step(end_ns)) {
    }
    now_ns_ = end_ns;
  }

  /// Both know each other's present life and are up.
  bool connected() const {
    return nodes_[0].peer.up() && nodes_[1].peer.up() &&
           nodes_[0].peer.remote_session() == nodes_[1].config.session &&
           nodes_[1].peer.remote_session() == nodes_[0].config.session;
  }
  bool connect(Nanoseconds limit_ns) {
    const Nanoseconds end_ns = now_ns_ + limit_ns;
    while (!connected())
      if (!step(end_ns)) return false;
    return true;
  }

  /// Runs until both have sent everything and everything is acknowledged; false if that takes too long.
  bool drain(Nanoseconds limit_ns) {
    const Nanoseconds end_ns = now_ns_ + limit_ns;
    while (!drained())
      if (!step(end_ns)) return false;
    return true;
  }

 private:
  struct Packet {
    int to = 0;
    wire::Header header;
    std::vector<std::byte> body;
  };

  PeerConfig config(std::uint32_t session, std::uint32_t window) {
    PeerConfig result;
    result.session = session;
    result.window = window;
    result.first_sequence = 0u - static_cast<std::uint32_t>(random_.below(1000));
    result.initial_rtt_ns = 2 * wire_.delay_ns + wire_.jitter_ns;
    return result;
  }

  bool drained() {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const Node& n) { return n.to_send == 0 && n.peer.sender().outstanding() == 0; });
  }

  /// The next moment at which anything happens; false when it lies at or after the end.
  bool step(Nanoseconds end_ns) {
    Nanoseconds next_ns = air_.empty() ? kNever : air_.begin()->first;
    for (Node& n : nodes_) {
      next_ns = std::min(next_ns, n.peer.next_timer_ns());
      if (n.to_send > 0 && n.peer.up() && n.peer.sender().has_room_for_data())
        next_ns = std::min(next_ns, n.send_ns);
    }
    if (next_ns >= end_ns) return false;
    now_ns_ = std::max(now_ns_, next_ns);
    while (!air_.empty() && air_.begin()->first <= now_ns_) {
      const Packet packet = std::move(air_.begin()->second);
      air_.erase(air_.begin());
      receive(packet);
    }
    for (int i = 0; i < 2; ++i) speak(i);
    return true;
  }

  void speak(int i) {
    Node& n = node(i);
    n.peer.expire(now_ns_);
    if (n.peer.hello_due(now_ns_)) {
      std::array<std::byte, wire::kHelloBytes> body;
      wire::encode(n.peer.make_hello(now_ns_), body);
      send(i, wire::Type::kHello, {}, body);
    }
    if (n.peer.feedback_due(now_ns_)) {
      wire::Feedback feedback;
      n.peer.make_feedback(feedback, now_ns_);
      std::array<std::byte, wire::kMaxFeedbackBytes> body;
      send(i, wire::Type::kFeedback, {}, std::span(body).first(wire::encode(feedback, body)));
    }
    if (n.to_send == 0 || now_ns_ < n.send_ns || !n.peer.up() || !n.peer.sender().has_room_for_data()) return;
    --n.to_send;
    n.send_ns = now_ns_ + 50 * kMicrosecond;
    wire::Header header;
    header.chunk = static_cast<std::uint32_t>(n.sent.size());
    n.sent.push_back({n.config.session, n.peer.remote_session()});
    n.peer.sender().keep(header, nullptr, 0, {}, now_ns_);
    send(i, wire::Type::kContribution, header, {});
  }

  void send(int from, wire::Type type, wire::Header header, std::span<const std::byte> body) {
    header.type = static_cast<std::uint8_t>(type);
    header.session = node(from).config.session;
    header.timestamp_us = timestamp_us(now_ns_);
    if (blocked_[static_cast<std::size_t>(from)]) return;
    for (int copies = random_.chance(wire_.duplicate) ? 2 : 1; copies > 0; --copies) {
      if (random_.chance(wire_.loss)) continue;
      const Nanoseconds arrival_ns = now_ns_ + wire_.delay_ns + random_.below(wire_.jitter_ns + 1);
      air_.emplace(arrival_ns, Packet{1 - from, header, {body.begin(), body.end()}});
    }
  }

  void receive(const Packet& packet) {
    Node& n = node(packet.to);
    const wire::Header& header = packet.header;
    if (header.packet_type() == wire::Type::kHello) {
      wire::Hello hello;
      ASSERT_TRUE(wire::parse(packet.body, hello));
      n.peer.on_hello(header, hello, now_ns_);
      return;
    }
    if (n.peer.admit(header, now_ns_) != DropReason::kNone) return;
    if (header.packet_type() == wire::Type::kFeedback) {
      on_feedback(packet);
      return;
    }
    if (n.peer.receiver().check(header.link_sequence) != DropReason::kNone) return;
    if (random_.chance(refuse_)) return;
    n.peer.receiver().mark(header.link_sequence);
    ++n.got[header.chunk];
    const Item& item = node(1 - packet.to).sent[header.chunk];
    EXPECT_EQ(item.by_session, n.peer.remote_session()) << "of a former life";
    EXPECT_EQ(item.for_session, n.config.session) << "for a former life";
  }

  void on_feedback(const Packet& packet) {
    Node& n = node(packet.to);
    wire::Feedback feedback;
    ASSERT_TRUE(wire::parse(packet.body, feedback));
    std::array<std::uint32_t, 64> repairs;
    const Nanoseconds least_ns = std::min(n.peer.rtt_ns(), 2 * wire_.delay_ns);
    const std::size_t count = n.peer.on_feedback(feedback, now_ns_, repairs);
    n.repairs += count;
    for (std::size_t i = 0; i < count; ++i) {
      const Sender::Entry* const kept = n.peer.sender().find(repairs[i]);
      ASSERT_NE(kept, nullptr);
      const auto last = n.repaired_ns.find(repairs[i]);
      if (last != n.repaired_ns.end() && now_ns_ - last->second < least_ns) ++n.early_repairs;
      n.repaired_ns[repairs[i]] = now_ns_;
      if (repairs_) send(packet.to, wire::Type::kContribution, kept->header, {});
    }
  }

  Random& random_;
  ToyWire wire_;
  Nanoseconds now_ns_ = kSecond;
  std::vector<Node> nodes_;
  std::multimap<Nanoseconds, Packet> air_;
  std::array<bool, 2> blocked_{};
  double refuse_ = 0;
  bool repairs_ = true;
};

}  // namespace tombolo::link
