#include "control/rpc/local_client.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <local.grpc.pb.h>

#include <chrono>
#include <utility>

#include "control/rpc/transport.h"

namespace tombolo::control {
namespace {

constexpr int kMaxReplyBytes = 64 << 20;

std::shared_ptr<grpc::Channel> open_channel(const std::string& socket_path) {
  quiet_grpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReplyBytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel("unix:" + socket_path, grpc::InsecureChannelCredentials(), arguments);
}

void set_patience(grpc::ClientContext& context, Nanoseconds patience_ns) {
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::nanoseconds(patience_ns));
}

Error to_error(const std::string& socket_path, const grpc::Status& status) {
  ErrorCode code = ErrorCode::kFailed;
  std::string message = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      code = ErrorCode::kInvalidInput;
      break;
    case grpc::StatusCode::NOT_FOUND:
      code = ErrorCode::kNotFound;
      break;
    case grpc::StatusCode::UNIMPLEMENTED:
      code = ErrorCode::kNotSupported;
      break;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      code = ErrorCode::kDeadline;
      message = "no answer in time";
      break;
    case grpc::StatusCode::UNAVAILABLE:
      code = ErrorCode::kUnavailable;
      // What the library itself says of a socket that cannot be opened means nothing to a reader.
      if (message.starts_with("failed to connect") || message.starts_with("connections to all backends"))
        message = "nobody listens there; is the program running?";
      break;
    default:
      break;
  }
  return Error{code, fmt::format("socket {}: {}", socket_path, message)};
}

ChangeOutcome::Kind from_wire(v1::InstallReply::Outcome outcome) {
  switch (outcome) {
    case v1::InstallReply::INSTALLED:
      return ChangeOutcome::Kind::kInstalled;
    case v1::InstallReply::UNCONFIRMED:
      return ChangeOutcome::Kind::kUnconfirmed;
    case v1::InstallReply::SUPERSEDED:
      return ChangeOutcome::Kind::kSuperseded;
    default:
      return ChangeOutcome::Kind::kAborted;
  }
}

}  // namespace

Result<std::string> ask_status(const std::string& socket_path, Nanoseconds patience_ns) {
  const auto channel = open_channel(socket_path);
  const auto ask = [&](auto stub, v1::StatusReply& reply) {
    grpc::ClientContext context;
    set_patience(context, patience_ns);
    return stub->Status(&context, v1::StatusRequest(), &reply);
  };
  v1::StatusReply reply;
  grpc::Status status = ask(v1::Local::NewStub(channel), reply);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED)
    status = ask(v1::Operator::NewStub(channel), reply);
  if (!status.ok()) return to_error(socket_path, status);
  return std::move(*reply.mutable_json());
}

Result<ProbeResult> ask_probe(const std::string& socket_path, const std::string& link,
                              Nanoseconds patience_ns) {
  grpc::ClientContext context;
  set_patience(context, patience_ns);
  v1::ProbeRequest request;
  request.set_link(link);
  v1::ProbeReply reply;
  const grpc::Status status = v1::Local::NewStub(open_channel(socket_path))->Probe(&context, request, &reply);
  if (!status.ok()) return to_error(socket_path, status);
  return ProbeResult{reply.rtt_ns(), reply.least_rtt_ns(), reply.rate_bps(), reply.answers()};
}

Result<ChangeOutcome> ask_install(const std::string& socket_path, const InstallOrder& order,
                                  Nanoseconds patience_ns) {
  grpc::ClientContext context;
  set_patience(context, patience_ns);
  v1::InstallRequest request;
  write_order(order, request);
  v1::InstallReply reply;
  const grpc::Status status =
      v1::Operator::NewStub(open_channel(socket_path))->Install(&context, request, &reply);
  if (!status.ok()) return to_error(socket_path, status);
  ChangeOutcome outcome{.kind = from_wire(reply.outcome()),
                        .epoch = reply.epoch(),
                        .activating_round = reply.activating_round(),
                        .problems = {}};
  for (const auto& problem : reply.problems())
    outcome.problems.push_back({EdgeName{0, problem.edge()}, problem.reason()});
  return outcome;
}

}  // namespace tombolo::control
