#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// What a schedule file says to people, as comments: any text, a line each.
struct ScheduleNotes {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rounds{};  ///< By round; may end early.
};

/// The text of a schedule file: parse_schedule with the network's islands and sites reads the same schedule
/// back. The schedule must be one of the network.
std::string write_schedule(const Schedule& schedule, const Network& network, const ScheduleNotes& notes);

}  // namespace tombolo::schedule
