#include "tools/schedule/simulate_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "schedule/optimize/optimize.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "tools/schedule/simulate_baselines.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Capabilities;
using schedule::Family;
using schedule::Method;

/// Makes methods for one network, one after the other.
class Maker {
 public:
  Maker(const NetworkInput& input, const MethodChoice& choice)
      : network_(input.network),
        update_bytes_(static_cast<double>(input.update_bytes)),
        capabilities_(input.capabilities),
        choice_(choice),
        routes_(network_) {}

  Status add_outer(const std::string& name);
  Status add_baselines(bool ring, bool matcha);
  Status add_schedule(const std::string& name_or_path);
  Status add_ours(const std::function<void(std::string_view)>& tell);

  std::vector<Method> methods;

 private:
  std::size_t islands() const { return network_.islands.size(); }
  Result<double> software_all_reduce_s(double update_bytes) const;

  const schedule::Network& network_;
  double update_bytes_;
  Capabilities capabilities_;
  const MethodChoice& choice_;
  schedule::Routes routes_;
};

/// How long all islands take to average exactly when the network only forwards packets.
Result<double> Maker::software_all_reduce_s(double update_bytes) const {
  const auto full = schedule::full_schedule(network_.islands);
  if (!full) return full.error();
  const schedule::RoundModel model(network_, routes_, {false, Aggregation::kNone, Family::kBest});
  const auto time = model.time(full->rounds.front(), update_bytes);
  if (!time) return time.error();
  return time->seconds;
}

Status Maker::add_outer(const std::string& name) {
  const schedule::OuterSetting setting{choice_.local_steps, choice_.step_s, islands()};
  const bool streams = name == "streaming-diloco";
  const auto exchange_s = software_all_reduce_s(streams ? update_bytes_ / choice_.fragments : update_bytes_);
  if (!exchange_s) return Error(exchange_s.error()).within(name);
  if (streams)
    methods.push_back(schedule::streaming_diloco_method(setting, choice_.fragments, *exchange_s));
  else
    methods.push_back(name == "fedavg" ? schedule::fed_avg_method(setting, *exchange_s)
                                       : schedule::diloco_method(setting, *exchange_s));
  return ok_status();
}

Status Maker::add_baselines(bool ring, bool matcha) {
  if (!ring && !matcha) return ok_status();
  const schedule::baselines::Setting setting{network_,      routes_,        capabilities_,
                                             update_bytes_, choice_.step_s, choice_.seed};
  const auto scene = schedule::baselines::Scene::make(setting);
  if (!scene) return scene.error();
  if (ring) methods.push_back(ring_method(*scene));
  if (matcha) methods.push_back(matcha_method(*scene));
  return ok_status();
}

/// What the network can do, from nothing to everything.
struct Setting {
  const char* name;
  bool multicast;
  Aggregation aggregation;
};
constexpr Setting kSettings[] = {{"ours, network forwards", false, Aggregation::kNone},
                                 {"ours, multicast", true, Aggregation::kNone},
                                 {"ours, multicast, edges sum", true, Aggregation::kEdge},
                                 {"ours, multicast, all sites sum", true, Aggregation::kTree}};

Status Maker::add_ours(const std::function<void(std::string_view)>& tell) {
  const MonotonicClock clock;
  schedule::OptimizeOptions options;
  options.seed = choice_.seed;
  options.max_cycles = choice_.max_cycles;
  options.progress = tell;
  for (const Setting& setting : kSettings) {
    tell(std::string("preparing ") + setting.name);
    Capabilities capabilities = capabilities_;  // Sites and links that differ still do.
    capabilities.multicast = setting.multicast;
    capabilities.aggregation = setting.aggregation;
    const schedule::Problem problem(network_, capabilities, update_bytes_);
    const auto best = schedule::optimize(problem, options, clock);
    if (!best) return Error(best.error()).within(setting.name);
    auto method =
        schedule::scheduled_method(setting.name, best->schedule, problem.model(), update_bytes_, islands());
    if (!method) return Error(method.error()).within(setting.name);
    methods.push_back(std::move(*method));
  }
  return ok_status();
}

Status Maker::add_schedule(const std::string& name_or_path) {
  const auto chosen = schedule::load_schedule(name_or_path, network_.islands, network_.site_names);
  if (!chosen) return Error(chosen.error()).within("--schedule");
  const schedule::RoundModel model(network_, routes_, capabilities_);
  auto method =
      schedule::scheduled_method("schedule " + chosen->name, *chosen, model, update_bytes_, islands());
  if (!method) return Error(method.error()).within("--schedule " + name_or_path);
  methods.push_back(std::move(*method));
  return ok_status();
}

}  // namespace

Result<std::vector<Method>> make_methods(const NetworkInput& input, const MethodChoice& choice,
                                         const std::function<void(std::string_view)>& tell) {
  Maker maker(input, choice);
  const auto wanted = [&](const std::string& name) {
    return choice.names.empty() || std::ranges::find(choice.names, name) != choice.names.end();
  };
  if (wanted("colocated")) maker.methods.push_back(schedule::colocated_method());
  for (const char* const name : {"fedavg", "diloco", "streaming-diloco"})
    if (wanted(name))
      if (auto added = maker.add_outer(name); !added) return std::move(added).error();
  if (wanted("ring") || wanted("matcha")) tell("preparing the ring and MATCHA");
  if (auto added = maker.add_baselines(wanted("ring"), wanted("matcha")); !added)
    return std::move(added).error();
  if (wanted("ours"))
    if (auto added = maker.add_ours(tell); !added) return std::move(added).error();
  for (const std::string& name : choice.schedules)
    if (auto added = maker.add_schedule(name); !added) return std::move(added).error();
  return std::move(maker.methods);
}

}  // namespace tombolo::tools
