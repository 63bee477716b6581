#include "control/node/controller_node.h"

#include <chrono>
#include <thread>
#include <utility>

namespace tombolo::control {
namespace {

constexpr auto kLook = std::chrono::milliseconds(200);

ControllerServiceConfig service_config(const ControllerFile& file, bool insecure) {
  ControllerServiceConfig config;
  config.transport.address = file.listen;
  config.transport.insecure = insecure && file.tls.empty();
  config.transport.ca = file.tls.ca;
  config.transport.certificate = file.tls.certificate;
  config.transport.key = file.tls.key;
  config.operator_socket = file.local_socket;
  config.state_folder = file.state;
  config.network = file.network;
  config.nominal.schedule = file.schedule;
  schedule::CompileOptions& options = config.nominal.options;
  options.job = file.job;
  options.chunk_elements = file.chunk_elements;
  options.lane_count = file.lanes;
  options.deadline_ns = file.deadline_ns;
  options.update_bytes = file.update_bytes;
  options.format = file.format;
  options.result_format = file.result_format;
  options.non_finite = file.non_finite;
  options.multicast = file.multicast;
  options.edge_aggregation = file.edge_aggregation;
  options.tree_aggregation = file.tree_aggregation;
  config.nominal.native_multicast = file.native_multicast;
  config.survivors.settle_ns = file.settle_ns;
  return config;
}

}  // namespace

Result<std::unique_ptr<ControllerNode>> ControllerNode::start(const ControllerFile& file, bool insecure,
                                                              LogSink log) {
  std::unique_ptr<ControllerNode> node(new ControllerNode());
  auto service = ControllerService::start(service_config(file, insecure), std::move(log));
  if (!service) return std::move(service).error();
  node->service_ = std::move(service).value();
  node->latest_.put(node->service_->status());
  if (file.metrics.empty()) return node;
  auto metrics = MetricsServer::start(file.metrics);
  if (!metrics) return std::move(metrics).error();
  node->metrics_ = std::move(metrics).value();
  node->collector_ = std::make_shared<ControllerMetrics>(node->latest_);
  node->metrics_->add(node->collector_);
  return node;
}

void ControllerNode::run(const std::atomic<bool>& stop) {
  while (!stop.load(std::memory_order_relaxed)) {
    latest_.put(service_->status());
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace tombolo::control
