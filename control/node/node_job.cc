#include "control/node/node_job.h"

#include <fmt/format.h>

#include <utility>

namespace tombolo::control {
namespace {

/// The same log, with the job's number behind each event's own fields.
LogSink with_job(LogSink log, std::uint16_t job) {
  if (!log) return {};
  return
      [log = std::move(log), job](LogLevel level, std::string_view event, std::span<const LogField> fields) {
        std::vector<LogField> all(fields.begin(), fields.end());
        all.emplace_back("job", job);
        log(level, event, all);
      };
}

}  // namespace

NodeJob::NodeJob(const EdgeJobFile& file, LogSink log)
    : file_(file), log_(with_job(std::move(log), file.job)) {}

Status NodeJob::open_state(const std::string& folder) {
  auto opened = StateFolder::open(fmt::format("{}/job-{}", folder, file_.job));
  if (!opened) return std::move(opened).error();
  state_ = std::make_unique<StateFolder>(std::move(opened).value());
  return ok_status();
}

Status NodeJob::start(dataplane::EdgeJob& job, const EdgeFile& edge, std::uint32_t session, bool insecure,
                      InstalledEdge::SetGroups set_groups) {
  job_ = &job;
  links_were_up_.assign(file_.links.size(), false);
  installed_ = std::make_unique<InstalledEdge>(job, file_.place(), std::move(set_groups));
  AgentServiceConfig config;
  config.self = {file_.site_id, session};
  config.site_name = edge.site;
  config.multicast_sites = edge.multicast_sites();
  config.transport.address = file_.controller;
  config.transport.insecure = insecure && file_.controller_tls.empty();
  config.transport.ca = file_.controller_tls.ca;
  config.transport.certificate = file_.controller_tls.certificate;
  config.transport.key = file_.controller_tls.key;
  config.links = [this] { return link_states(); };
  config.peer_epoch = [this] {
    const dataplane::PeerCommit commit = job_->peer_commit();
    return AgentServiceConfig::PeerEpoch{commit.epoch, commit.first_round};
  };
  auto agent = AgentService::create(std::move(config), *installed_, *state_, log_);
  if (!agent) return std::move(agent).error().within(fmt::format("job {}", file_.job));
  agent_ = std::move(agent).value();
  return ok_status();
}

std::vector<LinkState> NodeJob::link_states() const {
  std::vector<LinkState> states;
  for (std::size_t link = 0; link < file_.links.size(); ++link)
    states.push_back(
        {file_.links[link].neighbour.is_island, file_.links[link].neighbour.id, job_->link_up(link)});
  return states;
}

void NodeJob::complete(JobSample& sample) const {
  const Agent& agent = agent_->agent();
  sample.agent = AgentSample{agent_->connected(), agent.snapshot().term, agent.staged_epoch()};
  sample.aggregation.window_chunks = installed_->windows().chunks;
  sample.aggregation.planned_window_chunks = installed_->windows().planned_chunks;
}

void NodeJob::log_changes() {
  for (std::size_t link = 0; link < file_.links.size(); ++link) {
    const bool up = job_->link_up(link);
    if (up == links_were_up_[link]) continue;
    links_were_up_[link] = up;
    log(log_, up ? LogLevel::kInfo : LogLevel::kWarning, up ? "neighbour up" : "neighbour down",
        {{"neighbour", file_.links[link].name}});
  }
  log_epoch();
  const std::uint64_t failed = job_->totals().rounds_failed;
  if (failed != logged_failed_)
    log(log_, LogLevel::kWarning, "rounds failed", {{"lanes", failed - logged_failed_}});
  logged_failed_ = failed;
}

void NodeJob::log_epoch() {
  const auto& newest = job_->live_epochs()[0];
  if (newest.table == nullptr || newest.table->epoch == logged_epoch_) return;
  logged_epoch_ = newest.table->epoch;
  log(log_, LogLevel::kInfo, "epoch in force", {{"epoch", logged_epoch_}, {"round", newest.first_round}});
  const Windows& windows = installed_->windows();
  if (windows.is_cut())
    log(log_, LogLevel::kWarning,
        "grants are smaller than planned: the job's quota does not hold its windows",
        {{"epoch", logged_epoch_},
         {"window_chunks", windows.chunks},
         {"planned_window_chunks", windows.planned_chunks}});
}

}  // namespace tombolo::control
