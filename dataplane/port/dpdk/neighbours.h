#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dataplane/port/dpdk/control_frame.h"
#include "dataplane/port/dpdk/frame.h"
#include "dataplane/port/dpdk/group_table.h"

namespace tombolo::dataplane {

/// A node that a port sends to.
struct Neighbour {
  Address address;
  std::optional<Mac> mac;  ///< Fixed; else it is asked for (ARP).
};

struct NeighbourConfig {
  std::uint32_t ipv4 = 0;  ///< This port's own.
  std::uint32_t prefix_length = 24;
  std::optional<std::uint32_t> gateway;  ///< For neighbours outside the port's own network.
  std::vector<Neighbour> neighbours;
};

/// Who a port sends to, and by which Ethernet address. Ethernet addresses are learnt for configured
/// neighbours and the gateway only: nobody can fill the table. One worker learns and asks; every worker may
/// look up.
class NeighbourTable {
 public:
  /// How often an unknown address is asked for, and how soon a known one is asked for again.
  static constexpr Nanoseconds kAskInterval = kSecond;
  static constexpr Nanoseconds kRefreshInterval = 30 * kSecond;

  /// Errors: kInvalidInput, naming the address: not a host, named twice, out of reach without a gateway, ...
  static Result<std::unique_ptr<NeighbourTable>> create(const NeighbourConfig& config);

  /// Where a packet for `ipv4` goes: to the neighbour's group if it has one, else straight to it; a reason
  /// when it cannot.
  struct Route {
    FrameDrop drop = FrameDrop::kNone;
    Mac mac = 0;
    std::uint32_t to_ipv4 = 0;
  };
  Route route(std::uint32_t ipv4) const;
  /// The same to the neighbour itself, whatever group its packets go to.
  Route direct_route(std::uint32_t ipv4) const;

  /// For the control thread: the groups of a neighbour from now on. Errors: kInvalidInput for who is none.
  Status set_groups(std::uint32_t ipv4, const LinkGroups& groups);
  const GroupTable& groups() const { return groups_; }

  /// Takes up what an ARP message says of its sender; false if that is nobody of ours.
  bool learn(std::uint32_t ipv4, Mac mac, Nanoseconds now_ns);
  /// Whom to ask now: at most out.size(), each then not again for kAskInterval. Returns how many. A known
  /// address stays in use while it is asked for again.
  std::size_t due(Nanoseconds now_ns, std::span<std::uint32_t> out);
  Nanoseconds next_due_ns() const { return next_due_ns_; }

  /// Neighbours whose Ethernet address is known; from any thread.
  std::size_t resolved() const;
  std::size_t size() const { return destinations_.size(); }

 private:
  /// Somebody in the port's own network.
  struct Hop {
    std::uint32_t ipv4 = 0;
    bool is_fixed = false;
    Nanoseconds ask_ns = 0;   ///< Of the worker that asks.
    std::atomic<Mac> mac{0};  ///< 0: unknown.
  };
  struct Destination {
    std::uint32_t ipv4 = 0;
    Hop* hop = nullptr;
  };

  Status add(const NeighbourConfig& config, const Neighbour& neighbour);
  Hop* add_hop(std::uint32_t ipv4);
  static Route route_by_hop(const Destination& destination);
  const Destination* find(std::uint32_t ipv4) const;
  std::size_t index_of(const Destination& destination) const {
    return static_cast<std::size_t>(&destination - destinations_.data());
  }

  std::vector<std::unique_ptr<Hop>> hops_;
  std::vector<Destination> destinations_;  ///< By address.
  GroupTable groups_;                      ///< Likewise.
  Nanoseconds next_due_ns_ = 0;
};

/// "10.0.0.1" and "02:00:00:00:00:01", and back. Errors: kInvalidInput, naming the text.
std::string format_ipv4(std::uint32_t ipv4);
Result<std::uint32_t> parse_ipv4_address(const std::string& text);
std::string format_mac(Mac mac);
Result<Mac> parse_mac(const std::string& text);

}  // namespace tombolo::dataplane
