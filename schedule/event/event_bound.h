#pragma once

#include <cstdint>

#include "schedule/event/event_model.h"

namespace tombolo::schedule {

/// No schedule, with barriers or without, has a smaller D, in seconds, on this network: BOUNDS.md proves it.
/// `update_bytes` above 0, of the whole update. `fragments` 0: however many fragments the update is cut into;
/// else for this number, with a larger bound.
double event_bound_s(const EventModel& model, double update_bytes, std::uint32_t fragments);

}  // namespace tombolo::schedule
