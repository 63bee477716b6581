#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/report/geometry.h"

namespace tombolo::report {

/// Maps as small as stamps: the islands as dots, moved apart where they would touch, and the cliques of one
/// round as broad lines between their members. Without all places the islands stand on a circle.
class SmallMaps {
 public:
  explicit SmallMaps(std::span<const std::optional<Degrees>> islands);

  /// What all of them share; must stand once on the page, before the first.
  std::string shared() const;

  /// `cliques`: islands by index, each of at least one; the others rest. `label` is what a reader hears who
  /// does not see it, and the tooltip.
  std::string draw(const std::vector<std::vector<std::size_t>>& cliques, const std::string& label) const;

  /// Where the dots are; no two touch, unless there are too many for the room.
  const std::vector<Point>& dots() const { return dots_; }

 private:
  double height_px_ = 0;
  std::string land_;
  std::vector<Point> dots_;
};

}  // namespace tombolo::report
