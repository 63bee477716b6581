#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "control/observe/island_metrics.h"
#include "control/observe/metrics_server.h"
#include "tools/island/program.h"

namespace tombolo::tools {

/// Serves an island's metrics over HTTP. For the thread that calls the program.
class IslandMonitor {
 public:
  /// The program and the clock outlive it. Errors: those of MetricsServer::start.
  static Result<std::unique_ptr<IslandMonitor>> start(const std::string& address, std::uint32_t session,
                                                      IslandProgram& program, const Clock& clock);
  ~IslandMonitor();
  IslandMonitor(const IslandMonitor&) = delete;
  IslandMonitor& operator=(const IslandMonitor&) = delete;

  /// Takes a new sample when the last one is a quarter of a second old.
  void publish();

  std::uint16_t port() const { return server_->port(); }

 private:
  IslandMonitor(std::uint32_t session, IslandProgram& program, const Clock& clock)
      : session_(session), program_(program), clock_(clock), started_ns_(clock.now_ns()) {}

  const std::uint32_t session_;
  IslandProgram& program_;
  const Clock& clock_;
  const Nanoseconds started_ns_;
  Nanoseconds next_ns_ = 0;
  control::IslandRounds rounds_;
  control::Latest<control::IslandSample> latest_;
  std::shared_ptr<control::IslandMetrics> metrics_;
  std::unique_ptr<control::MetricsServer> server_;
};

}  // namespace tombolo::tools
