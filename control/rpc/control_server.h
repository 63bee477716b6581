#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "control/messages.h"
#include "control/observe/log_sink.h"
#include "control/rpc/control_message.h"
#include "control/rpc/transport.h"

namespace tombolo::control {

/// What reaches the controller's thread from the streams.
struct EdgeSaid {
  EdgeIdentity edge;
  std::variant<ToController, LinkReport> message;
};
/// The stream of this life of an edge has ended, and no other has taken its place.
struct EdgeLeft {
  EdgeIdentity edge;
};
using ServerEvent = std::variant<EdgeSaid, EdgeLeft>;

/// Counts since the start.
struct ServerCounts {
  std::uint64_t streams_opened = 0;
  std::uint64_t streams_open = 0;
  std::uint64_t refused = 0;      ///< Streams that did not begin with a hello of a known site that may speak.
  std::uint64_t received = 0;     ///< Messages.
  std::uint64_t undecodable = 0;  ///< Messages that were none; their stream goes on.
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;  ///< A queue was full; what matters is repeated.
};

/// The controller's end of all streams. gRPC's threads put what arrives into one queue; one thread takes it
/// out and sends.
class ControlServer {
 public:
  /// Listens on `transport.address` (port 0: any) for edges of these sites, by id. Errors: those of
  /// server_credentials; kUnavailable when it cannot listen.
  static Result<std::unique_ptr<ControlServer>> start(const Transport& transport,
                                                      std::vector<std::string> site_names, LogSink log);
  /// Ends all streams.
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  int port() const;

  /// What has arrived, in order by stream; waits at most `patience` for something, or until wake().
  std::vector<ServerEvent> take(std::chrono::nanoseconds patience);
  /// From any thread.
  void wake();

  /// On the site's newest stream, behind what was sent before; dropped when there is none.
  void send(schedule::SiteId site, const ToEdge& message);

  ServerCounts counts() const;

 private:
  class Impl;
  explicit ControlServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tombolo::control
