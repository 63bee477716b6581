#include "schedule/optimize/round_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule {
namespace {

/// trace(Y W S W) from the sums over blocks.
double overlap_of(const RowMatrix& before_blocks, const RowMatrix& worth_blocks, const Grouping& grouping) {
  double overlap = 0;
  for (std::size_t g = 0; g < grouping.size(); ++g)
    for (std::size_t h = 0; h < grouping.size(); ++h)
      overlap += before_blocks(g, h) * worth_blocks(g, h) /
                 static_cast<double>(grouping.groups[g].size() * grouping.groups[h].size());
  return overlap;
}

/// The sums over blocks of one matrix that a move changes.
struct MovedBlocks {
  Eigen::ArrayXd left;     ///< The group that `leaver` leaves, with every other group.
  Eigen::ArrayXd joined;   ///< The group that it joins, likewise.
  double left_self = 0;    ///< Within the first.
  double joined_self = 0;  ///< Within the second.
  double between = 0;
};

/// From the rows of the two islands, which hold sums over the groups as they are. The groups `from` and `to`
/// become A and B; together they hold whom they held, so sums over both are known from sums over one.
MovedBlocks moved_blocks(const BlockMatrix& x, const RowMatrix& rows, const RowMatrix& blocks, Rank leaver,
                         std::size_t from, std::optional<std::size_t> to, std::optional<Rank> comer) {
  MovedBlocks moved;
  const double self = x.at(leaver, leaver);
  const auto row = [&](Rank rank, std::size_t group) { return rows(rank, group); };
  moved.left = blocks.row(from).transpose().array() - rows.row(leaver).transpose().array();
  moved.joined = rows.row(leaver).transpose().array();
  if (to) moved.joined += blocks.row(*to).transpose().array();
  moved.left_self = blocks(from, from) - 2 * row(leaver, from) + self;
  moved.joined_self = self + (to ? blocks(*to, *to) + 2 * row(leaver, *to) : 0);
  if (comer) {
    const double cross = x.at(leaver, *comer);
    const double comer_self = x.at(*comer, *comer);
    moved.left += rows.row(*comer).transpose().array();
    moved.joined -= rows.row(*comer).transpose().array();
    moved.left_self += 2 * (row(*comer, from) - cross) + comer_self;
    moved.joined_self += comer_self - 2 * (row(*comer, *to) + cross);
  }
  const double both = moved.left(from) + (to ? moved.left(*to) : 0);  // A with A and B.
  moved.between = both - moved.left_self;
  return moved;
}

}  // namespace

void RoundSearch::load(const Grouping& grouping) {
  now_ = grouping;
  before_rows_ = before_->row_sums(now_);
  worth_rows_ = worth_->row_sums(now_);
  before_blocks_ = RowMatrix::Zero(now_.size(), now_.size());
  worth_blocks_ = RowMatrix::Zero(now_.size(), now_.size());
  for (std::size_t i = 0; i < now_.islands(); ++i) {
    before_blocks_.row(now_.group_of[i]) += before_rows_.row(i);
    worth_blocks_.row(now_.group_of[i]) += worth_rows_.row(i);
  }
  share_.resize(now_.size());
  for (std::size_t g = 0; g < now_.size(); ++g) share_(g) = 1.0 / static_cast<double>(now_.groups[g].size());
  overlap_ = overlap_of(before_blocks_, worth_blocks_, now_);
  work_ += 8 * now_.islands() * now_.size();

  std::vector<std::size_t> group_of_clique;
  const TimedGroups timed = time_of(now_.groups, &group_of_clique);
  is_critical_.assign(now_.size(), false);
  critical_.clear();
  for (const std::size_t clique : timed.critical) {
    critical_.push_back(group_of_clique[clique]);
    is_critical_[group_of_clique[clique]] = true;
  }
}

TimedGroups RoundSearch::time_of(const std::vector<Clique>& groups,
                                 std::vector<std::size_t>* group_of_clique) {
  timer_.forget_if_full();
  std::vector<const TimedClique*> cliques;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].size() < 2) continue;
    cliques.push_back(&timer_.clique(groups[g]));
    if (group_of_clique != nullptr) group_of_clique->push_back(g);
  }
  return timer_.time(cliques);
}

/// D if the round had this overlap and this time: N is quadratic in the time, see CycleMixing.
double RoundSearch::disagreement_with(double overlap, double seconds) const {
  const double n = static_cast<double>(problem_.islands());
  const double longer_s = seconds - old_seconds_;
  const double numerator = cycle_->numerator() + (overlap - old_overlap_) +
                           longer_s * (trace_before_ + trace_worth_) +
                           (seconds * seconds - old_seconds_ * old_seconds_) * (n - 1) / 2;
  return numerator / (n * (cycle_->cycle_s() + longer_s));
}

double RoundSearch::moved_overlap(const Move& move) const {
  const std::size_t from = now_.group_of[move.leaver];
  const std::optional<std::size_t> to = move.to == kNone ? std::nullopt : std::optional(move.to);
  const MovedBlocks s =
      moved_blocks(*before_, before_rows_, before_blocks_, move.leaver, from, to, move.comer);
  const MovedBlocks y = moved_blocks(*worth_, worth_rows_, worth_blocks_, move.leaver, from, to, move.comer);
  const double left = static_cast<double>(now_.groups[from].size()) - (move.comer ? 0 : 1);
  const double joined = (to ? static_cast<double>(now_.groups[*to].size()) : 0) + (move.comer ? 0 : 1);
  const double left_share = left > 0 ? 1 / left : 0;
  const double joined_share = 1 / joined;

  // What the two groups had with all, and what they will have.
  const auto with_others = [&](const Eigen::ArrayXd& a, const Eigen::ArrayXd& b) {
    double sum = (a * b * share_).sum() - a(from) * b(from) * share_(from);
    if (to) sum -= a(*to) * b(*to) * share_(*to);
    return sum;
  };
  const auto block = [](const RowMatrix& x, std::size_t g) {
    return Eigen::ArrayXd(x.row(g).transpose().array());
  };
  const auto self = [&](std::size_t g, std::size_t h) {
    return before_blocks_(g, h) * worth_blocks_(g, h) * share_(g) * share_(h);
  };
  double had = 2 * share_(from) * with_others(block(before_blocks_, from), block(worth_blocks_, from)) +
               self(from, from);
  if (to)
    had += 2 * share_(*to) * with_others(block(before_blocks_, *to), block(worth_blocks_, *to)) +
           self(*to, *to) + 2 * self(from, *to);
  const double has = 2 * left_share * with_others(s.left, y.left) +
                     2 * joined_share * with_others(s.joined, y.joined) +
                     left_share * left_share * s.left_self * y.left_self +
                     joined_share * joined_share * s.joined_self * y.joined_self +
                     2 * left_share * joined_share * s.between * y.between;
  return overlap_ + has - had;
}

bool RoundSearch::accepts(double disagreement_s) {
  const double rise_s = disagreement_s - disagreement_s_;
  if (rise_s < -1e-12 * disagreement_s_) return true;
  return heat_s_ > 0 && rise_s > 0 && random_.chance(std::exp(-rise_s / heat_s_));
}

/// An island of the bottleneck, or any.
Rank RoundSearch::pick_island() {
  if (!critical_.empty() && random_.chance(0.4)) {
    const Clique& group = now_.groups[critical_[random_.below(critical_.size())]];
    return group[random_.below(group.size())];
  }
  return static_cast<Rank>(random_.below(now_.islands()));
}

std::optional<RoundSearch::Move> RoundSearch::propose() {
  Move move{.leaver = pick_island(), .to = kNone, .comer = std::nullopt};
  const std::size_t from = now_.group_of[move.leaver];
  const double kind = random_.unit();
  if (kind < 0.1) return now_.groups[from].size() > 1 ? std::optional(move) : std::nullopt;
  const auto& nearest = pairs_.nearest[move.leaver];
  const std::size_t reach = random_.chance(0.5) ? std::min<std::size_t>(nearest.size(), 16) : nearest.size();
  const Rank other = nearest[random_.below(reach)];
  move.to = now_.group_of[other];
  if (move.to == from) return std::nullopt;
  if (kind < 0.65) {
    move.comer = other;
    const bool both_alone = now_.groups[from].size() == 1 && now_.groups[move.to].size() == 1;
    return both_alone ? std::nullopt : std::optional(move);
  }
  return now_.groups[move.to].size() < kMaxCliqueMembers ? std::optional(move) : std::nullopt;
}

void RoundSearch::try_move(const Move& move) {
  const double overlap = moved_overlap(move);
  work_ += 40 * now_.size();
  const std::size_t from = now_.group_of[move.leaver];
  // Away from the bottleneck the round gets no shorter: only a better overlap can help.
  const bool critical = is_critical_[from] || (move.to != kNone && is_critical_[move.to]);
  if (!critical && !accepts(disagreement_with(overlap, seconds_))) return;
  std::vector<Clique> groups = now_.groups;
  std::erase(groups[from], move.leaver);
  if (move.to == kNone)
    groups.push_back({move.leaver});
  else
    groups[move.to].push_back(move.leaver);
  if (move.comer) {
    std::erase(groups[move.to], *move.comer);
    groups[from].push_back(*move.comer);
    std::sort(groups[from].begin(), groups[from].end());
  }
  if (move.to != kNone) std::sort(groups[move.to].begin(), groups[move.to].end());
  const double seconds = time_of(groups, nullptr).seconds;
  if (!(seconds > 0)) return;
  const double disagreement_s = disagreement_with(overlap, seconds);
  if (!accepts(disagreement_s)) return;
  load(to_grouping(std::move(groups), now_.islands()));
  seconds_ = seconds;
  disagreement_s_ = disagreement_with(overlap_, seconds_);
}

/// Any other groups instead of those of now.
void RoundSearch::try_groups(std::vector<Clique> groups) {
  const Grouping grouping = to_grouping(std::move(groups), now_.islands());
  const double seconds = time_of(grouping.groups, nullptr).seconds;
  if (!(seconds > 0)) return;
  work_ += 4 * now_.islands() * grouping.size();
  const double overlap = overlap_of(before_->block_sums(grouping), worth_->block_sums(grouping), grouping);
  const double disagreement_s = disagreement_with(overlap, seconds);
  if (!accepts(disagreement_s)) return;
  load(grouping);
  seconds_ = seconds;
  disagreement_s_ = disagreement_with(overlap_, seconds_);
}

/// A bottleneck that rests, a group split by nearness to one of its members, or two groups made one.
void RoundSearch::restructure() {
  std::vector<Clique> groups = now_.groups;
  const std::size_t group = now_.group_of[pick_island()];
  const double kind = random_.unit();
  if (kind < 0.3 && groups[group].size() > 1) {
    for (const Rank rank : groups[group]) groups.push_back({rank});
    groups[group].clear();
  } else if (kind < 0.65 && groups[group].size() > 3) {
    Clique& all = groups[group];
    const Rank centre = all[random_.below(all.size())];
    std::stable_sort(all.begin(), all.end(), [&](Rank a, Rank b) {
      return pairs_.latency_s(centre, a) < pairs_.latency_s(centre, b);
    });
    const auto half = static_cast<std::ptrdiff_t>(2 + random_.below(all.size() - 3));
    Clique rest(all.begin() + half, all.end());
    all.erase(all.begin() + half, all.end());
    groups.push_back(std::move(rest));
  } else {
    const Rank member = groups[group][random_.below(groups[group].size())];
    const auto& nearest = pairs_.nearest[member];
    const std::size_t other =
        now_.group_of[nearest[random_.below(std::min<std::size_t>(32, nearest.size()))]];
    if (other == group || groups[group].size() + groups[other].size() > kMaxCliqueMembers) return;
    groups[group].insert(groups[group].end(), groups[other].begin(), groups[other].end());
    groups[other].clear();
  }
  try_groups(std::move(groups));
}

RoundSearch::Outcome RoundSearch::search(const Grouping& grouping, double seconds, const CycleMixing& cycle,
                                         std::size_t index, std::size_t proposals, double heat_s) {
  cycle_ = &cycle;
  before_ = &cycle.before(index);
  worth_ = &cycle.worth_after(index);
  trace_before_ = before_->trace();
  trace_worth_ = worth_->trace();
  heat_s_ = heat_s;
  old_seconds_ = seconds;
  load(grouping);
  old_overlap_ = overlap_;
  seconds_ = seconds;
  disagreement_s_ = cycle.disagreement_s();
  Outcome best{grouping, seconds, false};
  double best_s = disagreement_s_;
  for (std::size_t i = 0; i < proposals; ++i) {
    if (random_.below(now_.islands() + 20) < 5) {
      restructure();
    } else if (const auto move = propose(); move) {
      try_move(*move);
    }
    if (disagreement_s_ >= best_s * (1 - 1e-12)) continue;
    best_s = disagreement_s_;
    best = {now_, seconds_, true};
  }
  if (heat_s > 0 && !best.changed) best = {now_, seconds_, true};
  return best;
}

}  // namespace tombolo::schedule
