#include "tools/report/summary.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tombolo::report {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxRows = 100000;

/// Reads keys and remembers the first that is wrong. A key that is missing or null gives an empty value, and
/// so does a number that is not finite: a round that never ended has no time.
class Reader {
 public:
  const std::optional<Error>& error() const { return error_; }

  void fail(const std::string& where, const std::string& what) {
    if (!error_) error_ = invalid_input(fmt::format("{}: {}", where, what));
  }

  const json* find(const json& object, const char* key) const {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  std::string text(const json& object, const std::string& where, const char* key) {
    const json* const value = find(object, key);
    if (value == nullptr) return {};
    if (!value->is_string()) {
      fail(where + key, "is not a string");
      return {};
    }
    return value->get<std::string>();
  }

  std::optional<bool> flag(const json& object, const std::string& where, const char* key) {
    const json* const value = find(object, key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) {
      fail(where + key, "is not true or false");
      return std::nullopt;
    }
    return value->get<bool>();
  }

  std::optional<double> number(const json& object, const std::string& where, const char* key,
                               double least = 0, double most = std::numeric_limits<double>::max()) {
    const json* const value = find(object, key);
    return value == nullptr ? std::nullopt : number(*value, where + key, least, most);
  }

  std::optional<double> number(const json& value, const std::string& where, double least = 0,
                               double most = std::numeric_limits<double>::max()) {
    if (!value.is_number()) {
      fail(where, "is not a number");
      return std::nullopt;
    }
    const double result = value.get<double>();
    if (!std::isfinite(result)) return std::nullopt;
    if (result < least || result > most) {
      fail(where, fmt::format("{} is out of range", result));
      return std::nullopt;
    }
    return result;
  }

  /// Calls `item(value, "key[3]")` for each entry of a list.
  template <typename Item>
  void list(const json& object, const std::string& where, const char* key, std::size_t most, Item item) {
    const json* const value = find(object, key);
    if (value == nullptr) return;
    entries(*value, where + key, most, item);
  }

  template <typename Item>
  void entries(const json& value, const std::string& where, std::size_t most, Item item) {
    if (!value.is_array()) return fail(where, "is not a list");
    if (value.size() > most) return fail(where, fmt::format("has more than {} entries", most));
    for (std::size_t i = 0; i < value.size() && !error_; ++i) item(value[i], fmt::format("{}[{}]", where, i));
  }

  /// The same for a list of objects; `where` then ends with a dot.
  template <typename Item>
  void objects(const json& object, const char* key, std::size_t most, Item item) {
    list(object, "", key, most, [&](const json& value, const std::string& where) {
      if (!value.is_object()) return fail(where, "is not an object");
      item(value, where + ".");
    });
  }

  void strings(const json& value, const std::string& where, std::size_t most, std::vector<std::string>& out) {
    entries(value, where, most, [&](const json& entry, const std::string& place) {
      if (!entry.is_string()) return fail(place, "is not a string");
      out.push_back(entry.get<std::string>());
    });
  }

 private:
  std::optional<Error> error_;
};

void read_sites(Reader& reader, const json& root, RunSummary& summary) {
  std::unordered_map<std::string, std::size_t> index;
  reader.objects(root, "sites", kMaxSummarySites, [&](const json& value, const std::string& where) {
    SummarySite site;
    site.id = reader.text(value, where, "id");
    site.city = reader.text(value, where, "city");
    site.lat_deg = reader.number(value, where, "lat", -90, 90);
    site.lon_deg = reader.number(value, where, "lon", -180, 180);
    if (const json* islands = reader.find(value, "islands"))
      reader.strings(*islands, where + "islands", kMaxCliqueMembers, site.islands);
    else
      site.islands.push_back(site.id);
    if (site.id.empty()) reader.fail(where + "id", "is missing");
    if (site.lat_deg.has_value() != site.lon_deg.has_value())
      reader.fail(where + "lat", "latitude and longitude come together");
    if (!index.emplace(site.id, summary.sites.size()).second) reader.fail(where + "id", "is there twice");
    summary.sites.push_back(std::move(site));
  });
  reader.objects(root, "topology_links", kMaxSummaryLinks, [&](const json& value, const std::string& where) {
    TopologyLink link;
    const auto end = [&](const char* key, std::size_t& site) {
      const auto found = index.find(reader.text(value, where, key));
      if (found == index.end()) return reader.fail(where + key, "is not the id of a site");
      site = found->second;
    };
    end("a", link.a);
    end("b", link.b);
    if (!reader.error() && link.a == link.b) reader.fail(where + "b", "is the same site as a");
    link.rtt_ms = reader.number(value, where, "rtt_ms");
    link.rate_bps = reader.number(value, where, "bps");
    summary.topology_links.push_back(link);
  });
}

void read_rounds(Reader& reader, const json& root, RunSummary& summary) {
  reader.objects(root, "rounds", kMaxSummaryRounds, [&](const json& value, const std::string& where) {
    SummaryRound round;
    const auto most = static_cast<double>(std::uint64_t{1} << 53);
    round.round = static_cast<std::uint64_t>(
        reader.number(value, where, "round", 0, most).value_or(static_cast<double>(summary.rounds.size())));
    reader.list(value, where, "cliques", kMaxCliqueMembers,
                [&](const json& clique, const std::string& place) {
                  round.cliques.emplace_back();
                  reader.strings(clique, place, kMaxCliqueMembers, round.cliques.back());
                });
    round.model_s = reader.number(value, where, "model_s");
    round.predicted_s = reader.number(value, where, "predicted_s");
    round.measured_s = reader.number(value, where, "measured_s");
    round.tx_bytes = reader.number(value, where, "tx_bytes");
    round.rx_bytes = reader.number(value, where, "rx_bytes");
    round.exact = reader.flag(value, where, "exact");
    if (const json* errors = reader.find(value, "errors"))
      reader.strings(*errors, where + "errors", kMaxRows, round.errors);
    summary.rounds.push_back(std::move(round));
  });
}

void read_traffic(Reader& reader, const json& root, RunSummary& summary) {
  reader.objects(root, "islands", kMaxRows, [&](const json& value, const std::string& where) {
    summary.islands.push_back({.name = reader.text(value, where, "site"),
                               .update_bytes = reader.number(value, where, "update_bytes"),
                               .tx_bytes = reader.number(value, where, "tx_bytes"),
                               .rx_bytes = reader.number(value, where, "rx_bytes")});
  });
  reader.objects(root, "links", kMaxSummaryLinks, [&](const json& value, const std::string& where) {
    summary.links.push_back({.name = reader.text(value, where, "name"),
                             .target_rtt_ms = reader.number(value, where, "target_rtt_ms"),
                             .measured_rtt_ms = reader.number(value, where, "measured_rtt_ms"),
                             .target_bps = reader.number(value, where, "target_bps"),
                             .measured_bps = reader.number(value, where, "measured_bps")});
  });
  reader.objects(root, "capabilities", kMaxRows, [&](const json& value, const std::string& where) {
    summary.capabilities.push_back({.multicast = reader.flag(value, where, "multicast"),
                                    .aggregation = reader.text(value, where, "aggregation"),
                                    .out_per_update = reader.number(value, where, "bytes_out_per_update"),
                                    .in_per_update = reader.number(value, where, "bytes_in_per_update"),
                                    .measured = reader.flag(value, where, "measured").value_or(false)});
  });
}

/// "NYC 0": the site and the worker's number, as far as they are there.
std::string worker_name(Reader& reader, const json& value, const std::string& where, std::size_t position) {
  std::string name = reader.text(value, where, "site");
  if (!name.empty()) name += ' ';
  const double number = reader.number(value, where, "worker").value_or(static_cast<double>(position));
  return name + fmt::format("{:.0f}", number);
}

void read_workers(Reader& reader, const json& root, RunSummary& summary) {
  // `workers` is a count in some runs, and the workers' times in others.
  const json* const workers = reader.find(root, "workers");
  const char* const key = workers != nullptr && workers->is_array() ? "workers" : "worker_times";
  reader.objects(root, key, kMaxRows, [&](const json& value, const std::string& where) {
    summary.worker_times.push_back({.name = worker_name(reader, value, where, summary.worker_times.size()),
                                    .busy_s = reader.number(value, where, "busy_s"),
                                    .idle_s = reader.number(value, where, "idle_s"),
                                    .asleep_s = reader.number(value, where, "asleep_s"),
                                    .stalled_s = reader.number(value, where, "stalled_s")});
  });
  if (!summary.worker_times.empty()) summary.facts.erase(key);
}

void read_single_values(Reader& reader, const json& root, RunSummary& summary) {
  if (const json* drops = reader.find(root, "drops")) {
    if (drops->is_object()) {
      summary.drops.emplace();
      for (const auto& [reason, count] : drops->items())
        (*summary.drops)[reason] = reader.number(count, "drops." + reason).value_or(0);
    } else {
      reader.fail("drops", "is not an object");
    }
  }
  summary.repairs = reader.number(root, "", "repairs");
  summary.exact = reader.flag(root, "", "exact");
  summary.cpu_bound = reader.flag(root, "", "cpu_bound");
  summary.multicast = reader.flag(root, "", "multicast");
  summary.cpu_bound_reason = reader.text(root, "", "cpu_bound_reason");
  summary.topology = reader.text(root, "", "topology");
  summary.profile = reader.text(root, "", "profile");
  summary.schedule = reader.text(root, "", "schedule");
  summary.backend = reader.text(root, "", "backend");
  summary.aggregation = reader.text(root, "", "aggregation");
}

}  // namespace

std::optional<double> SummaryRound::ratio() const {
  if (!measured_s || !predicted_s || *predicted_s <= 0) return std::nullopt;
  return *measured_s / *predicted_s;
}

Result<RunSummary> parse_summary(const json& root) {
  if (!root.is_object()) return invalid_input("the summary is not a JSON object");
  Reader reader;
  RunSummary summary;
  summary.facts = root;
  read_sites(reader, root, summary);
  read_rounds(reader, root, summary);
  read_traffic(reader, root, summary);
  read_workers(reader, root, summary);
  read_single_values(reader, root, summary);
  if (reader.error()) return *reader.error();
  for (const char* key :
       {"sites", "topology_links", "rounds", "islands", "links", "capabilities", "drops", "cpu_bound_reason"})
    summary.facts.erase(key);
  return summary;
}

Result<json> parse_json(std::string_view text, const std::string& file_name) {
  bool too_deep = false;
  // What is nested beyond reason is dropped while reading, so that no later step recurses into it.
  const auto limit = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  json root = json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep) return invalid_input(fmt::format("{}: nested more than {} deep", file_name, kMaxDepth));
  if (root.is_discarded()) return invalid_input(fmt::format("{}: is not JSON", file_name));
  return root;
}

}  // namespace tombolo::report
