#pragma once

#include <string>
#include <vector>

#include "tools/testbed/netns/layout.h"

namespace tombolo::testbed {

/// The configuration files and command lines of one run's programs, all from its layout. The same files start
/// a single node again.

/// EDGE.yaml of a site.
std::string edge_yaml(const Layout& layout, schedule::SiteId site);

/// CONTROLLER.yaml.
std::string controller_yaml(const Layout& layout);

/// The schedule as a file of its own: names of islands, round by round.
std::string schedule_yaml(const Layout& layout);

/// What follows `tombolo-island` on the command line; the island is driven by commands.
std::vector<std::string> island_arguments(const Layout& layout, schedule::Rank rank);

}  // namespace tombolo::testbed
