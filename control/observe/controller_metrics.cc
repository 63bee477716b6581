#include "control/observe/controller_metrics.h"

#include <array>

#include "control/observe/family.h"

namespace tombolo::control {
namespace {

constexpr std::array<const char*, 5> kPhases{"waiting", "idle", "staging", "committing", "superseded"};

void add_edges(Families& out, const ControllerStatus& status) {
  const auto each = [&](auto value) {
    for (const ControllerStatus::Edge& edge : status.edges)
      out.value(static_cast<double>(value(edge)), {{"edge", edge.name}});
  };
  using Edge = ControllerStatus::Edge;
  out.gauge("tombolo_controller_edge_connected", "Whether an edge's stream stands (1) or not (0).");
  each([](const Edge& edge) { return edge.connected; });
  out.gauge("tombolo_controller_edge_member",
            "Whether an edge takes part in changes (1) or its site counts as dead (0).");
  each([](const Edge& edge) { return edge.member; });
  out.gauge("tombolo_controller_edge_epoch", "Newest epoch that an edge confirmed; 0 before the first.");
  each([](const Edge& edge) { return edge.running_epoch; });
  out.gauge("tombolo_controller_edge_session", "An edge's session; 0 before it was heard.");
  each([](const Edge& edge) { return edge.session; });
  out.gauge("tombolo_controller_edge_links_down", "Links that an edge reports as down.");
  each([](const Edge& edge) { return edge.links_down.size(); });
  out.gauge("tombolo_controller_edge_refusing",
            "Whether an edge refuses the committed epoch (1) or not (0).");
  each([](const Edge& edge) { return !edge.refusal.empty(); });
}

void add_messages(Families& out, const ControllerStatus& status) {
  out.counter("tombolo_controller_receive_messages_total", "Messages that edges sent.")
      .value(status.streams.received);
  out.counter("tombolo_controller_transmit_messages_total", "Messages that were sent to edges.")
      .value(status.streams.sent);
  out.counter("tombolo_controller_ignored_messages_total", "Messages that changed nothing, by reason.")
      .value(status.ignored.unknown_edge, {{"reason", "unknown_edge"}})
      .value(status.ignored.old_session, {{"reason", "old_session"}})
      .value(status.ignored.unexpected, {{"reason", "unexpected"}})
      .value(status.streams.undecodable, {{"reason", "undecodable"}})
      .value(status.streams.dropped, {{"reason", "queue_full"}});
  out.gauge("tombolo_controller_streams", "Streams of edges that stand.").value(status.streams.streams_open);
  out.counter("tombolo_controller_streams_total", "Streams that edges opened.")
      .value(status.streams.streams_opened);
  out.counter("tombolo_controller_refused_streams_total",
              "Streams that did not begin with a greeting of a known site that may speak.")
      .value(status.streams.refused);
}

}  // namespace

std::vector<prometheus::MetricFamily> controller_families(const ControllerStatus& status) {
  Families out({});
  out.gauge("tombolo_controller_term", "Term under which it rules; grows with each restart.")
      .value(status.term);
  out.gauge("tombolo_controller_epoch", "Committed epoch; 0 before the first.")
      .value(std::uint64_t{status.epoch});
  out.gauge("tombolo_controller_epoch_first_round", "Round from which the committed epoch rules.")
      .value(std::uint64_t{status.activating_round});
  out.gauge("tombolo_controller_phase", "What it is doing: 1 for the phase that it is in, else 0.");
  for (const char* const phase : kPhases) out.value(std::uint64_t{status.phase == phase}, {{"phase", phase}});
  out.gauge("tombolo_controller_troubled", "Whether what is wanted is not installed (1) or all is well (0).")
      .value(std::uint64_t{!status.trouble.empty()});
  out.gauge("tombolo_controller_lost_sites", "Sites that the running schedule goes on without.")
      .value(std::uint64_t{status.dead_sites.size()});
  out.gauge("tombolo_controller_lost_links", "Links that the running schedule goes on without.")
      .value(std::uint64_t{status.lost_links.size()});
  out.gauge("tombolo_controller_lost_islands", "Islands that the running schedule goes on without.")
      .value(std::uint64_t{status.lost_islands.size()});
  out.counter("tombolo_controller_changes_total", "Changes of the epoch, by outcome.")
      .value(status.installed, {{"outcome", "installed"}})
      .value(status.unconfirmed, {{"outcome", "unconfirmed"}})
      .value(status.aborted, {{"outcome", "aborted"}})
      .value(status.superseded, {{"outcome", "superseded"}});
  out.counter("tombolo_controller_store_failures_total", "Times that its state could not be written to disk.")
      .value(status.store_failures);
  add_edges(out, status);
  add_messages(out, status);
  return out.take();
}

}  // namespace tombolo::control
