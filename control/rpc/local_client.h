#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/rpc/local_server.h"

namespace tombolo::control {

// Questions to a program of this machine, by its socket. Each call opens it and waits at most `patience_ns`.
// Errors: kUnavailable when nobody listens, kDeadline, or what the program answered.

/// The status of an edge or of a controller, as JSON text.
Result<std::string> ask_status(const std::string& socket_path, Nanoseconds patience_ns = 5 * kSecond);

/// Measures one link of an edge.
Result<ProbeResult> ask_probe(const std::string& socket_path, const std::string& link,
                              Nanoseconds patience_ns = 30 * kSecond);

/// Has a controller install a schedule; returns when the change has ended. The sites of its problems are left
/// out: they bear names.
Result<ChangeOutcome> ask_install(const std::string& socket_path, const InstallOrder& order,
                                  Nanoseconds patience_ns = 60 * kSecond);

}  // namespace tombolo::control
