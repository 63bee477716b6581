#include "control/rpc/control_client.h"

#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "control/rpc/write_queue.h"

namespace tombolo::control {
namespace {

constexpr std::size_t kMostWaiting = 256;
/// Unread messages; the controller repeats what is lost.
constexpr std::size_t kMostArrived = 64;
constexpr int kPingIntervalMs = 2000;
constexpr int kPingTimeoutMs = 3000;
constexpr int kConnectTimeoutMs = 3000;
constexpr int kNoReconnectMs = 3'600'000;
/// A controller that accepts the connection and then says nothing.
constexpr Nanoseconds kAdmissionTimeout = 10 * kSecond;
constexpr double kLeastShare = 0.75;  ///< Pauses are drawn from this share to the whole.

std::shared_ptr<grpc::Channel> open_channel(const Transport& transport,
                                            const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxControllerMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxEdgeMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Each attempt dials anew: the pauses between attempts are ours.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kNoReconnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kNoReconnectMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!transport.insecure) arguments.SetSslTargetNameOverride(transport.controller_name);
  return grpc::CreateCustomChannel(transport.address, credentials, arguments);
}

}  // namespace

/// One attempt and, if it is let in, its stream. gRPC uses it until OnDone, and the client destroys it after
/// that: never a thread of gRPC's, because the channel goes with it, and with the last channel those threads.
class ControlClient::Call final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit Call(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::GenericStub stub(channel);
    stub.PrepareBidiStreamingCall(&context_, kAttachMethod, {}, this);
    AddHold();  // Writes come from outside of the reactions below.
    StartRead(&incoming_);
    StartCall();
  }
  ~Call() override {
    cancel();
    wait_done();
  }

  void OnReadInitialMetadataDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    admitted_ = ok && context_.GetServerInitialMetadata().count(kAdmittedKey) != 0;
  }

  void OnReadDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      if (ok) {
        if (arrived_.size() < kMostArrived) arrived_.push_back(incoming_);
        incoming_.Clear();
      } else {
        ended_ = true;
      }
    }
    if (ok)
      StartRead(&incoming_);
    else
      RemoveHold();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writes_.end();
    if (ok && !ended_) write_next();
  }

  void OnDone(const grpc::Status& status) override {
    // Under the lock: once it is given back, the object may be gone.
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_.notify_all();
  }

  bool send(grpc::ByteBuffer bytes) {
    const std::lock_guard lock(mutex_);
    if (ended_ || !writes_.push(std::move(bytes))) return false;
    write_next();
    return true;
  }

  std::deque<grpc::ByteBuffer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(arrived_, {});
  }
  bool admitted() const {
    const std::lock_guard lock(mutex_);
    return admitted_ && !ended_;
  }
  bool was_admitted() const {
    const std::lock_guard lock(mutex_);
    return admitted_;
  }
  std::optional<grpc::Status> status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  void cancel() { context_.TryCancel(); }
  void wait_done() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return status_.has_value(); });
  }

 private:
  /// Under the lock.
  void write_next() {
    if (const grpc::ByteBuffer* message = writes_.begin()) StartWrite(message);
  }

  grpc::ClientContext context_;
  grpc::ByteBuffer incoming_;
  mutable std::mutex mutex_;  ///< Of what follows.
  std::condition_variable done_;
  std::deque<grpc::ByteBuffer> arrived_;
  WriteQueue writes_{kMostWaiting};
  bool admitted_ = false;
  bool ended_ = false;
  std::optional<grpc::Status> status_;
};

Result<std::unique_ptr<ControlClient>> ControlClient::create(const Transport& transport,
                                                             std::function<std::vector<FromEdge>()> greeting,
                                                             const ClientOptions& options, std::uint64_t seed,
                                                             LogSink log) {
  quiet_grpc();
  auto credentials = channel_credentials(transport);
  if (!credentials) return std::move(credentials).error();
  return std::unique_ptr<ControlClient>(new ControlClient(
      transport, std::move(credentials).value(), std::move(greeting), options, seed, std::move(log)));
}

ControlClient::ControlClient(const Transport& transport,
                             std::shared_ptr<grpc::ChannelCredentials> credentials,
                             std::function<std::vector<FromEdge>()> greeting, const ClientOptions& options,
                             std::uint64_t seed, LogSink log)
    : transport_(transport),
      credentials_(std::move(credentials)),
      greeting_(std::move(greeting)),
      options_(options),
      log_(std::move(log)),
      random_(seed),
      pause_ns_(options.least_pause_ns) {}

ControlClient::~ControlClient() = default;

std::vector<ToEdge> ControlClient::poll(Nanoseconds now_ns) {
  if (!call_) {
    if (now_ns < dial_at_ns_) return {};
    dial(now_ns);
  }
  if (!was_connected_ && call_->was_admitted()) {
    was_connected_ = true;
    ++counts_.streams;
    pause_ns_ = options_.least_pause_ns;
    trouble_.clear();
    if (log_)
      log_(LogLevel::kInfo, "controller reached", std::vector<LogField>{{"address", transport_.address}});
  }
  std::vector<ToEdge> messages = read_arrived();
  if (call_->status()) {
    on_end(now_ns);
  } else if (heartbeat_at_ns_ <= now_ns) {
    greet(now_ns);
  }
  if (call_ && !was_connected_ && now_ns >= dial_at_ns_ + kAdmissionTimeout) call_->cancel();
  return messages;
}

void ControlClient::dial(Nanoseconds now_ns) {
  ++counts_.attempts;
  was_connected_ = false;
  dial_at_ns_ = now_ns;
  auto channel = open_channel(transport_, credentials_);
  call_ = std::make_unique<Call>(channel);
  // Only now the one before may go: without any channel gRPC would stop its threads and start new ones.
  channel_ = std::move(channel);
  greet(now_ns);
}

void ControlClient::greet(Nanoseconds now_ns) {
  heartbeat_at_ns_ = now_ns + options_.heartbeat_ns;
  for (const FromEdge& message : greeting_()) send(message);
}

void ControlClient::on_end(Nanoseconds now_ns) {
  const grpc::Status status = *call_->status();
  call_.reset();
  std::string trouble = status.ok() ? "the controller ended the stream" : status.error_message();
  if (trouble.empty()) trouble = "the stream broke";
  // One line for a row of attempts that fail in the same way.
  if (log_ && (was_connected_ || trouble != trouble_))
    log_(LogLevel::kWarning, was_connected_ ? "controller lost" : "controller not reached",
         std::vector<LogField>{{"reason", trouble}, {"address", transport_.address}});
  trouble_ = std::move(trouble);
  was_connected_ = false;
  const double share = kLeastShare + (1 - kLeastShare) * random_.unit();
  dial_at_ns_ = now_ns + static_cast<Nanoseconds>(share * static_cast<double>(pause_ns_));
  pause_ns_ = std::min(2 * pause_ns_, options_.most_pause_ns);
}

std::vector<ToEdge> ControlClient::read_arrived() {
  std::vector<ToEdge> messages;
  for (const grpc::ByteBuffer& bytes : call_->take()) {
    auto message = read_to_edge(bytes);
    if (message) {
      ++counts_.received;
      messages.push_back(std::move(message).value());
      continue;
    }
    ++counts_.undecodable;
    if (log_)
      log_(LogLevel::kWarning, "message cannot be read",
           std::vector<LogField>{{"reason", message.error().message}});
  }
  return messages;
}

void ControlClient::send(const FromEdge& message) {
  ++(call_ && call_->send(write_message(message)) ? counts_.sent : counts_.dropped);
}

bool ControlClient::connected() const { return call_ && call_->admitted(); }

}  // namespace tombolo::control
