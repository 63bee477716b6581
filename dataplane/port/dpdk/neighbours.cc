#include "dataplane/port/dpdk/neighbours.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tombolo::dataplane {
namespace {

bool is_host(std::uint32_t ipv4) { return ipv4 != 0 && ipv4 >> 28 < 0xe && ipv4 >> 24 != 127; }

bool is_in_network(const NeighbourConfig& config, std::uint32_t ipv4) {
  const std::uint32_t mask = config.prefix_length == 0 ? 0 : ~std::uint32_t{0} << (32 - config.prefix_length);
  return ((ipv4 ^ config.ipv4) & mask) == 0;
}

// lint: set-up, runs before the first packet
Status check(const NeighbourConfig& config) {
  if (!is_host(config.ipv4))
    return invalid_input(fmt::format("address {}: is no host's", format_ipv4(config.ipv4)));
  if (config.prefix_length > 32)
    return invalid_input(fmt::format("prefix length {}: must be 0 to 32", config.prefix_length));
  if (!config.gateway) return ok_status();
  if (!is_host(*config.gateway) || *config.gateway == config.ipv4 || !is_in_network(config, *config.gateway))
    return invalid_input(fmt::format("gateway {}: must be another host in {}/{}",
                                     format_ipv4(*config.gateway), format_ipv4(config.ipv4),
                                     config.prefix_length));
  return ok_status();
}

}  // namespace

// lint: set-up, runs before the first packet
Result<std::unique_ptr<NeighbourTable>> NeighbourTable::create(const NeighbourConfig& config) {
  if (Status status = check(config); !status.ok()) return std::move(status).error();
  auto table = std::make_unique<NeighbourTable>();
  for (const Neighbour& neighbour : config.neighbours) {
    Status status = table->add(config, neighbour);
    if (!status.ok())
      return std::move(status).error().within("neighbour " + format_ipv4(neighbour.address.ipv4));
  }
  std::sort(table->destinations_.begin(), table->destinations_.end(),
            [](const Destination& a, const Destination& b) { return a.ipv4 < b.ipv4; });
  std::vector<std::uint32_t> addresses;
  for (const Destination& destination : table->destinations_) addresses.push_back(destination.ipv4);
  table->groups_ = GroupTable(std::move(addresses));
  const bool asks =
      std::any_of(table->hops_.begin(), table->hops_.end(), [](const auto& hop) { return !hop->is_fixed; });
  table->next_due_ns_ = asks ? 0 : kNever;
  return table;
}

// lint: set-up, runs before the first packet
Status NeighbourTable::add(const NeighbourConfig& config, const Neighbour& neighbour) {
  const std::uint32_t ipv4 = neighbour.address.ipv4;
  if (!is_host(ipv4)) return invalid_input("is no host's address");
  if (ipv4 == config.ipv4) return invalid_input("is this port's own address");
  for (const Destination& other : destinations_)
    if (other.ipv4 == ipv4) return invalid_input("is named twice; a host is one neighbour");
  if (neighbour.mac &&
      (*neighbour.mac == 0 || *neighbour.mac > kBroadcastMac || is_group_mac(*neighbour.mac)))
    return invalid_input("mac " + format_mac(*neighbour.mac) + " is no single device's");
  Destination destination;
  destination.ipv4 = ipv4;
  if (!is_in_network(config, ipv4)) {
    if (neighbour.mac) return invalid_input("has a mac, but is in another network: the gateway has one");
    if (!config.gateway) return invalid_input("is in another network; a gateway is needed");
    destination.hop = add_hop(*config.gateway);
  } else {
    destination.hop = add_hop(ipv4);
    if (neighbour.mac) {
      destination.hop->mac = *neighbour.mac;
      destination.hop->is_fixed = true;
    }
  }
  destinations_.push_back(destination);
  return ok_status();
}

// lint: set-up, runs before the first packet
NeighbourTable::Hop* NeighbourTable::add_hop(std::uint32_t ipv4) {
  for (const auto& hop : hops_)
    if (hop->ipv4 == ipv4) return hop.get();
  hops_.push_back(std::make_unique<Hop>());
  hops_.back()->ipv4 = ipv4;
  return hops_.back().get();
}

const NeighbourTable::Destination* NeighbourTable::find(std::uint32_t ipv4) const {
  const auto place = std::lower_bound(destinations_.begin(), destinations_.end(), ipv4,
                                      [](const Destination& a, std::uint32_t b) { return a.ipv4 < b; });
  return place != destinations_.end() && place->ipv4 == ipv4 ? &*place : nullptr;
}

NeighbourTable::Route NeighbourTable::route(std::uint32_t ipv4) const {
  const Destination* const destination = find(ipv4);
  if (destination == nullptr) return {FrameDrop::kUnknownNeighbour, 0, 0};
  const std::uint32_t group = groups_.send_group(index_of(*destination));
  if (group != 0) return {FrameDrop::kNone, group_mac(group), group};
  return route_by_hop(*destination);
}

NeighbourTable::Route NeighbourTable::direct_route(std::uint32_t ipv4) const {
  const Destination* const destination = find(ipv4);
  if (destination == nullptr) return {FrameDrop::kUnknownNeighbour, 0, 0};
  return route_by_hop(*destination);
}

NeighbourTable::Route NeighbourTable::route_by_hop(const Destination& destination) {
  const Mac mac = destination.hop->mac.load(std::memory_order_relaxed);
  return {mac == 0 ? FrameDrop::kUnresolved : FrameDrop::kNone, mac, destination.ipv4};
}

Status NeighbourTable::set_groups(std::uint32_t ipv4, const LinkGroups& groups) {
  const Destination* const destination = find(ipv4);
  if (destination == nullptr) return invalid_input(format_ipv4(ipv4) + " is not a neighbour");
  groups_.set(index_of(*destination), groups);
  return ok_status();
}

bool NeighbourTable::learn(std::uint32_t ipv4, Mac mac, Nanoseconds now_ns) {
  for (const auto& hop : hops_) {
    if (hop->ipv4 != ipv4) continue;
    if (!hop->is_fixed) {
      hop->mac.store(mac, std::memory_order_relaxed);
      hop->ask_ns = now_ns + kRefreshInterval;
    }
    return true;
  }
  return false;
}

std::size_t NeighbourTable::due(Nanoseconds now_ns, std::span<std::uint32_t> out) {
  if (now_ns < next_due_ns_) return 0;
  std::size_t count = 0;
  next_due_ns_ = kNever;
  for (const auto& hop : hops_) {
    if (hop->is_fixed) continue;
    if (hop->ask_ns <= now_ns && count < out.size()) {
      out[count++] = hop->ipv4;
      hop->ask_ns = now_ns + kAskInterval;
    }
    next_due_ns_ = std::min(next_due_ns_, hop->ask_ns);
  }
  return count;
}

std::size_t NeighbourTable::resolved() const {
  return static_cast<std::size_t>(
      std::count_if(destinations_.begin(), destinations_.end(), [](const Destination& destination) {
        return destination.hop->mac.load(std::memory_order_relaxed) != 0;
      }));
}

// lint: for configuration and messages, not on the way of packets
std::string format_ipv4(std::uint32_t ipv4) {
  return fmt::format("{}.{}.{}.{}", ipv4 >> 24, ipv4 >> 16 & 255, ipv4 >> 8 & 255, ipv4 & 255);
}

Result<std::uint32_t> parse_ipv4_address(const std::string& text) {
  in_addr address{};
  if (::inet_pton(AF_INET, text.c_str(), &address) != 1)
    return invalid_input("'" + text + "' is not an IPv4 address like 10.0.0.1");
  return std::uint32_t{ntohl(address.s_addr)};
}

// lint: for configuration and messages, not on the way of packets
std::string format_mac(Mac mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac >> 40 & 255, mac >> 32 & 255,
                     mac >> 24 & 255, mac >> 16 & 255, mac >> 8 & 255, mac & 255);
}

Result<Mac> parse_mac(const std::string& text) {
  constexpr std::size_t kLength = 17;
  Mac mac = 0;
  bool is_good = text.size() == kLength;
  for (std::size_t i = 0; is_good && i < kLength; ++i) {
    if (i % 3 == 2) {
      is_good = text[i] == ':';
      continue;
    }
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    is_good = digit >= 0;
    mac = mac << 4 | static_cast<Mac>(digit & 15);
  }
  if (!is_good) return invalid_input("'" + text + "' is not a MAC address like 02:00:00:00:00:01");
  return mac;
}

}  // namespace tombolo::dataplane
