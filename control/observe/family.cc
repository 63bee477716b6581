#include "control/observe/family.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace tombolo::control {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

void Families::scope(const char* label, std::string value) { scope_ = {label, std::move(value)}; }

Families& Families::counter(const char* name, const char* help) {
  return begin(name, help, MetricType::Counter);
}

Families& Families::gauge(const char* name, const char* help) { return begin(name, help, MetricType::Gauge); }

Families& Families::histogram(const char* name, const char* help) {
  return begin(name, help, MetricType::Histogram);
}

Families& Families::summary(const char* name, const char* help) {
  return begin(name, help, MetricType::Summary);
}

Families& Families::value(double value, Labels labels) {
  ClientMetric& metric = add(labels);
  if (families_.back().type == MetricType::Counter)
    metric.counter.value = value;
  else
    metric.gauge.value = value;
  return *this;
}

Families& Families::durations(std::span<const Nanoseconds> bounds_ns, std::span<const std::uint64_t> counts,
                              Nanoseconds sum_ns, Labels labels) {
  CHECK(counts.size() == bounds_ns.size() + 1);
  ClientMetric::Histogram& histogram = add(labels).histogram;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    cumulative += counts[i];
    const double bound =
        i < bounds_ns.size() ? to_seconds(bounds_ns[i]) : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({cumulative, bound});
  }
  histogram.sample_count = cumulative;
  histogram.sample_sum = to_seconds(sum_ns);
  return *this;
}

Families& Families::sum(std::uint64_t count, Nanoseconds sum_ns, Labels labels) {
  ClientMetric::Summary& summary = add(labels).summary;
  summary.sample_count = count;
  summary.sample_sum = to_seconds(sum_ns);
  return *this;
}

std::vector<MetricFamily> Families::take() {
  std::erase_if(families_, [](const MetricFamily& family) { return family.metric.empty(); });
  return std::move(families_);
}

Families& Families::begin(const char* name, const char* help, MetricType type) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  families_.push_back(std::move(family));
  return *this;
}

ClientMetric& Families::add(Labels labels) {
  CHECK(!families_.empty());
  ClientMetric metric;
  metric.label = common_;
  if (!scope_.value.empty()) metric.label.push_back(scope_);
  for (const LabelValue& label : labels) metric.label.push_back({label.first, label.second});
  families_.back().metric.push_back(std::move(metric));
  return families_.back().metric.back();
}

}  // namespace tombolo::control
