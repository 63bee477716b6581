#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/testbed/netns/layout.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// One way that is measured: from an edge to a neighbour and back.
struct LinkTarget {
  schedule::SiteId site = 0;  ///< The edge that measures.
  std::string neighbour;      ///< What its configuration calls the link: a site or an island.
  LinkReport target;          ///< Its name and what was asked for.
};

/// Every link between sites, measured from its first site, and every island's access link. An echo passes
/// both directions, so a link's rate is that of its slower one.
std::vector<LinkTarget> link_targets(const schedule::Network& network);

/// What is wrong with a measured link, in words; empty if nothing: the RTT within 5 % or 1 ms, whichever is
/// more, and the rate within 5 %.
std::string judge_link(const LinkReport& link);

/// Measures each link once; one that does not hold is measured up to five times more, because the machine's
/// scheduling may disturb a measurement but never improves it. `probe` fills in the measured figures. Errors:
/// those of `probe`, and of `stopped` when it says so.
using Probe = std::function<Status(const LinkTarget& target, LinkReport& link)>;
Result<std::vector<LinkReport>> measure_links(const std::vector<LinkTarget>& targets, const Probe& probe,
                                              const std::function<Status()>& stopped);

/// The links that do not hold, one line each.
std::vector<std::string> bad_links(const std::vector<LinkReport>& links);

/// Asks the edges over their local sockets.
Probe edge_probe(const Layout& layout);

}  // namespace tombolo::testbed
