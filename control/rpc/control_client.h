#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "control/messages.h"
#include "control/observe/log_sink.h"
#include "control/rpc/control_message.h"
#include "control/rpc/transport.h"

namespace grpc {
class Channel;
}

namespace tombolo::control {

struct ClientOptions {
  Nanoseconds least_pause_ns =
      200 * kMillisecond;  ///< Before the first new attempt; doubled by each failure.
  Nanoseconds most_pause_ns = 5 * kSecond;
  Nanoseconds heartbeat_ns = kSecond;
};

/// Counts since the start.
struct ClientCounts {
  std::uint64_t attempts = 0;
  std::uint64_t streams = 0;  ///< Attempts that the controller let in.
  std::uint64_t received = 0;
  std::uint64_t undecodable = 0;
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;  ///< No stream, or too much waits on it; what matters is asked for again.
};

/// The edge's end of the stream to its controller. Has no thread of its own: poll() drives it and never
/// blocks; gRPC's threads only put what arrives into a box. All calls from one thread.
class ControlClient {
 public:
  /// `greeting` is what a stream begins with and what the heartbeat repeats; a Greeting first. `seed` draws
  /// the pauses apart, so that edges do not all dial at once. Errors: those of channel_credentials.
  static Result<std::unique_ptr<ControlClient>> create(const Transport& transport,
                                                       std::function<std::vector<FromEdge>()> greeting,
                                                       const ClientOptions& options, std::uint64_t seed,
                                                       LogSink log);
  /// Ends the stream.
  ~ControlClient();
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  /// Dials, sends the heartbeat, notices the end of a stream; returns what has arrived, in order. To be
  /// called every few ten milliseconds.
  std::vector<ToEdge> poll(Nanoseconds now_ns);

  /// Dropped without a stream: the greeting of the next one says what is needed.
  void send(const FromEdge& message);

  /// Whether the controller has let the present stream in.
  bool connected() const;
  /// Why the last attempt or stream ended; empty while connected.
  const std::string& trouble() const { return trouble_; }
  ClientCounts counts() const { return counts_; }

 private:
  class Call;
  ControlClient(const Transport& transport, std::shared_ptr<grpc::ChannelCredentials> credentials,
                std::function<std::vector<FromEdge>()> greeting, const ClientOptions& options,
                std::uint64_t seed, LogSink log);
  void dial(Nanoseconds now_ns);
  void greet(Nanoseconds now_ns);
  void on_end(Nanoseconds now_ns);
  std::vector<ToEdge> read_arrived();

  const Transport transport_;
  const std::shared_ptr<grpc::ChannelCredentials> credentials_;
  const std::function<std::vector<FromEdge>()> greeting_;
  const ClientOptions options_;
  const LogSink log_;
  Random random_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Call> call_;  ///< On `channel_`; goes first.
  bool was_connected_ = false;  ///< Whether the present call has been let in.
  Nanoseconds pause_ns_;
  Nanoseconds dial_at_ns_ = 0;
  Nanoseconds heartbeat_at_ns_ = 0;
  std::string trouble_;
  ClientCounts counts_;
};

}  // namespace tombolo::control
