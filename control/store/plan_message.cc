#include "control/store/plan_message.h"

#include <fmt/format.h>
#include <plan.pb.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>
#include <vector>

#include "schedule/check_plan.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;

constexpr std::size_t kMaxNameBytes = 32;

/// Fills a plan from a message and stops at the first field that is out of range. Everything that is
/// allocated is in proportion to the message.
class PlanReader {
 public:
  Result<std::shared_ptr<const EpochPlan>> read(const v1::Plan& message);

 private:
  bool ok() const { return wrong_.empty(); }
  void refuse(std::string what) {
    if (ok()) wrong_ = std::move(what);
  }
  bool at_most(int size, std::size_t most, std::string_view field) {
    if (static_cast<std::size_t>(size) <= most) return true;
    refuse(fmt::format("{}: {} of them; at most {}", field, size, most));
    return false;
  }
  /// `field` is made only when it is needed.
  template <typename Field>
  std::uint16_t narrow(std::uint32_t value, Field field) {
    if (value > std::numeric_limits<std::uint16_t>::max())
      refuse(
          fmt::format("{}: {} is more than {}", field(), value, std::numeric_limits<std::uint16_t>::max()));
    return static_cast<std::uint16_t>(value);
  }
  template <typename Values, typename Field>
  std::vector<std::uint16_t> narrow_all(const Values& values, Field field) {
    std::vector<std::uint16_t> narrowed;
    narrowed.reserve(static_cast<std::size_t>(values.size()));
    for (const std::uint32_t value : values)
      narrowed.push_back(narrow(value, [&] { return fmt::format("{}[{}]", field(), narrowed.size()); }));
    return narrowed;
  }

  /// kNone is left to check_plan.
  NumberFormat read_format(std::uint32_t value, const char* field) {
    if (value >= kNumberFormats) refuse(fmt::format("{}: there is no number format {}", field, value));
    return static_cast<NumberFormat>(value % kNumberFormats);
  }

  void read_numbers(const v1::Plan& message);
  void read_places(const v1::Plan& message);
  void read_losses(const v1::Plan& message);
  void read_entry(const v1::PlanEntry& message);
  schedule::PlannedClique read_clique(const v1::PlanClique& message, const std::string& field);
  void read_folds(const v1::PlanClique& message, schedule::PlannedClique& clique, const std::string& field);
  void read_tree(const v1::PlanTree& message);

  EpochPlan plan_;
  std::string wrong_;
};

Result<std::shared_ptr<const EpochPlan>> PlanReader::read(const v1::Plan& message) {
  read_numbers(message);
  read_places(message);
  read_losses(message);
  if (at_most(message.entries_size(), schedule::kMaxRounds, "entries"))
    for (const v1::PlanEntry& entry : message.entries())
      if (ok()) read_entry(entry);
  if (at_most(message.trees_size(), schedule::kMaxTrees, "trees"))
    for (const v1::PlanTree& tree : message.trees())
      if (ok()) read_tree(tree);
  if (!ok()) return invalid_input("plan: " + wrong_);
  if (Status holds = schedule::check_plan(plan_); !holds) return std::move(holds).error().within("plan");
  return std::make_shared<const EpochPlan>(std::move(plan_));
}

void PlanReader::read_numbers(const v1::Plan& message) {
  plan_.job = narrow(message.job(), [] { return "job"; });
  plan_.epoch = message.epoch();
  plan_.multicast = message.multicast();
  plan_.edge_aggregation = message.edge_aggregation();
  if (message.partial_format() > static_cast<std::uint32_t>(schedule::PartialFormat::kUpdate))
    refuse(fmt::format("partial_format: {} is not one", message.partial_format()));
  plan_.partial_format = static_cast<schedule::PartialFormat>(message.partial_format());
  plan_.chunk_elements = message.chunk_elements();
  plan_.lane_count = narrow(message.lane_count(), [] { return "lane_count"; });
  plan_.deadline_ns = message.deadline_ns();
  plan_.format = read_format(message.format(), "format");
  plan_.result_format = read_format(message.result_format(), "result_format");
  if (message.non_finite() >= kNonFinitePolicies)
    refuse(fmt::format("non_finite: there is no policy {}", message.non_finite()));
  plan_.non_finite = static_cast<NonFinitePolicy>(message.non_finite());
}

void PlanReader::read_places(const v1::Plan& message) {
  if (!at_most(message.site_names_size(), schedule::kMaxSites, "site_names")) return;
  if (!at_most(message.island_sites_size(), schedule::kMaxIslands, "island_sites")) return;
  if (!at_most(message.links_size(), schedule::kMaxSites * schedule::kMaxSites, "links")) return;
  for (const std::string& name : message.site_names()) {
    // The same letters as in a topology file: names go into logs and file names.
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    });
    if (name.empty() || name.size() > kMaxNameBytes || !plain)
      refuse(fmt::format("site_names[{}]: must be 1 to {} letters, digits, '_' and '.'",
                         plan_.site_names.size(), kMaxNameBytes));
    plan_.site_names.push_back(name);
  }
  for (const std::uint16_t site : narrow_all(message.island_sites(), [] { return "island_sites"; }))
    plan_.islands.push_back({static_cast<schedule::Rank>(plan_.islands.size()), site});
  for (const v1::PlanLink& link : message.links()) {
    const auto field = [this](const char* part) {
      return [this, part] { return fmt::format("links[{}].{}", plan_.links.size(), part); };
    };
    plan_.links.push_back({narrow(link.from(), field("from")), narrow(link.to(), field("to")), link.rtt_ns(),
                           link.load_bps(), link.group()});
  }
}

void PlanReader::read_losses(const v1::Plan& message) {
  if (!at_most(message.lost_links_size(), schedule::kMaxSites * schedule::kMaxSites, "lost_links")) return;
  if (!at_most(message.lost_ranks_size(), schedule::kMaxIslands, "lost_ranks")) return;
  for (const v1::PlanLostLink& link : message.lost_links()) {
    const auto field = [this] { return fmt::format("lost_links[{}]", plan_.lost_links.size()); };
    plan_.lost_links.push_back({narrow(link.a(), field), narrow(link.b(), field)});
  }
  plan_.lost_ranks = narrow_all(message.lost_ranks(), [] { return "lost_ranks"; });
}

void PlanReader::read_entry(const v1::PlanEntry& message) {
  const std::string field = fmt::format("entries[{}]", plan_.entries.size());
  schedule::PlannedEntry entry;
  if (!at_most(message.cliques_size(), schedule::kMaxIslands / 2, field + ".cliques")) return;
  for (const v1::PlanClique& clique : message.cliques()) {
    if (!ok()) return;
    entry.cliques.push_back(read_clique(clique, fmt::format("{}.cliques[{}]", field, entry.cliques.size())));
  }
  plan_.entries.push_back(std::move(entry));
}

schedule::PlannedClique PlanReader::read_clique(const v1::PlanClique& message, const std::string& field) {
  schedule::PlannedClique clique;
  constexpr std::size_t kMost = schedule::kMaxCliqueMembers;
  if (!at_most(message.members_size(), kMost, field + ".members")) return clique;
  if (!at_most(message.send_trees_size(), kMost, field + ".send_trees")) return clique;
  if (!at_most(message.receive_trees_size(), kMost, field + ".receive_trees")) return clique;
  if (!at_most(message.weights_size(), kMost, field + ".weights")) return clique;
  clique.weights.assign(message.weights().begin(), message.weights().end());
  clique.members = narrow_all(message.members(), [&] { return field + ".members"; });
  clique.latency_ns = message.latency_ns();
  clique.stream_rate_bps = message.stream_rate_bps();
  clique.window_chunks = message.window_chunks();
  const auto read_ids = [&](const v1::PlanTreeIds& ids, std::vector<std::vector<std::uint16_t>>& into,
                            const char* part) {
    const auto where = [&] { return fmt::format("{}.{}[{}]", field, part, into.size()); };
    if (at_most(ids.trees_size(), kMost, where())) into.push_back(narrow_all(ids.trees(), where));
  };
  for (const v1::PlanTreeIds& ids : message.send_trees()) read_ids(ids, clique.send_trees, "send_trees");
  for (const v1::PlanTreeIds& ids : message.receive_trees())
    read_ids(ids, clique.receive_trees, "receive_trees");
  read_folds(message, clique, field);
  return clique;
}

void PlanReader::read_folds(const v1::PlanClique& message, schedule::PlannedClique& clique,
                            const std::string& field) {
  if (!at_most(message.folds_size(), 2 * schedule::kMaxCliqueMembers, field + ".folds")) return;
  for (const v1::PlanFold& fold : message.folds()) {
    const auto where = [&](const char* part) {
      return [&field, &clique, part] {
        return fmt::format("{}.folds[{}].{}", field, clique.folds.size(), part);
      };
    };
    if (!at_most(fold.inputs_size(), schedule::kMaxCliqueMembers, where("inputs")())) return;
    clique.folds.push_back({narrow(fold.site(), where("site")), narrow(fold.tree(), where("tree")),
                            narrow_all(fold.inputs(), where("inputs"))});
  }
}

void PlanReader::read_tree(const v1::PlanTree& message) {
  schedule::PlannedTree tree;
  tree.id = static_cast<std::uint16_t>(plan_.trees.size());
  const auto field = [&tree](const char* part) {
    return [&tree, part] { return fmt::format("trees[{}].{}", tree.id, part); };
  };
  const auto hop_field = [&tree](const char* part) {
    return [&tree, part] { return fmt::format("trees[{}].hops[{}].{}", tree.id, tree.hops.size(), part); };
  };
  if (!at_most(message.hops_size(), schedule::kMaxSites, field("hops")())) return;
  tree.source = narrow(message.source(), field("source"));
  tree.entry = message.entry();
  if (message.use() > static_cast<std::uint32_t>(schedule::TreeUse::kResults))
    refuse(fmt::format("{}: {} is not a use of a tree", field("use")(), message.use()));
  tree.use = static_cast<schedule::TreeUse>(message.use());
  for (const v1::PlanHop& hop : message.hops()) {
    if (!ok()) return;
    if (!at_most(hop.children_size(), schedule::kMaxSites, hop_field("children")())) return;
    if (!at_most(hop.deliver_size(), schedule::kMaxCliqueMembers, hop_field("deliver")())) return;
    tree.hops.push_back({.site = narrow(hop.site(), hop_field("site")),
                         .parent = narrow(hop.parent(), hop_field("parent")),
                         .children = narrow_all(hop.children(), hop_field("children")),
                         .deliver = narrow_all(hop.deliver(), hop_field("deliver"))});
  }
  plan_.trees.push_back(std::move(tree));
}

void write_clique(const schedule::PlannedClique& clique, v1::PlanClique& message) {
  message.mutable_members()->Add(clique.members.begin(), clique.members.end());
  message.set_latency_ns(clique.latency_ns);
  message.set_stream_rate_bps(clique.stream_rate_bps);
  message.set_window_chunks(clique.window_chunks);
  message.mutable_weights()->Add(clique.weights.begin(), clique.weights.end());
  for (const auto& trees : clique.send_trees)
    message.add_send_trees()->mutable_trees()->Add(trees.begin(), trees.end());
  for (const auto& trees : clique.receive_trees)
    message.add_receive_trees()->mutable_trees()->Add(trees.begin(), trees.end());
  for (const schedule::PlannedFold& fold : clique.folds) {
    v1::PlanFold& into = *message.add_folds();
    into.set_site(fold.site);
    into.set_tree(fold.tree);
    into.mutable_inputs()->Add(fold.inputs.begin(), fold.inputs.end());
  }
}

void write_tree(const schedule::PlannedTree& tree, v1::PlanTree& message) {
  message.set_source(tree.source);
  message.set_entry(tree.entry);
  message.set_use(static_cast<std::uint32_t>(tree.use));
  for (const schedule::TreeHop& hop : tree.hops) {
    v1::PlanHop& into = *message.add_hops();
    into.set_site(hop.site);
    into.set_parent(hop.parent);
    into.mutable_children()->Add(hop.children.begin(), hop.children.end());
    into.mutable_deliver()->Add(hop.deliver.begin(), hop.deliver.end());
  }
}

template <typename State>
std::string write_any_state(const State& state) {
  v1::StoredState message;
  message.set_term(state.term);
  message.set_newest_epoch(state.newest_epoch);
  message.set_activating_round(state.activating_round);
  if (state.plan) write_plan(*state.plan, *message.mutable_plan());
  if constexpr (std::is_same_v<State, ControllerState>) message.set_order(state.order);
  return message.SerializeAsString();
}

template <typename State>
Result<State> read_any_state(std::string_view bytes) {
  v1::StoredState message;
  if (bytes.size() > kMaxPlanBytes || !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return invalid_input("state: not a message of this version");
  State state;
  state.term = message.term();
  state.newest_epoch = message.newest_epoch();
  state.activating_round = message.activating_round();
  if (message.has_plan()) {
    auto plan = read_plan(message.plan());
    if (!plan) return std::move(plan).error().within("state");
    state.plan = std::move(plan).value();
  } else if (state.activating_round != 0) {
    return invalid_input(
        fmt::format("state: activating_round: {} without a plan", message.activating_round()));
  }
  if (state.newest_epoch < state.committed_epoch())
    return invalid_input(fmt::format("state: newest_epoch: {} is before the plan's epoch {}",
                                     state.newest_epoch, state.committed_epoch()));
  if constexpr (std::is_same_v<State, ControllerState>) state.order = message.order();
  return state;
}

}  // namespace

void write_plan(const EpochPlan& plan, v1::Plan& message) {
  message.set_job(plan.job);
  message.set_epoch(plan.epoch);
  message.set_multicast(plan.multicast);
  message.set_edge_aggregation(plan.edge_aggregation);
  message.set_partial_format(static_cast<std::uint32_t>(plan.partial_format));
  message.set_chunk_elements(plan.chunk_elements);
  message.set_lane_count(plan.lane_count);
  message.set_deadline_ns(plan.deadline_ns);
  message.set_format(static_cast<std::uint32_t>(plan.format));
  message.set_result_format(static_cast<std::uint32_t>(plan.result_format));
  message.set_non_finite(static_cast<std::uint32_t>(plan.non_finite));
  for (const std::string& name : plan.site_names) message.add_site_names(name);
  for (const schedule::PlannedIsland& island : plan.islands) message.add_island_sites(island.site);
  for (const schedule::PlannedEntry& entry : plan.entries) {
    v1::PlanEntry& into = *message.add_entries();
    for (const schedule::PlannedClique& clique : entry.cliques) write_clique(clique, *into.add_cliques());
  }
  for (const schedule::PlannedTree& tree : plan.trees) write_tree(tree, *message.add_trees());
  for (const schedule::PlannedLink& link : plan.links) {
    v1::PlanLink& into = *message.add_links();
    into.set_from(link.from);
    into.set_to(link.to);
    into.set_rtt_ns(link.rtt_ns);
    into.set_load_bps(link.load_bps);
    into.set_group(link.group);
  }
  for (const schedule::LostLink& link : plan.lost_links) {
    v1::PlanLostLink& into = *message.add_lost_links();
    into.set_a(link.a);
    into.set_b(link.b);
  }
  message.mutable_lost_ranks()->Add(plan.lost_ranks.begin(), plan.lost_ranks.end());
}

std::size_t plan_bytes(const EpochPlan& plan) {
  v1::Plan message;
  write_plan(plan, message);
  return message.ByteSizeLong();
}

Result<std::shared_ptr<const EpochPlan>> read_plan(const v1::Plan& message) {
  return PlanReader().read(message);
}

std::string write_state(const AgentSnapshot& snapshot) { return write_any_state(snapshot); }
std::string write_state(const ControllerState& state) { return write_any_state(state); }

Result<AgentSnapshot> read_agent_snapshot(std::string_view bytes) {
  return read_any_state<AgentSnapshot>(bytes);
}
Result<ControllerState> read_controller_state(std::string_view bytes) {
  return read_any_state<ControllerState>(bytes);
}

}  // namespace tombolo::control
