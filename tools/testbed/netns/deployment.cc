#include "tools/testbed/netns/deployment.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "control/rpc/local_client.h"
#include "tools/testbed/netns/addresses.h"
#include "tools/testbed/netns/node_config.h"
#include "tools/testbed/netns/run_folder.h"

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;
using schedule::Rank;
using schedule::SiteId;

constexpr Nanoseconds kGrace = 3 * kSecond;
constexpr Nanoseconds kAskPatience = kSecond;
constexpr int kLookMs = 50;
constexpr Nanoseconds kStatusInterval = 200 * kMillisecond;
constexpr std::size_t kShownLines = 8;

/// Whether the controller says that every edge is connected.
bool all_connected(const std::string& status_text, std::size_t edges) {
  const nlohmann::json status = nlohmann::json::parse(status_text, nullptr, false);
  if (!status.is_object() || !status.contains("edges") || !status["edges"].is_array()) return false;
  std::size_t connected = 0;
  for (const nlohmann::json& edge : status["edges"])
    if (edge.is_object() && edge.contains("connected") && edge["connected"] == true) ++connected;
  return connected >= edges;
}

}  // namespace

Result<std::unique_ptr<Deployment>> Deployment::start(Layout layout, const Surroundings& surroundings,
                                                      bool with_islands) {
  std::unique_ptr<Deployment> deployment(new Deployment(std::move(layout), surroundings));
  for (const std::string& line : clean_up_dead_runs(record_folder())) surroundings.say(line);
  if (Status made = deployment->make_network(); !made) return std::move(made).error();
  if (Status written = deployment->write_files(); !written) return std::move(written).error();
  if (Status started = deployment->start_programs(with_islands); !started) return std::move(started).error();
  return deployment;
}

Deployment::~Deployment() {
  std::vector<Process*> first;
  if (islands_)
    for (std::size_t rank = 0; rank < islands_->size(); ++rank) first.push_back(&islands_->process(rank));
  for (const auto& edge : edges_) first.push_back(edge.get());
  if (controller_) first.push_back(controller_.get());
  end_all(first, kGrace);
  std::error_code code;
  if (!layout_.socket_folder.empty()) fs::remove_all(layout_.socket_folder, code);
}

Status Deployment::make_network() {
  auto record = RunRecord::create(record_folder());
  if (!record) return std::move(record).error();
  record_ = std::move(record).value();
  layout_.run_id = record_->id();
  layout_.socket_folder = record_folder() + "/" + layout_.run_id;
  const NamespacePlan plan = namespace_plan(layout_);
  surroundings_.say(fmt::format("making {} namespaces and {} links between them", plan.namespaces.size(),
                                plan.veths.size()));
  auto namespaces = Namespaces::create(plan, *record_);
  if (!namespaces) return std::move(namespaces).error();
  namespaces_ = std::move(namespaces).value();
  const bool netem =
      surroundings_.emulation != Emulation::kBuiltin && has_netem(layout_.controller_namespace());
  if (surroundings_.emulation == Emulation::kNetem && !netem)
    return Error{ErrorCode::kUnavailable,
                 "--emulation netem: this kernel has no netem; take --emulation builtin"};
  layout_.builtin_emulation = !netem;
  return netem ? set_netem(netem_rules(layout_)) : ok_status();
}

Status Deployment::write_files() const {
  std::error_code code;
  for (const char* const folder : {"/edges", "/logs", "/state"}) {
    // What a former attempt of the same run left would be taken for this one's.
    fs::remove_all(layout_.folder + folder, code);
    fs::create_directories(layout_.folder + folder, code);
  }
  fs::create_directories(layout_.socket_folder, code);
  fs::permissions(layout_.socket_folder, fs::perms::owner_all, code);
  if (Status done = write_text(layout_.folder + "/schedule.yaml", schedule_yaml(layout_)); !done) return done;
  if (Status done = write_text(layout_.controller_file(), controller_yaml(layout_)); !done) return done;
  for (SiteId site = 0; site < layout_.places.size(); ++site)
    if (Status done = write_text(layout_.edge_file(site), edge_yaml(layout_, site)); !done) return done;
  return ok_status();
}

Result<std::unique_ptr<Process>> Deployment::spawn(const std::string& name,
                                                   const std::string& network_namespace,
                                                   std::vector<std::string> arguments, const std::string& log,
                                                   bool pipes) {
  ProcessOptions options;
  options.name = name;
  options.argument = std::move(arguments);
  options.network_namespace = network_namespace;
  options.log_path = log;
  options.pipes = pipes;
  auto process = Process::spawn(options);
  if (!process) return std::move(process).error();
  if (Status recorded = record_->add_process((*process)->pid()); !recorded)
    return std::move(recorded).error();
  return process;
}

std::vector<std::string> Deployment::edge_arguments(SiteId site) const {
  return {surroundings_.programs + "/tombolo-edge", layout_.edge_file(site), "--insecure"};
}

std::vector<std::string> Deployment::controller_arguments() const {
  return {surroundings_.programs + "/tombolo-controller", layout_.controller_file(), "--insecure"};
}

std::vector<std::string> Deployment::full_island_arguments(Rank rank) const {
  std::vector<std::string> arguments{surroundings_.programs + "/tombolo-island"};
  for (std::string& argument : island_arguments(layout_, rank)) arguments.push_back(std::move(argument));
  return arguments;
}

Status Deployment::start_programs(bool with_islands) {
  auto controller = spawn("the controller", layout_.controller_namespace(), controller_arguments(),
                          layout_.log_file("the-controller"), false);
  if (!controller) return std::move(controller).error();
  controller_ = std::move(controller).value();
  for (SiteId site = 0; site < layout_.places.size(); ++site) {
    auto edge = spawn("edge " + layout_.site(site), layout_.edge_namespace(site), edge_arguments(site),
                      layout_.log_file(layout_.site(site)), false);
    if (!edge) return std::move(edge).error();
    edges_.push_back(std::move(edge).value());
  }
  islands_ = std::make_unique<IslandGroup>(layout_.folder + "/events.jsonl");
  const auto ranks = static_cast<Rank>(with_islands ? layout_.config.network.islands.size() : 0);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string& id = layout_.island(rank).id;
    auto island = spawn("island " + id, layout_.island_namespace(rank), full_island_arguments(rank),
                        layout_.log_file(id + "-island"), true);
    if (!island) return std::move(island).error();
    islands_->add(std::move(island).value());
  }
  surroundings_.say(fmt::format("started a controller, {} edges and {} islands", edges_.size(), ranks));
  return ok_status();
}

Error Deployment::failure(const std::string& what, const Process& process) const {
  return {ErrorCode::kFailed, fmt::format("{}; the last lines of {}:\n{}", what, process.log_path(),
                                          last_lines(process.log_path(), kShownLines))};
}

Status Deployment::sound() {
  if (surroundings_.stop()) return Error{ErrorCode::kFailed, "stopped by a signal"};
  if (!controller_->running()) return failure("the controller " + controller_->ending(), *controller_);
  for (const auto& edge : edges_)
    if (!edge->running()) return failure(edge->name() + " " + edge->ending(), *edge);
  return ok_status();
}

Status Deployment::wait_for_edges(Nanoseconds limit_ns) {
  const MonotonicClock clock;
  const Nanoseconds until_ns = clock.now_ns() + limit_ns;
  std::size_t answering = 0;
  while (true) {
    if (Status status = sound(); !status) return status;
    const SiteId site = static_cast<SiteId>(answering);
    if (answering < edges_.size() && control::ask_status(layout_.edge_socket(site), kAskPatience)) {
      ++answering;
      continue;
    }
    if (answering == edges_.size()) {
      const auto status = control::ask_status(layout_.controller_socket(), kAskPatience);
      if (status && all_connected(*status, edges_.size())) break;
    }
    if (clock.now_ns() >= until_ns)
      return answering < edges_.size()
                 ? failure(edges_[answering]->name() + " does not answer in time", *edges_[answering])
                 : failure("not all edges have found the controller in time", *controller_);
    ::poll(nullptr, 0, kLookMs);
  }
  surroundings_.say(fmt::format("{} edges are connected to the controller", edges_.size()));
  return ok_status();
}

Result<std::uint32_t> Deployment::wait_for_islands(Nanoseconds limit_ns) {
  const MonotonicClock clock;
  std::vector<IslandEvent> latest(islands_->size());
  Nanoseconds ask_ns = 0;
  const auto ready = [](const IslandEvent& island) {
    return island.up && island.epoch != 0 &&
           std::find(island.can_start.begin(), island.can_start.end(), island.first_round) !=
               island.can_start.end();
  };
  const auto all_ready = [&] {
    return std::all_of(latest.begin(), latest.end(), [&](const IslandEvent& island) {
      return ready(island) && island.first_round == latest[0].first_round;
    });
  };
  const auto each_turn = [&]() -> Status {
    if (clock.now_ns() >= ask_ns) {
      ask_ns = clock.now_ns() + kStatusInterval;
      islands_->tell_all("status");
    }
    return sound();
  };
  const auto take = [&](std::size_t rank, const IslandEvent& event) {
    if (event.event == "status") latest[rank] = event;
  };
  if (Status status = islands_->wait(take, all_ready, each_turn, limit_ns); !status) {
    if (status.error().code != ErrorCode::kDeadline) return std::move(status).error();
    for (std::size_t rank = 0; rank < latest.size(); ++rank)
      if (!ready(latest[rank]))
        return failure(fmt::format("island {} cannot start in time: it is {}, and knows epoch {}",
                                   layout_.island(static_cast<Rank>(rank)).id,
                                   latest[rank].up ? "up" : "not up", latest[rank].epoch),
                       *controller_);
    return failure("the islands do not agree on the first round", *controller_);
  }
  surroundings_.say(fmt::format("epoch {} is installed; {} islands are ready for round {}", latest[0].epoch,
                                latest.size(), latest[0].first_round));
  return latest[0].first_round;
}

}  // namespace tombolo::testbed
