#include "control/observe/edge_metrics.h"

#include <array>
#include <string>

#include "control/observe/family.h"
#include "control/observe/outcome_name.h"

namespace tombolo::control {
namespace {

/// The label `job` is Prometheus's own word for what it scrapes.
template <typename Add>
void for_jobs(Families& out, const EdgeSample& sample, Add&& add) {
  for (const JobSample& job : sample.jobs) {
    out.scope("training_job", std::to_string(job.job));
    add(job);
  }
  out.scope("training_job", "");
}

/// A gauge of the controller's stream; absent where there is no agent.
template <typename Value>
void for_agents(Families& out, const EdgeSample& sample, Value&& value) {
  for_jobs(out, sample, [&](const JobSample& job) {
    if (job.agent) out.value(std::uint64_t{value(*job.agent)});
  });
}

void add_state(Families& out, const EdgeSample& sample) {
  out.gauge("tombolo_edge_uptime_seconds", "Time since the edge was started.").seconds(sample.uptime_ns);
  out.gauge("tombolo_edge_session", "Number of this life of the edge; grows with each restart.")
      .value(std::uint64_t{sample.session});
  out.gauge("tombolo_edge_lanes",
            "Lanes into which every update is divided; what is counted by lane is "
            "counted so many times for a round.")
      .value(std::uint64_t{sample.lane_count});
}

void add_epochs(Families& out, const EdgeSample& sample) {
  const auto each = [&](auto member) {
    for_jobs(out, sample, [&](const JobSample& job) { out.value(std::uint64_t{job.epochs.*member}); });
  };
  out.gauge("tombolo_edge_epoch", "Newest epoch that the edge runs; 0 before the first.");
  each(&EpochSample::newest);
  out.gauge("tombolo_edge_epoch_older", "Epoch before it while that still has open rounds, else 0.");
  each(&EpochSample::older);
  out.gauge("tombolo_edge_epoch_first_round", "Round from which the newest epoch rules.");
  each(&EpochSample::first_round);
  out.gauge("tombolo_edge_epoch_lanes", "Lanes that have taken the newest epoch up.");
  each(&EpochSample::lanes_taken_up);
  out.gauge("tombolo_edge_highest_round", "Highest round that was opened here; absent before the first.");
  for_jobs(out, sample, [&](const JobSample& job) {
    if (job.epochs.highest_opened_round) out.value(std::uint64_t{*job.epochs.highest_opened_round});
  });
  out.gauge("tombolo_edge_controller_connected",
            "Whether the stream to the controller stands (1) or not (0).");
  for_agents(out, sample, [](const AgentSample& agent) { return agent.connected; });
  out.gauge("tombolo_edge_controller_term", "Newest controller's term that the edge has heard of.");
  for_agents(out, sample, [](const AgentSample& agent) { return agent.term; });
  out.gauge("tombolo_edge_epoch_staged", "Epoch that is staged beside the running one, else 0.");
  for_agents(out, sample, [](const AgentSample& agent) { return agent.staged_epoch; });
}

void add_ports(Families& out, const EdgeSample& sample) {
  const auto each = [&](auto member) {
    for (const PortSample& port : sample.ports) out.value(port.*member, {{"port", port.name}});
  };
  out.counter("tombolo_edge_port_receive_packets_total", "Tombolo packets that a port received.");
  each(&PortSample::rx_packets);
  out.counter("tombolo_edge_port_receive_bytes_total", "Their bytes, Ethernet, IP and UDP included.");
  each(&PortSample::rx_bytes);
  out.counter("tombolo_edge_port_transmit_packets_total", "Tombolo packets that a port sent.");
  each(&PortSample::tx_packets);
  out.counter("tombolo_edge_port_transmit_bytes_total", "Their bytes, Ethernet, IP and UDP included.");
  each(&PortSample::tx_bytes);
  out.counter("tombolo_edge_port_drops_total",
              "Frames that a port did not use or could not send, by reason.");
  for (const PortSample& port : sample.ports)
    for (const NamedCount& drop : port.drops)
      out.value(drop.count, {{"port", port.name}, {"reason", drop.name}});
}

void add_peers(Families& out, const EdgeSample& sample) {
  const auto for_peers = [&](auto add) {
    for_jobs(out, sample, [&](const JobSample& job) {
      for (const PeerSample& peer : job.peers) add(peer);
    });
  };
  const auto each = [&](auto member) {
    for_peers([&](const PeerSample& peer) {
      out.value(peer.*member, {{"peer", peer.name}, {"kind", peer.is_island ? "island" : "edge"}});
    });
  };
  const auto labels = [](const PeerSample& peer) {
    return std::array<LabelValue, 2>{{{"peer", peer.name}, {"kind", peer.is_island ? "island" : "edge"}}};
  };
  out.gauge("tombolo_edge_peer_up", "Whether a neighbour is heard in every lane (1) or not (0).");
  for_peers([&](const PeerSample& peer) {
    const auto pair = labels(peer);
    out.value(std::uint64_t{peer.up()}, {pair[0], pair[1]});
  });
  out.gauge("tombolo_edge_peer_group_info",
            "1, with the IPv4 group that packets for a neighbour go to; absent when they go to its address.");
  for_peers([&](const PeerSample& peer) {
    const auto pair = labels(peer);
    if (!peer.group.empty()) out.value(std::uint64_t{1}, {pair[0], pair[1], {"group", peer.group}});
  });
  out.gauge("tombolo_edge_peer_rtt_seconds",
            "Smoothed round-trip time to a neighbour; configured until measured.");
  for_peers([&](const PeerSample& peer) {
    const auto pair = labels(peer);
    out.seconds(peer.rtt_ns, {pair[0], pair[1]});
  });
  out.gauge("tombolo_edge_peer_session", "The neighbour's session; 0 before it was heard.");
  for_peers([&](const PeerSample& peer) {
    const auto pair = labels(peer);
    out.value(std::uint64_t{peer.session}, {pair[0], pair[1]});
  });
  out.gauge("tombolo_edge_peer_outstanding_packets", "Packets kept until the neighbour acknowledges them.");
  each(&PeerSample::outstanding);
  out.counter("tombolo_edge_peer_receive_packets_total", "Packets from a neighbour, used or dropped.");
  each(&PeerSample::rx_packets);
  out.counter("tombolo_edge_peer_receive_bytes_total", "Their bytes, header and payload.");
  each(&PeerSample::rx_bytes);
  out.counter("tombolo_edge_peer_transmit_packets_total",
              "Packets to a neighbour, repairs and feedback included.");
  each(&PeerSample::tx_packets);
  out.counter("tombolo_edge_peer_transmit_bytes_total", "Their bytes, header and payload.");
  each(&PeerSample::tx_bytes);
  out.counter("tombolo_edge_peer_repairs_sent_total",
              "Packets sent again because the neighbour asked for them.");
  each(&PeerSample::repairs_sent);
  out.counter("tombolo_edge_peer_repairs_asked_total",
              "Packets that the neighbour was asked to send again; one asked for twice counts twice.");
  each(&PeerSample::repairs_asked);
  out.counter("tombolo_edge_peer_gaps_total",
              "Packets that were missing when a later one came: lost or overtaken.");
  each(&PeerSample::gaps);
  out.counter("tombolo_edge_peer_given_up_total", "Missing packets that the neighbour could not send again.");
  each(&PeerSample::given_up);
  out.counter("tombolo_edge_peer_downs_total", "Times that a neighbour fell silent, counted in each lane.");
  each(&PeerSample::downs);
}

void add_lanes(Families& out, const EdgeSample& sample) {
  const auto each = [&](auto member) {
    for_jobs(out, sample, [&](const JobSample& job) {
      for (const LaneSample& lane : job.lanes) out.value(lane.*member, {{"lane", std::to_string(lane.lane)}});
    });
  };
  out.counter("tombolo_edge_lane_receive_packets_total", "Packets that came to a lane, used or dropped.");
  each(&LaneSample::rx_packets);
  out.counter("tombolo_edge_lane_contributions_total", "Contributions that were folded or forwarded.");
  each(&LaneSample::contributions);
  out.counter("tombolo_edge_lane_results_total", "Finished chunks that were sent to islands.");
  each(&LaneSample::results);
  const auto drops = [&](const DropSample& dropped) {
    for (std::size_t i = 1; i < dropped.size(); ++i)  // 0 is no reason.
      out.value(dropped[i], {{"reason", std::string(name(static_cast<DropReason>(i)))}});
  };
  out.counter("tombolo_edge_drops_total",
              "Packets that were not used, by reason; without a training job what no lane saw.");
  for_jobs(out, sample, [&](const JobSample& job) { drops(job.drops); });
  drops(sample.drops);
  const auto sums = [&](auto member) {
    for_jobs(out, sample, [&](const JobSample& job) { out.value(job.*member); });
  };
  out.counter("tombolo_edge_replicated_packets_total", "Packets that were copied to one or more links.");
  sums(&JobSample::packets_replicated);
  out.counter("tombolo_edge_copies_total", "Copies that were made of them.");
  sums(&JobSample::copies);
  out.counter("tombolo_edge_copy_saved_bytes_total", "Payload bytes that copies share instead of copying.");
  sums(&JobSample::payload_bytes_saved);
}

void add_aggregation(Families& out, const EdgeSample& sample) {
  const auto each = [&](auto add) {
    for_jobs(out, sample, [&](const JobSample& job) { add(job.aggregation); });
  };
  const auto sums = [&](auto member) {
    each([&](const AggregationSample& aggregation) { out.value(aggregation.*member); });
  };
  out.gauge("tombolo_edge_rounds_open", "Open rounds of the edge's islands, counted in each lane.");
  sums(&AggregationSample::rounds_open);
  out.counter("tombolo_edge_rounds_total",
              "Ended rounds of the edge's islands by outcome, counted in each lane.");
  each([&](const AggregationSample& aggregation) {
    for (std::size_t i = 0; i < aggregation.rounds_ended.size(); ++i)
      out.value(aggregation.rounds_ended[i],
                {{"outcome", std::string(outcome_name(static_cast<wire::RoundOutcome>(i)))}});
  });
  out.histogram("tombolo_edge_round_duration_seconds",
                "From a round's first contribution to its last result, for each lane of complete rounds.");
  each([&](const AggregationSample& aggregation) {
    out.durations(dataplane::kDurationBounds, aggregation.durations.counts, aggregation.durations.sum_ns);
  });
  out.summary(
      "tombolo_edge_contributor_lag_seconds",
      "How long after the fastest member of the clique a contributor's last chunk came, for each lane "
      "and round.");
  each([&](const AggregationSample& aggregation) {
    for (const LagSample& lag : aggregation.lags)
      out.sum(lag.rounds, lag.behind_ns, {{"contributor", lag.name}});
  });
  out.gauge("tombolo_edge_slots", "Chunks that the open rounds have room for.");
  sums(&AggregationSample::slots);
  out.gauge("tombolo_edge_window_chunks", "Largest window of a fold point: how far a source may be ahead.");
  each([&](const AggregationSample& aggregation) { out.value(std::uint64_t{aggregation.window_chunks}); });
  out.gauge("tombolo_edge_planned_window_chunks",
            "The same as planned: more where the job's quota does not hold it, and then grants are smaller.");
  each([&](const AggregationSample& aggregation) {
    out.value(std::uint64_t{aggregation.planned_window_chunks});
  });
  out.gauge("tombolo_edge_held_contributions",
            "Contributions that wait for others of their chunk, in a packet buffer each or in the arena.");
  sums(&AggregationSample::held_contributions);
  out.gauge("tombolo_edge_arena_bytes", "Memory reserved for contributions that wait long.");
  sums(&AggregationSample::arena_bytes);
  out.gauge("tombolo_edge_arena_used_bytes", "Of it, in use.");
  sums(&AggregationSample::arena_used_bytes);
  out.gauge("tombolo_edge_arena_used_bytes_max", "Most that was in use, of each lane by itself.");
  sums(&AggregationSample::arena_high_water_bytes);
  const auto by_contributor = [&](auto member, const char* kind) {
    each([&](const AggregationSample& aggregation) {
      for (const ValueSample& values : aggregation.values)
        out.value(values.*member, {{"contributor", values.name}, {"kind", kind}});
    });
  };
  out.counter("tombolo_edge_values_total",
              "Values of contributors that were not finite, and of an island's results that did not fit.");
  by_contributor(&ValueSample::nan, "nan");
  by_contributor(&ValueSample::infinity, "infinity");
  by_contributor(&ValueSample::saturated, "saturated");
  out.counter("tombolo_edge_rejected_chunks_total",
              "Chunks that a contributor was left out of for values that were not finite.");
  each([&](const AggregationSample& aggregation) {
    for (const ValueSample& values : aggregation.values)
      out.value(values.rejected_chunks, {{"contributor", values.name}});
  });
  out.gauge("tombolo_edge_grants_outstanding",
            "Rounds of trees whose source may send and that are not over, counted in each lane.");
  sums(&AggregationSample::grants_unfinished);
  out.gauge("tombolo_edge_grants_waiting", "Grants and ends of rounds that wait for room on a link.");
  sums(&AggregationSample::grants_pending);
}

void add_resources(Families& out, const EdgeSample& sample) {
  const auto pools = [&](auto member) {
    for (const PoolSample& pool : sample.pools) out.value(pool.*member, {{"pool", pool.name}});
  };
  out.gauge("tombolo_edge_pool_buffers", "Packet buffers of a pool.");
  pools(&PoolSample::buffers);
  out.gauge("tombolo_edge_pool_used_buffers", "Those in use.");
  pools(&PoolSample::in_use);
  out.gauge("tombolo_edge_pool_used_buffers_max", "Most that were in use at a time.");
  pools(&PoolSample::high_water);
  out.counter("tombolo_edge_pool_empty_total", "Requests that found the pool empty.");
  pools(&PoolSample::empties);

  out.counter("tombolo_edge_worker_seconds_total",
              "Where a worker's time went: busy, idle (polling in vain) or asleep.");
  for (std::size_t i = 0; i < sample.workers.size(); ++i) {
    const WorkerTimeSample& times = sample.workers[i].times;
    const std::string worker = std::to_string(i);
    out.seconds(times.busy_ns, {{"worker", worker}, {"state", "busy"}});
    out.seconds(times.idle_ns, {{"worker", worker}, {"state", "idle"}});
    out.seconds(times.asleep_ns, {{"worker", worker}, {"state", "asleep"}});
  }
  out.counter("tombolo_edge_worker_stalled_seconds_total",
              "Time in which a worker wanted to run and had no core; part of its other times.");
  for (std::size_t i = 0; i < sample.workers.size(); ++i)
    out.seconds(sample.workers[i].times.stalled_ns, {{"worker", std::to_string(i)}});
  const auto workers = [&](auto member) {
    for (std::size_t i = 0; i < sample.workers.size(); ++i)
      out.value(sample.workers[i].*member, {{"worker", std::to_string(i)}});
  };
  out.counter("tombolo_edge_worker_turns_total", "Turns of a worker's loop.");
  workers(&WorkerSample::turns);
  out.counter("tombolo_edge_worker_idle_turns_total", "Turns in which nothing arrived.");
  workers(&WorkerSample::idle_turns);
  out.counter("tombolo_edge_worker_handed_over_packets_total",
              "Packets given to the worker that owns their lane.");
  workers(&WorkerSample::handed_over);
}

}  // namespace

std::vector<prometheus::MetricFamily> edge_families(const EdgeSample& sample) {
  Families out({{"site", sample.site}});
  add_state(out, sample);
  add_epochs(out, sample);
  add_ports(out, sample);
  add_peers(out, sample);
  add_lanes(out, sample);
  add_aggregation(out, sample);
  add_resources(out, sample);
  return out.take();
}

}  // namespace tombolo::control
