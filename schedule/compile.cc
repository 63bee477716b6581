#include "schedule/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/units.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/tree_plan.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;
// A window covers a grant's way back and a packet's way out (twice the latency), one repair (a link's round
// trip) and the delays of queues and turns, with a quarter and some chunks to spare.
constexpr std::uint64_t kWindowSlackNs = 30'000'000;
constexpr double kWindowMargin = 1.25;
constexpr std::uint64_t kWindowExtraChunks = 64;

Status check_options(const CompileOptions& options) {
  if (options.epoch == 0) return invalid_input("epoch: must not be 0");
  if (options.format == NumberFormat::kNone) return invalid_input("format: must not be none");
  if (options.result_format == NumberFormat::kNone) return invalid_input("result_format: must not be none");
  // Where cliques may fold on trees, partials must fit as well.
  const NumberFormat partials =
      options.tree_aggregation ? partials_of(options.format, options.partial_format) : options.format;
  const std::array formats{options.format, options.result_format, partials};
  const std::uint32_t most = chunk_elements_for(formats, kLargestPayloadBytes);
  if (options.chunk_elements == 0 || options.chunk_elements % kChunkElementStep != 0 ||
      options.chunk_elements > most)
    return invalid_input(fmt::format("chunk_elements {}: must be a multiple of {}, at most {} in {} and {}",
                                     options.chunk_elements, kChunkElementStep, most, name(options.format),
                                     name(options.result_format)));
  if (options.lane_count == 0) return invalid_input("lane_count: must not be 0");
  if (options.deadline_ns == 0) return invalid_input("deadline_ns: must not be 0");
  if (options.update_bytes == 0) return invalid_input("update_bytes: must not be 0");
  if (options.tree_aggregation && !options.edge_aggregation)
    return invalid_input("tree_aggregation: needs edge_aggregation");
  if (options.tree_aggregation && options.non_finite == NonFinitePolicy::kReject)
    return Error{ErrorCode::kNotSupported,
                 "non_finite: reject: partials do not say whose updates they lack; not with trees"};
  return ok_status();
}

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

/// Builds one plan, clique by clique.
class Compiler {
 public:
  Compiler(const Network& network, const CompileOptions& options)
      : network_(network), options_(options), routes_(network) {
    for (std::size_t i = 0; i < network.links.size(); ++i)
      link_by_ends_.emplace(SiteLink{network.links[i].from, network.links[i].to}, i);
  }

  Result<EpochPlan> run(const Schedule& schedule);

 private:
  void start_plan();
  Status add_entry(const Round& round);
  double wire_bytes() const {
    return update_wire_bytes(options_.update_bytes, options_.chunk_elements, options_.format);
  }
  PlannedClique plan_clique(const Clique& members, CliqueMode mode, const CliqueTrees& given,
                            std::uint64_t latency_ns, double sending_s);
  void add_trees(PlannedClique& clique, const CliqueTrees& given);
  std::uint16_t add_tree(Rank source, const std::vector<Rank>& receivers, const SourceTree& given);
  std::vector<TreeHop> hops(SiteId source, std::span<const SiteId> sites, const SourceTree& given) const;
  void add_loads(const PlannedClique& clique, std::vector<std::uint64_t>& load_bps) const;
  std::uint64_t largest_rtt_ns(const PlannedClique& clique) const;
  std::uint32_t window_chunks(const PlannedClique& clique) const;
  std::size_t trees_of(const Schedule& schedule) const;

  SiteId site(Rank rank) const { return network_.islands[rank].site; }
  std::size_t link_into(const TreeHop& hop) const { return link_by_ends_.at(SiteLink{hop.parent, hop.site}); }
  double chunk_wire_bits() const {
    return static_cast<double>(
        (encoded_bytes(options_.format, options_.chunk_elements) + kPacketOverheadBytes) * kBitsPerByte);
  }
  std::uint64_t update_chunks() const {
    // Divided first: the largest sizes must not wrap.
    return (options_.update_bytes - 1) / encoded_bytes(options_.format, options_.chunk_elements) + 1;
  }

  const Network& network_;
  const CompileOptions& options_;
  Routes routes_;
  std::vector<float> weights_;  ///< By rank; empty: none.
  std::map<SiteLink, std::size_t> link_by_ends_;
  EpochPlan plan_;
};

/// Edges exchange directly, and every edge and link can do what the options say.
Status check_runnable(const Network& network, const Schedule& schedule, const CompileOptions& options) {
  const auto cannot = [](std::string what) { return Error{ErrorCode::kNotSupported, std::move(what)}; };
  const auto denies = [](const std::vector<bool>& list) {
    return std::find(list.begin(), list.end(), false) != list.end();
  };
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    const Round& round = schedule.rounds[r];
    if (round.rest_s > 0) return cannot(fmt::format("round {}: edges cannot run a rest round yet", r));
    for (const auto& mode : round.modes) {
      if (mode && mode->mode == Mode::kSharded)
        return cannot(fmt::format("round {}: edges cannot run the mode {} yet", r, mode_name(mode->mode)));
      if (mode && mode->mode == Mode::kTree && !options.tree_aggregation)
        return invalid_input(fmt::format("round {}: the mode tree needs aggregation tree", r));
    }
  }
  if (options.tree_aggregation && !options.multicast)
    return cannot("aggregation tree without multicast: its results come down by multicast");
  if (options.multicast && (denies(network.site_replicates) ||
                            std::any_of(network.links.begin(), network.links.end(),
                                        [](const DirectedLink& link) { return !link.multicast; })))
    return cannot("edges cannot yet replicate at some sites and links only: switch multicast off");
  if (options.edge_aggregation && denies(network.site_aggregates))
    return cannot("edges cannot yet aggregate at some sites only: set aggregation none");
  return ok_status();
}

Status check_sending(const Schedule& schedule, const CompileOptions& options) {
  for (const Round& round : schedule.rounds)
    if (schedule.form == Form::kEvent && !round.trees.empty())
      return invalid_input("a schedule of the form event has no trees of its own");
  if (schedule.form == Form::kEvent && options.sending_s.empty())
    return Error{ErrorCode::kNotSupported,
                 "a schedule of the form event runs only where its times are planned"};
  if (options.sending_s.empty()) return ok_status();
  bool sound = options.sending_s.size() == schedule.rounds.size();
  for (std::size_t r = 0; sound && r < schedule.rounds.size(); ++r) {
    sound = options.sending_s[r].size() == schedule.rounds[r].cliques.size();
    for (const double seconds : options.sending_s[r]) sound = sound && seconds > 0 && std::isfinite(seconds);
  }
  return sound ? ok_status() : invalid_input("sending_s: needs a time above 0 for every clique");
}

/// A Schedule from this folder's functions always passes; one that was put together elsewhere may not.
Status check_schedule(const Schedule& schedule, std::size_t islands) {
  if (schedule.rounds.empty()) return invalid_input("the schedule has no rounds");
  const bool weighs = schedule.weights.empty() || schedule.weights.size() == islands;
  if (!weighs || !std::all_of(schedule.weights.begin(), schedule.weights.end(), is_weight))
    return invalid_input("the schedule's weights are not one normal number above 0 for each island");
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    std::vector<bool> used(islands, false);
    if (schedule.rounds[r].cliques.empty()) return invalid_input(fmt::format("round {}: has no clique", r));
    for (const Clique& clique : schedule.rounds[r].cliques) {
      if (clique.size() < 2 || clique.size() > kMaxCliqueMembers)
        return invalid_input(fmt::format("round {}: a clique of {}; must have 2 to {} members", r,
                                         clique.size(), kMaxCliqueMembers));
      for (std::size_t i = 0; i < clique.size(); ++i) {
        if (clique[i] >= islands || used[clique[i]] || (i > 0 && clique[i] <= clique[i - 1]))
          return invalid_input(
              fmt::format("round {}: rank {} is unknown, repeated or out of order", r, clique[i]));
        used[clique[i]] = true;
      }
    }
  }
  return ok_status();
}

Result<EpochPlan> Compiler::run(const Schedule& schedule) {
  const std::size_t trees = trees_of(schedule);
  if (trees > kMaxTrees)
    return invalid_input(
        fmt::format("schedule {}: needs {} trees; an epoch has at most {}", schedule.name, trees, kMaxTrees));
  if (rounded_up(update_chunks(), options_.lane_count) > std::numeric_limits<std::uint32_t>::max())
    return invalid_input(fmt::format("update_bytes {}: too many chunks of {} elements", options_.update_bytes,
                                     options_.chunk_elements));
  start_plan();
  weights_ = schedule.weights;
  for (const Round& round : schedule.rounds) {
    Status added = add_entry(round);
    if (!added) return std::move(added).error().within(fmt::format("round {}", plan_.entries.size()));
  }
  return std::move(plan_);
}

void Compiler::start_plan() {
  plan_.job = options_.job;
  plan_.epoch = options_.epoch;
  plan_.multicast = options_.multicast;
  plan_.edge_aggregation = options_.edge_aggregation;
  plan_.partial_format = options_.partial_format;
  plan_.chunk_elements = options_.chunk_elements;
  plan_.lane_count = options_.lane_count;
  plan_.deadline_ns = options_.deadline_ns;
  plan_.format = options_.format;
  plan_.result_format = options_.result_format;
  plan_.non_finite = options_.non_finite;
  plan_.site_names = network_.site_names;
  plan_.lost_links = options_.lost_links;
  plan_.lost_ranks = options_.lost_ranks;
  for (std::size_t rank = 0; rank < network_.islands.size(); ++rank)
    plan_.islands.push_back({static_cast<Rank>(rank), network_.islands[rank].site});
  for (const DirectedLink& link : network_.links) plan_.links.push_back({link.from, link.to, link.rtt_ns, 0});
}

std::size_t Compiler::trees_of(const Schedule& schedule) const {
  std::size_t trees = 0;
  for (const Round& round : schedule.rounds)
    for (const Clique& clique : round.cliques)
      trees += clique.size() * (options_.multicast ? 1 : clique.size() - 1);
  // Sites that fold join at least two ways each, so they are fewer than the members, but for a root that only
  // passes on.
  return options_.tree_aggregation ? 2 * trees : trees;
}

Status Compiler::add_entry(const Round& round) {
  Aggregation aggregation = options_.edge_aggregation ? Aggregation::kEdge : Aggregation::kNone;
  if (options_.tree_aggregation) aggregation = Aggregation::kTree;
  const Capabilities capabilities{.multicast = options_.multicast, .aggregation = aggregation};
  const RoundModel model(network_, routes_, capabilities);
  const auto time = model.time(round, wire_bytes());
  if (!time) return time.error();
  PlannedEntry entry;
  std::vector<std::uint64_t> load_bps(network_.links.size(), 0);
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    const double sending_s = options_.sending_s.empty()
                                 ? time->seconds - static_cast<double>(time->latency_ns[i]) * kSecondsPerNs
                                 : options_.sending_s[plan_.entries.size()][i];
    const CliqueTrees given = round.trees.empty() ? CliqueTrees{} : round.trees[i];
    PlannedClique clique =
        plan_clique(round.cliques[i], time->modes[i], given, time->latency_ns[i], sending_s);
    if (clique.stream_rate_bps == 0) return invalid_input("a stream's rate is below 1 bit/s");
    add_loads(clique, load_bps);
    entry.cliques.push_back(std::move(clique));
  }
  for (std::size_t link = 0; link < load_bps.size(); ++link) {
    std::uint64_t& planned_bps = plan_.links[link].load_bps;
    // Without barriers entries are on the way together, up to the capacity.
    if (options_.sending_s.empty())
      planned_bps = std::max(planned_bps, load_bps[link]);
    else
      planned_bps =
          std::max(load_bps[link], std::min(planned_bps + load_bps[link], network_.links[link].capacity_bps));
  }
  plan_.entries.push_back(std::move(entry));
  return ok_status();
}

PlannedClique Compiler::plan_clique(const Clique& members, CliqueMode mode, const CliqueTrees& given,
                                    std::uint64_t latency_ns, double sending_s) {
  PlannedClique clique;
  clique.members = members;
  if (!weights_.empty())
    for (const Rank rank : members) clique.weights.push_back(weights_[rank]);
  clique.latency_ns = latency_ns;
  const double wire_bits = wire_bytes() * static_cast<double>(kBitsPerByte);
  clique.stream_rate_bps = static_cast<std::uint64_t>(kStreamShare * wire_bits / sending_s);
  if (mode.mode == Mode::kTree)
    add_tree_folds(network_, routes_, mode.root, static_cast<std::uint32_t>(plan_.entries.size()), clique,
                   plan_.trees);
  else
    add_trees(clique, given);
  clique.window_chunks = window_chunks(clique);
  return clique;
}

void Compiler::add_trees(PlannedClique& clique, const CliqueTrees& given) {
  const std::size_t k = clique.members.size();
  clique.send_trees.resize(k);
  clique.receive_trees.assign(k, std::vector<std::uint16_t>(k, kNoTreeId));
  for (std::size_t source = 0; source < k; ++source) {
    // With aggregation the source's own edge folds its input too: its first tree brings it there.
    const auto plan_tree = [&](const std::vector<std::size_t>& receivers) {
      std::vector<Rank> ranks;
      for (const std::size_t receiver : receivers) ranks.push_back(clique.members[receiver]);
      const std::uint16_t tree =
          add_tree(clique.members[source], ranks, given.empty() ? SourceTree{} : given[source]);
      for (const std::size_t receiver : receivers) clique.receive_trees[receiver][source] = tree;
      clique.send_trees[source].push_back(tree);
    };
    std::vector<std::size_t> receivers;
    if (options_.edge_aggregation) receivers.push_back(source);
    for (std::size_t member = 0; member < k; ++member) {
      if (member == source) continue;
      receivers.push_back(member);
      if (options_.multicast) continue;
      plan_tree(receivers);
      receivers.clear();
    }
    if (options_.multicast) plan_tree(receivers);
  }
}

/// Along the tree that was chosen for the source, or, without one, the shortest way.
std::vector<TreeHop> Compiler::hops(SiteId source, std::span<const SiteId> sites,
                                    const SourceTree& given) const {
  return given.empty() ? routes_.tree(source, sites) : source_tree_hops(given, source, sites);
}

std::uint16_t Compiler::add_tree(Rank source, const std::vector<Rank>& receivers, const SourceTree& given) {
  std::vector<SiteId> sites;
  for (const Rank rank : receivers) sites.push_back(site(rank));
  PlannedTree tree;
  tree.id = static_cast<std::uint16_t>(plan_.trees.size());
  tree.source = source;
  tree.entry = static_cast<std::uint32_t>(plan_.entries.size());
  tree.hops = hops(site(source), sites, given);
  for (TreeHop& hop : tree.hops) {
    for (const Rank rank : receivers)
      if (site(rank) == hop.site) hop.deliver.push_back(rank);
    std::sort(hop.deliver.begin(), hop.deliver.end());
  }
  plan_.trees.push_back(std::move(tree));
  return plan_.trees.back().id;
}

void Compiler::add_loads(const PlannedClique& clique, std::vector<std::uint64_t>& load_bps) const {
  for_each_tree(clique, [&](std::uint16_t id) {
    for (const TreeHop& hop : plan_.trees[id].hops)
      if (hop.site != hop.parent) load_bps[link_into(hop)] += clique.stream_rate_bps;
  });
}

std::uint64_t Compiler::largest_rtt_ns(const PlannedClique& clique) const {
  std::uint64_t largest_ns = 0;
  for_each_tree(clique, [&](std::uint16_t id) {
    for (const TreeHop& hop : plan_.trees[id].hops)
      if (hop.site != hop.parent) largest_ns = std::max(largest_ns, network_.links[link_into(hop)].rtt_ns);
  });
  return largest_ns;
}

std::uint32_t Compiler::window_chunks(const PlannedClique& clique) const {
  // On a tree the latency is already that of the way up and of one back.
  const std::uint64_t loop_ns = clique.on_tree() ? clique.latency_ns : 2 * clique.latency_ns;
  const double covered_s =
      static_cast<double>(loop_ns + largest_rtt_ns(clique) + kWindowSlackNs) * kSecondsPerNs;
  const double chunks =
      std::ceil(kWindowMargin * static_cast<double>(clique.stream_rate_bps) * covered_s / chunk_wire_bits());
  const double most = static_cast<double>(update_chunks());
  // Cut to the update before the conversion: a huge product must not overflow.
  const std::uint64_t wanted = static_cast<std::uint64_t>(std::min(chunks, most)) + kWindowExtraChunks;
  return static_cast<std::uint32_t>(rounded_up(std::min(wanted, update_chunks()), options_.lane_count));
}

}  // namespace

double update_wire_bytes(std::uint64_t update_bytes, std::uint32_t chunk_elements, NumberFormat format) {
  const auto payload = static_cast<double>(encoded_bytes(format, chunk_elements));
  return static_cast<double>(update_bytes) * (payload + kPacketOverheadBytes) / payload;
}

Network network_for(Network network, const CompileOptions& options, std::uint32_t overhead_bytes) {
  const auto packet = [&](NumberFormat of) {
    return static_cast<double>(encoded_bytes(of, options.chunk_elements) + overhead_bytes);
  };
  const auto divide = [](std::uint64_t& rate_bps, double ratio) {
    rate_bps = static_cast<std::uint64_t>(static_cast<double>(rate_bps) / ratio);
  };
  const double results = packet(options.result_format) / packet(options.format);
  if (options.edge_aggregation && results != 1)
    for (std::uint64_t& ingress_bps : network.ingress_bps) divide(ingress_bps, results);
  const double partials =
      std::max(results, packet(partials_of(options.format, options.partial_format)) / packet(options.format));
  if (options.tree_aggregation && partials > 1)
    for (DirectedLink& link : network.links) divide(link.capacity_bps, partials);
  return network;
}

Result<EpochPlan> compile(const Network& network, const Schedule& schedule, const CompileOptions& options) {
  for (const Status& valid :
       {check_options(options), check_runnable(network, schedule, options),
        check_schedule(schedule, network.islands.size()), check_sending(schedule, options)})
    if (!valid) return Error(valid.error()).within("compile");
  auto plan = Compiler(network_for(network, options), options).run(schedule);
  if (!plan) return std::move(plan).error().within("compile");
  return plan;
}

}  // namespace tombolo::schedule
