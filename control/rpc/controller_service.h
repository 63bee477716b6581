#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "control/controller.h"
#include "control/observe/log_sink.h"
#include "control/rpc/controller_status.h"
#include "control/rpc/epoch_keeper.h"
#include "control/rpc/local_server.h"
#include "control/rpc/transport.h"
#include "control/survivors.h"

namespace tombolo::control {

struct ControllerServiceConfig {
  Transport transport;          ///< Where edges dial.
  std::string operator_socket;  ///< A path; empty: none.
  std::string state_folder;
  schedule::Network network;  ///< An edge is expected at every site.
  Nominal nominal;
  ControllerOptions controller;
  SurvivorOptions survivors;
  KeeperOptions keeper;
};

/// A controller as it runs: state machine, survivors, memory on disk, streams and the operator's socket, with
/// a thread of its own.
class ControllerService {
 public:
  /// Goes on from the state folder: an epoch that is committed there stays, unless the survivors ask for
  /// another, or the configuration does, which an operator's order outlives until the configuration is
  /// changed. Errors: those of StateFolder::open, ControllerStore::load,
  /// Controller::create, ControlServer::start and LocalServer::start; kInvalidInput when the stored epoch is
  /// of another topology, or when no plan of the configured schedule can be made.
  static Result<std::unique_ptr<ControllerService>> start(ControllerServiceConfig config, LogSink log);
  /// Stops; an order that waits is answered. The edges go on.
  ~ControllerService();
  ControllerService(const ControllerService&) = delete;
  ControllerService& operator=(const ControllerService&) = delete;

  int port() const;
  /// A copy of what the thread published last. From any thread.
  ControllerStatus status() const;
  /// Returns when the change has ended. From any thread. Errors: kInvalidInput for a schedule that is none;
  /// kUnavailable while another order is in progress, before the first epoch while edges are missing, after
  /// the end.
  Result<ChangeOutcome> install(const InstallOrder& order);

 private:
  class Impl;
  explicit ControllerService(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tombolo::control
