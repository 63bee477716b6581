#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"
#include "control/config/controller_config.h"
#include "control/observe/controller_metrics.h"
#include "control/observe/log_sink.h"
#include "control/observe/metrics_server.h"
#include "control/rpc/controller_service.h"

namespace tombolo::control {

/// What a `tombolo-controller` process is: the controller's service and its metrics.
class ControllerNode {
 public:
  /// `insecure`: plain text is allowed. Errors: those of ControllerService::start and MetricsServer::start.
  static Result<std::unique_ptr<ControllerNode>> start(const ControllerFile& file, bool insecure,
                                                       LogSink log);

  /// Until `stop`.
  void run(const std::atomic<bool>& stop);

 private:
  ControllerNode() = default;

  Latest<ControllerStatus> latest_;
  std::shared_ptr<ControllerMetrics> collector_;
  std::unique_ptr<ControllerService> service_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace tombolo::control
