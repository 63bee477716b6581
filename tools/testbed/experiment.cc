#include "tools/testbed/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "schedule/compile.h"
#include "schedule/routes.h"

namespace tombolo::testbed {
namespace {

constexpr double kDeadlineRounds = 10;
constexpr Nanoseconds kLeastDeadline = 10 * kSecond;
/// Input and output of two rounds, the reference's copy and its result.
constexpr double kUpdatesInMemory = 6;
constexpr double kMostMemoryBytes = 8e9;

}  // namespace

Status check_config(const RunConfig& config) {
  if (config.update_bytes == 0 || config.update_bytes % sizeof(float) != 0)
    return invalid_input(
        fmt::format("an update of {} bytes is not a number of fp32 elements", config.update_bytes));
  const double memory_bytes = static_cast<double>(config.update_bytes) *
                              static_cast<double>(config.network.islands.size()) * kUpdatesInMemory;
  if (memory_bytes > kMostMemoryBytes)
    return invalid_input(
        fmt::format("{} islands with {} each need about {} of memory; scale the run down, such as "
                    "with --scale 0.01",
                    config.network.islands.size(), format_bytes(config.update_bytes),
                    format_bytes(static_cast<std::uint64_t>(memory_bytes))));
  for (const LinkLoss& loss : config.losses)
    if (std::none_of(config.network.links.begin(), config.network.links.end(),
                     [&](const auto& link) { return link.from == loss.a && link.to == loss.b; }))
      return invalid_input(fmt::format("loss: there is no link between {} and {}",
                                       config.network.site_names[loss.a], config.network.site_names[loss.b]));
  return ok_status();
}

schedule::Capabilities capabilities(const RunConfig& config) {
  return {config.multicast,
          config.edge_aggregation ? schedule::Aggregation::kEdge : schedule::Aggregation::kNone,
          schedule::Family::kDirect};
}

Result<Nanoseconds> deadline_of(const RunConfig& config) {
  if (config.deadline_ns != 0) return config.deadline_ns;
  const schedule::Routes routes(config.network);
  const schedule::RoundModel model(config.network, routes, capabilities(config));
  const double wire_bytes = schedule::update_wire_bytes(config.update_bytes, config.chunk_elements);
  double longest_s = 0;
  for (const schedule::Round& round : config.schedule.rounds) {
    auto time = model.time(round, wire_bytes);
    if (!time) return std::move(time).error();
    longest_s = std::max(longest_s, time->seconds);
  }
  return std::max(kLeastDeadline, static_cast<Nanoseconds>(longest_s * kDeadlineRounds * 1e9));
}

Result<schedule::CompileOptions> compile_options(const RunConfig& config, std::uint32_t epoch) {
  auto deadline_ns = deadline_of(config);
  if (!deadline_ns) return std::move(deadline_ns).error();
  schedule::CompileOptions options;
  options.job = kTestbedJob;
  options.epoch = epoch;
  options.chunk_elements = config.chunk_elements;
  options.lane_count = config.lane_count;
  options.deadline_ns = *deadline_ns;
  options.update_bytes = config.update_bytes;
  options.multicast = config.multicast;
  options.edge_aggregation = config.edge_aggregation;
  return options;
}

Result<schedule::EpochPlan> make_plan(const RunConfig& config, std::uint32_t epoch) {
  auto options = compile_options(config, epoch);
  if (!options) return std::move(options).error();
  return schedule::compile(config.network, config.schedule, *options);
}

std::uint32_t round_count(const RunConfig& config) {
  return config.rounds == 0 ? static_cast<std::uint32_t>(config.schedule.rounds.size()) : config.rounds;
}

Result<RoundReport> start_round_report(const RunConfig& config, std::uint32_t round,
                                       const schedule::Round& cliques) {
  RoundReport report;
  report.round = round;
  for (const schedule::Clique& clique : cliques.cliques) {
    auto& names = report.cliques.emplace_back();
    for (const schedule::Rank rank : clique) names.push_back(config.network.islands[rank].id);
  }
  const schedule::Routes routes(config.network);
  const schedule::RoundModel model(config.network, routes, capabilities(config));
  auto bare = model.time(cliques, static_cast<double>(config.update_bytes));
  auto wire = model.time(cliques, schedule::update_wire_bytes(config.update_bytes, config.chunk_elements));
  if (!bare) return std::move(bare).error();
  if (!wire) return std::move(wire).error();
  report.model_s = bare->seconds;
  report.predicted_s = wire->seconds;
  return report;
}

double loss_between(const std::vector<LinkLoss>& losses, schedule::SiteId a, schedule::SiteId b) {
  for (const LinkLoss& loss : losses)
    if ((loss.a == a && loss.b == b) || (loss.a == b && loss.b == a)) return loss.probability;
  return 0;
}

}  // namespace tombolo::testbed
