#include "tools/testbed/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/testbed/control_plane.h"
#include "tools/testbed/driver.h"
#include "tools/testbed/event_rounds.h"
#include "tools/testbed/round_parts.h"

namespace tombolo::testbed {
namespace {

using schedule::Clique;
using schedule::Rank;

constexpr Nanoseconds kSetupLimit = 30 * kSecond;
/// Waiting ends a little after the deadline, by which every operation has an outcome.
constexpr Nanoseconds kPastDeadline = 2 * kSecond;

/// The rounds of one run on a testbed that is up.
class Rounds {
 public:
  Rounds(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed, Driver& driver)
      : testbed_(testbed),
        driver_(driver),
        deadline_ns_(installed.plan.deadline_ns),
        parts_(config, installed, testbed, driver) {}

  /// Adds what happens to the report of the round.
  void run(const schedule::Round& cliques, RoundReport& report) {
    drop_finished();
    const std::vector<AccessBytes> before = access_bytes();
    std::vector<Part> parts = start(report.round, report);
    driver_.run_until([&] { return all_past(parts, island::Stage::kReady); }, deadline_ns_ + kPastDeadline);
    const std::vector<AccessBytes> after = access_bytes();
    for (std::size_t rank = 0; rank < after.size(); ++rank) {
      report.tx_bytes = std::max(report.tx_bytes, after[rank].tx - before[rank].tx);
      report.rx_bytes = std::max(report.rx_bytes, after[rank].rx - before[rank].rx);
    }
    judge(parts, cliques, report);
    for (Part& part : parts) under_way_.push_back(std::move(part));
  }

  /// Waits until every input is the caller's again.
  bool settle() {
    return driver_.run_until([&] { return all_past(under_way_, island::Stage::kReleased); },
                             deadline_ns_ + kPastDeadline);
  }

 private:
  /// What has crossed each island's access link so far, framing included.
  struct AccessBytes {
    std::uint64_t tx = 0;
    std::uint64_t rx = 0;
  };
  std::vector<AccessBytes> access_bytes() {
    std::vector<AccessBytes> bytes;
    for (const IslandNode& node : testbed_.islands())
      bytes.push_back(
          {node.port->tx().link_counters().tx_bytes.get(), node.port->rx().counters().rx_bytes.get()});
    return bytes;
  }

  std::vector<Part> start(std::uint32_t round, RoundReport& report) {
    std::vector<Part> parts;
    for (Rank rank = 0; rank < testbed_.islands().size(); ++rank) parts.push_back(parts_.make(rank, round));
    for (Part& part : parts) parts_.start(part, report);
    return parts;
  }

  bool all_past(std::vector<Part>& parts, island::Stage least) {
    bool all = true;
    for (Part& part : parts) {
      parts_.look(part);
      all = all && (part.outcome.finished() || (least == island::Stage::kReady && part.outcome.ready()));
    }
    return all;
  }

  /// Compares every result with the scalar reference, and times each clique.
  void judge(const std::vector<Part>& parts, const schedule::Round& cliques, RoundReport& report) {
    std::vector<bool> in_clique(parts.size(), false);
    for (const Clique& clique : cliques.cliques) {
      Nanoseconds first_ns = kNever;
      Nanoseconds last_ns = 0;
      const Expected expected = parts_.expected(report.round, clique);
      for (const Rank rank : clique) {
        in_clique[rank] = true;
        parts_.judge(parts[rank], expected, report);
        if (!parts[rank].outcome.ready()) continue;
        first_ns = std::min(first_ns, parts[rank].outcome.first_send_ns);
        last_ns = std::max(last_ns, parts[rank].outcome.ready_ns);
      }
      if (last_ns > first_ns)
        report.measured_s = std::max(report.measured_s, static_cast<double>(last_ns - first_ns) * 1e-9);
    }
    for (const Part& part : parts)
      if (!in_clique[part.rank]) parts_.judge(part, parts_.expected(report.round, {part.rank}), report);
    report.exact = report.errors.empty();
  }

  void drop_finished() {
    all_past(under_way_, island::Stage::kReleased);
    std::erase_if(under_way_, [&](Part& part) { return parts_.drop(part); });
  }

  InprocTestbed& testbed_;
  Driver& driver_;
  Nanoseconds deadline_ns_;
  RoundParts parts_;
  std::vector<Part> under_way_;  ///< Of former rounds, until they are released.
};

void add_drops(std::map<std::string, std::uint64_t>& drops, const std::string& reason, std::uint64_t count) {
  if (count > 0) drops[reason] += count;
}

void collect_wire(const dataplane::InprocWire& wire, std::map<std::string, std::uint64_t>& drops) {
  add_drops(drops, "wire_queue_full", wire.link_counters().queue_drops.get());
  add_drops(drops, "wire_loss", wire.link_counters().losses.get());
  add_drops(drops, "wire_no_buffer", wire.counters().no_buffer.get());
  add_drops(drops, "wire_too_large", wire.counters().too_large.get());
  add_drops(drops, "wire_no_frame", wire.counters().no_frame.get());
  add_drops(drops, "wire_unroutable", wire.counters().unroutable.get());
}

void collect(InprocTestbed& testbed, Driver& driver, RunReport& report) {
  for (EdgeNode& node : testbed.edges()) {
    const dataplane::EdgeTotals totals = node.edge->totals();
    for (std::size_t i = 0; i < kDropReasons; ++i)
      add_drops(report.drops, std::string(tombolo::name(static_cast<DropReason>(i))), totals.drops[i]);
    report.repairs += totals.repairs;
    report.copies += totals.copies;
    report.payload_bytes_saved += totals.payload_bytes_saved;
    for (const dataplane::InprocPort* const port : node.ports) collect_wire(port->tx(), report.drops);
  }
  for (IslandNode& node : testbed.islands()) {
    IslandReport& island = report.islands[node.rank];
    island.site = node.id;
    island.tx_bytes = node.port->tx().link_counters().tx_bytes.get();
    island.rx_bytes = node.port->rx().counters().rx_bytes.get();
    collect_wire(node.port->tx(), report.drops);
    driver.look_at_island(node.rank, [&](const island::Endpoint& endpoint) {
      for (std::size_t i = 0; i < kDropReasons; ++i) {
        const auto reason = static_cast<DropReason>(i);
        add_drops(report.drops, std::string(tombolo::name(reason)), endpoint.counters().drops.get(reason));
      }
      report.repairs += endpoint.counters().repairs_sent.get();
    });
  }
}

Status install(ControlPlane& control, Driver& driver, InprocTestbed& testbed, schedule::EpochPlan plan,
               std::uint32_t& first_round) {
  const std::uint32_t epoch = plan.epoch;
  if (auto proposed = control.propose(std::move(plan), driver.now_ns()); !proposed) return proposed;
  const auto ready = [&] {
    if (!control.outcome()) return false;
    bool all = testbed.connected();
    for (const IslandNode& node : testbed.islands())
      driver.look_at_island(node.rank, [&](const island::Endpoint& endpoint) {
        all = all && endpoint.epoch() == epoch && endpoint.can_start(control.outcome()->activating_round);
      });
    return all || control.outcome()->kind == control::ChangeOutcome::Kind::kAborted;
  };
  const bool in_time = driver.run_until(ready, kSetupLimit);
  const auto outcome = control.outcome();
  if (!in_time || !outcome || outcome->kind != control::ChangeOutcome::Kind::kInstalled)
    return Error{ErrorCode::kFailed,
                 outcome ? control::to_string(*outcome) : "the epoch was not installed in time"};
  first_round = outcome->activating_round;
  return ok_status();
}

Status run_rounds(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed,
                  Driver& driver, const Progress& progress, RunReport& report) {
  const std::size_t period = config.schedule.rounds.size();
  const std::uint32_t rounds = round_count(config);
  Rounds runner(config, installed, testbed, driver);
  report.exact = true;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const schedule::Round& cliques = config.schedule.rounds[i % period];
    auto round = start_round_report(config, installed.first_round + i, cliques);
    if (!round) return std::move(round).error();
    runner.run(cliques, *round);
    report.rounds.push_back(std::move(round).value());
    report.exact = report.exact && report.rounds.back().exact;
    if (progress) progress(i + 1, rounds);
  }
  if (!runner.settle()) report.exact = false;
  return ok_status();
}

Status run_without_barriers(const RunConfig& config, const InstalledPlan& installed, InprocTestbed& testbed,
                            Driver& driver, const Progress& progress, RunReport& report) {
  const std::uint32_t rounds = round_count(config);
  auto reports = start_event_reports(config, installed.first_round, rounds);
  if (!reports) return std::move(reports).error();
  auto cycle = start_cycle_report(config);
  if (!cycle) return std::move(cycle).error();
  report.rounds = std::move(reports).value();
  report.cycle = *cycle;
  EventRounds runner(config, installed, testbed, driver);
  report.exact = runner.run(report.rounds, rounds * (installed.plan.deadline_ns + kPastDeadline), progress);
  report.cycle->measured_s = runner.measured_cycle_s();
  for (const RoundReport& round : report.rounds) report.exact = report.exact && round.exact;
  return ok_status();
}

}  // namespace

Result<RunReport> run(const RunConfig& config, const Progress& progress) {
  if (auto sound = check_config(config); !sound) return std::move(sound).error();
  auto plan = make_plan(config, 1);
  if (!plan) return std::move(plan).error();
  NetworkOptions options;
  options.lane_count = config.lane_count;
  options.workers = config.workers;
  options.receive_queues = config.receive_queues;
  options.seed = config.seed;
  options.losses = config.losses;
  options.plans = {*plan};
  auto testbed = InprocTestbed::create(config.network, options);
  if (!testbed) return std::move(testbed).error();
  auto control = ControlPlane::create(**testbed, config.seed);
  if (!control) return std::move(control).error();
  std::unique_ptr<Driver> driver;
  if (config.real_time) {
    driver = std::make_unique<RealTimeDriver>(**testbed, **control);
  } else {
    driver = std::make_unique<VirtualDriver>(**testbed, **control);
  }

  InstalledPlan installed{*plan};
  if (auto done = install(**control, *driver, **testbed, std::move(plan).value(), installed.first_round);
      !done)
    return std::move(done).error();
  RunReport report;
  report.seed = config.seed;
  report.islands.resize(config.network.islands.size());
  if (auto ran = config.event ? run_without_barriers(config, installed, **testbed, *driver, progress, report)
                              : run_rounds(config, installed, **testbed, *driver, progress, report);
      !ran)
    return std::move(ran).error();
  for (std::size_t i = 0; i < report.rounds.size(); ++i)
    for (const Clique& clique : config.schedule.rounds[i % config.schedule.rounds.size()].cliques)
      for (const Rank rank : clique) report.islands[rank].update_bytes += config.update_bytes;
  collect(**testbed, *driver, report);
  return report;
}

}  // namespace tombolo::testbed
