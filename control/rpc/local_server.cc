#include "control/rpc/local_server.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <local.grpc.pb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "control/rpc/transport.h"

namespace tombolo::control {
namespace {

constexpr int kMaxRequestBytes = 8 << 20;  // A schedule file has at most 4 MiB.
constexpr mode_t kSocketMode = 0600;

grpc::Status to_grpc(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidInput:
      return {grpc::StatusCode::INVALID_ARGUMENT, error.message};
    case ErrorCode::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, error.message};
    case ErrorCode::kNotSupported:
      return {grpc::StatusCode::UNIMPLEMENTED, error.message};
    case ErrorCode::kUnavailable:
      return {grpc::StatusCode::UNAVAILABLE, error.message};
    case ErrorCode::kDeadline:
      return {grpc::StatusCode::DEADLINE_EXCEEDED, error.message};
    case ErrorCode::kFailed:
      break;
  }
  return {grpc::StatusCode::FAILED_PRECONDITION, error.message};
}

v1::InstallReply::Outcome to_wire(ChangeOutcome::Kind kind) {
  switch (kind) {
    case ChangeOutcome::Kind::kInstalled:
      return v1::InstallReply::INSTALLED;
    case ChangeOutcome::Kind::kUnconfirmed:
      return v1::InstallReply::UNCONFIRMED;
    case ChangeOutcome::Kind::kAborted:
      return v1::InstallReply::ABORTED;
    case ChangeOutcome::Kind::kSuperseded:
      break;
  }
  return v1::InstallReply::SUPERSEDED;
}

class EdgeDoor final : public v1::Local::Service {
 public:
  explicit EdgeDoor(LocalHandlers handlers) : handlers_(std::move(handlers)) {}

  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest*, v1::StatusReply* reply) override {
    reply->set_json(handlers_.status_json());
    return grpc::Status::OK;
  }

  grpc::Status Probe(grpc::ServerContext*, const v1::ProbeRequest* request, v1::ProbeReply* reply) override {
    const auto result = handlers_.probe(request->link());
    if (!result) return to_grpc(result.error());
    reply->set_rtt_ns(result->rtt_ns);
    reply->set_least_rtt_ns(result->least_rtt_ns);
    reply->set_rate_bps(result->rate_bps);
    reply->set_answers(result->answers);
    return grpc::Status::OK;
  }

 private:
  LocalHandlers handlers_;
};

class ControllerDoor final : public v1::Operator::Service {
 public:
  explicit ControllerDoor(OperatorHandlers handlers) : handlers_(std::move(handlers)) {}

  grpc::Status Status(grpc::ServerContext*, const v1::StatusRequest*, v1::StatusReply* reply) override {
    reply->set_json(handlers_.status_json());
    return grpc::Status::OK;
  }

  grpc::Status Install(grpc::ServerContext*, const v1::InstallRequest* request,
                       v1::InstallReply* reply) override {
    const auto outcome = handlers_.install(read_order(*request));
    if (!outcome) return to_grpc(outcome.error());
    reply->set_outcome(to_wire(outcome->kind));
    reply->set_epoch(outcome->epoch);
    reply->set_activating_round(outcome->activating_round);
    for (const EdgeProblem& problem : outcome->problems) {
      v1::InstallReply::Problem& into = *reply->add_problems();
      into.set_edge(problem.edge.name);
      into.set_reason(problem.reason);
    }
    return grpc::Status::OK;
  }

 private:
  OperatorHandlers handlers_;
};

/// gRPC would take the socket away from whoever listens on it.
grpc::Status check_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return {grpc::StatusCode::INVALID_ARGUMENT,
            fmt::format("socket {}: the path must have 1 to {} bytes", path, sizeof(address.sun_path) - 1)};
  std::memcpy(static_cast<char*>(address.sun_path), path.c_str(), path.size());
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return grpc::Status::OK;
  const bool taken = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  ::close(probe);
  if (taken)
    return {grpc::StatusCode::UNAVAILABLE, fmt::format("socket {}: another program listens there", path)};
  return grpc::Status::OK;
}

}  // namespace

class LocalServer::Impl {
 public:
  explicit Impl(std::unique_ptr<grpc::Service> service) : service_(std::move(service)) {}
  ~Impl() {
    if (!server_) return;
    server_->Shutdown();
    ::unlink(path_.c_str());
  }

  tombolo::Status listen(const std::string& path) {
    quiet_grpc();
    if (const grpc::Status free = check_socket(path); !free.ok())
      return Error{free.error_code() == grpc::StatusCode::UNAVAILABLE ? ErrorCode::kUnavailable
                                                                      : ErrorCode::kInvalidInput,
                   free.error_message()};
    path_ = path;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
    builder.RegisterService(service_.get());
    builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 2);
    // Made closed to others, not closed after the fact.
    const mode_t before = ::umask(0777 & ~kSocketMode);
    server_ = builder.BuildAndStart();
    ::umask(before);
    if (server_) return ok_status();
    return Error{ErrorCode::kUnavailable,
                 fmt::format("socket {}: cannot listen there; is its folder missing or not writable?", path)};
  }

 private:
  std::unique_ptr<grpc::Service> service_;
  std::string path_;
  std::unique_ptr<grpc::Server> server_;
};

LocalServer::LocalServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalServer::~LocalServer() = default;

Result<std::unique_ptr<LocalServer>> LocalServer::start(const std::string& socket_path,
                                                        LocalHandlers handlers) {
  auto impl = std::make_unique<Impl>(std::make_unique<EdgeDoor>(std::move(handlers)));
  if (tombolo::Status listening = impl->listen(socket_path); !listening) return std::move(listening).error();
  return std::unique_ptr<LocalServer>(new LocalServer(std::move(impl)));
}

Result<std::unique_ptr<LocalServer>> LocalServer::start(const std::string& socket_path,
                                                        OperatorHandlers handlers) {
  auto impl = std::make_unique<Impl>(std::make_unique<ControllerDoor>(std::move(handlers)));
  if (tombolo::Status listening = impl->listen(socket_path); !listening) return std::move(listening).error();
  return std::unique_ptr<LocalServer>(new LocalServer(std::move(impl)));
}

}  // namespace tombolo::control
