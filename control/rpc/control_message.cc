#include "control/rpc/control_message.h"

#include <control.pb.h>
#include <fmt/format.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "control/store/plan_message.h"

namespace tombolo::control {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr int kMaxLinks = 4096;

template <typename Message>
grpc::ByteBuffer to_bytes(const Message& message) {
  const std::string text = message.SerializeAsString();
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

template <typename Message>
bool parse(const grpc::ByteBuffer& bytes, Message& message) {
  // The reader wants a buffer that it may empty; a copy shares the slices.
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader reader(&shared);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

Error bad_field(const char* field, const std::string& what) {
  return invalid_input(fmt::format("{}: {}", field, what));
}

/// A reason ends up in logs, tables and JSON.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

Result<FromEdge> read_hello(const v1::EdgeHello& message) {
  if (message.site() > std::numeric_limits<std::uint16_t>::max())
    return bad_field("hello.site", fmt::format("{} is no site", message.site()));
  if (message.site_name().empty() || message.site_name().size() > kMaxNameBytes)
    return bad_field("hello.site_name", "must be 1 to 64 bytes");
  if (message.session() == 0) return bad_field("hello.session", "must not be 0");
  if (message.multicast_sites_size() > kMaxLinks)
    return bad_field("hello.multicast_sites",
                     fmt::format("{} of them; at most {}", message.multicast_sites_size(), kMaxLinks));
  std::vector<schedule::SiteId> multicast_sites;
  for (const std::uint32_t site : message.multicast_sites()) {
    if (site > std::numeric_limits<std::uint16_t>::max())
      return bad_field("hello.multicast_sites", fmt::format("{} is no site", site));
    if (!multicast_sites.empty() && site <= multicast_sites.back())
      return bad_field("hello.multicast_sites", "must be in ascending order");
    multicast_sites.push_back(static_cast<schedule::SiteId>(site));
  }
  return FromEdge(Greeting{.hello = {.site = static_cast<schedule::SiteId>(message.site()),
                                     .session = message.session(),
                                     .term = message.term(),
                                     .committed_epoch = message.committed_epoch(),
                                     .staged_epoch = message.staged_epoch(),
                                     .newest_epoch = message.newest_epoch(),
                                     .multicast_sites = std::move(multicast_sites)},
                           .site_name = message.site_name()});
}

Result<FromEdge> read_links(const v1::LinkReport& message) {
  if (message.links_size() > kMaxLinks)
    return bad_field("links", fmt::format("{} of them; at most {}", message.links_size(), kMaxLinks));
  LinkReport report;
  for (const v1::LinkState& link : message.links()) {
    if (link.id() > std::numeric_limits<std::uint16_t>::max())
      return bad_field("links.id", fmt::format("{} is neither site nor rank", link.id()));
    report.links.push_back({link.is_island(), static_cast<std::uint16_t>(link.id()), link.up()});
  }
  return FromEdge(std::move(report));
}

void write_body(const Greeting& greeting, v1::EdgeMessage& message) {
  v1::EdgeHello& into = *message.mutable_hello();
  into.set_site(greeting.hello.site);
  into.set_session(greeting.hello.session);
  into.set_term(greeting.hello.term);
  into.set_committed_epoch(greeting.hello.committed_epoch);
  into.set_staged_epoch(greeting.hello.staged_epoch);
  into.set_newest_epoch(greeting.hello.newest_epoch);
  into.set_site_name(greeting.site_name);
  for (const schedule::SiteId site : greeting.hello.multicast_sites) into.add_multicast_sites(site);
}

void write_body(const StageAck& ack, v1::EdgeMessage& message) {
  message.mutable_stage_ack()->set_epoch(ack.epoch);
  message.mutable_stage_ack()->set_highest_opened_round(ack.highest_opened_round);
}

void write_body(const StageNack& nack, v1::EdgeMessage& message) {
  message.mutable_stage_nack()->set_epoch(nack.epoch);
  message.mutable_stage_nack()->set_reason(nack.reason.substr(0, kMaxReasonBytes));
  message.mutable_stage_nack()->set_draining(nack.draining);
}

void write_body(const CommitAck& ack, v1::EdgeMessage& message) {
  message.mutable_commit_ack()->set_epoch(ack.epoch);
}

void write_body(const AbortAck& ack, v1::EdgeMessage& message) {
  message.mutable_abort_ack()->set_epoch(ack.epoch);
}

void write_body(const LinkReport& report, v1::EdgeMessage& message) {
  v1::LinkReport& into = *message.mutable_links();
  for (const LinkState& state : report.links) {
    v1::LinkState& link = *into.add_links();
    link.set_is_island(state.is_island);
    link.set_id(state.id);
    link.set_up(state.up);
  }
}

void write_body(const Stage& stage, v1::ControllerMessage& message) {
  v1::Stage& into = *message.mutable_stage();
  into.set_term(stage.term);
  into.set_epoch(stage.epoch);
  if (stage.plan) write_plan(*stage.plan, *into.mutable_plan());
}

void write_body(const Commit& commit, v1::ControllerMessage& message) {
  v1::Commit& into = *message.mutable_commit();
  into.set_term(commit.term);
  into.set_epoch(commit.epoch);
  into.set_activating_round(commit.activating_round);
}

void write_body(const Abort& abort, v1::ControllerMessage& message) {
  message.mutable_abort()->set_term(abort.term);
  message.mutable_abort()->set_epoch(abort.epoch);
}

}  // namespace

grpc::ByteBuffer write_message(const FromEdge& from_edge) {
  v1::EdgeMessage message;
  std::visit([&message](const auto& body) { write_body(body, message); }, from_edge);
  return to_bytes(message);
}

grpc::ByteBuffer write_message(const ToEdge& to_edge) {
  v1::ControllerMessage message;
  std::visit([&message](const auto& body) { write_body(body, message); }, to_edge);
  return to_bytes(message);
}

Result<FromEdge> read_from_edge(const grpc::ByteBuffer& bytes) {
  v1::EdgeMessage message;
  if (!parse(bytes, message)) return invalid_input("not a message of an edge");
  switch (message.body_case()) {
    case v1::EdgeMessage::kHello:
      return read_hello(message.hello());
    case v1::EdgeMessage::kStageAck:
      return FromEdge(StageAck{message.stage_ack().epoch(), message.stage_ack().highest_opened_round()});
    case v1::EdgeMessage::kStageNack:
      if (message.stage_nack().reason().size() > kMaxReasonBytes)
        return bad_field("stage_nack.reason", "is too long");
      return FromEdge(StageNack{message.stage_nack().epoch(), printable(message.stage_nack().reason()),
                                message.stage_nack().draining()});
    case v1::EdgeMessage::kCommitAck:
      return FromEdge(CommitAck{message.commit_ack().epoch()});
    case v1::EdgeMessage::kAbortAck:
      return FromEdge(AbortAck{message.abort_ack().epoch()});
    case v1::EdgeMessage::kLinks:
      return read_links(message.links());
    case v1::EdgeMessage::BODY_NOT_SET:
      break;
  }
  return invalid_input("body: empty, or of a later version");
}

Result<ToEdge> read_to_edge(const grpc::ByteBuffer& bytes) {
  v1::ControllerMessage message;
  if (!parse(bytes, message)) return invalid_input("not a message of a controller");
  ToEdge to_edge;
  if (message.has_commit()) {
    to_edge.emplace<Commit>(message.commit().term(), message.commit().epoch(),
                            message.commit().activating_round());
    return to_edge;
  }
  if (message.has_abort()) {
    to_edge.emplace<Abort>(message.abort().term(), message.abort().epoch());
    return to_edge;
  }
  if (!message.has_stage()) return invalid_input("body: empty, or of a later version");
  const v1::Stage& stage = message.stage();
  if (!stage.has_plan()) return bad_field("stage.plan", "is missing");
  auto plan = read_plan(stage.plan());
  if (!plan) return std::move(plan).error().within("stage");
  if (stage.epoch() != (*plan)->epoch)
    return bad_field("stage.epoch",
                     fmt::format("{}, but the plan is of epoch {}", stage.epoch(), (*plan)->epoch));
  to_edge.emplace<Stage>(stage.term(), stage.epoch(), std::move(plan).value());
  return to_edge;
}

}  // namespace tombolo::control
