#include "control/rpc/control_server.h"

#include <control.grpc.pb.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/serial.h"
#include "control/rpc/event_queue.h"
#include "control/rpc/write_queue.h"

namespace tombolo::control {
namespace {

using Reactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

constexpr std::size_t kMostEvents = 65536;
/// Messages that wait on one stream; the controller repeats what an edge needs, so more would be repetitions.
constexpr std::size_t kMostWaiting = 16;
/// A peer that does not answer a ping for this long is gone.
constexpr int kPingIntervalMs = 2000;
constexpr int kPingTimeoutMs = 3000;

}  // namespace

class ControlServer::Impl final : public v1::Control::WithRawCallbackMethod_Attach<v1::Control::Service> {
 public:
  class Stream;

  Impl(std::vector<std::string> site_names, LogSink log)
      : site_names_(std::move(site_names)), log_(std::move(log)), events_(kMostEvents) {}

  Status listen(const Transport& transport);
  void shut_down();

  Reactor* Attach(grpc::CallbackServerContext* context) override;

  // From the streams.
  void closed(Stream* stream);
  /// False if that was the end of the stream.
  bool received(Stream& stream, const grpc::ByteBuffer& bytes);
  /// Why the stream may not go on under this hello, if it may not.
  std::optional<std::string> greet(Stream& stream, const Greeting& greeting);

  // From the controller's thread.
  void send(schedule::SiteId site, const ToEdge& message);

  int port_ = 0;
  std::vector<std::string> site_names_;
  LogSink log_;
  EventQueue<ServerEvent> events_;
  std::mutex mutex_;  ///< Of what follows. Taken before a stream's own.
  std::map<schedule::SiteId, Stream*> current_;
  ServerCounts counts_;

 private:
  struct Encoded {
    std::shared_ptr<const schedule::EpochPlan> plan;
    Term term = 0;
    grpc::ByteBuffer bytes;
  };
  grpc::ByteBuffer encode(const ToEdge& message);
  void log_bad(Stream& stream, const std::string& what);

  Encoded last_stage_;  ///< Every edge gets the same one, some more than once: made once.
  std::unique_ptr<grpc::Server> server_;
};

/// One edge's stream. Owned by gRPC from Attach to OnDone.
class ControlServer::Impl::Stream final : public Reactor {
 public:
  Stream(Impl& server, grpc::CallbackServerContext& context)
      : server_(server), context_(context), peer_(context.peer()) {
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return end(grpc::Status::OK);
    if (!server_.received(*this, incoming_)) return;
    incoming_.Clear();
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    std::unique_lock lock(mutex_);
    CHECK(writes_.writing());
    writes_.end();
    if (!ok) ending_ = true;
    if (ending_) {
      lock.unlock();
      return Finish(status_);
    }
    write_next();
  }

  void OnCancel() override { end(grpc::Status::CANCELLED); }
  void OnDone() override {
    server_.closed(this);
    delete this;
  }

  /// False if too much waits already.
  bool send(grpc::ByteBuffer bytes) {
    const std::lock_guard lock(mutex_);
    if (ending_ || !writes_.push(std::move(bytes))) return false;
    write_next();
    return true;
  }

  /// Ends once what is being written is out.
  void end(grpc::Status status) {
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return;
      ending_ = true;
      status_ = std::move(status);
      if (writes_.writing()) return;
    }
    Finish(status_);
  }

  void let_in() {
    context_.AddInitialMetadata(kAdmittedKey, "1");
    StartSendInitialMetadata();
  }

  const std::string& peer() const { return peer_; }
  std::shared_ptr<const grpc::AuthContext> auth_context() const { return context_.auth_context(); }

  std::optional<EdgeIdentity> edge;  ///< After its hello. Written by its own reactions, under Impl::mutex_.
  bool complained = false;           ///< One log line about bad messages is enough.

 private:
  /// Under the lock.
  void write_next() {
    if (const grpc::ByteBuffer* message = writes_.begin()) StartWrite(message);
  }

  Impl& server_;
  grpc::CallbackServerContext& context_;
  const std::string peer_;
  grpc::ByteBuffer incoming_;
  std::mutex mutex_;  ///< Of what follows.
  WriteQueue writes_{kMostWaiting};
  bool ending_ = false;
  grpc::Status status_;
};

Status ControlServer::Impl::listen(const Transport& transport) {
  auto credentials = server_credentials(transport);
  if (!credentials) return std::move(credentials).error();
  grpc::ServerBuilder builder;
  builder.AddListeningPort(transport.address, *credentials, &port_);
  builder.RegisterService(this);
  builder.SetMaxReceiveMessageSize(kMaxEdgeMessageBytes);
  builder.SetMaxSendMessageSize(kMaxControllerMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingIntervalMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  server_ = builder.BuildAndStart();
  if (!server_ || port_ == 0) {
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("cannot listen on {}: the address is in use or not this machine's{}", transport.address,
                    transport.insecure ? "" : ", or certificate and key do not fit each other")};
  }
  return ok_status();
}

void ControlServer::Impl::shut_down() {
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
}

Reactor* ControlServer::Impl::Attach(grpc::CallbackServerContext* context) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.streams_opened;
    ++counts_.streams_open;
  }
  return new Stream(*this, *context);
}

void ControlServer::Impl::closed(Stream* stream) {
  const std::lock_guard lock(mutex_);
  --counts_.streams_open;
  if (!stream->edge) return;
  const auto current = current_.find(stream->edge->site);
  // A stream that another one replaced says nothing about the edge.
  if (current == current_.end() || current->second != stream) return;
  current_.erase(current);
  events_.push(EdgeLeft{*stream->edge}, true);
}

bool ControlServer::Impl::received(Stream& stream, const grpc::ByteBuffer& bytes) {
  auto message = read_from_edge(bytes);
  {
    const std::lock_guard lock(mutex_);
    ++(message.ok() ? counts_.received : counts_.undecodable);
  }
  if (!message) {
    log_bad(stream, message.error().message);
    return true;
  }
  const auto* greeting = std::get_if<Greeting>(&*message);
  if (greeting != nullptr || !stream.edge) {
    const auto refusal = greeting != nullptr
                             ? greet(stream, *greeting)
                             : std::optional<std::string>("the stream does not begin with a hello");
    if (refusal) {
      {
        const std::lock_guard lock(mutex_);
        ++counts_.refused;
      }
      if (log_)
        log_(LogLevel::kWarning, "stream refused",
             std::vector<LogField>{{"reason", *refusal}, {"peer", stream.peer()}});
      stream.end(grpc::Status(grpc::StatusCode::PERMISSION_DENIED, *refusal));
      return false;
    }
  }
  EdgeSaid event{*stream.edge, {}};
  std::visit(
      [&event](auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<Body, Greeting>)
          event.message = ToController(body.hello);
        else if constexpr (std::is_same_v<Body, LinkReport>)
          event.message = std::move(body);
        else
          event.message = ToController(std::move(body));
      },
      *message);
  if (events_.push(std::move(event))) return true;
  const std::lock_guard lock(mutex_);
  ++counts_.dropped;
  return true;
}

std::optional<std::string> ControlServer::Impl::greet(Stream& stream, const Greeting& greeting) {
  const EdgeIdentity edge{greeting.hello.site, greeting.hello.session};
  if (stream.edge) {
    if (*stream.edge == edge) return std::nullopt;
    return "a second hello of another edge or another life";
  }
  if (edge.site >= site_names_.size())
    return fmt::format("site {} ({}): the topology has {} sites", edge.site, greeting.site_name,
                       site_names_.size());
  if (site_names_[edge.site] != greeting.site_name)
    return fmt::format("site {} is {}, not {}: the topologies differ", edge.site, site_names_[edge.site],
                       greeting.site_name);
  if (const auto auth = stream.auth_context(); auth && !may_speak_for(*auth, greeting.site_name))
    return fmt::format("the certificate is not one of {}", greeting.site_name);

  const std::lock_guard lock(mutex_);
  Stream*& current = current_[edge.site];
  if (current != nullptr) {
    if (serial_before(edge.session, current->edge->session))
      return fmt::format("session {} of {} is over: {} is here", edge.session, greeting.site_name,
                         current->edge->session);
    // The same life again, or a later one: what is left of the stream before is half open.
    current->end(grpc::Status(grpc::StatusCode::ABORTED, "a newer stream of the same edge is here"));
  }
  stream.edge = edge;
  current = &stream;
  stream.let_in();
  return std::nullopt;
}

void ControlServer::Impl::log_bad(Stream& stream, const std::string& what) {
  if (std::exchange(stream.complained, true) || !log_) return;
  const std::string site = stream.edge ? site_names_[stream.edge->site] : std::string("?");
  log_(LogLevel::kWarning, "message cannot be read",
       std::vector<LogField>{{"reason", what}, {"edge", site}, {"peer", stream.peer()}});
}

grpc::ByteBuffer ControlServer::Impl::encode(const ToEdge& message) {
  const auto* stage = std::get_if<Stage>(&message);
  if (stage == nullptr) return write_message(message);
  if (last_stage_.plan != stage->plan || last_stage_.term != stage->term)
    last_stage_ = {stage->plan, stage->term, write_message(message)};
  return last_stage_.bytes;
}

void ControlServer::Impl::send(schedule::SiteId site, const ToEdge& message) {
  const grpc::ByteBuffer bytes = encode(message);
  const std::lock_guard lock(mutex_);
  const auto current = current_.find(site);
  ++(current != current_.end() && current->second->send(bytes) ? counts_.sent : counts_.dropped);
}

ControlServer::ControlServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlServer::~ControlServer() { impl_->shut_down(); }

Result<std::unique_ptr<ControlServer>> ControlServer::start(const Transport& transport,
                                                            std::vector<std::string> site_names,
                                                            LogSink log) {
  quiet_grpc();
  auto impl = std::make_unique<Impl>(std::move(site_names), std::move(log));
  if (Status listening = impl->listen(transport); !listening) return std::move(listening).error();
  return std::unique_ptr<ControlServer>(new ControlServer(std::move(impl)));
}

int ControlServer::port() const { return impl_->port_; }
std::vector<ServerEvent> ControlServer::take(std::chrono::nanoseconds patience) {
  return impl_->events_.take(patience);
}
void ControlServer::wake() { impl_->events_.wake(); }
void ControlServer::send(schedule::SiteId site, const ToEdge& message) { impl_->send(site, message); }

ServerCounts ControlServer::counts() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->counts_;
}

}  // namespace tombolo::control
