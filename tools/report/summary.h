#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tombolo::report {

/// More than this is refused: a page with them could not be drawn or opened.
inline constexpr std::size_t kMaxSummarySites = 1000;
inline constexpr std::size_t kMaxSummaryLinks = 10000;
inline constexpr std::size_t kMaxSummaryRounds = 100000;
inline constexpr std::size_t kMaxCliqueMembers = 1024;

struct SummarySite {
  std::string id;
  std::string city;
  std::optional<double> lat_deg;  ///< Both or neither.
  std::optional<double> lon_deg;
  std::vector<std::string> islands;  ///< Where missing: the one island that has the site's id.
};

struct TopologyLink {
  std::size_t a = 0;  ///< Index in RunSummary::sites.
  std::size_t b = 0;
  std::optional<double> rtt_ms;
  std::optional<double> rate_bps;
};

struct SummaryRound {
  std::uint64_t round = 0;
  std::vector<std::vector<std::string>> cliques;  ///< Islands.
  std::optional<double> model_s;
  std::optional<double> predicted_s;
  std::optional<double> measured_s;
  std::optional<double> tx_bytes;
  std::optional<double> rx_bytes;
  std::optional<bool> exact;
  std::vector<std::string> errors;

  /// Measured over predicted, where there are both.
  std::optional<double> ratio() const;
};

/// Bytes on an island's own access link over the whole run.
struct SummaryIsland {
  std::string name;
  std::optional<double> update_bytes;  ///< Of all rounds in which it took part.
  std::optional<double> tx_bytes;
  std::optional<double> rx_bytes;
};

/// What the emulation was told, and what was measured before the run.
struct CalibratedLink {
  std::string name;
  std::optional<double> target_rtt_ms;
  std::optional<double> measured_rtt_ms;
  std::optional<double> target_bps;
  std::optional<double> measured_bps;
};

/// What an island sends and receives per byte of its update, with the network's help or without.
struct Capability {
  std::optional<bool> multicast;
  std::string aggregation;
  std::optional<double> out_per_update;
  std::optional<double> in_per_update;
  bool measured = false;  ///< Else computed.
};

/// Where one worker's time went, in seconds.
struct WorkerTime {
  std::string name;
  std::optional<double> busy_s;
  std::optional<double> idle_s;
  std::optional<double> asleep_s;
  std::optional<double> stalled_s;
};

/// A run's summary.json, checked. What is missing (or null) in the file is empty here.
struct RunSummary {
  std::vector<SummarySite> sites;
  std::vector<TopologyLink> topology_links;
  std::vector<SummaryRound> rounds;
  std::vector<SummaryIsland> islands;
  std::vector<CalibratedLink> links;
  std::vector<Capability> capabilities;
  std::vector<WorkerTime> worker_times;
  std::optional<std::map<std::string, double>> drops;  ///< Packets, by reason.
  std::optional<double> repairs;
  std::optional<bool> exact;
  std::optional<bool> cpu_bound;
  std::optional<bool> multicast;
  std::string cpu_bound_reason;
  std::string topology;
  std::string profile;
  std::string schedule;
  std::string backend;
  std::string aggregation;
  nlohmann::json facts;  ///< Every other key of the file, and those of the above that are single values.
};

/// Reads the JSON of `testbed run`; README.md lists the keys. Errors: kInvalidInput, exactly one, naming the
/// key: "rounds[3].measured_s: is not a number".
Result<RunSummary> parse_summary(const nlohmann::json& json);

/// Reads the text of a summary.json; any bytes may be given. Errors: kInvalidInput, "file_name: what".
Result<nlohmann::json> parse_json(std::string_view text, const std::string& file_name);

}  // namespace tombolo::report
