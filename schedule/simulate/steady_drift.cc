#include "schedule/simulate/steady_drift.h"

#include <cmath>

#include "base/check.h"

namespace tombolo::schedule {

double steady_drift_s(const Timeline& timeline, std::size_t islands) {
  CHECK(!timeline.exchanges.empty() && timeline.fragments == 1);
  const auto n = static_cast<Eigen::Index>(islands);
  // Column j is what a unit velocity of island j does to every island, the mean of all taken away.
  const Eigen::MatrixXd drift =
      Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd::Constant(n, n, 1.0 / static_cast<double>(islands));
  Eigen::MatrixXd offset = Eigen::MatrixXd::Zero(n, n);
  double integral = 0;
  double total_s = 0;
  const std::size_t settled = timeline.exchanges.size() / 2;
  for (std::size_t e = 0; e < timeline.exchanges.size(); ++e) {
    const Averaging& exchange = timeline.exchanges[e];
    CHECK(e == 0 || exchange.sent_ns == timeline.exchanges[e - 1].arrives_ns);
    const double seconds = static_cast<double>(exchange.arrives_ns - exchange.sent_ns) * 1e-9;
    if (e >= settled) {
      // The squared norm of offset + t drift, integrated over the round.
      integral += seconds * offset.squaredNorm() + seconds * seconds * offset.cwiseProduct(drift).sum() +
                  seconds * seconds * seconds / 3 * drift.squaredNorm();
      total_s += seconds;
    }
    offset = timeline.weights[exchange.weights] * offset + seconds * drift;
    offset.rowwise() -= offset.colwise().mean();
  }
  return std::sqrt(integral / (static_cast<double>(islands) * total_s));
}

}  // namespace tombolo::schedule
