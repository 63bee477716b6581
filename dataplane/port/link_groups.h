#pragma once

#include <array>
#include <cstdint>

namespace tombolo::dataplane {

/// The IPv4 groups of the two directions between a port and one neighbour, as epochs say them. Host byte
/// order; 0: none.
struct LinkGroups {
  std::uint32_t send = 0;  ///< Where packets for the neighbour go; 0: to its own address.
  /// Where packets from the neighbour may come to beside this port's own address. Two, because two epochs are
  /// live during a change.
  std::array<std::uint32_t, 2> accept{};

  friend bool operator==(const LinkGroups&, const LinkGroups&) = default;
};

}  // namespace tombolo::dataplane
