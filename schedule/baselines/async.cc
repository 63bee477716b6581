#include "schedule/baselines/async.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "base/check.h"
#include "schedule/baselines/placement.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLoopsPerStretch = 40;
constexpr int kMaxStretches = 25;
constexpr double kAgreement = 1e-3;
constexpr double kGolden = 0.6180339887498949;

constexpr const char* kAsyncSource =
    "Liu, Chhaparia, Douillard, Kale, Rusu, Shen, Szlam, Ranzato: Asynchronous Local-SGD Training for "
    "Language "
    "Modeling, arXiv 2401.09135";
constexpr const char* kHalosSource =
    "Kim, Li, Gandham, Baldonado, Gangidi, Balaji, Wang, Akella: HALoS, arXiv 2506.04531";

/// Plays the loops' events on the covariance. Entries: islands, servers, then sent, base and back of each
/// loop.
class AsyncPlay {
 public:
  AsyncPlay(std::size_t islands, std::size_t servers, const std::vector<Loop>& loops)
      : loops_(loops),
        first_server_(islands),
        first_own_(islands + servers),
        state_(islands, first_own_ + 3 * loops.size()) {
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (loops[i].seconds <= 0) {
        at_server_.push_back(i);
        continue;
      }
      longest_s_ = std::max(longest_s_, loops[i].seconds);
      const double phase = std::fmod(static_cast<double>(i + 1) * kGolden, 1.0);
      events_.push({phase * loops[i].seconds, i, true});
    }
    std::stable_partition(at_server_.begin(), at_server_.end(),
                          [&](std::size_t i) { return loops_[i].client < islands; });
  }

  double longest_s() const { return longest_s_; }

  /// The time average of D until `end_s`.
  double play_until(double end_s) {
    const double start_s = now_s_;
    double integral = 0;
    while (now_s_ < end_s) {
      const double next_s = std::min(end_s, events_.top().at_s);
      const double stretch_s = next_s - now_s_;
      const double before = state_.disagreement_s();
      state_.advance(stretch_s);
      integral += stretch_s * (before + state_.disagreement_s()) / 2;  // It grows linearly.
      now_s_ = next_s;
      if (now_s_ < end_s) handle();
    }
    return integral / (end_s - start_s);
  }

 private:
  struct Event {
    double at_s = 0;
    std::size_t loop = 0;
    bool ends = false;  ///< Comes back and sends again; else reaches the server.
    bool operator>(const Event& other) const {
      return std::pair(at_s, loop) > std::pair(other.at_s, other.loop);
    }
  };

  std::size_t sent(std::size_t loop) const { return first_own_ + 3 * loop; }
  std::size_t base(std::size_t loop) const { return first_own_ + 3 * loop + 1; }
  std::size_t back(std::size_t loop) const { return first_own_ + 3 * loop + 2; }
  std::size_t server(std::size_t index) const { return first_server_ + index; }

  void handle() {
    const Event event = events_.top();
    events_.pop();
    const Loop& loop = loops_[event.loop];
    if (event.ends) {
      come_back(event.loop);
      state_.assign(sent(event.loop), {{loop.client, 1}});
      events_.push({event.at_s + loop.seconds / 2, event.loop, false});
    } else {
      reach_server(event.loop);
      events_.push({event.at_s + loop.seconds / 2, event.loop, true});
    }
    settle();
  }

  void come_back(std::size_t index) {
    const Loop& loop = loops_[index];
    state_.assign(loop.client, {{loop.client, 1}, {back(index), loop.merge}, {sent(index), -loop.merge}});
    state_.assign(base(index), {{sent(index), 1 - loop.merge}, {back(index), loop.merge}});
  }

  void reach_server(std::size_t index) {
    const Loop& loop = loops_[index];
    const std::size_t z = server(loop.server);
    state_.assign(z, {{z, 1}, {sent(index), loop.weight}, {base(index), -loop.weight}});
    state_.assign(back(index), {{z, 1}});
  }

  /// Clients at their server's place exchange at every event: their progress goes up, islands' first and then
  /// servers', and what the servers hold then comes down the same way.
  void settle() {
    for (const std::size_t i : at_server_) {
      const std::size_t z = server(loops_[i].server);
      state_.assign(z, {{z, 1}, {loops_[i].client, loops_[i].weight}, {base(i), -loops_[i].weight}});
    }
    for (auto i = at_server_.rbegin(); i != at_server_.rend(); ++i) {
      state_.assign(loops_[*i].client, {{server(loops_[*i].server), 1}});
      state_.assign(base(*i), {{server(loops_[*i].server), 1}});
    }
  }

  std::vector<Loop> loops_;
  std::vector<std::size_t> at_server_;  ///< Loops of no time, islands' before servers'.
  std::size_t first_server_;
  std::size_t first_own_;
  DriftingState state_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  double now_s_ = 0;
  double longest_s_ = 0;
};

/// The loops' times: there and back along the routes, and an update at a fair rate.
std::vector<double> loop_times_s(const Scene& scene, const std::vector<Edge>& flows) {
  const std::vector<double> rates = fair_rates(scene, flows);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < flows.size(); ++i)
    seconds.push_back(scene.latency_s(flows[i].first, flows[i].second) +
                      scene.latency_s(flows[i].second, flows[i].first) + 1 / rates[i]);
  return seconds;
}

Baseline async_row(std::string name, std::string source, std::string choices, const std::vector<Loop>& loops,
                   double disagreement_s) {
  Baseline row;
  row.name = std::move(name);
  row.source = std::move(source);
  row.choices = std::move(choices);
  for (const Loop& loop : loops)
    if (loop.seconds > 0) row.round_s.push_back(loop.seconds);
  row.cycle_s = *std::max_element(row.round_s.begin(), row.round_s.end());
  row.r_per_s = std::numeric_limits<double>::quiet_NaN();
  row.disagreement_s = disagreement_s;
  return row;
}

}  // namespace

DriftingState::DriftingState(std::size_t islands, std::size_t entries)
    : islands_(static_cast<Eigen::Index>(islands)),
      covariance_(Matrix::Zero(static_cast<Eigen::Index>(entries), static_cast<Eigen::Index>(entries))) {}

void DriftingState::assign(std::size_t entry, const Terms& terms) {
  Eigen::VectorXd with_all = Eigen::VectorXd::Zero(covariance_.rows());
  for (const auto& [other, coefficient] : terms)
    with_all += coefficient * covariance_.col(static_cast<Eigen::Index>(other));
  double with_itself = 0;
  for (const auto& [other, coefficient] : terms)
    with_itself += coefficient * with_all(static_cast<Eigen::Index>(other));
  const auto index = static_cast<Eigen::Index>(entry);
  with_all(index) = with_itself;
  covariance_.col(index) = with_all;
  covariance_.row(index) = with_all.transpose();
}

void DriftingState::advance(double seconds) { covariance_.diagonal().head(islands_).array() += seconds; }

double DriftingState::disagreement_s() const {
  const auto among = covariance_.topLeftCorner(islands_, islands_);
  const double n = static_cast<double>(islands_);
  return (among.trace() - among.sum() / n) / n;
}

double async_disagreement_s(std::size_t islands, std::size_t servers, const std::vector<Loop>& loops) {
  AsyncPlay play(islands, servers, loops);
  CHECK(play.longest_s() > 0);
  const double stretch_s = kLoopsPerStretch * play.longest_s();
  play.play_until(stretch_s);
  double mean = play.play_until(2 * stretch_s);
  for (int stretch = 3; stretch <= kMaxStretches; ++stretch) {
    const double last = std::exchange(mean, play.play_until(stretch * stretch_s));
    if (std::abs(mean - last) <= kAgreement * mean) break;
  }
  return mean;
}

/// Progressive filling: all rates grow together; when a resource is full, its flows stay.
std::vector<double> fair_rates(const Scene& scene, const std::vector<Edge>& flows) {
  std::vector<std::vector<std::uint32_t>> uses(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto& [client, server] = flows[i];
    const auto n = static_cast<std::uint32_t>(scene.islands());
    uses[i] = {client, n + server, server, n + client};
    for (const auto& [from, to] : {std::pair(client, server), std::pair(server, client)})
      uses[i].insert(uses[i].end(), scene.path(from, to).begin(), scene.path(from, to).end());
  }
  std::vector<double> left(scene.resources());
  for (std::size_t r = 0; r < left.size(); ++r) left[r] = 1 / scene.update_s()[r];
  std::vector<double> rates(flows.size(), 0.0);
  std::vector<bool> growing(flows.size(), true);
  for (std::size_t open = flows.size(); open > 0;) {
    std::vector<double> count(left.size(), 0.0);
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (growing[i])
        for (const std::uint32_t r : uses[i]) count[r] += 1;
    double grow = kInfinity;
    for (std::size_t r = 0; r < left.size(); ++r)
      if (count[r] > 0) grow = std::min(grow, left[r] / count[r]);
    for (std::size_t r = 0; r < left.size(); ++r) left[r] -= grow * count[r];
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (!growing[i]) continue;
      rates[i] += grow;
      if (std::none_of(uses[i].begin(), uses[i].end(),
                       [&](std::uint32_t r) { return left[r] * scene.update_s()[r] < 1e-9; }))
        continue;
      growing[i] = false;
      --open;
    }
  }
  return rates;
}

Baseline async_diloco_like(const Scene& scene) {
  const double weight = 1 / static_cast<double>(scene.islands());
  Baseline best;
  for (std::size_t site = 0; site < scene.islands(); ++site) {
    std::vector<Edge> flows;
    for (std::size_t i = 0; i < scene.islands(); ++i)
      if (i != site) flows.emplace_back(static_cast<Rank>(i), static_cast<Rank>(site));
    const std::vector<double> seconds = loop_times_s(scene, flows);
    std::vector<Loop> loops{{site, 0, 0, weight, 1}};
    for (std::size_t i = 0; i < flows.size(); ++i)
      loops.push_back({flows[i].first, 0, seconds[i], weight, 1});
    const double disagreement_s = async_disagreement_s(scene.islands(), 1, loops);
    if (!best.name.empty() && disagreement_s >= best.disagreement_s) continue;
    best = async_row("asynchronous DiLoCo-like", kAsyncSource,
                     fmt::format("server at {}", scene.id(static_cast<Rank>(site))), loops, disagreement_s);
  }
  return best;
}

namespace {

/// Islands to the centers of their regions, centers to the global server's; servers: one per region, then the
/// global.
std::vector<Loop> halos_loops(const Scene& scene, const std::vector<std::vector<Rank>>& regions,
                              double merge) {
  std::vector<Rank> centers;
  for (const std::vector<Rank>& region : regions) centers.push_back(center_of(scene, region));
  const Rank global = center_of(scene, centers);
  const double n = static_cast<double>(scene.islands());
  std::vector<Loop> loops;
  std::vector<Edge> flows;
  std::vector<std::size_t> loop_of_flow;
  const auto add = [&](Rank from, Rank to, Loop loop) {
    if (from != to) {
      flows.emplace_back(from, to);
      loop_of_flow.push_back(loops.size());
    }
    loops.push_back(loop);
  };
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const double size = static_cast<double>(regions[r].size());
    for (const Rank island : regions[r]) add(island, centers[r], {island, r, 0, 1 / size, 1});
    add(centers[r], global,
        {scene.islands() + r, regions.size(), 0, size / n, centers[r] == global ? 1 : merge});
  }
  const std::vector<double> seconds = loop_times_s(scene, flows);
  for (std::size_t i = 0; i < flows.size(); ++i) loops[loop_of_flow[i]].seconds = seconds[i];
  return loops;
}

}  // namespace

Baseline halos_like(const Scene& scene) {
  const auto partitions = regional_partitions(scene);
  Baseline best;
  for (std::size_t k = 1; k <= scene.islands(); k = k < 16 ? k + 1 : 2 * k)
    for (const double merge : {0.25, 0.5, 0.75, 1.0}) {
      const std::vector<Loop> loops = halos_loops(scene, partitions[k - 1], merge);
      const double disagreement_s = async_disagreement_s(scene.islands(), k + 1, loops);
      if (!best.name.empty() && disagreement_s >= best.disagreement_s) continue;
      best = async_row("HALoS-like", kHalosSource, fmt::format("{} regions, merging weight {}", k, merge),
                       loops, disagreement_s);
    }
  return best;
}

}  // namespace tombolo::schedule::baselines
