#include "control/epoch_groups.h"

namespace tombolo::control {

EpochGroups::EpochGroups(const EdgePlace& place) : place_(place) {
  const std::vector<std::uint32_t> none(place_.links.size(), 0);
  running_ = other_ = {none, none};
}

void EpochGroups::stage(const schedule::EpochPlan& plan) {
  for (std::size_t i = 0; i < place_.links.size(); ++i) {
    other_.send[i] = other_.accept[i] = 0;
    if (place_.links[i].is_island) continue;
    const schedule::SiteId neighbour = place_.links[i].id;
    for (const schedule::PlannedLink& link : plan.links) {
      if (link.from == place_.site && link.to == neighbour) other_.send[i] = link.group;
      if (link.from == neighbour && link.to == place_.site) other_.accept[i] = link.group;
    }
  }
}

}  // namespace tombolo::control
