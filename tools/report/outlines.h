#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tombolo::report {

/// A place on the globe, in degrees; east and north are positive.
struct Degrees {
  double lon = 0;
  double lat = 0;
};

enum class Surface : std::uint8_t { kLand, kWater };

/// A closed ring of coast: land, or a lake inside of land.
struct Outline {
  std::string_view name;
  Surface surface = Surface::kLand;
  std::span<const Degrees> points;  ///< The last one joins the first.
};

/// Continents, islands and lakes, land first, so that drawing them in this order is right.
std::span<const Outline> world_outlines();

}  // namespace tombolo::report
