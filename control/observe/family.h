#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace tombolo::control {

/// A label's name and value. The value may be any text; the exporter escapes it.
using LabelValue = std::pair<const char*, std::string>;
using Labels = std::initializer_list<LabelValue>;

/// Collects families of metrics for one answer to a scrape. Every metric gets the common labels first.
class Families {
 public:
  explicit Families(std::vector<prometheus::ClientMetric::Label> common) : common_(std::move(common)) {}

  /// Gives what follows one more label, behind the common ones; an empty value: none.
  void scope(const char* label, std::string value);

  /// Begins a family; what follows belongs to it. The name ends in `_total`.
  Families& counter(const char* name, const char* help);
  Families& gauge(const char* name, const char* help);
  Families& histogram(const char* name, const char* help);
  Families& summary(const char* name, const char* help);

  /// A counter's or gauge's value, as the family says. A value above 2^53 loses its lowest bits: metrics are
  /// doubles.
  Families& value(double value, Labels labels = {});
  Families& value(std::uint64_t value, Labels labels = {}) {
    return this->value(static_cast<double>(value), labels);
  }
  Families& seconds(Nanoseconds ns, Labels labels = {}) { return value(to_seconds(ns), labels); }
  /// `counts` by class, not cumulative, one more than there are `bounds_ns`.
  Families& durations(std::span<const Nanoseconds> bounds_ns, std::span<const std::uint64_t> counts,
                      Nanoseconds sum_ns, Labels labels = {});
  /// A sum and how many went into it.
  Families& sum(std::uint64_t count, Nanoseconds sum_ns, Labels labels = {});

  /// Takes the families; those without a metric are left out.
  std::vector<prometheus::MetricFamily> take();

  static double to_seconds(Nanoseconds ns) { return static_cast<double>(ns) / 1e9; }

 private:
  Families& begin(const char* name, const char* help, prometheus::MetricType type);
  prometheus::ClientMetric& add(Labels labels);

  std::vector<prometheus::ClientMetric::Label> common_;
  prometheus::ClientMetric::Label scope_;  ///< With an empty value: none.
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace tombolo::control
