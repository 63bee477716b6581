#include "tools/testbed/netns/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/rpc/local_client.h"

namespace tombolo::testbed {
namespace {

constexpr double kRttShare = 0.05;
constexpr double kRttMs = 1.0;
constexpr double kRateShare = 0.05;
constexpr int kAttempts = 6;

double milliseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

}  // namespace

std::vector<LinkTarget> link_targets(const schedule::Network& network) {
  std::vector<LinkTarget> targets;
  for (std::size_t i = 0; i < network.links.size(); i += 2) {
    const schedule::DirectedLink& there = network.links[i];
    const schedule::DirectedLink& back = network.links[i + 1];
    LinkTarget target;
    target.site = there.from;
    target.neighbour = network.site_names[there.to];
    target.target.name = network.site_names[there.from] + "-" + network.site_names[there.to];
    target.target.target_rtt_ms = milliseconds(there.one_way_ns + back.one_way_ns);
    target.target.target_bps = static_cast<double>(std::min(there.capacity_bps, back.capacity_bps));
    targets.push_back(std::move(target));
  }
  for (const schedule::Island& island : network.islands) {
    LinkTarget target;
    target.site = island.site;
    target.neighbour = island.id;
    target.target.name = "access of " + island.id;
    target.target.target_bps =
        static_cast<double>(std::min(network.egress_bps[island.site], network.ingress_bps[island.site]));
    targets.push_back(std::move(target));
  }
  return targets;
}

std::string judge_link(const LinkReport& link) {
  const double rtt_error_ms = std::abs(link.measured_rtt_ms - link.target_rtt_ms);
  if (!(rtt_error_ms <= std::max(kRttMs, kRttShare * link.target_rtt_ms)))
    return fmt::format("{}: its round trip is {:.3f} ms instead of {:.3f} ms", link.name,
                       link.measured_rtt_ms, link.target_rtt_ms);
  if (!(std::abs(link.measured_bps - link.target_bps) <= kRateShare * link.target_bps))
    return fmt::format("{}: its rate is {:.3f} Mbit/s instead of {:.3f} Mbit/s", link.name,
                       link.measured_bps * 1e-6, link.target_bps * 1e-6);
  return "";
}

Result<std::vector<LinkReport>> measure_links(const std::vector<LinkTarget>& targets, const Probe& probe,
                                              const std::function<Status()>& stopped) {
  std::vector<LinkReport> links;
  for (const LinkTarget& target : targets) {
    LinkReport link = target.target;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (Status status = stopped(); !status) return std::move(status).error();
      link = target.target;
      if (Status measured = probe(target, link); !measured)
        return std::move(measured).error().within("measuring " + link.name);
      if (judge_link(link).empty()) break;
    }
    links.push_back(std::move(link));
  }
  return links;
}

std::vector<std::string> bad_links(const std::vector<LinkReport>& links) {
  std::vector<std::string> bad;
  for (const LinkReport& link : links)
    if (std::string wrong = judge_link(link); !wrong.empty()) bad.push_back(std::move(wrong));
  return bad;
}

Probe edge_probe(const Layout& layout) {
  return [&layout](const LinkTarget& target, LinkReport& link) -> Status {
    auto result = control::ask_probe(layout.edge_socket(target.site), target.neighbour);
    if (!result) return std::move(result).error();
    link.measured_rtt_ms = milliseconds(result->rtt_ns);
    link.measured_bps = static_cast<double>(result->rate_bps);
    return ok_status();
  };
}

}  // namespace tombolo::testbed
