#include "control/rpc/install_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <local.pb.h>

#include <utility>
#include <vector>

namespace tombolo::control {
namespace {

/// What a nominal asks for, so far as an order can change it: equal texts, equal wishes.
std::string text_of(const Nominal& nominal) {
  std::string text = fmt::format("multicast {} edge_aggregation {}", nominal.options.multicast,
                                 nominal.options.edge_aggregation);
  if (!nominal.schedule.weights.empty()) text += fmt::format(" weights {}", nominal.schedule.weights);
  if (nominal.options.tree_aggregation) text += " tree_aggregation true";
  for (const schedule::Round& round : nominal.schedule.rounds) {
    text += fmt::format(" {}", round.cliques);
    for (const auto& mode : round.modes)
      text += mode ? fmt::format(" {} {}", schedule::mode_name(mode->mode), mode->root) : " any";
    for (const schedule::CliqueTrees& trees : round.trees) {
      text += " trees";
      for (const schedule::SourceTree& tree : trees) {
        text += " from";
        for (const schedule::SiteLink& link : tree) text += fmt::format(" {}-{}", link.from, link.to);
      }
    }
  }
  return text;
}

Result<v1::StoredOrder> parse_stored(std::string_view stored) {
  v1::StoredOrder message;
  if (!message.ParseFromArray(stored.data(), static_cast<int>(stored.size())))
    return invalid_input("stored order: not a message of this version");
  return message;
}

/// Any other name would be a file of this machine, which an operator elsewhere does not mean.
Result<schedule::Schedule> schedule_of(const InstallOrder& order, const schedule::Network& network) {
  if (!order.schedule_yaml.empty())
    return schedule::parse_schedule(order.schedule_yaml, "schedule", network.islands, network.site_names);
  if (order.schedule_name != "full" && order.schedule_name != "grid")
    return invalid_input(fmt::format("schedule '{}': must be full or grid, or the text of a schedule file",
                                     order.schedule_name));
  return schedule::load_schedule(order.schedule_name, network.islands);
}

bool names_schedule(const InstallOrder& order) {
  return !order.schedule_yaml.empty() || !order.schedule_name.empty();
}

/// The earlier order, with what the later one says instead.
InstallOrder joined(InstallOrder order, const InstallOrder& later) {
  if (names_schedule(later)) {
    order.schedule_name = later.schedule_name;
    order.schedule_yaml = later.schedule_yaml;
  }
  if (later.multicast) order.multicast = later.multicast;
  if (later.edge_aggregation) order.edge_aggregation = later.edge_aggregation;
  if (later.tree_aggregation) order.tree_aggregation = later.tree_aggregation;
  return order;
}

}  // namespace

void write_order(const InstallOrder& order, v1::InstallRequest& request) {
  if (!order.schedule_yaml.empty())
    request.set_schedule_yaml(order.schedule_yaml);
  else if (!order.schedule_name.empty())
    request.set_name(order.schedule_name);
  if (order.multicast) request.set_multicast(*order.multicast);
  if (order.edge_aggregation) request.set_edge_aggregation(*order.edge_aggregation);
  if (order.tree_aggregation) request.set_tree_aggregation(*order.tree_aggregation);
}

InstallOrder read_order(const v1::InstallRequest& request) {
  InstallOrder order{.schedule_name = request.name(),
                     .schedule_yaml = request.schedule_yaml(),
                     .multicast = std::nullopt,
                     .edge_aggregation = std::nullopt,
                     .tree_aggregation = std::nullopt};
  if (request.has_multicast()) order.multicast = request.multicast();
  if (request.has_edge_aggregation()) order.edge_aggregation = request.edge_aggregation();
  if (request.has_tree_aggregation()) order.tree_aggregation = request.tree_aggregation();
  return order;
}

Result<Nominal> apply_order(const Nominal& nominal, const InstallOrder& order, const Nominal& configured,
                            const schedule::Network& network) {
  auto earlier = parse_stored(nominal.order);
  if (!earlier) return std::move(earlier).error();
  Nominal result = nominal;
  if (names_schedule(order)) {
    auto schedule = schedule_of(order, network);
    if (!schedule) return std::move(schedule).error();
    result.schedule = std::move(schedule).value();
  }
  result.options.multicast = order.multicast.value_or(result.options.multicast);
  result.options.edge_aggregation = order.edge_aggregation.value_or(result.options.edge_aggregation);
  result.options.tree_aggregation = order.tree_aggregation.value_or(result.options.tree_aggregation);

  v1::StoredOrder stored;
  write_order(joined(read_order(earlier->order()), order), *stored.mutable_order());
  stored.set_configured(text_of(configured));
  result.order = stored.SerializeAsString();
  return result;
}

Result<Nominal> resume_order(std::string_view stored, const Nominal& configured,
                             const schedule::Network& network) {
  if (stored.empty()) return configured;
  auto message = parse_stored(stored);
  if (!message) return std::move(message).error();
  if (message->configured() != text_of(configured)) return configured;
  auto nominal = apply_order(configured, read_order(message->order()), configured, network);
  if (!nominal) return std::move(nominal).error().within("stored order");
  return nominal;
}

}  // namespace tombolo::control
