#pragma once

#include <string>
#include <vector>

#include "control/observe/controller_metrics.h"
#include "control/observe/edge_sample.h"
#include "control/observe/island_metrics.h"

namespace tombolo::control {

/// Text that breaks whoever does not escape it: a quote, a backslash, a line's end, a script's end.
inline const std::string kHostile = "N\"Y\\C\n</script>";

/// A site that is up and an island that is up in one lane of four.
inline std::vector<PeerSample> two_peers() {
  std::vector<PeerSample> peers;
  PeerSample peer;
  peer.name = "LON";
  peer.address = "10.0.0.2:4700";
  peer.group = "239.192.0.3";
  peer.session = 301;
  peer.lanes_up = peer.lanes = 4;
  peer.rtt_ns = 70 * kMillisecond;
  peer.rx_packets = 302;
  peer.rx_bytes = 303;
  peer.tx_packets = 304;
  peer.tx_bytes = 305;
  peer.outstanding = 306;
  peer.repairs_sent = 307;
  peer.repairs_asked = 308;
  peer.gaps = 309;
  peer.given_up = 310;
  peer.downs = 311;
  peers.push_back(peer);
  peer = {};
  peer.name = "NYC";
  peer.address = "10.1.0.2:4700";
  peer.is_island = true;
  peer.lanes = 4;
  peer.lanes_up = 1;
  peer.rtt_ns = kMillisecond;
  peers.push_back(peer);
  return peers;
}

/// One job of it.
inline JobSample full_job_sample() {
  JobSample sample;
  sample.job = 102;
  sample.epochs = {7, 104, 6, 3, 105};
  sample.agent = AgentSample{true, 106, 8};
  sample.peers = two_peers();
  sample.lanes = {{0, 0, 401, 402, 403, 404}, {1, 1, 405, 406, 407, 408}};
  sample.drops[static_cast<std::size_t>(DropReason::kBeyondGrant)] = 701;
  sample.packets_replicated = 702;
  sample.copies = 703;
  sample.payload_bytes_saved = 704;
  AggregationSample& aggregation = sample.aggregation;
  aggregation.rounds_open = 801;
  aggregation.rounds_ended = {802, 803, 804, 805, 806};
  aggregation.durations.counts[0] = 2;
  aggregation.durations.counts[9] = 3;
  aggregation.durations.counts[15] = 1;
  aggregation.durations.sum_ns = 90 * kSecond;
  aggregation.lags = {{"AMS", 10, 5 * kSecond}, {"TYO", 20, 8 * kSecond}};
  aggregation.slots = 811;
  aggregation.window_chunks = 815;
  aggregation.planned_window_chunks = 816;
  aggregation.held_contributions = 812;
  aggregation.grants_unfinished = 813;
  aggregation.grants_pending = 814;
  OpenRoundSample round;
  round.epoch = 7;
  round.round = 901;
  round.island = "NYC";
  round.members = 3;
  round.lanes_open = 4;
  round.late = {"TYO"};
  round.chunks_done = 902;
  round.chunks_total = 903;
  round.age_ns = kSecond;
  round.time_left_ns = 4 * kSecond;
  sample.rounds.push_back(round);
  round.round = 904;
  round.late = {"NYC", "LON", "TYO"};
  round.age_ns.reset();
  round.time_left_ns.reset();
  sample.rounds.push_back(round);
  return sample;
}

/// An edge with something in every field; each number occurs once, so that a mix-up shows.
inline EdgeSample full_edge_sample(const std::string& site = "NYC") {
  EdgeSample sample;
  sample.site = site;
  sample.session = 101;
  sample.lane_count = 4;
  sample.uptime_ns = 103 * kSecond;
  sample.ports.push_back({"wan", 201, 202, 203, 204, {{"arp_other", 205}, {"ipv6", 206}}});
  WorkerSample worker;
  worker.times = {3 * kSecond / 2, kSecond / 4, 5 * kSecond / 2, kSecond / 8};
  worker.turns = 501;
  worker.idle_turns = 502;
  worker.handed_over = 503;
  sample.workers.push_back(worker);
  sample.pools.push_back({"packets", 601, 602, 603, 604});
  sample.drops[static_cast<std::size_t>(DropReason::kWrongLane)] = 605;
  sample.jobs.push_back(full_job_sample());
  return sample;
}

inline ControllerStatus full_controller_status() {
  ControllerStatus status;
  status.term = 12;
  status.epoch = 13;
  status.activating_round = 14;
  status.phase = "committing";
  status.edges.push_back({"NYC", true, true, 15, 13, 0, "", {}});
  status.edges.push_back({"LON", false, false, 16, 17, 0, "arena too small", {"NYC", "AMS"}});
  status.dead_sites = {"TYO"};
  status.lost_links = {"LON-NYC", "AMS-LON", "LON-TYO"};
  status.lost_islands = {"TYO", "SEO"};
  status.trouble = "LON is not connected";
  status.installed = 18;
  status.unconfirmed = 19;
  status.aborted = 20;
  status.superseded = 21;
  status.store_failures = 22;
  status.ignored = {23, 24, 25};
  status.streams = {26, 27, 28, 29, 30, 31, 32};
  return status;
}

inline IslandSample full_island_sample() {
  IslandSample sample;
  sample.island = "NYC";
  sample.session = 31;
  sample.uptime_ns = 32 * kSecond;
  sample.connected = true;
  sample.epoch = 33;
  sample.rx_packets = 34;
  sample.repairs_sent = 35;
  sample.results = 36;
  sample.drops[static_cast<std::size_t>(DropReason::kOldSession)] = 37;
  IslandRounds rounds;
  rounds.add(IslandRound::kComplete, 1000, 2000, 30 * kMillisecond);
  rounds.add(IslandRound::kComplete, 1000, 2000, 3 * kSecond);
  rounds.add(IslandRound::kFailed, 500, 10, {});
  rounds.add(IslandRound::kRested, 0, 0, {});
  rounds.fill(sample);
  return sample;
}

}  // namespace tombolo::control
