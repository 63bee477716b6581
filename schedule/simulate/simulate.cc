#include "schedule/simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tombolo::schedule {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kMaxSteps = 1e7;
constexpr double kMaxPoints = 1e5;

std::int64_t to_ns(double seconds) { return std::llround(seconds * kNsPerSecond); }

/// Takes islands through time. Within one instant a step that ends comes first, then what the caller does
/// there, then a measurement.
class Walk {
 public:
  static Status check(const Course& course) {
    const bool in_order = course.step_s >= 1 / kNsPerSecond && course.measure_s >= 1 / kNsPerSecond &&
                          course.duration_s > 0 && std::isfinite(course.duration_s);
    if (in_order && course.duration_s <= kMaxSteps * course.step_s &&
        course.duration_s <= kMaxPoints * course.measure_s)
      return ok_status();
    return invalid_input(
        fmt::format("{} s in steps of {} s, measured each {} s: times must be above 0, with at most {} steps "
                    "and {} points",
                    course.duration_s, course.step_s, course.measure_s, kMaxSteps, kMaxPoints));
  }

  Walk(Islands& islands, const Course& course, void (Islands::*rule)() = &Islands::step)
      : islands_(islands),
        step_(rule),
        step_ns_(to_ns(course.step_s)),
        measure_ns_(to_ns(course.measure_s)),
        end_ns_(to_ns(course.duration_s)),
        next_step_ns_(step_ns_) {}

  std::int64_t end_ns() const { return end_ns_; }
  std::int64_t step_ns() const { return step_ns_; }

  /// Every step that ends by `time_ns`, and every measurement before it.
  void advance(std::int64_t time_ns) {
    for (;;) {
      if (next_step_ns_ <= time_ns && next_step_ns_ <= next_measure_ns_)
        step();
      else if (next_measure_ns_ < time_ns)
        measure();
      else
        return;
    }
  }

  /// The step at hand begins anew at `time_ns`: until then islands stand still.
  void hold_until(std::int64_t time_ns) { next_step_ns_ = time_ns + step_ns_; }

  Curve finish() {
    advance(end_ns_);
    if (next_measure_ns_ <= end_ns_) measure();
    return std::move(curve_);
  }

 private:
  void step() {
    (islands_.*step_)();
    ++curve_.steps;
    next_step_ns_ += step_ns_;
  }
  void measure() {
    curve_.points.push_back(islands_.measure(static_cast<double>(next_measure_ns_) / kNsPerSecond));
    next_measure_ns_ += measure_ns_;
  }

  Islands& islands_;
  void (Islands::*step_)();  ///< How a step is made.
  std::int64_t step_ns_;
  std::int64_t measure_ns_;
  std::int64_t end_ns_;
  std::int64_t next_step_ns_;
  std::int64_t next_measure_ns_ = 0;
  Curve curve_;
};

/// The rows of one of `fragments` parts of the parameters.
auto fragment_rows(Eigen::MatrixXf& parameters, std::uint32_t fragment, std::uint32_t fragments) {
  const Eigen::Index begin = parameters.rows() * fragment / fragments;
  return parameters.middleRows(begin, parameters.rows() * (fragment + 1) / fragments - begin);
}

Status check_timeline(const Timeline& timeline, const Islands& islands) {
  const auto n = static_cast<Eigen::Index>(islands.count());
  for (const Eigen::MatrixXd& weights : timeline.weights)
    if (weights.rows() != n || weights.cols() != n)
      return invalid_input(
          fmt::format("weights of {} x {} for {} islands", weights.rows(), weights.cols(), n));
  for (const Averaging& exchange : timeline.exchanges)
    if (exchange.sent_ns < 0 || exchange.arrives_ns < exchange.sent_ns ||
        exchange.weights >= timeline.weights.size() || exchange.fragment >= timeline.fragments)
      return invalid_input(fmt::format("exchange from {} to {} ns, weights {}, fragment {}: out of range",
                                       exchange.sent_ns, exchange.arrives_ns, exchange.weights,
                                       exchange.fragment));
  return ok_status();
}

struct Event {
  std::int64_t time_ns = 0;
  std::size_t exchange = 0;
  bool arrival = false;
};

/// In order of time; within an instant in the exchanges' causal order.
std::vector<Event> events_of(const Timeline& timeline, std::int64_t end_ns) {
  std::vector<Event> events;
  for (std::size_t e = 0; e < timeline.exchanges.size(); ++e) {
    // What does not arrive within the run changes nothing.
    if (timeline.exchanges[e].arrives_ns > end_ns) continue;
    events.push_back({timeline.exchanges[e].sent_ns, e, false});
    events.push_back({timeline.exchanges[e].arrives_ns, e, true});
  }
  std::ranges::sort(events, {}, [](const Event& event) {
    return std::tuple(event.time_ns, event.exchange, event.arrival);
  });
  return events;
}

Status check_outer(const OuterOptions& outer) {
  if (outer.local_steps < 1 || static_cast<double>(outer.local_steps) > kMaxSteps)
    return invalid_input(fmt::format("{} local steps; must be 1 to {}", outer.local_steps, kMaxSteps));
  if (outer.fragments < 1 || outer.fragments > 1024)
    return invalid_input(fmt::format("{} fragments; must be 1 to 1024", outer.fragments));
  if (!(outer.exchange_s >= 0) || !std::isfinite(outer.exchange_s))
    return invalid_input(fmt::format("an exchange of {} s", outer.exchange_s));
  if (!(outer.learning_rate > 0 && outer.momentum >= 0 && outer.momentum < 1 && outer.kept >= 0 &&
        outer.kept < 1))
    return invalid_input(fmt::format(
        "outer learning rate {}, momentum {}, kept {}: the first must be above 0, the others in [0, 1)",
        outer.learning_rate, outer.momentum, outer.kept));
  return ok_status();
}

}  // namespace

Result<Curve> simulate_colocated(Islands& islands, const Course& course) {
  if (auto valid = Walk::check(course); !valid) return std::move(valid).error();
  return Walk(islands, course, &Islands::step_together).finish();
}

Result<Curve> simulate_timeline(Islands& islands, const Timeline& timeline, const Course& course) {
  if (auto valid = Walk::check(course); !valid) return std::move(valid).error();
  if (auto valid = check_timeline(timeline, islands); !valid) return std::move(valid).error();
  // result - sent = sent (W - I)', with islands as columns.
  std::vector<Eigen::MatrixXf> changes;
  for (const Eigen::MatrixXd& weights : timeline.weights)
    changes.push_back(
        (weights - Eigen::MatrixXd::Identity(weights.rows(), weights.cols())).transpose().cast<float>());

  Walk walk(islands, course);
  std::map<std::size_t, Eigen::MatrixXf> under_way;  // What was sent, by exchange.
  for (const Event& event : events_of(timeline, walk.end_ns())) {
    walk.advance(event.time_ns);
    const Averaging& exchange = timeline.exchanges[event.exchange];
    auto rows = fragment_rows(islands.parameters(), exchange.fragment, timeline.fragments);
    if (!event.arrival) {
      under_way[event.exchange] = rows;
    } else {
      rows += under_way[event.exchange] * changes[exchange.weights];
      under_way.erase(event.exchange);
    }
  }
  return walk.finish();
}

Result<Curve> simulate_outer(Islands& islands, const OuterOptions& outer, const Course& course) {
  if (auto valid = Walk::check(course); !valid) return std::move(valid).error();
  if (auto valid = check_outer(outer); !valid) return std::move(valid).error();
  Walk walk(islands, course);
  Eigen::MatrixXf anchor = islands.parameters().col(0);  // Where the outer optimizer stands.
  Eigen::MatrixXf velocity = Eigen::MatrixXf::Zero(anchor.rows(), 1);
  const std::int64_t exchange_ns = to_ns(outer.exchange_s);
  const std::int64_t training_ns = static_cast<std::int64_t>(outer.local_steps) * walk.step_ns();
  // Where islands go on training, the next fragment leaves when its turn has come and the way is free.
  const std::int64_t interval_ns =
      outer.blocking ? training_ns + exchange_ns
                     : std::max({training_ns / outer.fragments, exchange_ns, std::int64_t{1}});
  const auto rate = static_cast<float>(outer.learning_rate);
  const auto momentum = static_cast<float>(outer.momentum);
  const auto kept = static_cast<float>(outer.kept);

  std::int64_t sent_ns = outer.blocking ? training_ns : interval_ns;
  for (std::uint32_t turn = 0; sent_ns + exchange_ns <= walk.end_ns(); ++turn, sent_ns += interval_ns) {
    const std::uint32_t fragment = turn % outer.fragments;
    walk.advance(sent_ns);
    auto rows = fragment_rows(islands.parameters(), fragment, outer.fragments);
    auto anchor_rows = fragment_rows(anchor, fragment, outer.fragments);
    auto velocity_rows = fragment_rows(velocity, fragment, outer.fragments);
    const Eigen::MatrixXf change = anchor_rows - rows.rowwise().mean();
    if (outer.blocking) walk.hold_until(sent_ns + exchange_ns);
    walk.advance(sent_ns + exchange_ns);
    velocity_rows = momentum * velocity_rows + change;
    anchor_rows -= rate * (change + momentum * velocity_rows);
    rows = kept * rows + (1 - kept) * anchor_rows.replicate(1, rows.cols());
  }
  // What is under way at the end does not arrive, but stops blocking islands all the same.
  if (outer.blocking && sent_ns < walk.end_ns()) {
    walk.advance(sent_ns);
    walk.hold_until(sent_ns + exchange_ns);
  }
  return walk.finish();
}

}  // namespace tombolo::schedule
