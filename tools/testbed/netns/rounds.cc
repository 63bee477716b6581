#include "tools/testbed/netns/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "control/rpc/local_client.h"
#include "tools/testbed/planned_order.h"

namespace tombolo::testbed {
namespace {

using Json = nlohmann::json;
using schedule::Rank;
using schedule::SiteId;

constexpr Nanoseconds kStatusLimit = 10 * kSecond;
/// Waiting ends a little after the deadline, by which every operation has an outcome.
constexpr Nanoseconds kPastDeadline = 3 * kSecond;
constexpr Nanoseconds kReleaseLimit = 5 * kSecond;
constexpr Nanoseconds kCheckLimit = 120 * kSecond;

/// The number at a path of keys, or 0: a status may leave out what does not apply.
std::uint64_t count_at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* at = &json;
  for (const char* const key : keys) {
    if (!at->is_object() || !at->contains(key)) return 0;
    at = &(*at)[key];
  }
  return at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

double seconds_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_number() ? json[key].get<double>() : 0;
}

void add_counts(const Json& json, const std::string& prefix, std::map<std::string, std::uint64_t>& counts) {
  if (!json.is_object()) return;
  for (const auto& [name, count] : json.items())
    if (count.is_number_unsigned() && count.get<std::uint64_t>() > 0)
      counts[prefix + name] += count.get<std::uint64_t>();
}

/// The items of a list below a key; nothing if there is none.
std::vector<Json> items_at(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return {};
  return json[key].get<std::vector<Json>>();
}

}  // namespace

Result<std::vector<WorkerReport>> parse_worker_times(const std::string& site,
                                                     const std::string& status_text) {
  const Json status = Json::parse(status_text, nullptr, false);
  if (!status.is_object()) return invalid_input("the status of " + site + " is not a JSON object");
  std::vector<WorkerReport> workers;
  for (const Json& item : items_at(status, "workers")) {
    WorkerReport worker;
    worker.site = site;
    worker.worker = static_cast<std::uint32_t>(workers.size());
    worker.busy_s = seconds_at(item, "busy_s");
    worker.idle_s = seconds_at(item, "idle_s");
    worker.asleep_s = seconds_at(item, "asleep_s");
    worker.stalled_s = seconds_at(item, "stalled_s");
    workers.push_back(std::move(worker));
  }
  return workers;
}

NetnsRounds::NetnsRounds(Deployment& deployment, std::uint32_t first_round)
    : deployment_(deployment),
      config_(deployment.layout().config),
      first_round_(first_round),
      deadline_ns_(deadline_of(config_).ok() ? *deadline_of(config_) : 10 * kSecond),
      parts_(config_.network.islands.size()),
      base_(parts_.size()) {
  if (auto plan = make_plan(config_, 1)) plan_ = std::move(plan).value();
}

void NetnsRounds::begin() {
  spent_ = {};
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) base_[rank] = parts_[rank].after;
}

Result<RoundReport> NetnsRounds::run(std::uint32_t offset) {
  const schedule::Round& cliques = config_.schedule.rounds[offset % config_.schedule.rounds.size()];
  auto report = start_round_report(config_, first_round_ + offset, cliques);
  if (!report) return report;
  for (Part& part : parts_) part = {};
  if (Status status = ask_status(false); !status) return std::move(status).error();
  auto workers_before = worker_times();
  if (!workers_before) return std::move(workers_before).error();
  auto cpu_before = read_cpu_time();
  if (!cpu_before) return std::move(cpu_before).error();

  IslandGroup& islands = deployment_.islands();
  islands.tell_all(fmt::format("start {}", report->round));
  if (Status status = wait(Until::kReady, report->round, deadline_ns_ + kPastDeadline); !status)
    if (status.error().code != ErrorCode::kDeadline) return std::move(status).error();

  auto cpu_after = read_cpu_time();
  if (!cpu_after) return std::move(cpu_after).error();
  auto workers_after = worker_times();
  if (!workers_after) return std::move(workers_after).error();
  if (Status status = ask_status(true); !status) return std::move(status).error();
  spent_.after.idle += cpu_after->idle - cpu_before->idle;
  spent_.after.all += cpu_after->all - cpu_before->all;
  const std::vector<WorkerReport> workers = workers_between(*workers_before, *workers_after);
  if (spent_.workers.empty()) {
    spent_.workers = workers;
  } else {
    for (std::size_t i = 0; i < std::min(workers.size(), spent_.workers.size()); ++i) {
      spent_.workers[i].busy_s += workers[i].busy_s;
      spent_.workers[i].idle_s += workers[i].idle_s;
      spent_.workers[i].asleep_s += workers[i].asleep_s;
      spent_.workers[i].stalled_s += workers[i].stalled_s;
    }
  }

  // Checking costs the processor more than the round did, so it begins when the network is quiet.
  if (Status status = wait(Until::kReleased, report->round, kReleaseLimit); !status)
    if (status.error().code != ErrorCode::kDeadline) return std::move(status).error();
  islands.tell_all(check_command(report->round));
  if (Status status = wait(Until::kChecked, report->round, kCheckLimit); !status)
    return std::move(status).error();
  judge(cliques, *report);
  return report;
}

/// With how the cliques of the round fold that do so on a tree.
std::string NetnsRounds::check_command(std::uint32_t round) const {
  std::string command = fmt::format("check {}", round);
  if (!plan_) return command;
  for (const schedule::PlannedClique& clique :
       plan_->entries[(round - first_round_) % plan_->entries.size()].cliques)
    if (clique.on_tree()) command += " " + to_text(fold_order(*plan_, clique));
  return command;
}

Status NetnsRounds::wait(Until until, std::uint32_t round, Nanoseconds limit_ns) {
  const auto take = [&](std::size_t rank, const IslandEvent& event) {
    Part& part = parts_[rank];
    if (event.event == "status") (statuses_are_after_ ? part.after : part.before) = event;
    if (event.round != round) return;
    if (event.event == "ready" || event.event == "failed") part.ready = event;
    if (event.event == "released" || event.event == "failed") part.released = true;
    if (event.event == "checked") part.checked = event;
  };
  const auto done = [&] {
    return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      switch (until) {
        case Until::kStatus:
          return !(statuses_are_after_ ? part.after : part.before).event.empty();
        case Until::kReady:
          return !part.ready.event.empty();
        case Until::kReleased:
          return part.released;
        case Until::kChecked:
          return !part.checked.event.empty();
      }
      return true;
    });
  };
  return deployment_.islands().wait(
      take, done, [&] { return deployment_.sound(); }, limit_ns);
}

Status NetnsRounds::ask_status(bool after) {
  statuses_are_after_ = after;
  deployment_.islands().tell_all("status");
  return wait(Until::kStatus, 0, kStatusLimit);
}

/// The same judgement as of a run in one process, from what the islands say.
void NetnsRounds::judge(const schedule::Round& cliques, RoundReport& report) const {
  std::vector<bool> in_clique(parts_.size(), false);
  for (const schedule::Clique& clique : cliques.cliques) {
    Nanoseconds first_ns = kNever;
    Nanoseconds last_ns = 0;
    for (const Rank rank : clique) {
      in_clique[rank] = true;
      judge_part(rank, clique, report);
      const IslandEvent& ready = parts_[rank].ready;
      if (ready.event != "ready") continue;
      first_ns = std::min(first_ns, ready.first_send_ns);
      last_ns = std::max(last_ns, ready.ready_ns);
    }
    if (last_ns > first_ns)
      report.measured_s = std::max(report.measured_s, static_cast<double>(last_ns - first_ns) * 1e-9);
  }
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const auto id = static_cast<Rank>(rank);
    if (!in_clique[rank]) judge_part(id, {id}, report);
    report.tx_bytes = std::max(report.tx_bytes, parts_[rank].after.tx_bytes - parts_[rank].before.tx_bytes);
    report.rx_bytes = std::max(report.rx_bytes, parts_[rank].after.rx_bytes - parts_[rank].before.rx_bytes);
  }
  report.exact = report.errors.empty();
}

void NetnsRounds::judge_part(Rank rank, const schedule::Clique& members, RoundReport& report) const {
  const Part& part = parts_[rank];
  const std::string& name = config_.network.islands[rank].id;
  // Whom the policy had to leave out, the island's own check knows.
  std::vector<std::uint16_t> named;
  std::merge(part.ready.contributors.begin(), part.ready.contributors.end(), part.ready.rejected.begin(),
             part.ready.rejected.end(), std::back_inserter(named));
  if (part.ready.event == "failed") {
    report.errors.push_back(name + ": " + part.ready.error);
  } else if (part.ready.event != "ready") {
    report.errors.push_back(name + ": no result and no error in time");
  } else if (named != members) {
    report.errors.push_back(name + ": contributors are not the clique");
  } else if (!part.checked.exact) {
    report.errors.push_back(name + ": " + part.checked.error);
  }
}

Result<std::vector<WorkerReport>> NetnsRounds::worker_times() const {
  const Layout& layout = deployment_.layout();
  std::vector<WorkerReport> all;
  for (SiteId site = 0; site < layout.places.size(); ++site) {
    auto status = control::ask_status(layout.edge_socket(site));
    if (!status) return std::move(status).error().within("edge " + layout.site(site));
    auto workers = parse_worker_times(layout.site(site), *status);
    if (!workers) return workers;
    all.insert(all.end(), workers->begin(), workers->end());
  }
  return all;
}

Status NetnsRounds::collect(RunReport& report) {
  const Layout& layout = deployment_.layout();
  for (Part& part : parts_) part = {};
  if (Status status = ask_status(true); !status) return status;
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    IslandReport& island = report.islands[rank];
    island.site = layout.island(static_cast<Rank>(rank)).id;
    island.tx_bytes = parts_[rank].after.tx_bytes - base_[rank].tx_bytes;
    island.rx_bytes = parts_[rank].after.rx_bytes - base_[rank].rx_bytes;
    report.repairs += parts_[rank].after.repairs;
    for (const auto& [reason, count] : parts_[rank].after.drops) report.drops[reason] += count;
  }
  for (SiteId site = 0; site < layout.places.size(); ++site) {
    auto status = control::ask_status(layout.edge_socket(site));
    if (!status) return std::move(status).error().within("edge " + layout.site(site));
    if (Status added = add_edge(layout.site(site), *status, report); !added) return added;
  }
  return ok_status();
}

Status NetnsRounds::add_edge(const std::string& site, const std::string& status_text,
                             RunReport& report) const {
  const Json status = Json::parse(status_text, nullptr, false);
  if (!status.is_object())
    return Error{ErrorCode::kFailed, "the status of " + site + " is not a JSON object"};
  for (const Json& job : items_at(status, "jobs")) {
    report.copies += count_at(job, {"replication", "copies"});
    report.payload_bytes_saved += count_at(job, {"replication", "payload_bytes_saved"});
    for (const Json& peer : items_at(job, "peers")) report.repairs += count_at(peer, {"repairs_sent"});
  }
  if (status.contains("drops")) add_counts(status["drops"], "", report.drops);
  for (const Json& port : items_at(status, "ports"))
    if (port.is_object() && port.contains("drops")) add_counts(port["drops"], "port_", report.drops);
  return ok_status();
}

}  // namespace tombolo::testbed
