#include "tools/testbed/netns/run.h"

#include <fmt/format.h>

#include <utility>

#include "tools/testbed/netns/calibration.h"
#include "tools/testbed/netns/cpu.h"
#include "tools/testbed/netns/rounds.h"
#include "tools/testbed/netns/run_folder.h"

namespace tombolo::testbed {
namespace {

constexpr Nanoseconds kEdgesLimit = 60 * kSecond;
constexpr Nanoseconds kIslandsLimit = 60 * kSecond;

/// A network that is up and measured at one scale.
struct Attempt {
  std::unique_ptr<Deployment> deployment;
  std::unique_ptr<NetnsRounds> rounds;
  std::vector<LinkReport> links;
  std::vector<std::string> bad;
  std::uint32_t next_offset = 0;  ///< Of the round to run next, from the epoch's first.
  CpuVerdict trial;
};

Status measure(const NetnsRun& run, Attempt& attempt) {
  const Layout& layout = attempt.deployment->layout();
  const auto targets = link_targets(layout.config.network);
  run.surroundings.say(fmt::format("measuring {} links", targets.size()));
  auto links = measure_links(targets, edge_probe(layout), [&] { return attempt.deployment->sound(); });
  if (!links) return std::move(links).error();
  attempt.links = std::move(links).value();
  attempt.bad = bad_links(attempt.links);
  for (const std::string& line : attempt.bad) run.surroundings.say(line);
  return ok_status();
}

Result<Attempt> bring_up(const NetnsRun& run, double scale) {
  auto layout = run.layout_at(scale);
  if (!layout) return std::move(layout).error();
  Attempt attempt;
  auto deployment = Deployment::start(std::move(layout).value(), run.surroundings, true);
  if (!deployment) return std::move(deployment).error();
  attempt.deployment = std::move(deployment).value();
  if (Status up = attempt.deployment->wait_for_edges(kEdgesLimit); !up) return std::move(up).error();
  auto first_round = attempt.deployment->wait_for_islands(kIslandsLimit);
  if (!first_round) return std::move(first_round).error();
  if (Status measured = measure(run, attempt); !measured) return std::move(measured).error();
  attempt.rounds = std::make_unique<NetnsRounds>(*attempt.deployment, *first_round);
  return attempt;
}

/// One round that is not reported, to see whether the machine carries this scale.
Status try_round(Attempt& attempt) {
  auto trial = attempt.rounds->run(0);
  if (!trial) return std::move(trial).error();
  const SpentTime& spent = attempt.rounds->spent();
  attempt.trial = judge_cpu(spent.before, spent.after, spent.workers);
  if (!trial->exact) return Error{ErrorCode::kFailed, "the trial round: " + trial->errors.front()};
  attempt.rounds->begin();
  // The reported rounds begin with the schedule's first entry.
  attempt.next_offset =
      static_cast<std::uint32_t>(attempt.deployment->layout().config.schedule.rounds.size());
  return ok_status();
}

/// The largest scale that the machine carries, up and measured.
Result<Attempt> choose(const NetnsRun& run) {
  for (std::size_t i = 0; i < run.scales.size(); ++i) {
    const bool last = i + 1 == run.scales.size();
    if (run.scales.size() > 1) run.surroundings.say(fmt::format("trying scale {}", run.scales[i]));
    auto attempt = bring_up(run, run.scales[i]);
    if (!attempt) return std::move(attempt).error();
    if (run.scales.size() > 1 && (attempt->bad.empty() || last)) {
      if (Status tried = try_round(*attempt); !tried) return std::move(tried).error();
    }
    const bool carries = attempt->bad.empty() && !attempt->trial.bound;
    if (carries || last) {
      if (run.scales.size() > 1)
        run.surroundings.say(fmt::format(
            "scale {} it is{}: {}", run.scales[i],
            carries ? "" : ", the smallest, though the machine does not carry it", attempt->trial.reason));
      return attempt;
    }
    run.surroundings.say(fmt::format("scale {} is more than this machine carries: {}", run.scales[i],
                                     attempt->bad.empty() ? attempt->trial.reason : attempt->bad.front()));
  }
  return invalid_input("no scale to try");
}

Status write_tables(const Layout& layout, const RunReport& report) {
  if (Status done = write_text(layout.folder + "/rounds.csv", rounds_csv(report)); !done) return done;
  return write_text(layout.folder + "/links.csv", links_csv(report));
}

Status run_rounds(const Attempt& attempt, const Layout& layout, const Progress& progress, RunReport& report) {
  const RunConfig& config = layout.config;
  const std::uint32_t rounds = round_count(config);
  report.exact = true;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    auto round = attempt.rounds->run(attempt.next_offset + i);
    if (!round) return std::move(round).error();
    report.exact = report.exact && round->exact;
    report.rounds.push_back(std::move(round).value());
    for (const schedule::Clique& clique : config.schedule.rounds[i % config.schedule.rounds.size()].cliques)
      for (const schedule::Rank rank : clique) report.islands[rank].update_bytes += config.update_bytes;
    if (progress) progress(i + 1, rounds);
  }
  const SpentTime& spent = attempt.rounds->spent();
  const CpuVerdict verdict = judge_cpu(spent.before, spent.after, spent.workers);
  report.cpu_bound = verdict.bound;
  report.cpu_idle = verdict.idle;
  report.cpu_reason = verdict.reason;
  report.workers = spent.workers;
  return ok_status();
}

}  // namespace

Result<NetnsOutcome> run_netns(const NetnsRun& run, const Progress& progress) {
  auto attempt = choose(run);
  if (!attempt) return std::move(attempt).error();
  NetnsOutcome outcome;
  outcome.layout = attempt->deployment->layout();
  RunReport& report = outcome.report;
  report.backend = "netns";
  report.seed = outcome.layout.config.seed;
  report.folder = outcome.layout.folder;
  report.emulation = outcome.layout.builtin_emulation ? "builtin" : "netem";
  report.links = attempt->links;
  report.islands.resize(outcome.layout.config.network.islands.size());
  if (Status written = write_tables(outcome.layout, report); !written) return std::move(written).error();
  if (!attempt->bad.empty() && !run.accept_links)
    return Error{ErrorCode::kFailed,
                 fmt::format("{} of {} links are not what was asked for ({}); {}/links.csv has all of them; "
                             "--accept-links goes on regardless",
                             attempt->bad.size(), report.links.size(), attempt->bad.front(), report.folder)};
  if (Status done = run_rounds(*attempt, outcome.layout, progress, report); !done)
    return std::move(done).error();
  if (Status done = attempt->rounds->collect(report); !done) return std::move(done).error();
  if (Status written = write_tables(outcome.layout, report); !written) return std::move(written).error();
  return outcome;
}

}  // namespace tombolo::testbed
