#include "tools/status_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::ordered_json;

const std::string kNothing = "-";
/// Longer texts are cut: one odd name must not push a table off the screen.
constexpr std::size_t kMostText = 200;

/// A member, or null when there is none.
const Json& member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

std::string safe(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  // C1 controls, which a terminal may obey, begin with this byte in UTF-8.
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '\xc2' && static_cast<unsigned char>(text[i + 1]) < 0xa0) text[i] = text[i + 1] = '?';
  if (text.size() > kMostText) {
    std::size_t end = kMostText;
    while (end > 0 && (text[end] & 0xc0) == 0x80) --end;  // Not inside a character.
    text = text.substr(0, end) + "...";
  }
  return text;
}

std::string text_of(const Json& value) {
  if (value.is_string() && !value.get_ref<const std::string&>().empty())
    return safe(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return safe(value.dump());
  return kNothing;
}

std::string text_of(const Json& object, const char* key) { return text_of(member(object, key)); }

/// A count or a measure; nothing when it is no number that makes sense.
std::optional<double> number_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0 || number > 1e19) return std::nullopt;
  return number;
}

std::uint64_t count_of(const Json& object, const char* key) {
  return static_cast<std::uint64_t>(std::min(number_of(object, key).value_or(0), 1.8e19));
}

bool is_true(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::string bytes_of(const Json& object, const char* key) {
  return number_of(object, key) ? format_bytes(count_of(object, key)) : kNothing;
}

std::string duration_of(const Json& object, const char* key, double ns_per_unit) {
  const auto number = number_of(object, key);
  return number && *number * ns_per_unit < 1e19
             ? format_duration_ns(static_cast<std::uint64_t>(*number * ns_per_unit))
             : kNothing;
}

std::string words_of(const Json& list) {
  std::string words;
  if (list.is_array())
    for (const Json& word : list) words += (words.empty() ? "" : ", ") + text_of(word);
  return words.empty() ? kNothing : safe(words);
}

/// "complete 12, deadline 1"; zeros are left out.
std::string counts_of(const Json& object) {
  std::string words;
  if (object.is_object())
    for (const auto& [key, value] : object.items())
      if (value.is_number_unsigned() && value.get<std::uint64_t>() > 0)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", safe(key), value.get<std::uint64_t>());
  return words.empty() ? "none" : words;
}

/// Bytes that begin a character: what a column is wide, near enough for names.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Rows under a heading, every column as wide as its widest cell; the last one as it is.
std::string table(std::string_view title, const std::vector<std::string>& heads,
                  const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return {};
  std::vector<std::size_t> widths(heads.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  };
  widen(heads);
  for (const auto& row : rows) widen(row);
  std::string out = fmt::format("\n{}\n", title);
  const auto print = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += "  " + row[i] + std::string(i + 1 < row.size() ? widths[i] - width(row[i]) : 0, ' ');
    out += line + "\n";
  };
  print(heads);
  for (const auto& row : rows) print(row);
  return out;
}

template <typename Make>
std::vector<std::vector<std::string>> rows_of(const Json& list, Make&& make) {
  std::vector<std::vector<std::string>> rows;
  if (list.is_array())
    for (const Json& item : list) rows.push_back(make(item));
  return rows;
}

/// Where packets for a neighbour go.
std::string address_of(const Json& peer) {
  const Json& group = member(peer, "group");
  return text_of(peer, "address") + (group.is_string() ? " by " + text_of(peer, "group") : "");
}

std::string peer_tables(const Json& job) {
  return table("Neighbours",
               {"name", "kind", "state", "RTT", "sent", "received", "repairs", "asked", "given up", "session",
                "address"},
               rows_of(member(job, "peers"), [](const Json& peer) {
                 const std::string state =
                     is_true(peer, "up") ? "up"
                                         : fmt::format("DOWN ({} of {} lanes)", count_of(peer, "lanes_up"),
                                                       text_of(peer, "lanes"));
                 return std::vector<std::string>{text_of(peer, "name"),
                                                 text_of(peer, "kind"),
                                                 state,
                                                 duration_of(peer, "rtt_ms", 1e6),
                                                 bytes_of(peer, "tx_bytes"),
                                                 bytes_of(peer, "rx_bytes"),
                                                 text_of(peer, "repairs_sent"),
                                                 text_of(peer, "repairs_asked"),
                                                 text_of(peer, "given_up"),
                                                 text_of(peer, "session"),
                                                 address_of(peer)};
               }));
}

std::string port_tables(const Json& status) {
  return table("Ports", {"name", "received", "packets", "sent", "packets", "drops"},
               rows_of(member(status, "ports"), [](const Json& port) {
                 return std::vector<std::string>{
                     text_of(port, "name"),       bytes_of(port, "rx_bytes"),
                     text_of(port, "rx_packets"), bytes_of(port, "tx_bytes"),
                     text_of(port, "tx_packets"), counts_of(member(port, "drops"))};
               }));
}

std::string round_tables(const Json& job) {
  return table("Open rounds", {"round", "epoch", "island", "chunks", "for", "left", "waits for"},
               rows_of(member(job, "rounds"), [](const Json& round) {
                 const bool begun = member(round, "age_s").is_number();
                 return std::vector<std::string>{
                     text_of(round, "round"),
                     text_of(round, "epoch"),
                     text_of(round, "island"),
                     fmt::format("{} of {}", text_of(round, "chunks_done"),
                                 begun ? text_of(round, "chunks_total") : kNothing),
                     duration_of(round, "age_s", 1e9),
                     duration_of(round, "time_left_s", 1e9),
                     begun ? words_of(member(round, "late")) : "its first contribution"};
               }));
}

std::string worker_tables(const Json& status) {
  std::size_t index = 0;
  return table("Workers", {"worker", "busy", "idle", "asleep", "waited for a core"},
               rows_of(member(status, "workers"), [&index](const Json& worker) {
                 const double busy = number_of(worker, "busy_s").value_or(0);
                 const double idle = number_of(worker, "idle_s").value_or(0);
                 const double asleep = number_of(worker, "asleep_s").value_or(0);
                 const double all = busy + idle + asleep;
                 const auto share = [all](double part) {
                   return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : kNothing;
                 };
                 return std::vector<std::string>{std::to_string(index++), share(busy), share(idle),
                                                 share(asleep), duration_of(worker, "stalled_s", 1e9)};
               }));
}

std::string pool_tables(const Json& status) {
  return table("Packet buffers", {"pool", "in use", "most", "of", "times empty"},
               rows_of(member(status, "pools"), [](const Json& pool) {
                 return std::vector<std::string>{text_of(pool, "name"), text_of(pool, "in_use"),
                                                 text_of(pool, "high_water"), text_of(pool, "buffers"),
                                                 text_of(pool, "empties")};
               }));
}

std::string job_head(const Json& job) {
  const Json& epochs = member(job, "epochs");
  const Json& controller = member(job, "controller");
  std::string out = fmt::format("\njob {}\n", text_of(job, "job"));
  if (controller.is_object())
    out += fmt::format("controller     {}, term {}\n",
                       is_true(controller, "connected") ? "connected" : "NOT CONNECTED",
                       text_of(controller, "term"));
  if (count_of(epochs, "newest") == 0)
    out += "epoch          none yet\n";
  else
    out += fmt::format("epoch          {} from round {}\n", text_of(epochs, "newest"),
                       text_of(epochs, "first_round"));
  if (count_of(epochs, "older") != 0)
    out += fmt::format("older epoch    {}, which still has open rounds\n", text_of(epochs, "older"));
  if (count_of(controller, "staged_epoch") != 0)
    out += fmt::format("staged epoch   {}\n", text_of(controller, "staged_epoch"));
  out += fmt::format("highest round  {}\n", text_of(epochs, "highest_opened_round"));
  return out;
}

std::string job_tables(const Json& job) {
  const Json& aggregation = member(job, "aggregation");
  const Json& replication = member(job, "replication");
  std::string out = job_head(job) + peer_tables(job) + round_tables(job);
  out += table("Behind the fastest of the clique, on average", {"contributor", "by", "rounds"},
               rows_of(member(aggregation, "lag"), [](const Json& lag) {
                 return std::vector<std::string>{text_of(lag, "contributor"),
                                                 duration_of(lag, "mean_ms", 1e6), text_of(lag, "rounds")};
               }));
  out += fmt::format("\nrounds ended   {} (counted in each lane; {} on average)\n",
                     counts_of(member(aggregation, "rounds_ended")),
                     duration_of(aggregation, "mean_round_s", 1e9));
  out += fmt::format("replication    {} packets, {} copies, {} shared instead of copied\n",
                     text_of(replication, "packets"), text_of(replication, "copies"),
                     bytes_of(replication, "payload_bytes_saved"));
  out += fmt::format("waiting        {} contributions in {} slots, {} grants\n",
                     text_of(aggregation, "held_contributions"), text_of(aggregation, "slots"),
                     text_of(aggregation, "grants_waiting"));
  if (count_of(aggregation, "window_chunks") < count_of(aggregation, "planned_window_chunks"))
    out += fmt::format("QUOTA          windows of {} chunks instead of {}: rounds take longer\n",
                       text_of(aggregation, "window_chunks"), text_of(aggregation, "planned_window_chunks"));
  out += fmt::format("arena          {} in use, {} at most, {} reserved\n",
                     bytes_of(aggregation, "arena_used_bytes"),
                     bytes_of(aggregation, "arena_high_water_bytes"), bytes_of(aggregation, "arena_bytes"));
  for (const auto& row : rows_of(member(aggregation, "values"), [](const Json& values) {
         return std::vector<std::string>{text_of(values, "contributor"), text_of(values, "nan"),
                                         text_of(values, "infinity"), text_of(values, "rejected_chunks"),
                                         text_of(values, "saturated")};
       }))
    out += fmt::format("values         of {}: {} NaN, {} infinite, {} chunks rejected, {} saturated\n",
                       row[0], row[1], row[2], row[3], row[4]);
  out += fmt::format("drops          {}\n", counts_of(member(job, "drops")));
  return out;
}

std::string edge_tables(const Json& status) {
  std::string out =
      fmt::format("edge {}, session {}, {} lanes, up {}\n", text_of(status, "site"),
                  text_of(status, "session"), text_of(status, "lanes"), duration_of(status, "uptime_s", 1e9));
  out += port_tables(status) + pool_tables(status) + worker_tables(status);
  out += fmt::format("\ndrops          {} (all jobs, and packets of none)\n",
                     counts_of(member(status, "drops")));
  if (const Json& jobs = member(status, "jobs"); jobs.is_array())
    for (const Json& job : jobs) out += job_tables(job);
  return out;
}

std::string controller_tables(const Json& status) {
  std::string out = fmt::format(
      "controller, term {}, {}\nepoch          {} from round {}, schedule {}\nlast change    {}\n",
      text_of(status, "term"), text_of(status, "phase"), text_of(status, "epoch"),
      text_of(status, "activating_round"), text_of(status, "schedule"), text_of(status, "last_outcome"));
  if (text_of(status, "trouble") != kNothing)
    out += fmt::format("TROUBLE        {}\n", text_of(status, "trouble"));
  for (const auto& [title, key] : {std::pair{"lost sites", "dead_sites"},
                                   {"lost links", "lost_links"},
                                   {"lost islands", "lost_islands"}})
    if (const std::string words = words_of(member(status, key)); words != kNothing)
      out += fmt::format("{:<14} {}\n", title, words);
  out += table("Edges", {"name", "stream", "takes part", "epoch", "session", "links down", "refuses because"},
               rows_of(member(status, "edges"), [](const Json& edge) {
                 return std::vector<std::string>{text_of(edge, "name"),
                                                 is_true(edge, "connected") ? "up" : "DOWN",
                                                 is_true(edge, "member") ? "yes" : "NO",
                                                 text_of(edge, "running_epoch"),
                                                 text_of(edge, "session"),
                                                 words_of(member(edge, "links_down")),
                                                 text_of(edge, "refusal")};
               }));
  out += fmt::format("\nchanges        {}\nignored        {}\n", counts_of(member(status, "changes")),
                     counts_of(member(status, "ignored")));
  return out;
}

}  // namespace

Result<Json> read_status(const std::string& text) {
  Json status = Json::parse(text, nullptr, false);
  const std::string program = text_of(status, "program");
  if (program != "edge" && program != "controller")
    return Error{ErrorCode::kFailed, "the answer is not the status of an edge or a controller"};
  return status;
}

std::string status_tables(const Json& status) {
  return text_of(status, "program") == "controller" ? controller_tables(status) : edge_tables(status);
}

}  // namespace tombolo::tools
