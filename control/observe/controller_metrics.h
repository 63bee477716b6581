#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "control/observe/latest.h"
#include "control/rpc/controller_status.h"

namespace tombolo::control {

/// A controller's status as Prometheus wants it; every name begins with `tombolo_controller_`.
std::vector<prometheus::MetricFamily> controller_families(const ControllerStatus& status);

/// Exports the newest status of a controller; nothing before there is one. The holder outlives it.
class ControllerMetrics final : public prometheus::Collectable {
 public:
  explicit ControllerMetrics(const Latest<ControllerStatus>& latest) : latest_(latest) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    const auto status = latest_.get();
    return status == nullptr ? std::vector<prometheus::MetricFamily>{} : controller_families(*status);
  }

 private:
  const Latest<ControllerStatus>& latest_;
};

}  // namespace tombolo::control
