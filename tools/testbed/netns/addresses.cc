#include "tools/testbed/netns/addresses.h"

#include <fmt/format.h>

namespace tombolo::testbed {
namespace {

constexpr std::uint32_t kLinkNet = 0x0a010000;        // 10.1.0.0
constexpr std::uint32_t kAccessNet = 0x0a020000;      // 10.2.0.0
constexpr std::uint32_t kManagementNet = 0x0a630000;  // 10.99.0.0
constexpr std::uint32_t kSubnetSize = 4;
constexpr std::size_t kMostSubnets = 65536 / kSubnetSize;
/// Hosts of a management /24 that are used: none that looks like a network or a broadcast address.
constexpr std::size_t kHosts = 250;
constexpr std::size_t kMostNodes = 256 * kHosts;

EndAddresses subnet(std::uint32_t net, std::size_t index) {
  const std::uint32_t base = net + static_cast<std::uint32_t>(index) * kSubnetSize;
  return {base + 1, base + 2};
}

}  // namespace

EndAddresses link_addresses(std::size_t index) { return subnet(kLinkNet, index); }

EndAddresses access_addresses(schedule::Rank rank) { return subnet(kAccessNet, rank); }

std::uint32_t management_address(std::size_t node) {
  return kManagementNet + static_cast<std::uint32_t>(node / kHosts * 256 + node % kHosts + 1);
}

Status check_addresses(const schedule::Network& network) {
  const std::size_t nodes = 1 + network.site_names.size() + network.islands.size();
  if (network.links.size() / 2 > kMostSubnets || network.islands.size() > kMostSubnets || nodes > kMostNodes)
    return invalid_input(
        fmt::format("the topology's {} links and {} nodes are more than the testbed can number",
                    network.links.size() / 2, nodes));
  return ok_status();
}

std::string ipv4_text(std::uint32_t address) {
  return fmt::format("{}.{}.{}.{}", address >> 24, (address >> 16) & 255, (address >> 8) & 255,
                     address & 255);
}

}  // namespace tombolo::testbed
