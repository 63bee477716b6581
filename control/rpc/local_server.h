#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/controller.h"
#include "control/rpc/install_order.h"

namespace tombolo::control {

/// What an edge measured on one of its links.
struct ProbeResult {
  Nanoseconds rtt_ns = 0;  ///< The median.
  Nanoseconds least_rtt_ns = 0;
  std::uint64_t rate_bps = 0;  ///< 0: not measured.
  std::uint32_t answers = 0;   ///< Echoes that came back.
};

/// The answers of an edge; called from threads of their own, and must return.
struct LocalHandlers {
  std::function<std::string()> status_json;
  std::function<Result<ProbeResult>(const std::string& link)> probe;
};

/// The answers of a controller. `install` returns when the change has ended.
struct OperatorHandlers {
  std::function<std::string()> status_json;
  std::function<Result<ChangeOutcome>(const InstallOrder&)> install;
};

/// A program's door on its own machine: a Unix socket that only its user may open.
class LocalServer {
 public:
  /// Errors: kInvalidInput for a path that is too long; kUnavailable when somebody listens there, or when it
  /// cannot listen. A socket that nobody listens on any more is replaced.
  static Result<std::unique_ptr<LocalServer>> start(const std::string& socket_path, LocalHandlers handlers);
  static Result<std::unique_ptr<LocalServer>> start(const std::string& socket_path,
                                                    OperatorHandlers handlers);
  /// Waits for calls that are being answered: the handlers must be able to return.
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

 private:
  class Impl;
  explicit LocalServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tombolo::control
