#include "schedule/event/event_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedule/event/event_mixing.h"
#include "schedule/event/load_profile.h"

namespace tombolo::schedule {
namespace {

/// Each step slows an exchange to a share that a set of others leaves it, of which there are finitely many;
/// far fewer are ever needed. Beyond this, rates fall to those that fit whatever meets.
constexpr int kMostSlowdowns = 500;

/// How long an exchange sends that has the network to itself.
double alone_s(const Exchange& exchange, std::span<const double> update_s) {
  double sending_s = 0;
  for (const ResourceLoad& total : exchange.totals)
    sending_s = std::max(sending_s, total.updates * update_s[total.resource]);
  return sending_s;
}

/// Works out timetables of one schedule.
class Planner {
 public:
  Planner(const Schedule& schedule, std::size_t islands, std::vector<Exchange> exchanges,
          std::vector<double> update_s, std::uint32_t fragments)
      : schedule_(schedule),
        islands_(islands),
        exchanges_(std::move(exchanges)),
        update_s_(std::move(update_s)),
        fragments_(fragments) {
    lay_out();
  }

  /// The better of what comes of two sets of rates: neither is always so.
  Result<Timetable> best() {
    std::vector<double> alone;
    for (const Exchange& exchange : exchanges_) alone.push_back(alone_s(exchange, update_s_));
    std::vector<double> together = barrier_rates();
    const bool alike = std::equal(alone.begin(), alone.end(), together.begin(),
                                  [](double a, double b) { return std::abs(a - b) <= kLoadTolerance * b; });
    auto quick = slow_down_from(std::move(alone));
    if (!quick || alike) return quick;
    auto even = slow_down_from(std::move(together));
    if (!even) return quick;
    const auto quick_d = fragment_disagreement(schedule_, *quick, islands_, 0);
    const auto even_d = fragment_disagreement(schedule_, *even, islands_, 0);
    return even_d && !(quick_d && *quick_d <= *even_d) ? even : quick;
  }

 private:
  /// Until everything fits.
  Result<Timetable> slow_down_from(std::vector<double> sending_s) {
    sending_s_ = std::move(sending_s);
    for (int step = 0; step < kMostSlowdowns; ++step) {
      if (auto timed = find_times(); !timed) return std::move(timed).error();
      if (!slow_down()) return timetable_;
    }
    fit_everything();
    if (auto timed = find_times(); !timed) return std::move(timed).error();
    return timetable_;
  }

  /// How long each would send if all of its round started at once and ended at once.
  std::vector<double> barrier_rates() const {
    std::vector<double> sending_s;
    for (const Round& round : schedule_.rounds) {
      const std::size_t first = sending_s.size();
      std::vector<CliqueLoad> loads;
      std::vector<const CliqueLoad*> pointers;
      for (std::size_t i = 0; i < round.cliques.size(); ++i)
        loads.push_back({exchanges_[first + i].latency_s, exchanges_[first + i].totals});
      for (const CliqueLoad& load : loads) pointers.push_back(&load);
      const double seconds = RoundModel::least_time(pointers, update_s_);
      for (const CliqueLoad& load : loads) sending_s.push_back(seconds - load.latency_s);
    }
    return sending_s;
  }

  /// An exchange of the schedule for one fragment: an event of the graph.
  struct Label {
    std::uint32_t exchange = 0;
    std::uint32_t fragment = 0;
  };

  /// Labels in the order of rounds, then fragments, then cliques; each island's own, in that order.
  void lay_out() {
    own_.resize(islands_);
    std::uint32_t first = 0;
    for (std::uint32_t round = 0; round < schedule_.rounds.size(); ++round) {
      const auto cliques = static_cast<std::uint32_t>(schedule_.rounds[round].cliques.size());
      for (std::uint32_t fragment = 0; fragment < fragments_; ++fragment)
        for (std::uint32_t i = 0; i < cliques; ++i) {
          for (const Rank rank : schedule_.rounds[round].cliques[i])
            own_[rank].push_back(static_cast<std::uint32_t>(labels_.size()));
          labels_.push_back({first + i, fragment});
          timetable_.exchanges.push_back({.round = round, .clique = i, .fragment = fragment});
        }
      first += cliques;
    }
    timetable_.fragments = fragments_;
  }

  /// A fragment's exchange waits for the one before it of each member; others for what a capacity asks.
  void find_precedences() {
    precedences_.clear();
    shifts_.clear();
    for (const std::vector<std::uint32_t>& own : own_)
      for (std::size_t at = 0; at < own.size(); ++at)
        for (std::size_t back = 1; back <= fragments_; ++back) {
          const std::size_t position = (at + own.size() * fragments_ - back) % own.size();
          const auto periods = static_cast<std::uint32_t>(at >= back ? 0 : (back - at - 1) / own.size() + 1);
          const std::uint32_t before = own[position];
          const double seconds = back == fragments_
                                     ? duration_s(labels_[before].exchange)
                                     : shift_s(labels_[before].exchange, labels_[own[at]].exchange);
          precedences_.push_back({before, own[at], seconds, periods});
        }
  }

  double duration_s(std::uint32_t exchange) const {
    return sending_s_[exchange] + exchanges_[exchange].latency_s;
  }

  double shift_s(std::uint32_t first, std::uint32_t second) {
    const auto [known, added] = shifts_.try_emplace({first, second}, 0);
    if (added)
      known->second = least_shift(exchanges_[first], sending_s_[first], exchanges_[second],
                                  sending_s_[second], update_s_);
    return known->second;
  }

  Status find_times() {
    find_precedences();
    auto steady = steady_state(labels_.size(), precedences_);
    if (!steady) return std::move(steady).error();
    timetable_.cycle_s = steady->cycle_s;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      TimedExchange& timed = timetable_.exchanges[i];
      timed.start_s = steady->start_s[i];
      timed.sending_s = sending_s_[labels_[i].exchange];
      timed.latency_s = exchanges_[labels_[i].exchange].latency_s;
      timed.mode = exchanges_[labels_[i].exchange].mode;
    }
    return ok_status();
  }

  /// Where the steady state exceeds a capacity, brings those who meet there to the fair share of it. False if
  /// everything fits.
  bool slow_down() {
    bool slowed = false;
    std::vector<double> slower = sending_s_;
    for (std::uint32_t resource = 0; resource < update_s_.size(); ++resource) {
      // An island's own exchanges are apart already where there is only one fragment.
      if (fragments_ == 1 && resource < 2 * islands_) continue;
      if (!may_exceed(resource)) continue;
      const std::vector<Occupation> uses = occupations(resource);
      const Peak peak = find_peak(uses, timetable_.cycle_s);
      if (peak.share <= 1 + kLoadTolerance) continue;
      slowed = true;
      share_fairly(resource, uses, peak, slower);
    }
    sending_s_ = std::move(slower);
    return slowed;
  }

  /// Quick: whether all together could. An exchange may be under way once per fragment.
  bool may_exceed(std::uint32_t resource) const {
    double share = 0;
    for (std::size_t i = 0; i < exchanges_.size(); ++i)
      share += updates_on(exchanges_[i], resource) * update_s_[resource] / sending_s_[i];
    return share * fragments_ > 1 + kLoadTolerance;
  }

  static double updates_on(const Exchange& exchange, std::uint32_t resource) {
    const auto found = std::lower_bound(
        exchange.totals.begin(), exchange.totals.end(), resource,
        [](const ResourceLoad& total, std::uint32_t wanted) { return total.resource < wanted; });
    return found != exchange.totals.end() && found->resource == resource ? found->updates : 0;
  }

  std::vector<Occupation> occupations(std::uint32_t resource) const {
    std::vector<Occupation> uses;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::uint32_t owner = labels_[i].exchange;
      for (const Stream& stream : exchanges_[owner].streams) {
        if (stream.resource != resource) continue;
        const double begin_s = timetable_.exchanges[i].start_s + stream.offset_s;
        uses.push_back({begin_s, begin_s + stream.spread_s + sending_s_[owner],
                        stream.updates * update_s_[resource] / sending_s_[owner], owner});
      }
    }
    return uses;
  }

  /// The rate r at which sum of updates x min(rate, r) is the capacity: max-min fair.
  void share_fairly(std::uint32_t resource, const std::vector<Occupation>& uses, const Peak& peak,
                    std::vector<double>& slower) const {
    std::map<std::uint32_t, double> updates;  // By exchange: what it has on the resource at the moment.
    for (const std::uint32_t i : peak.occupations)
      updates[uses[i].owner] += uses[i].share * sending_s_[uses[i].owner] / update_s_[resource];
    std::vector<std::pair<double, double>> by_rate;  // Rate in updates per second, updates.
    double total = 0;
    for (const auto& [owner, count] : updates) {
      by_rate.emplace_back(1 / sending_s_[owner], count);
      total += count;
    }
    std::sort(by_rate.begin(), by_rate.end());
    double left = 1 / update_s_[resource];
    double fair = left / total;
    for (const auto& [rate, count] : by_rate) {
      fair = left / total;
      if (rate > fair) break;
      left -= rate * count;
      total -= count;
    }
    for (const auto& [owner, count] : updates)
      if (sending_s_[owner] * fair < 1) slower[owner] = std::max(slower[owner], 1 / fair);
  }

  /// Rates at which all exchanges at once, once per fragment, exceed nothing.
  void fit_everything() {
    for (std::uint32_t resource = 0; resource < update_s_.size(); ++resource) {
      double updates = 0;
      for (const Exchange& exchange : exchanges_) updates += updates_on(exchange, resource) * fragments_;
      for (std::size_t i = 0; i < exchanges_.size(); ++i)
        if (updates_on(exchanges_[i], resource) > 0)
          sending_s_[i] = std::max(sending_s_[i], updates * update_s_[resource]);
    }
  }

  const Schedule& schedule_;
  std::size_t islands_;
  std::vector<Exchange> exchanges_;  ///< By round, then clique.
  std::vector<double> update_s_;     ///< By resource, of a fragment.
  std::uint32_t fragments_;
  std::vector<Label> labels_;
  std::vector<std::vector<std::uint32_t>> own_;  ///< By rank: its labels.
  std::vector<double> sending_s_;                ///< By exchange.
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> shifts_;
  std::vector<Precedence> precedences_;
  Timetable timetable_;
};

}  // namespace

Schedule with_fragments(const Schedule& schedule, std::uint32_t fragments) {
  Schedule labels{schedule.name, {}, Form::kEvent};
  labels.weights = schedule.weights;
  for (const Round& round : schedule.rounds) labels.rounds.insert(labels.rounds.end(), fragments, round);
  return labels;
}

Result<Timetable> EventModel::timetable(const Schedule& schedule, double update_bytes,
                                        std::uint32_t fragments) const {
  if (!(update_bytes > 0) || !std::isfinite(update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  if (fragments == 0 || fragments > kMaxFragments)
    return invalid_input(fmt::format("{} fragments; must be 1 to {}", fragments, kMaxFragments));
  std::vector<Exchange> exchanges;
  std::vector<double> update_s = rounds_.update_seconds(update_bytes / fragments);
  std::vector<bool> meets(network().islands.size(), false);
  for (const Round& round : schedule.rounds) {
    if (round.cliques.empty())
      return invalid_input("a round in which all islands rest has no place in the event form");
    for (std::size_t i = 0; i < round.cliques.size(); ++i) {
      auto exchange =
          quickest(round.cliques[i], round.modes.empty() ? std::nullopt : round.modes[i], update_s);
      if (!exchange) return std::move(exchange).error();
      exchanges.push_back(std::move(*exchange));
      for (const Rank rank : round.cliques[i]) meets[rank] = true;
    }
  }
  if (std::find(meets.begin(), meets.end(), false) != meets.end())
    return invalid_input("an island never meets another; the event form needs a schedule that joins all");
  return Planner(schedule, network().islands.size(), std::move(exchanges), std::move(update_s), fragments)
      .best();
}

Result<Exchange> EventModel::quickest(const Clique& clique, std::optional<CliqueMode> mode,
                                      std::span<const double> update_s) const {
  if (mode) return make_exchange(rounds_, clique, *mode);
  if (auto joined = rounds_.check_joined(clique); !joined) return std::move(joined).error();
  std::optional<Exchange> best;
  double best_s = 0;
  for (const CliqueMode& allowed : rounds_.allowed_modes(clique)) {
    auto exchange = make_exchange(rounds_, clique, allowed);
    if (!exchange) return exchange;
    const double seconds = exchange->latency_s + alone_s(*exchange, update_s);
    if (best && seconds >= best_s) continue;
    best = std::move(*exchange);
    best_s = seconds;
  }
  if (!best) return invalid_input("a clique for which the network has no mode");
  return std::move(*best);
}

}  // namespace tombolo::schedule
