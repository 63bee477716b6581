#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/round_model.h"
#include "schedule/topology.h"
#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// What every verb of `schedule` is told about the network, as written on the command line.
struct NetworkOptions {
  std::string topology;
  std::string profile;
  std::string bytes;
  bool multicast = true;
  std::string aggregation = "edge";
  std::string family = "direct";
};

/// The same, read and checked.
struct NetworkInput {
  schedule::Network network;
  std::uint64_t update_bytes = 0;
  schedule::Capabilities capabilities;
};

/// Adds TOPOLOGY, --profile, --bytes, --multicast, --aggregation and --family; `options` must outlive the
/// parsing.
void add_network_options(CLI::App& command, NetworkOptions& options);

/// Adds --trees; `packed` must outlive the parsing.
void add_trees(CLI::App& command, bool& packed);

/// Errors: those of the files, and of --bytes and --profile by their names.
Result<NetworkInput> load_network(const NetworkOptions& options);

/// "nine-city, profile P, schedule S, 1G per island, multicast on, ...": the line over a table.
std::string describe_network(const NetworkOptions& options, const NetworkInput& input);

/// Adds topology, profile, update_bytes, multicast, aggregation and family to a report.
void report_network(const NetworkOptions& options, const NetworkInput& input, nlohmann::ordered_json& report);

/// The members' ids, in rank order.
std::vector<std::string> island_names(const schedule::Clique& clique, const schedule::Network& network);

}  // namespace tombolo::tools
