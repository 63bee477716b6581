#include "tests/sim/scenario.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "control/membership.h"
#include "schedule/compile.h"
#include "tools/testbed/planned_order.h"
#include "tools/testbed/workload.h"

namespace tombolo::sim {
namespace {

using schedule::Rank;
using schedule::Schedule;

constexpr Nanoseconds kSetupLimit = 30 * kSecond;
constexpr std::size_t kComplaints = 5;

}  // namespace

std::unique_ptr<Scenario> Scenario::create(schedule::Network network, ScenarioOptions options,
                                           const std::vector<Schedule>& schedules) {
  std::unique_ptr<Scenario> scenario(new Scenario(std::move(network), std::move(options)));
  scenario->options_.network.plans.clear();
  const Loss& loss = scenario->options_.loss;
  for (const Schedule& schedule : schedules)
    for (const bool lossy : {false, true}) {
      if (lossy && loss.links.empty() && loss.ranks.empty()) continue;
      const std::set<Rank> lost(loss.ranks.begin(), loss.ranks.end());
      auto plan =
          scenario->compile(lossy ? *control::without(schedule, lost) : schedule, 1, lossy ? loss : Loss{});
      EXPECT_TRUE(plan.ok()) << plan.error().message;
      if (!plan) return nullptr;
      scenario->options_.network.plans.push_back(std::move(plan).value());
    }
  auto testbed = testbed::InprocTestbed::create(scenario->network_, scenario->options_.network);
  EXPECT_TRUE(testbed.ok()) << testbed.error().message;
  if (!testbed) return nullptr;
  scenario->testbed_ = std::move(testbed).value();
  if (!scenario->open_job(0)) return nullptr;
  scenario->driver_ = std::make_shared<testbed::VirtualDriver>(*scenario->testbed_, *scenario->control_);
  scenario->together_.push_back(scenario.get());
  return scenario;
}

std::unique_ptr<Scenario> Scenario::beside(Scenario& first, std::uint32_t job) {
  std::unique_ptr<Scenario> scenario(new Scenario(first.network_, first.options_));
  scenario->testbed_ = first.testbed_;
  scenario->driver_ = first.driver_;
  scenario->first_ = &first;
  if (!scenario->open_job(job)) return nullptr;
  scenario->driver_->add_control(*scenario->control_);
  first.together_.push_back(scenario.get());
  return scenario;
}

bool Scenario::open_job(std::uint32_t job) {
  job_ = job;
  auto control = testbed::ControlPlane::create(*testbed_, options_.network.seed, job);
  EXPECT_TRUE(control.ok()) << control.error().message;
  if (!control) return false;
  control_ = std::move(control).value();
  players_.resize(network_.islands.size());
  return true;
}

Result<schedule::EpochPlan> Scenario::compile(const Schedule& schedule, std::uint32_t epoch,
                                              const Loss& loss) const {
  schedule::CompileOptions options;
  options.job = static_cast<std::uint16_t>(options_.network.job + job_);
  options.epoch = epoch;
  options.chunk_elements = options_.chunk_elements;
  options.lane_count = options_.network.lane_count;
  options.deadline_ns = options_.deadline_ns;
  options.update_bytes = options_.update_bytes;
  options.multicast = options_.multicast;
  options.edge_aggregation = options_.edge_aggregation;
  options.tree_aggregation = options_.tree_aggregation;
  options.lost_links = loss.links;
  options.lost_ranks = loss.ranks;
  schedule::Network network = network_;
  schedule::take_share(network, options_.share);
  std::erase_if(network.links, [&](const schedule::DirectedLink& link) {
    const schedule::LostLink ends{std::min(link.from, link.to), std::max(link.from, link.to)};
    return std::binary_search(loss.links.begin(), loss.links.end(), ends);
  });
  return schedule::compile(network, schedule, options);
}

bool Scenario::propose(const Schedule& schedule, const Loss& loss) {
  note_outcome();
  const std::uint32_t epoch = control_->next_epoch();
  auto plan = compile(schedule, epoch, loss);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  if (!plan) return false;
  schedule::EpochPlan planned = *plan;
  if (!control_->propose(std::move(plan).value(), now_ns()).ok()) return false;
  epochs_[epoch] = {schedule, 0, std::move(planned)};
  return true;
}

std::optional<std::uint32_t> Scenario::install(const Schedule& schedule, const Loss& loss) {
  if (!propose(schedule, loss)) {
    ADD_FAILURE() << "the controller refused";
    return std::nullopt;
  }
  const auto ready = [&] {
    const auto outcome = control_->outcome();
    if (!outcome || (!somebody_stopped() && !testbed_->connected())) return false;
    for (Rank rank = 0; rank < players_.size(); ++rank) {
      const island::Endpoint& endpoint = *node_of(rank).endpoint;
      if (players_[rank].stopped) continue;
      if (endpoint.epoch() != outcome->epoch || !endpoint.can_start(outcome->activating_round)) return false;
    }
    return true;
  };
  const bool in_time = run_until(ready, kSetupLimit);
  note_outcome();
  const auto outcome = control_->outcome();
  if (in_time && outcome->kind == control::ChangeOutcome::Kind::kInstalled) return outcome->activating_round;
  ADD_FAILURE() << "not installed: " << (outcome ? control::to_string(*outcome) : "no outcome");
  return std::nullopt;
}

/// Remembers from which round on a committed epoch counts.
void Scenario::note_outcome() {
  if (const auto outcome = control_->outcome(); outcome && outcome->activating_round != 0)
    epochs_[outcome->epoch].first_round = outcome->activating_round;
}

void Scenario::play(Rank rank, std::uint32_t first, std::uint32_t last, Nanoseconds at_ns) {
  Player& player = players_[rank];
  player.next = first;
  player.last = last;
  player.plays = true;
  player.at_ns = at_ns;
}

void Scenario::play_all(std::uint32_t first, std::uint32_t last) {
  for (Rank rank = 0; rank < players_.size(); ++rank)
    if (!players_[rank].stopped) play(rank, first, last);
}

void Scenario::stop_island(Rank rank) {
  players_[rank].stopped = true;
  driver_->stop_island(index_of(rank));
}

void Scenario::stop_edge(schedule::SiteId site) {
  edge_stopped_ = true;
  driver_->stop_edge(site);
  control_->lose_edge(site);
}

bool Scenario::run_until(const std::function<bool()>& done, Nanoseconds limit_ns) {
  return driver_->run_until(
      [&] {
        for (Scenario* const scenario : first_->together_) scenario->pump();
        return done();
      },
      limit_ns);
}

bool Scenario::finish(Nanoseconds limit_ns) {
  return run_until([&] { return finished(); }, limit_ns);
}

void Scenario::run_for(Nanoseconds time_ns) {
  const Nanoseconds end_ns = now_ns() + time_ns;
  run_until([&] { return now_ns() >= end_ns; }, time_ns);
}

void Scenario::pump() {
  note_outcome();
  for (Rank rank = 0; rank < players_.size(); ++rank)
    if (!players_[rank].stopped) pump_player(rank);
}

void Scenario::pump_player(Rank rank) {
  Player& player = players_[rank];
  island::Endpoint& endpoint = *node_of(rank).endpoint;
  std::erase_if(player.under_way, [&endpoint](Part* part) {
    const island::Outcome* const outcome = endpoint.poll(part->handle);
    if (outcome == nullptr || outcome->stage == part->outcome.stage) return false;
    part->outcome = *outcome;
    if (!part->outcome.finished()) return false;
    EXPECT_TRUE(endpoint.drop(part->handle));
    return true;
  });
  if (!player.plays || player.next > player.last || now_ns() < player.at_ns) return;
  const bool busy = !player.parts.empty() && !player.parts.rbegin()->second->outcome.ready() &&
                    !player.parts.rbegin()->second->outcome.finished();
  if (!busy) start_next(rank);
}

void Scenario::start_next(Rank rank) {
  Player& player = players_[rank];
  auto part = std::make_unique<Part>();
  part->rank = rank;
  part->round = player.next;
  const std::uint64_t count = options_.update_bytes / sizeof(float);
  part->input = testbed::make_update(options_.network.seed + job_, part->round, rank, count);
  part->output.resize(count);
  part->started_ns = now_ns();
  driver_->with_island(index_of(rank), [&](island::Endpoint& endpoint, Nanoseconds now) {
    island::Allreduce request;
    request.round = part->round;
    request.input = reinterpret_cast<const std::byte*>(part->input.data());
    request.output = reinterpret_cast<std::byte*>(part->output.data());
    request.count = count;
    request.operation = options_.operation;
    const auto handle = endpoint.allreduce_async(request, now);
    if (handle) {
      part->handle = *handle;
      player.under_way.push_back(part.get());
      player.parts[player.next++] = std::move(part);
    } else {
      // Too many rounds wait for their release: again in a later turn.
      EXPECT_EQ(handle.error().code, ErrorCode::kUnavailable) << handle.error().message;
    }
  });
}

bool Scenario::somebody_stopped() const {
  return edge_stopped_ ||
         std::any_of(players_.begin(), players_.end(), [](const Player& player) { return player.stopped; });
}

bool Scenario::finished() const {
  for (const Player& player : players_) {
    if (player.stopped || !player.plays) continue;
    if (player.next <= player.last || !player.under_way.empty()) return false;
  }
  return true;
}

std::string Scenario::unfinished() const {
  std::string text;
  for (Rank rank = 0; rank < players_.size(); ++rank) {
    const Player& player = players_[rank];
    if (player.stopped || !player.plays) continue;
    if (player.next <= player.last)
      text += fmt::format("island {} has not started round {}\n", network_.islands[rank].id, player.next);
    for (const Part* const part : player.under_way)
      text += fmt::format("island {} round {} epoch {}: stage {}\n", network_.islands[rank].id, part->round,
                          part->outcome.epoch, static_cast<int>(part->outcome.stage));
  }
  return text;
}

const Part* Scenario::part(Rank rank, std::uint32_t round) const {
  const auto found = players_[rank].parts.find(round);
  return found == players_[rank].parts.end() ? nullptr : found->second.get();
}

bool Scenario::has_outcome(Rank rank, std::uint32_t round) const {
  const Part* const played = part(rank, round);
  return played != nullptr && (played->outcome.ready() || played->outcome.finished());
}

std::string Scenario::judge() const {
  std::string wrong;
  std::size_t complaints = 0;
  for (const Player& player : players_) {
    if (player.stopped) continue;
    for (const auto& [round, part] : player.parts) {
      const std::string text = judge_part(*part);
      if (!text.empty() && ++complaints <= kComplaints) wrong += text + "\n";
    }
  }
  if (complaints > kComplaints) wrong += fmt::format("and {} more\n", complaints - kComplaints);
  return wrong;
}

std::string Scenario::judge_part(const Part& part) const {
  const std::string where = fmt::format("island {} round {}: ", network_.islands[part.rank].id, part.round);
  if (part.outcome.stage == island::Stage::kFailed) return where + "failed: " + part.outcome.error.message;
  if (!part.outcome.ready()) return where + "no outcome";
  if (!epochs_.contains(part.outcome.epoch))
    return where + fmt::format("names epoch {}, which was never proposed", part.outcome.epoch);
  const schedule::Clique clique = clique_of(part.outcome.epoch, part.round, part.rank);
  if (part.outcome.contributors != clique) return where + "contributors are not the clique";
  for (const Rank member : clique) {
    const Part* const other = this->part(member, part.round);
    if (other == nullptr) return where + "a member never started the round";
    if (other->outcome.ready() && other->outcome.epoch != part.outcome.epoch)
      return where + fmt::format("epoch {} here, {} at a member", part.outcome.epoch, other->outcome.epoch);
  }
  const std::uint64_t count = part.output.size();
  const Installed& installed = epochs_.at(part.outcome.epoch);
  const auto order = testbed::fold_order(installed.plan, installed.first_round, part.round, clique);
  const auto expected = clique.size() == 1
                            ? part.input
                            : testbed::expected_result(options_.network.seed + job_, part.round, order, count,
                                                       options_.operation);
  if (!testbed::same_bits(part.output, expected)) return where + "wrong bits";
  return {};
}

schedule::Clique Scenario::clique_of(std::uint32_t epoch, std::uint32_t round, Rank rank) const {
  const Installed& installed = epochs_.at(epoch);
  const auto& rounds = installed.schedule.rounds;
  for (const schedule::Clique& clique : rounds[(round - installed.first_round) % rounds.size()].cliques)
    if (std::find(clique.begin(), clique.end(), rank) != clique.end()) return clique;
  return {rank};
}

std::uint64_t Scenario::drops(DropReason reason) {
  std::uint64_t count = 0;
  for (testbed::EdgeNode& node : testbed_->edges())
    count += node.edge->totals().drops[static_cast<std::size_t>(reason)];
  for (testbed::IslandNode& node : testbed_->islands()) count += node.endpoint->counters().drops.get(reason);
  return count;
}

EdgeTotals Scenario::totals() {
  EdgeTotals totals;
  for (const testbed::EdgeNode& node : testbed_->edges()) totals.add(node.edge->job(job_).totals());
  return totals;
}

std::uint64_t Scenario::buffers_in_use() {
  std::uint64_t count = 0;
  for (testbed::EdgeNode& node : testbed_->edges()) count += node.pool->in_use();
  for (Rank rank = 0; rank < players_.size(); ++rank)
    if (!players_[rank].stopped) count += node_of(rank).pool->in_use();
  return count;
}

schedule::Network shipped(const std::string& file, const std::string& profile, double scale) {
  const auto topology = schedule::load_topology(std::string(TOMBOLO_CONFIGS) + "/topologies/" + file);
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  auto network = schedule::resolve(*topology, profile, scale);
  EXPECT_TRUE(network.ok()) << network.error().message;
  return std::move(network).value();
}

schedule::Network nine_cities(double scale) { return shipped("nine-city.yaml", "access-limited", scale); }

Schedule schedule_of(const std::string& rounds, const schedule::Network& network) {
  auto schedule = schedule::parse_schedule("rounds: " + rounds, "test", network.islands);
  EXPECT_TRUE(schedule.ok()) << schedule.error().message;
  return std::move(schedule).value();
}

Schedule full(const schedule::Network& network) { return *schedule::full_schedule(network.islands); }

Schedule grid(const schedule::Network& network) { return *schedule::grid_schedule(network.islands); }

Rank rank_of(const schedule::Network& network, const std::string& id) {
  const auto found = std::find_if(network.islands.begin(), network.islands.end(),
                                  [&](const schedule::Island& island) { return island.id == id; });
  EXPECT_NE(found, network.islands.end()) << id;
  return static_cast<Rank>(found - network.islands.begin());
}

}  // namespace tombolo::sim
