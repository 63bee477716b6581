#include "tools/testbed/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "base/units.h"
#include "schedule/compile.h"
#include "schedule/routes.h"

namespace tombolo::testbed {
namespace {

constexpr double kDeadlineRounds = 10;
/// The first is on the way to the steady state; the others show it.
constexpr std::uint32_t kEventPeriods = 3;
constexpr Nanoseconds kLeastDeadline = 10 * kSecond;
/// Input and output of two rounds, the reference's copy and its result.
constexpr double kUpdatesInMemory = 6;
/// An endpoint opens two rounds at a time.
constexpr std::uint32_t kMostFragments = 2;
constexpr double kMostMemoryBytes = 8e9;

/// What of the options decides how wide packets are.
void set_formats(const RunConfig& config, schedule::CompileOptions& options) {
  options.chunk_elements = config.chunk_elements;
  options.edge_aggregation = config.edge_aggregation;
  options.tree_aggregation = config.tree_aggregation;
  options.partial_format = config.partial_format;
  options.format = config.format;
  options.result_format = config.output_format();
}

}  // namespace

Status check_config(const RunConfig& config) {
  if (config.update_bytes == 0 ||
      encoded_bytes(config.format, config.update_elements()) != config.update_bytes)
    return invalid_input(fmt::format("an update of {} bytes is not a number of {} elements",
                                     config.update_bytes, name(config.format)));
  if (config.operation == wire::Operation::kWeighted && config.schedule.weights.empty())
    return invalid_input("operation weighted: the schedule gives no weights");
  fold::Kind kind;
  kind.input = config.format;
  kind.output = config.result_format;
  kind.operation = config.operation;
  if (!fold::is_supported(kind))
    return invalid_input(fmt::format("updates in {} cannot be folded by this operation to results in {}",
                                     name(config.format), name(config.output_format())));
  const double update_bytes = static_cast<double>(
      std::max(config.update_bytes, encoded_bytes(config.output_format(), config.update_elements())));
  const double memory_bytes =
      update_bytes * static_cast<double>(config.network.islands.size()) * kUpdatesInMemory;
  if (memory_bytes > kMostMemoryBytes)
    return invalid_input(
        fmt::format("{} islands with {} each need about {} of memory; scale the run down, such as "
                    "with --scale 0.01",
                    config.network.islands.size(), format_bytes(config.update_bytes),
                    format_bytes(static_cast<std::uint64_t>(memory_bytes))));
  if (config.fragments == 0 || config.schedule.rounds.size() % config.fragments != 0)
    return invalid_input(fmt::format("{} rounds are not rounds of {} fragments",
                                     config.schedule.rounds.size(), config.fragments));
  for (const LinkLoss& loss : config.losses)
    if (std::none_of(config.network.links.begin(), config.network.links.end(),
                     [&](const auto& link) { return link.from == loss.a && link.to == loss.b; }))
      return invalid_input(fmt::format("loss: there is no link between {} and {}",
                                       config.network.site_names[loss.a], config.network.site_names[loss.b]));
  return ok_status();
}

double wire_bytes(const RunConfig& config) {
  return schedule::update_wire_bytes(config.update_bytes, config.chunk_elements, config.format);
}

Numbers numbers_of(const RunConfig& config) {
  return {config.format,     config.result_format,    config.operation,
          config.non_finite, config.non_finite_share, config.chunk_elements};
}

NumberFormat partials(const RunConfig& config) {
  return config.tree_aggregation ? schedule::partials_of(config.format, config.partial_format)
                                 : config.format;
}

schedule::Network model_network(const RunConfig& config, bool bare) {
  schedule::CompileOptions options;
  set_formats(config, options);
  return schedule::network_for(config.network, options, bare ? 0 : schedule::kPacketOverheadBytes);
}

std::vector<float> weights_of(const schedule::Schedule& schedule, const schedule::Clique& members) {
  std::vector<float> weights;
  if (schedule.weights.empty()) return weights;
  for (const schedule::Rank rank : members) weights.push_back(schedule.weights[rank]);
  return weights;
}

Status drop_barriers(RunConfig& config, std::uint32_t fragments) {
  if (fragments == 0) return invalid_input("an update of 0 fragments");
  if (fragments > kMostFragments)
    return Error{ErrorCode::kNotSupported,
                 fmt::format("a schedule of {} fragments: islands have at most {} under way yet", fragments,
                             kMostFragments)};
  config.event = true;
  config.fragments = fragments;
  config.rounds *= fragments;
  config.schedule = schedule::with_fragments(config.schedule, fragments);
  const std::uint64_t elements = std::max<std::uint64_t>(config.update_elements() / fragments, 1);
  config.update_bytes = encoded_bytes(config.format, elements);
  return ok_status();
}

schedule::Capabilities capabilities(const RunConfig& config) {
  schedule::Aggregation aggregation =
      config.edge_aggregation ? schedule::Aggregation::kEdge : schedule::Aggregation::kNone;
  if (config.tree_aggregation) aggregation = schedule::Aggregation::kTree;
  return {config.multicast, aggregation, schedule::Family::kDirect};
}

Result<Nanoseconds> deadline_of(const RunConfig& config) {
  if (config.deadline_ns != 0) return config.deadline_ns;
  const schedule::Routes routes(config.network);
  const schedule::Network network = model_network(config, false);
  const schedule::RoundModel model(network, routes, capabilities(config));
  double longest_s = 0;
  for (const schedule::Round& round : config.schedule.rounds) {
    auto time = model.time(round, wire_bytes(config));
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
  options.non_finite = config.non_finite;
  set_formats(config, options);
  if (!config.event) return options;
  auto times = event_times(config, wire_bytes(config));
  if (!times) return std::move(times).error();
  // Labels are in the timetable's order: a round's fragments one after the other.
  options.sending_s.resize(config.schedule.rounds.size());
  for (const schedule::TimedExchange& timed : times->exchanges)
    options.sending_s[timed.round * config.fragments + timed.fragment].push_back(timed.sending_s);
  return options;
}

Result<schedule::EpochPlan> make_plan(const RunConfig& config, std::uint32_t epoch) {
  auto options = compile_options(config, epoch);
  if (!options) return std::move(options).error();
  return schedule::compile(config.network, config.schedule, *options);
}

Result<schedule::Timetable> event_times(const RunConfig& config, double update_bytes) {
  schedule::Schedule rounds{config.schedule.name, {}};
  for (std::size_t label = 0; label < config.schedule.rounds.size(); label += config.fragments)
    rounds.rounds.push_back(config.schedule.rounds[label]);
  const schedule::Routes routes(config.network);
  const schedule::Network network = model_network(config, false);
  const schedule::EventModel model(network, routes, capabilities(config));
  return model.timetable(rounds, update_bytes * config.fragments, config.fragments);
}

std::uint32_t round_count(const RunConfig& config) {
  if (config.rounds != 0) return config.rounds;
  return static_cast<std::uint32_t>(config.schedule.rounds.size()) * (config.event ? kEventPeriods : 1);
}

RoundReport name_round(const RunConfig& config, std::uint32_t round, const schedule::Round& cliques) {
  RoundReport report;
  report.round = round;
  for (const schedule::Clique& clique : cliques.cliques) {
    auto& names = report.cliques.emplace_back();
    for (const schedule::Rank rank : clique) names.push_back(config.network.islands[rank].id);
  }
  return report;
}

Result<RoundReport> start_round_report(const RunConfig& config, std::uint32_t round,
                                       const schedule::Round& cliques) {
  RoundReport report = name_round(config, round, cliques);
  const schedule::Routes routes(config.network);
  const schedule::Network bare_network = model_network(config, true);
  const schedule::Network wire_network = model_network(config, false);
  auto bare = schedule::RoundModel(bare_network, routes, capabilities(config))
                  .time(cliques, static_cast<double>(config.update_bytes));
  auto wire =
      schedule::RoundModel(wire_network, routes, capabilities(config)).time(cliques, wire_bytes(config));
  if (!bare) return std::move(bare).error();
  if (!wire) return std::move(wire).error();
  report.model_s = bare->seconds;
  report.predicted_s = wire->seconds;
  return report;
}

Result<std::vector<RoundReport>> start_event_reports(const RunConfig& config, std::uint32_t first_round,
                                                     std::uint32_t rounds) {
  const auto model = event_times(config, static_cast<double>(config.update_bytes));
  if (!model) return model.error();
  const auto wire = event_times(config, wire_bytes(config));
  if (!wire) return wire.error();
  const std::size_t period = config.schedule.rounds.size();
  const auto longest_s = [&](const schedule::Timetable& times, std::size_t label) {
    double seconds = 0;
    for (const schedule::TimedExchange& timed : times.exchanges)
      if (timed.round * config.fragments + timed.fragment == label)
        seconds = std::max(seconds, timed.sending_s + timed.latency_s);
    return seconds;
  };
  std::vector<RoundReport> reports;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    reports.push_back(name_round(config, first_round + i, config.schedule.rounds[i % period]));
    reports.back().model_s = longest_s(*model, i % period);
    reports.back().predicted_s = longest_s(*wire, i % period);
  }
  return reports;
}

Result<CycleReport> start_cycle_report(const RunConfig& config) {
  const auto model = event_times(config, static_cast<double>(config.update_bytes));
  if (!model) return model.error();
  const auto wire = event_times(config, wire_bytes(config));
  if (!wire) return wire.error();
  return CycleReport{model->cycle_s, wire->cycle_s, 0};
}

double loss_between(const std::vector<LinkLoss>& losses, schedule::SiteId a, schedule::SiteId b) {
  for (const LinkLoss& loss : losses)
    if ((loss.a == a && loss.b == b) || (loss.a == b && loss.b == a)) return loss.probability;
  return 0;
}

}  // namespace tombolo::testbed
