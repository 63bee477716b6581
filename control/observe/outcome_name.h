#pragma once

#include <string_view>

#include "protocol/wire/header.h"

namespace tombolo::control {

/// How a round ended, as it appears in metrics, tables and JSON.
constexpr std::string_view outcome_name(wire::RoundOutcome outcome) {
  switch (outcome) {
    case wire::RoundOutcome::kComplete:
      return "complete";
    case wire::RoundOutcome::kDeadline:
      return "deadline";
    case wire::RoundOutcome::kAbandoned:
      return "abandoned";
    case wire::RoundOutcome::kSuperseded:
      return "superseded";
    case wire::RoundOutcome::kLost:
      return "lost";
  }
  return "unknown";
}

}  // namespace tombolo::control
