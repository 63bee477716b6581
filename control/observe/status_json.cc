#include "control/observe/status_json.h"

#include "control/observe/outcome_name.h"

namespace tombolo::control {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Nanoseconds ns) { return static_cast<double>(ns) / 1e9; }
double milliseconds(Nanoseconds ns) { return static_cast<double>(ns) / 1e6; }

template <typename T, typename Make>
Json list(const std::vector<T>& items, Make&& make) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(make(item));
  return array;
}

Json counts(const std::vector<NamedCount>& named) {
  Json object = Json::object();
  for (const NamedCount& each : named) object[each.name] = each.count;
  return object;
}

/// Only reasons that occurred: there are many.
Json drops_json(const DropSample& sample) {
  Json drops = Json::object();
  for (std::size_t i = 1; i < sample.size(); ++i)
    if (sample[i] > 0) drops[std::string(name(static_cast<DropReason>(i)))] = sample[i];
  return drops;
}

Json port_json(const PortSample& port) {
  return {{"name", port.name},         {"rx_packets", port.rx_packets},
          {"rx_bytes", port.rx_bytes}, {"tx_packets", port.tx_packets},
          {"tx_bytes", port.tx_bytes}, {"drops", counts(port.drops)}};
}

Json peer_json(const PeerSample& peer) {
  return {{"name", peer.name},
          {"address", peer.address},
          {"group", peer.group.empty() ? Json(nullptr) : Json(peer.group)},
          {"kind", peer.is_island ? "island" : "edge"},
          {"up", peer.up()},
          {"lanes_up", peer.lanes_up},
          {"lanes", peer.lanes},
          {"session", peer.session},
          {"rtt_ms", milliseconds(peer.rtt_ns)},
          {"rx_packets", peer.rx_packets},
          {"rx_bytes", peer.rx_bytes},
          {"tx_packets", peer.tx_packets},
          {"tx_bytes", peer.tx_bytes},
          {"outstanding", peer.outstanding},
          {"repairs_sent", peer.repairs_sent},
          {"repairs_asked", peer.repairs_asked},
          {"gaps", peer.gaps},
          {"given_up", peer.given_up},
          {"downs", peer.downs}};
}

Json epochs_json(const EpochSample& epochs) {
  Json object{{"newest", epochs.newest},
              {"first_round", epochs.first_round},
              {"older", epochs.older},
              {"lanes_taken_up", epochs.lanes_taken_up},
              {"highest_opened_round", nullptr}};
  if (epochs.highest_opened_round) object["highest_opened_round"] = *epochs.highest_opened_round;
  return object;
}

Json round_json(const OpenRoundSample& round) {
  Json object{{"round", round.round},
              {"epoch", round.epoch},
              {"island", round.island},
              {"members", round.members},
              {"late", round.late},
              {"lanes_open", round.lanes_open},
              {"chunks_done", round.chunks_done},
              {"chunks_total", round.chunks_total},
              {"age_s", nullptr},
              {"time_left_s", nullptr}};
  if (round.age_ns) object["age_s"] = seconds(*round.age_ns);
  if (round.time_left_ns) object["time_left_s"] = seconds(*round.time_left_ns);
  return object;
}

Json aggregation_json(const AggregationSample& aggregation) {
  Json ended = Json::object();
  for (std::size_t i = 0; i < aggregation.rounds_ended.size(); ++i)
    ended[std::string(outcome_name(static_cast<wire::RoundOutcome>(i)))] = aggregation.rounds_ended[i];
  std::uint64_t timed = 0;
  for (const std::uint64_t count : aggregation.durations.counts) timed += count;
  Json object{{"rounds_open", aggregation.rounds_open},
              {"rounds_ended", ended},
              {"mean_round_s", nullptr},
              {"slots", aggregation.slots},
              {"window_chunks", aggregation.window_chunks},
              {"planned_window_chunks", aggregation.planned_window_chunks},
              {"held_contributions", aggregation.held_contributions},
              {"arena_bytes", aggregation.arena_bytes},
              {"arena_used_bytes", aggregation.arena_used_bytes},
              {"arena_high_water_bytes", aggregation.arena_high_water_bytes},
              {"grants_outstanding", aggregation.grants_unfinished},
              {"grants_waiting", aggregation.grants_pending},
              {"values", list(aggregation.values,
                              [](const ValueSample& values) -> Json {
                                return {{"contributor", values.name},
                                        {"nan", values.nan},
                                        {"infinity", values.infinity},
                                        {"rejected_chunks", values.rejected_chunks},
                                        {"saturated", values.saturated}};
                              })},
              {"lag", list(aggregation.lags, [](const LagSample& lag) -> Json {
                 return {{"contributor", lag.name},
                         {"rounds", lag.rounds},
                         {"mean_ms", milliseconds(lag.behind_ns) / static_cast<double>(lag.rounds)}};
               })}};
  if (timed > 0) object["mean_round_s"] = seconds(aggregation.durations.sum_ns) / static_cast<double>(timed);
  return object;
}

Json worker_json(const WorkerSample& worker) {
  return {{"busy_s", seconds(worker.times.busy_ns)},
          {"idle_s", seconds(worker.times.idle_ns)},
          {"asleep_s", seconds(worker.times.asleep_ns)},
          {"stalled_s", seconds(worker.times.stalled_ns)},
          {"turns", worker.turns},
          {"idle_turns", worker.idle_turns},
          {"handed_over", worker.handed_over}};
}

Json job_json(const JobSample& job) {
  Json object{{"job", job.job},
              {"controller", nullptr},
              {"epochs", epochs_json(job.epochs)},
              {"peers", list(job.peers, peer_json)},
              {"rounds", list(job.rounds, round_json)},
              {"aggregation", aggregation_json(job.aggregation)},
              {"replication",
               {{"packets", job.packets_replicated},
                {"copies", job.copies},
                {"payload_bytes_saved", job.payload_bytes_saved}}},
              {"drops", drops_json(job.drops)}};
  if (job.agent)
    object["controller"] = {{"connected", job.agent->connected},
                            {"term", job.agent->term},
                            {"staged_epoch", job.agent->staged_epoch}};
  return object;
}

}  // namespace

Json status_json(const EdgeSample& sample) {
  return {{"program", "edge"},
          {"site", sample.site},
          {"session", sample.session},
          {"lanes", sample.lane_count},
          {"uptime_s", seconds(sample.uptime_ns)},
          {"jobs", list(sample.jobs, job_json)},
          {"ports", list(sample.ports, port_json)},
          {"drops", drops_json(sample.all_drops())},
          {"pools", list(sample.pools,
                         [](const PoolSample& pool) -> Json {
                           return {{"name", pool.name},
                                   {"buffers", pool.buffers},
                                   {"in_use", pool.in_use},
                                   {"high_water", pool.high_water},
                                   {"empties", pool.empties}};
                         })},
          {"workers", list(sample.workers, worker_json)}};
}

std::string dump_status(const Json& status) {
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tombolo::control
