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
  config.nominal.options = file.compile_options();
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
