#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/event/event_model.h"
#include "schedule/schedule_file.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// What an exchange asks most of: the resource that one update of it takes the longest to pass.
struct ExchangeBottleneck {
  std::string resource;
  double updates = 0;  ///< How many pass it.
};

/// How much of a resource's time a cycle takes.
struct ResourceShare {
  std::string resource;
  double share = 0;  ///< Of its capacity, on average over the cycle.
};

/// A schedule without barriers and what it is worth on a network: the counterpart of ScheduleScore.
struct EventScore {
  schedule::Schedule schedule;    ///< Of the form event; every clique has its mode.
  schedule::Timetable timetable;  ///< Its earliest start is at 0.
  double disagreement_s = 0;      ///< D, over all fragments.
  double r_per_s = 0;             ///< That of event_contraction.
  double bound_s = 0;             ///< No schedule in as many fragments has less D, with barriers or without.
  std::vector<std::vector<ExchangeBottleneck>> bottlenecks;  ///< [round][clique].
  std::vector<ResourceShare> busiest;                        ///< The fullest few, fullest first.
  double solve_s = 0;
  std::string certified{};  ///< As ScheduleScore's.
};

/// Errors: those of the event model.
Result<EventScore> score_event(const NetworkInput& input, schedule::Schedule schedule);

/// A line for each exchange of the first fragment, and the figures below.
std::string event_text(const EventScore& score, const schedule::Network& network);

/// Adds form, fragments and what report_score adds. A round's `exchanges` has by clique start_s, sending_s,
/// latency_s and end_s of the first fragment; its time_s runs from the first start to the last end.
/// r_iid_per_s is null: random schedules have no form without barriers.
void report_event(const EventScore& score, const schedule::Network& network, nlohmann::ordered_json& report);

/// The comments of the schedule's file, like score_notes.
schedule::ScheduleNotes event_notes(const EventScore& score, const NetworkInput& input,
                                    const std::string& setting);

}  // namespace tombolo::tools
