#include "tools/schedule/network_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <utility>

#include "base/units.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Family;

const std::map<std::string, Aggregation> kAggregations{
    {"none", Aggregation::kNone}, {"edge", Aggregation::kEdge}, {"tree", Aggregation::kTree}};
const std::map<std::string, Family> kFamilies{
    {"direct", Family::kDirect}, {"sharded", Family::kSharded}, {"best", Family::kBest}};

}  // namespace

void add_network_options(CLI::App& command, NetworkOptions& options) {
  command.add_option("topology", options.topology, "Topology file")->required()->type_name("TOPOLOGY");
  command.add_option("--profile", options.profile, "Capacities: a profile of the topology file")->required();
  command.add_option("--bytes", options.bytes, "Size of an update: 1G, 10M, 64Ki")->required();
  add_on_off(command, "--multicast", options.multicast, "Edges replicate");
  command.add_option("--aggregation", options.aggregation, "Where updates are summed: none, edge or tree")
      ->check(CLI::IsMember(kAggregations))
      ->capture_default_str();
  command.add_option("--family", options.family, "How a clique exchanges: direct, sharded or best")
      ->check(CLI::IsMember(kFamilies))
      ->capture_default_str();
}

void add_trees(CLI::App& command, bool& packed) {
  static const std::map<std::string, bool> kTrees{{"shortest", false}, {"packed", true}};
  command
      .add_option("--trees", packed,
                  "How packets fan out: the shortest way, or by trees that balance what links carry")
      ->transform(CLI::CheckedTransformer(kTrees, CLI::ignore_case))
      ->default_str("shortest");
}

Result<NetworkInput> load_network(const NetworkOptions& options) {
  NetworkInput input;
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes) return Error(bytes.error()).within("--bytes");
  input.update_bytes = *bytes;
  const auto topology = schedule::load_topology(options.topology);
  if (!topology) return topology.error();
  auto network = schedule::resolve(*topology, options.profile);
  if (!network) return Error(network.error()).within("--profile");
  input.network = std::move(*network);
  input.capabilities = {options.multicast, kAggregations.at(options.aggregation),
                        kFamilies.at(options.family)};
  return input;
}

std::string describe_network(const NetworkOptions& options, const NetworkInput& input) {
  return fmt::format("{}, profile {}, {} per island, multicast {}, aggregation {}, family {}",
                     input.network.name.empty() ? options.topology : input.network.name, options.profile,
                     format_bytes(input.update_bytes), options.multicast ? "on" : "off", options.aggregation,
                     options.family);
}

void report_network(const NetworkOptions& options, const NetworkInput& input,
                    nlohmann::ordered_json& report) {
  report["topology"] = input.network.name;
  report["profile"] = options.profile;
  report["update_bytes"] = input.update_bytes;
  report["multicast"] = options.multicast;
  report["aggregation"] = options.aggregation;
  report["family"] = options.family;
}

std::vector<std::string> island_names(const schedule::Clique& clique, const schedule::Network& network) {
  std::vector<std::string> names;
  for (const schedule::Rank rank : clique) names.push_back(network.islands[rank].id);
  return names;
}

}  // namespace tombolo::tools
