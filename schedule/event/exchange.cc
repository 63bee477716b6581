#include "schedule/event/exchange.h"

#include <algorithm>
#include <map>

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

/// Collects the streams of one clique.
class Builder {
 public:
  Builder(const RoundModel& rounds, const Clique& members)
      : network_(rounds.network()),
        routes_(rounds.routes()),
        capabilities_(rounds.capabilities()),
        ranks_(static_cast<std::uint32_t>(network_.islands.size())),
        members_(members) {}

  std::vector<Stream> direct() {
    for (const Rank rank : members_) {
      add_access(rank);
      add_copies(site(rank), 0);
    }
    return merged();
  }

  /// Up to the root, where the last partial is there after the longest way up, and down again.
  std::vector<Stream> tree(SiteId root) {
    std::map<std::uint32_t, double> up;  // By link: when the last partial from below is there.
    double top_s = 0;
    for (const Rank rank : members_) {
      for (SiteId at = root; at != site(rank); at = routes_.parent(site(rank), at)) {
        double& latest_s = up[routes_.link_into(site(rank), at)];
        latest_s = std::max(latest_s, latency_s(site(rank), routes_.parent(site(rank), at)));
      }
      top_s = std::max(top_s, latency_s(site(rank), root));
    }
    for (const auto& [link, latest_s] : up) add(2 * ranks_ + link, latest_s, capabilities_.partial_ratio);
    for (const Rank rank : members_) {
      add(rank, 0, 1);
      add(ranks_ + rank, top_s + latency_s(root, site(rank)), 1);
    }
    add_copies(root, top_s);
    return merged();
  }

 private:
  void add_access(Rank rank) {
    const double others = static_cast<double>(members_.size() - 1);
    add(rank, 0, capabilities_.multicast ? 1 : others);
    double latest_s = 0;
    for (const Rank source : members_) {
      if (source == rank) continue;
      latest_s = std::max(latest_s, latency_s(site(source), site(rank)));
      if (capabilities_.aggregation == Aggregation::kNone)
        add(ranks_ + rank, latency_s(site(source), site(rank)), 1);
    }
    // A sum goes on as soon as its last part is there.
    if (capabilities_.aggregation != Aggregation::kNone) add(ranks_ + rank, latest_s, 1);
  }

  /// One source's copies to all members.
  void add_copies(SiteId source, double begin_s) {
    std::vector<bool> in_tree(network_.site_names.size(), false);
    for (const Rank rank : members_)
      for (SiteId at = site(rank); at != source; at = routes_.parent(source, at)) {
        if (capabilities_.multicast && in_tree[at]) break;
        in_tree[at] = true;
        add(2 * ranks_ + routes_.link_into(source, at),
            begin_s + latency_s(source, routes_.parent(source, at)), 1);
      }
  }

  void add(std::uint32_t resource, double offset_s, double updates) {
    streams_.push_back({resource, offset_s, updates});
  }

  /// Sorted; those that are alike are one.
  std::vector<Stream> merged() {
    std::sort(streams_.begin(), streams_.end(), [](const Stream& a, const Stream& b) {
      return a.resource != b.resource ? a.resource < b.resource : a.offset_s < b.offset_s;
    });
    std::size_t kept = 0;
    for (const Stream& stream : streams_) {
      Stream* const last = kept == 0 ? nullptr : &streams_[kept - 1];
      if (last != nullptr && last->resource == stream.resource && last->offset_s == stream.offset_s)
        last->updates += stream.updates;
      else
        streams_[kept++] = stream;
    }
    streams_.resize(kept);
    return std::move(streams_);
  }

  SiteId site(Rank rank) const { return network_.islands[rank].site; }
  double latency_s(SiteId from, SiteId to) const {
    return static_cast<double>(routes_.latency_ns(from, to)) * kSecondsPerNs;
  }

  const Network& network_;
  const Routes& routes_;
  const Capabilities& capabilities_;
  std::uint32_t ranks_;
  const Clique& members_;
  std::vector<Stream> streams_;
};

}  // namespace

Result<Exchange> make_exchange(const RoundModel& rounds, const Clique& members, CliqueMode mode) {
  if (auto joined = rounds.check_joined(members); !joined) return std::move(joined).error();
  if (mode.mode == Mode::kTree && mode.root == kCentralRoot) {
    const auto root = rounds.central_root(members);
    if (!root) return invalid_input("no site can be the root of a tree");
    mode.root = *root;
  }
  CliqueLoad load = rounds.load(members, mode);
  Exchange exchange{members, mode, load.latency_s, {}, std::move(load.loads)};
  const bool alike = rounds.all_alike();
  if (mode.mode == Mode::kDirect && alike) {
    exchange.streams = Builder(rounds, members).direct();
  } else if (mode.mode == Mode::kTree && alike && rounds.capabilities().aggregation == Aggregation::kTree) {
    exchange.streams = Builder(rounds, members).tree(mode.root);
  } else {
    for (const ResourceLoad& total : exchange.totals)
      exchange.streams.push_back({total.resource, 0, total.updates, exchange.latency_s});
  }
  return exchange;
}

}  // namespace tombolo::schedule
