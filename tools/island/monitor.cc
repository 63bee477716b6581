#include "tools/island/monitor.h"

#include <utility>

namespace tombolo::tools {
namespace {

constexpr Nanoseconds kSampleInterval = 250 * kMillisecond;

control::IslandRound outcome_of(const island::Outcome& outcome) {
  if (!outcome.ready()) return control::IslandRound::kFailed;
  if (outcome.failed_elsewhere) return control::IslandRound::kFailedElsewhere;
  return outcome.clique.size() < 2 ? control::IslandRound::kRested : control::IslandRound::kComplete;
}

}  // namespace

Result<std::unique_ptr<IslandMonitor>> IslandMonitor::start(const std::string& address, std::uint32_t session,
                                                            IslandProgram& program, const Clock& clock) {
  auto server = control::MetricsServer::start(address);
  if (!server) return std::move(server).error();
  std::unique_ptr<IslandMonitor> monitor(new IslandMonitor(session, program, clock));
  monitor->server_ = std::move(server).value();
  monitor->metrics_ = std::make_shared<control::IslandMetrics>(monitor->latest_);
  monitor->server_->add(monitor->metrics_);
  program.observe([rounds = &monitor->rounds_](const island::Outcome& outcome) {
    const control::IslandRound kind = outcome_of(outcome);
    // A round that was rested or lost took no time that means anything.
    std::optional<Nanoseconds> took_ns;
    if (kind != control::IslandRound::kRested && outcome.ready())
      took_ns = outcome.ready_ns - outcome.called_ns;
    rounds->add(kind, outcome.payload_bytes_sent, outcome.payload_bytes_received, took_ns);
  });
  monitor->publish();
  return monitor;
}

IslandMonitor::~IslandMonitor() {
  program_.observe({});
  server_.reset();  // Before the sample that its threads read.
}

void IslandMonitor::publish() {
  const Nanoseconds now_ns = clock_.now_ns();
  if (now_ns < next_ns_) return;
  next_ns_ = now_ns + kSampleInterval;
  control::IslandSample sample;
  sample.island = program_.name();
  sample.session = session_;
  sample.uptime_ns = now_ns - started_ns_;
  sample.rx_packets = program_.port().counters().rx_packets.get();
  program_.client().with([&](island::Endpoint& endpoint, Nanoseconds) {
    sample.connected = endpoint.connected();
    sample.epoch = endpoint.epoch();
    sample.repairs_sent = endpoint.counters().repairs_sent.get();
    sample.results = endpoint.counters().results.get();
    for (std::size_t i = 0; i < kDropReasons; ++i)
      sample.drops[i] = endpoint.counters().drops.get(static_cast<DropReason>(i));
  });
  rounds_.fill(sample);
  latest_.put(std::move(sample));
}

}  // namespace tombolo::tools
