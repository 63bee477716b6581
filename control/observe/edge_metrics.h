#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <memory>
#include <vector>

#include "control/observe/edge_sample.h"
#include "control/observe/latest.h"

namespace tombolo::control {

/// A sample as Prometheus wants it; every name begins with `tombolo_edge_`.
std::vector<prometheus::MetricFamily> edge_families(const EdgeSample& sample);

/// Exports the newest sample of an edge; nothing before there is one. Outlived by the samples' holder.
class EdgeMetrics final : public prometheus::Collectable {
 public:
  explicit EdgeMetrics(const Latest<EdgeSample>& latest) : latest_(latest) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    const auto sample = latest_.get();
    return sample == nullptr ? std::vector<prometheus::MetricFamily>{} : edge_families(*sample);
  }

 private:
  const Latest<EdgeSample>& latest_;
};

}  // namespace tombolo::control
