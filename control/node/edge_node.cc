#include "control/node/edge_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "base/check.h"
#include "base/units.h"
#include "control/node/edge_memory.h"
#include "control/observe/status_json.h"
#include "control/store/state_store.h"
#include "dataplane/port/dpdk/eal.h"

namespace tombolo::control {
namespace {

using dataplane::DpdkPort;
using dataplane::Hugepages;

constexpr auto kControlTurn = std::chrono::milliseconds(10);
constexpr Nanoseconds kSampleInterval = 200 * kMillisecond;

Hugepages hugepages_of(HugepageUse use) {
  switch (use) {
    case HugepageUse::kRequired:
      return Hugepages::kRequired;
    case HugepageUse::kOff:
      return Hugepages::kOff;
    case HugepageUse::kAuto:
      break;
  }
  return Hugepages::kAuto;
}

JobNames names_of(const EdgeJobFile& job) {
  JobNames names;
  for (const EdgeLinkConfig& link : job.links) names.links.push_back(link.name);
  for (const schedule::Island& island : job.topology.islands) names.islands.push_back(island.id);
  return names;
}

}  // namespace

Result<std::unique_ptr<EdgeNode>> EdgeNode::start(const EdgeFile& file, bool insecure, LogSink log_sink) {
  std::unique_ptr<EdgeNode> node(new EdgeNode(file, std::move(log_sink)));
  node->started_ns_ = node->clock_.now_ns();
  for (const EdgeJobFile& job : node->file_.jobs) {
    node->jobs_.push_back(std::make_unique<NodeJob>(job, node->log_));
    node->names_.push_back(names_of(job));
  }
  for (const auto step :
       {&EdgeNode::open_state, &EdgeNode::start_dpdk, &EdgeNode::open_ports, &EdgeNode::make_edge})
    if (auto done = ((*node).*step)(); !done) return std::move(done).error();
  if (auto done = node->start_jobs(insecure); !done) return std::move(done).error();
  for (const auto step : {&EdgeNode::start_workers, &EdgeNode::open_doors})
    if (auto done = ((*node).*step)(); !done) return std::move(done).error();
  log(node->log_, LogLevel::kInfo, "edge started",
      {{"session", node->session_},
       {"instruction_set", fold::name_of(node->instruction_set_)},
       {"memory", dataplane::eal_summary()}});
  return node;
}

EdgeNode::~EdgeNode() {
  stopping_.store(true);
  local_.reset();
  metrics_.reset();
  for (const auto& runner : runners_) runner->stop();
  if (dataplane::is_eal_running()) dataplane::join_workers();
  runners_.clear();
  jobs_.clear();
  edge_.reset();
  ports_.clear();
  pool_.reset();
  if (dataplane::is_eal_running()) dataplane::stop_eal();
}

Status EdgeNode::open_state() {
  if (auto fits = check_memory(file_, memory_, available_memory(file_.hugepages)); !fits) return fits;
  auto folder = StateFolder::open(file_.state);
  if (!folder) return std::move(folder).error();
  state_ = std::make_unique<StateFolder>(std::move(folder).value());
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  auto session = SessionStore(*state_).next(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(since_1970).count()));
  if (!session) return std::move(session).error();
  session_ = *session;
  for (const auto& job : jobs_)
    if (auto opened = job->open_state(file_.state); !opened) return opened;
  return ok_status();
}

Status EdgeNode::start_dpdk() {
  dataplane::EalOptions options;
  options.name = "tombolo-" + file_.site;
  options.workers = file_.workers;
  options.cpus = file_.cores;
  options.hugepages = hugepages_of(file_.hugepages);
  options.memory_mb = memory_.eal_mb;
  for (const EdgePortConfig& port : file_.ports) options.devices.push_back(port.device);
  if (auto started = dataplane::start_eal(options); !started) return started;
  auto pool = dataplane::MbufPool::create(memory_.pool);
  if (!pool) return std::move(pool).error();
  pool_ = std::move(pool).value();
  return ok_status();
}

Status EdgeNode::open_ports() {
  for (std::size_t i = 0; i < file_.ports.size(); ++i) {
    auto port = DpdkPort::create(port_config(file_, i), *pool_);
    if (!port) return std::move(port).error();
    ports_.push_back(std::move(port).value());
  }
  return ok_status();
}

Status EdgeNode::make_edge() {
  const char* const forced = std::getenv("TOMBOLO_INSTRUCTION_SET");
  auto instructions = fold::choose_instruction_set(forced == nullptr ? "" : forced);
  if (!instructions) return std::move(instructions).error().within("TOMBOLO_INSTRUCTION_SET");
  dataplane::EdgeConfig config;
  config.site = file_.site;
  config.session = session_;
  config.lane_count = file_.lanes;
  config.workers = file_.workers;
  config.receive_queues = file_.workers;
  config.hello_interval_ns = file_.hello_interval_ns;
  instruction_set_ = *instructions;
  config.instruction_set = instruction_set_;
  config.jobs.clear();
  for (const EdgeJobFile& job : file_.jobs)
    config.jobs.push_back({job.job, job.buffers, job.arena_bytes, job.edge_links()});
  std::vector<Port*> ports;
  for (const auto& port : ports_) ports.push_back(port.get());
  auto edge = dataplane::Edge::create(config, ports, *pool_);
  if (!edge) return std::move(edge).error();
  edge_ = std::move(edge).value();
  return ok_status();
}

/// A port that is configured for unicast never sends to a group, whatever an epoch says that was made before
/// it was; what comes to one is taken.
void EdgeNode::set_groups(const EdgeLinkConfig& link, dataplane::LinkGroups groups) {
  if (!file_.ports[link.port].multicast) groups.send = 0;
  dataplane::LinkGroups& told = groups_[link.address];
  if (groups == told) return;
  told = groups;
  CHECK(ports_[link.port]->set_groups(link.address.ipv4, groups).ok());
}

Status EdgeNode::start_jobs(bool insecure) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const EdgeJobFile& file = file_.jobs[i];
    const auto groups = [this, &file](std::size_t link, const dataplane::LinkGroups& set) {
      set_groups(file.links[link], set);
    };
    if (auto started = jobs_[i]->start(edge_->job(i), file_, session_, insecure, groups); !started)
      return started;
    log(log_, LogLevel::kInfo, "job started",
        {{"job", file.job}, {"epoch", jobs_[i]->agent().agent().snapshot().committed_epoch()}});
  }
  return ok_status();
}

Status EdgeNode::start_workers() {
  dataplane::RunnerOptions options;
  options.idle_sleep_ns = file_.idle_sleep_ns;
  for (std::uint32_t index = 0; index < file_.workers; ++index) {
    runners_.push_back(std::make_unique<dataplane::Runner>(edge_->worker(index), clock_, options));
    dataplane::Runner* const runner = runners_.back().get();
    if (auto launched = dataplane::launch_worker(index, [runner] { runner->run(); }); !launched)
      return launched;
  }
  return ok_status();
}

Status EdgeNode::open_doors() {
  latest_.put(sample());
  if (!file_.local_socket.empty()) {
    LocalHandlers handlers;
    handlers.status_json = [this] { return dump_status(status_json(*latest_.get())); };
    handlers.probe = [this](const std::string& link) { return probe(link); };
    auto local = LocalServer::start(file_.local_socket, std::move(handlers));
    if (!local) return std::move(local).error();
    local_ = std::move(local).value();
  }
  if (file_.metrics.empty()) return ok_status();
  auto metrics = MetricsServer::start(file_.metrics);
  if (!metrics) return std::move(metrics).error();
  metrics_ = std::move(metrics).value();
  // The server keeps no reference, so the collector lives in latest_'s holder for as long as the server does.
  collector_ = std::make_shared<EdgeMetrics>(latest_);
  metrics_->add(collector_);
  return ok_status();
}

void EdgeNode::run(const std::atomic<bool>& stop) {
  Nanoseconds sample_ns = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const Nanoseconds now_ns = clock_.now_ns();
    for (const auto& job : jobs_) job->poll(now_ns);
    for (const auto& port : ports_) port->tend(now_ns);
    for (const auto& job : jobs_) job->log_changes();
    if (now_ns >= sample_ns) {
      pool_->sample();
      latest_.put(sample());
      sample_ns = now_ns + kSampleInterval;
    }
    std::this_thread::sleep_for(kControlTurn);
  }
  log(log_, LogLevel::kInfo, "edge stopped", {});
}

PortSample EdgeNode::sample_port(std::size_t index) const {
  const DpdkPort& port = *ports_[index];
  PortSample sample;
  sample.name = file_.ports[index].name;
  for (std::uint32_t queue = 0; queue < file_.workers; ++queue) {
    const dataplane::DpdkPortCounters& counters = port.counters(queue);
    sample.rx_packets += counters.rx_packets.get();
    sample.rx_bytes += counters.rx_bytes.get();
    sample.tx_packets += counters.tx_packets.get();
    sample.tx_bytes += counters.tx_bytes.get();
  }
  const auto add = [&sample](std::string_view reason, std::uint64_t count) {
    sample.drops.push_back({std::string(reason), count});
  };
  for (std::size_t i = 1; i < dataplane::kFrameDrops; ++i) {
    const auto reason = static_cast<dataplane::FrameDrop>(i);
    add(dataplane::name(reason), port.drops(reason));
  }
  const dataplane::DeviceStats device = port.device_stats();
  add("device_missed", device.missed);
  add("device_no_buffer", device.no_buffer);
  add("device_receive_error", device.rx_errors);
  add("device_transmit_error", device.tx_errors);
  for (const dataplane::HeldLink* const link : {port.tx_link(), port.rx_link()}) {
    if (link == nullptr) continue;
    const char* const way = link == port.tx_link() ? "transmit" : "receive";
    add(fmt::format("emulated_{}_queue_full", way), link->link_counters().queue_drops.get());
    add(fmt::format("emulated_{}_loss", way), link->link_counters().losses.get());
  }
  return sample;
}

EdgeSample EdgeNode::sample() const {
  EdgeSurroundings surroundings;
  for (std::size_t i = 0; i < ports_.size(); ++i) surroundings.ports.push_back(sample_port(i));
  surroundings.pools.push_back(
      {"packets", pool_->buffers(), pool_->in_use(), pool_->high_water(), pool_->empties()});
  surroundings.pools.push_back({"headers", pool_->headers(), pool_->headers_in_use(),
                                pool_->headers_high_water(), pool_->header_empties()});
  for (const auto& runner : runners_) surroundings.times.push_back(sample_times(*runner));
  EdgeSample sample = take_sample(*edge_, names_, std::move(surroundings), clock_.now_ns());
  sample.uptime_ns = clock_.now_ns() - started_ns_;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i]->complete(sample.jobs[i]);
    for (std::size_t link = 0; link < sample.jobs[i].peers.size(); ++link)
      if (const auto told = groups_.find(file_.jobs[i].links[link].address);
          told != groups_.end() && told->second.send != 0)
        sample.jobs[i].peers[link].group = dataplane::format_ipv4(told->second.send);
  }
  return sample;
}

}  // namespace tombolo::control
