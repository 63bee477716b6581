#include "dataplane/port/dpdk/frame_drop.h"

#include "base/check.h"

namespace tombolo::dataplane {
namespace {

constexpr std::array<std::string_view, kFrameDrops> kNames{
    "none",          "truncated",         "vlan",       "ipv6",          "not_ipv4",         "arp_other",
    "bad_ip_header", "ip_options",        "fragment",   "other_address", "other_source",     "bad_source",
    "icmp_other",    "not_udp",           "bad_udp",    "other_port",    "rx_too_large",     "no_buffer",
    "control_limit", "unknown_neighbour", "unresolved", "tx_too_large",  "no_header_buffer", "tx_full",
    "held_full"};
static_assert(!kNames.back().empty(), "every reason has a name");

}  // namespace

std::string_view name(FrameDrop reason) {
  CHECK(reason < FrameDrop::kCount);
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace tombolo::dataplane
