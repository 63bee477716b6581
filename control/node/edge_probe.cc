#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/units.h"
#include "control/node/edge_node.h"

namespace tombolo::control {
namespace {

constexpr std::uint32_t kEchoes = 10;
/// The first train is short, because the rate is not known; the second lasts this long at the rate that the
/// first one found, less than what a link's queue holds.
constexpr std::uint32_t kFirstTrain = 16;
constexpr double kTrainS = 0.04;
constexpr std::uint32_t kEthernetBytes = 14;
constexpr auto kLook = std::chrono::milliseconds(2);

}  // namespace

/// Called from a thread of the local socket; the worker of queue 0 does the work.
Result<dataplane::ProbeResult> EdgeNode::probe_port(dataplane::DpdkPort& port,
                                                    const dataplane::ProbeRequest& request) {
  if (auto started = port.start_probe(request); !started) return std::move(started).error();
  while (!stopping_.load()) {
    if (auto result = port.take_probe_result()) return *result;
    std::this_thread::sleep_for(kLook);
  }
  return Error{ErrorCode::kUnavailable, "the edge is being stopped"};
}

Result<ProbeResult> EdgeNode::probe(const std::string& name) {
  const std::vector<EdgeLinkConfig> links = file_.neighbours();
  const auto link = std::find_if(links.begin(), links.end(),
                                 [&name](const EdgeLinkConfig& config) { return config.name == name; });
  if (link == links.end()) {
    std::vector<std::string> names;
    for (const EdgeLinkConfig& each : links) names.push_back(each.name);
    return invalid_input(
        fmt::format("{} has no link '{:.40}'; there are {}", file_.site, name, fmt::join(names, ", ")));
  }
  const std::lock_guard lock(probe_mutex_);
  dataplane::DpdkPort& port = *ports_[link->port];
  dataplane::ProbeRequest request;
  request.neighbour = link->address.ipv4;
  request.count = kEchoes;
  const auto round_trip = probe_port(port, request);
  if (!round_trip) return round_trip.error();
  ProbeResult result;
  result.rtt_ns = round_trip->median_rtt_ns;
  result.least_rtt_ns = round_trip->min_rtt_ns;
  result.answers = round_trip->received;
  if (round_trip->received == 0) return result;
  request.kind = dataplane::ProbeRequest::Kind::kRate;
  request.frame_bytes = file_.ports[link->port].mtu + kEthernetBytes;
  request.count = kFirstTrain;
  for (int train = 0; train < 2; ++train) {
    const auto rate = probe_port(port, request);
    if (!rate) return rate.error();
    if (rate->rate_bps == 0) return result;
    result.rate_bps = rate->rate_bps;
    const double frames = static_cast<double>(rate->rate_bps) * kTrainS / kBitsPerByte / request.frame_bytes;
    request.count = static_cast<std::uint32_t>(
        std::clamp(frames, double{kFirstTrain}, double{dataplane::LinkProbe::kMaxEchoes}));
  }
  return result;
}

}  // namespace tombolo::control
