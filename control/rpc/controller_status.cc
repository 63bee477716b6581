#include "control/rpc/controller_status.h"

#include <nlohmann/json.hpp>

namespace tombolo::control {

std::string to_json(const ControllerStatus& status) {
  using Json = nlohmann::ordered_json;
  Json edges = Json::array();
  for (const ControllerStatus::Edge& edge : status.edges)
    edges.push_back({{"name", edge.name},
                     {"member", edge.member},
                     {"connected", edge.connected},
                     {"session", edge.session},
                     {"running_epoch", edge.running_epoch},
                     {"staged_epoch", edge.staged_epoch},
                     {"refusal", edge.refusal},
                     {"links_down", edge.links_down}});
  const Json json{{"program", "controller"},
                  {"term", status.term},
                  {"phase", status.phase},
                  {"epoch", status.epoch},
                  {"newest_epoch", status.newest_epoch},
                  {"activating_round", status.activating_round},
                  {"schedule", status.schedule},
                  {"edges", std::move(edges)},
                  {"dead_sites", status.dead_sites},
                  {"lost_links", status.lost_links},
                  {"lost_islands", status.lost_islands},
                  {"last_outcome", status.last_outcome},
                  {"trouble", status.trouble},
                  {"changes",
                   {{"installed", status.installed},
                    {"unconfirmed", status.unconfirmed},
                    {"aborted", status.aborted},
                    {"superseded", status.superseded}}},
                  {"store_failures", status.store_failures},
                  {"ignored",
                   {{"unknown_edge", status.ignored.unknown_edge},
                    {"old_session", status.ignored.old_session},
                    {"unexpected", status.ignored.unexpected}}},
                  {"streams",
                   {{"opened", status.streams.streams_opened},
                    {"open", status.streams.streams_open},
                    {"refused", status.streams.refused},
                    {"received", status.streams.received},
                    {"undecodable", status.streams.undecodable},
                    {"sent", status.streams.sent},
                    {"dropped", status.streams.dropped}}}};
  // A reason may hold any bytes: what is not UTF-8 is replaced, not thrown about.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tombolo::control
