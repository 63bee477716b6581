#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "control/messages.h"
#include "control/survivors.h"

namespace tombolo::control {

/// The method that edges call.
inline constexpr const char* kAttachMethod = "/tombolo.control.v1.Control/Attach";
/// With this key in the first metadata of a stream the controller lets the edge in.
inline constexpr const char* kAdmittedKey = "tombolo-admitted";
/// The longest message of an edge, in bytes: a report of all the links that an edge can have.
inline constexpr int kMaxEdgeMessageBytes = 64 << 10;
/// The longest message of a controller: a plan, and a little.
inline constexpr int kMaxControllerMessageBytes = (64 << 20) + (64 << 10);

/// An edge's hello with the name of its site.
struct Greeting {
  EdgeHello hello;
  std::string site_name;
};

struct LinkReport {
  std::vector<LinkState> links;
};

/// Whatever an edge sends.
using FromEdge = std::variant<Greeting, StageAck, StageNack, CommitAck, AbortAck, LinkReport>;

/// A reason that is longer is cut: it names one thing that is wrong.
inline constexpr std::size_t kMaxReasonBytes = 4096;

grpc::ByteBuffer write_message(const FromEdge& message);
grpc::ByteBuffer write_message(const ToEdge& message);

/// Any bytes may be given. Errors: kInvalidInput, naming the field. A plan is checked whole (read_plan).
Result<FromEdge> read_from_edge(const grpc::ByteBuffer& bytes);
Result<ToEdge> read_to_edge(const grpc::ByteBuffer& bytes);

}  // namespace tombolo::control
