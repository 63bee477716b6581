#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace tombolo::testbed {

/// One line that an island process wrote; tools/island/README.md lists the events. What an event does not
/// have is empty here.
struct IslandEvent {
  std::string event;
  std::uint32_t round = 0;
  std::uint32_t epoch = 0;
  std::vector<std::uint16_t> contributors;
  std::vector<std::uint16_t> rejected;  ///< As Outcome::rejected.
  Nanoseconds first_send_ns = 0;
  Nanoseconds ready_ns = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_bytes = 0;
  std::string error;
  bool failed_elsewhere = false;
  bool exact = false;
  bool up = false;
  std::uint32_t first_round = 0;
  std::vector<std::uint32_t> can_start;
  std::vector<std::pair<std::string, std::uint64_t>> drops;
  std::uint64_t repairs = 0;
};

/// Any bytes may be given. Errors: kInvalidInput, naming the key.
Result<IslandEvent> parse_island_event(std::string_view line);

}  // namespace tombolo::testbed
