#include <fmt/format.h>

#include "island/endpoint.h"

namespace tombolo::island {

/// What the edge held of the rounds under way is gone, so they cannot end well: those that are not ready fail
/// at once, and the edge is told of it when it is back.
void Endpoint::lose_edge(const std::string& what, Nanoseconds now_ns) {
  for (const auto& view : views_)
    if (view) view->give_up_reached();
  for (const auto& operation : operations_)
    if (!operation->outcome.finished() && operation->view != nullptr)
      fail(*operation, ErrorCode::kUnavailable, what, now_ns);
}

/// The edge of this lane is up, again or for the first time.
void Endpoint::on_edge_up(std::uint16_t lane, Nanoseconds now_ns) {
  for (const auto& view : views_) {
    if (!view) continue;
    // What this island granted before, the edge no longer knows.
    if (!view->points().empty())
      for (aggregation::OpenRound* const round : view->points()[lane].open_rounds()) round->granted_sent = 0;
    // Nor does it know which rounds are over here, and it would wait for them before it opens later ones.
    if (view->edge_aggregation() && view->given_up_before() > view->first_round())
      send_give_up(*view, lane, view->first_round(), view->given_up_before() - 1, now_ns);
  }
}

/// The edge runs anew: it granted nothing yet, and everything of its former life is lost.
void Endpoint::on_edge_restart(Nanoseconds now_ns) {
  lose_edge("the edge restarted", now_ns);
  for (const auto& view : views_)
    if (view) view->forget_grants();
}

void Endpoint::on_edge_silent(Nanoseconds now_ns) {
  lose_edge(fmt::format("no word from the edge at {} for {} ms", to_string(config_.edge),
                        peers_[0].silence_ns() / kMillisecond),
            now_ns);
}

}  // namespace tombolo::island
