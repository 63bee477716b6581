#include "control/observe/edge_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tombolo::control {
namespace {

using dataplane::Edge;
using dataplane::EdgeJob;
using dataplane::EpochTable;
using dataplane::Lane;
using dataplane::LaneCounters;
using dataplane::PeerCounters;
using dataplane::RoundView;

std::string island_name(const JobNames& names, std::uint16_t rank) {
  if (rank < names.islands.size() && !names.islands[rank].empty()) return names.islands[rank];
  return fmt::format("rank {}", rank);
}

void add_drops(DropSample& sample, const DropCounters& drops) {
  for (std::size_t i = 0; i < kDropReasons; ++i) sample[i] += drops.get(static_cast<DropReason>(i));
}

void sample_workers(const Edge& edge, const std::vector<WorkerTimeSample>& times, EdgeSample& sample) {
  for (std::size_t i = 0; i < edge.workers(); ++i) {
    const dataplane::Worker& worker = edge.worker(i);
    WorkerSample out;
    if (i < times.size()) out.times = times[i];
    out.turns = worker.counters().turns.get();
    out.idle_turns = worker.counters().idle_turns.get();
    out.handed_over = worker.counters().handed_over.get();
    sample.workers.push_back(out);
    add_drops(sample.drops, worker.counters().drops);
    sample.drops[static_cast<std::size_t>(DropReason::kPortFull)] += worker.transmit_refused();
  }
}

void sample_lane(const Lane& lane, std::size_t worker, JobSample& sample) {
  const LaneCounters& counters = lane.counters();
  sample.lanes.push_back({.lane = lane.lane(),
                          .worker = static_cast<std::uint32_t>(worker),
                          .rx_packets = counters.packets_in.get(),
                          .contributions = counters.contributions.get(),
                          .results = counters.folds.get(),
                          .copies = lane.replication().copies.get()});
  add_drops(sample.drops, counters.drops);
  sample.packets_replicated += lane.replication().packets.get();
  sample.copies += lane.replication().copies.get();
  sample.payload_bytes_saved += lane.replication().payload_bytes_saved.get();
  AggregationSample& aggregation = sample.aggregation;
  aggregation.rounds_open += counters.rounds_open.get();
  for (std::size_t i = 0; i < aggregation.rounds_ended.size(); ++i)
    aggregation.rounds_ended[i] += counters.rounds_ended[i].get();
  for (std::size_t i = 0; i < aggregation.durations.counts.size(); ++i)
    aggregation.durations.counts[i] += counters.round_durations.count(i);
  aggregation.durations.sum_ns += counters.round_durations.sum_ns();
  aggregation.slots += counters.slots.get();
  aggregation.held_contributions += counters.held_contributions.get();
  aggregation.arena_bytes += counters.arena_bytes.get();
  aggregation.arena_used_bytes += counters.arena_used_bytes.get();
  aggregation.arena_high_water_bytes += counters.arena_high_water_bytes.get();
  aggregation.grants_unfinished += counters.grants_unfinished.get();
  aggregation.grants_pending += counters.grants_pending.get();
}

void sample_lags(const EdgeJob& job, const JobNames& names, AggregationSample& aggregation) {
  for (std::size_t rank = 0; rank < dataplane::kLagRanks; ++rank) {
    LagSample lag;
    for (const Lane* const lane : job.lanes()) {
      lag.rounds += lane->counters().lags[rank].rounds.get();
      lag.behind_ns += lane->counters().lags[rank].behind_ns.get();
    }
    if (lag.rounds == 0) continue;
    lag.name = island_name(names, static_cast<std::uint16_t>(rank));
    aggregation.lags.push_back(std::move(lag));
  }
}

void sample_values(const EdgeJob& job, const JobNames& names, AggregationSample& aggregation) {
  for (std::size_t rank = 0; rank < dataplane::kLagRanks; ++rank) {
    ValueSample values;
    for (const Lane* const lane : job.lanes()) {
      const dataplane::ValueCounters& counters = lane->counters().values[rank];
      values.nan += counters.nan.get();
      values.infinity += counters.infinity.get();
      values.rejected_chunks += counters.rejected_chunks.get();
      values.saturated += counters.saturated.get();
    }
    if (values.nan + values.infinity + values.saturated == 0) continue;
    values.name = island_name(names, static_cast<std::uint16_t>(rank));
    aggregation.values.push_back(std::move(values));
  }
}

PeerSample sample_peer(const EdgeJob& job, std::size_t link) {
  const dataplane::EdgeLink& config = job.config().links[link];
  PeerSample peer;
  peer.address = to_string(config.address);
  peer.is_island = config.is_island;
  peer.rtt_ns = kNever;
  for (const Lane* const lane : job.lanes()) {
    const PeerCounters& counters = lane->peer_counters(link);
    ++peer.lanes;
    peer.lanes_up += counters.up.get() != 0 ? 1 : 0;
    peer.session = std::max(peer.session, static_cast<std::uint32_t>(counters.remote_session.get()));
    // Nothing is published before the lane has turned for the first time.
    if (const Nanoseconds rtt = counters.rtt_ns.get(); rtt != 0) peer.rtt_ns = std::min(peer.rtt_ns, rtt);
    peer.rx_packets += counters.rx_packets.get();
    peer.rx_bytes += counters.rx_bytes.get();
    peer.tx_packets += counters.tx_packets.get();
    peer.tx_bytes += counters.tx_bytes.get();
    peer.outstanding += counters.outstanding.get();
    peer.repairs_sent += counters.repairs_sent.get();
    peer.repairs_asked += counters.repairs_asked.get();
    peer.gaps += counters.gaps.get();
    peer.given_up += counters.given_up.get();
    peer.downs += counters.downs.get();
  }
  if (peer.rtt_ns == kNever) peer.rtt_ns = config.rtt_ns;
  return peer;
}

EpochSample sample_epochs(const EdgeJob& job) {
  EpochSample epochs;
  const auto& live = job.live_epochs();
  if (live[0].table == nullptr) return epochs;
  epochs.newest = live[0].table->epoch;
  epochs.first_round = live[0].first_round;
  const std::uint32_t older = live[1].table == nullptr ? 0 : live[1].table->epoch;
  bool drained = true;
  for (const Lane* const lane : job.lanes()) {
    if (lane->counters().newest_epoch.get() == epochs.newest) ++epochs.lanes_taken_up;
    drained = drained && lane->counters().drained_epoch.get() == older;
  }
  epochs.older = drained ? 0 : older;
  epochs.highest_opened_round = job.highest_opened_round();
  return epochs;
}

/// One open round while the lanes' views of it are put together.
struct Gathered {
  OpenRoundSample sample;
  const EpochTable* table = nullptr;
  std::vector<std::uint16_t> members;  ///< Of the round's clique, ascending.
  std::uint64_t late = 0;
  Nanoseconds first_ns = kNever;
};

const EpochTable* live_table(const EdgeJob& job, std::uint32_t epoch) {
  for (const auto& live : job.live_epochs())
    if (live.table != nullptr && live.table->epoch == epoch) return live.table.get();
  return nullptr;
}

/// The ranks of the round's clique; none if the table has no such clique.
std::vector<std::uint16_t> find_members(const EpochTable& table, const RoundView& view) {
  for (const dataplane::LocalIsland& island : table.islands) {
    if (island.rank != view.rank || view.entry >= island.members.size()) continue;
    const aggregation::MemberEntry& entry = island.members[view.entry];
    return {entry.ranks.begin(), entry.ranks.begin() + entry.members};
  }
  for (const dataplane::SitePoint& site : table.sites)
    if (site.lowest_member == view.rank && view.entry < site.entries.size())
      return site.entries[view.entry].members;
  return {};
}

void gather(const RoundView& view, Gathered& gathered) {
  gathered.sample.epoch = view.epoch;
  gathered.sample.round = view.round;
  ++gathered.sample.lanes_open;
  gathered.sample.chunks_done += view.chunks_done;
  gathered.sample.chunks_total += view.chunks_total;
  gathered.late |= view.late;
  gathered.first_ns = std::min(gathered.first_ns, view.first_contribution_ns);
}

void sample_rounds(const EdgeJob& job, const JobNames& names, Nanoseconds now_ns, JobSample& sample) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, Gathered> rounds;
  for (const Lane* const lane : job.lanes()) {
    const std::size_t count = lane->rounds().count();
    for (std::size_t place = 0; place < count; ++place) {
      const auto view = lane->rounds().get(place);
      if (!view) continue;
      const EpochTable* const table = live_table(job, view->epoch);
      if (table == nullptr) continue;
      Gathered& gathered = rounds[{view->round, view->epoch, view->rank}];
      gathered.table = table;
      gathered.members = find_members(*table, *view);
      gather(*view, gathered);
    }
  }
  for (auto& [key, gathered] : rounds) {
    if (gathered.members.empty()) continue;
    OpenRoundSample& round = gathered.sample;
    round.island = island_name(names, std::get<2>(key));
    round.members = static_cast<decltype(round.members)>(gathered.members.size());
    for (std::size_t member = 0; member < gathered.members.size(); ++member)
      if ((gathered.late >> member & 1) != 0)
        round.late.push_back(island_name(names, gathered.members[member]));
    if (gathered.first_ns <= now_ns) {
      round.age_ns = now_ns - gathered.first_ns;
      round.time_left_ns = gathered.table->deadline_ns - std::min(gathered.table->deadline_ns, *round.age_ns);
    }
    sample.rounds.push_back(std::move(round));
  }
}

JobSample sample_job(const Edge& edge, const EdgeJob& job, const JobNames& names, Nanoseconds now_ns) {
  JobSample sample;
  sample.job = job.config().job;
  for (std::size_t lane = 0; lane < job.lanes().size(); ++lane)
    sample_lane(*job.lanes()[lane], lane % edge.workers(), sample);
  sample_lags(job, names, sample.aggregation);
  sample_values(job, names, sample.aggregation);
  for (std::size_t link = 0; link < job.config().links.size(); ++link) {
    sample.peers.push_back(sample_peer(job, link));
    const bool named = link < names.links.size() && !names.links[link].empty();
    sample.peers.back().name = named ? names.links[link] : sample.peers.back().address;
  }
  sample.epochs = sample_epochs(job);
  sample_rounds(job, names, now_ns, sample);
  return sample;
}

}  // namespace

PoolSample sample_pool(std::string name, const MemoryPool& pool) {
  return {.name = std::move(name),
          .buffers = pool.buffers(),
          .in_use = pool.in_use(),
          .high_water = pool.high_water(),
          .empties = pool.empties()};
}

WorkerTimeSample sample_times(const dataplane::Runner& runner) {
  return {.busy_ns = runner.times().busy_ns.get(),
          .idle_ns = runner.times().idle_ns.get(),
          .asleep_ns = runner.times().asleep_ns.get(),
          .stalled_ns = runner.stalled_ns()};
}

DropSample EdgeSample::all_drops() const {
  DropSample all = drops;
  for (const JobSample& job : jobs)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += job.drops[i];
  return all;
}

EdgeSample take_sample(const Edge& edge, std::span<const JobNames> names, EdgeSurroundings surroundings,
                       Nanoseconds now_ns) {
  EdgeSample sample;
  sample.site = edge.config().site;
  sample.session = edge.config().session;
  sample.lane_count = edge.config().lane_count;
  sample.ports = std::move(surroundings.ports);
  sample.pools = std::move(surroundings.pools);
  sample_workers(edge, surroundings.times, sample);
  for (std::size_t job = 0; job < edge.jobs(); ++job)
    sample.jobs.push_back(
        sample_job(edge, edge.job(job), job < names.size() ? names[job] : JobNames{}, now_ns));
  return sample;
}

}  // namespace tombolo::control
