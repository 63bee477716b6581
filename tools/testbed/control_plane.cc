#include "tools/testbed/control_plane.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tombolo::testbed {
namespace {

constexpr Nanoseconds kLongestDelay = 40 * kMillisecond;
constexpr Nanoseconds kLookInterval = 20 * kMillisecond;

}  // namespace

Result<std::unique_ptr<ControlPlane>> ControlPlane::create(InprocTestbed& testbed, std::uint64_t seed,
                                                           std::uint32_t job) {
  std::unique_ptr<ControlPlane> plane(new ControlPlane(testbed, seed, job));
  std::vector<control::EdgeName> names;
  for (EdgeNode& node : testbed.edges()) {
    names.push_back({node.place.site, node.site});
    plane->edges_.push_back(std::make_unique<control::InstalledEdge>(node.edge->job(job), node.place));
    const control::EdgeIdentity self{node.place.site, node.edge->config().session};
    plane->agents_.push_back(std::make_unique<control::Agent>(self, *plane->edges_.back()));
  }
  auto controller = control::Controller::create(std::move(names), {});
  if (!controller) return std::move(controller).error();
  plane->controller_.emplace(std::move(controller).value());
  for (std::size_t site = 0; site < plane->agents_.size(); ++site)
    plane->send(site, control::ToController{plane->agents_[site]->hello()}, 0);
  return plane;
}

Status ControlPlane::propose(schedule::EpochPlan plan, Nanoseconds now_ns) {
  auto actions = controller_->propose(std::make_shared<const schedule::EpochPlan>(std::move(plan)), now_ns);
  if (!actions) return std::move(actions).error();
  send_all(*actions, now_ns);
  return ok_status();
}

void ControlPlane::lose_edge(schedule::SiteId site) {
  dead_.insert(site);
  controller_->disconnected(agents_[site]->self());
  CHECK(controller_->remove_edge(site).ok());
}

std::optional<control::ChangeOutcome> ControlPlane::outcome() const {
  if (controller_->phase() != control::Controller::Phase::kIdle) return std::nullopt;
  return controller_->outcome();
}

Nanoseconds ControlPlane::next_event_ns() const {
  Nanoseconds next_ns = std::min(controller_->next_timer_ns(), look_ns_);
  if (!under_way_.empty()) next_ns = std::min(next_ns, under_way_.top().at_ns);
  return next_ns;
}

bool ControlPlane::run(Nanoseconds now_ns) {
  bool reached_edge = false;
  while (!under_way_.empty() && under_way_.top().at_ns <= now_ns) {
    const Message message = under_way_.top();
    under_way_.pop();
    if (dead_.contains(message.site)) continue;
    if (const auto* to_edge = std::get_if<control::ToEdge>(&message.body); to_edge != nullptr) {
      answer(message.site, agents_[message.site]->receive(*to_edge), now_ns);
      reached_edge = true;
    } else {
      send_all(controller_->receive(agents_[message.site]->self(),
                                    std::get<control::ToController>(message.body), now_ns),
               now_ns);
    }
  }
  if (controller_->next_timer_ns() <= now_ns) send_all(controller_->on_timer(now_ns), now_ns);
  if (look_ns_ <= now_ns) {
    look_ns_ = now_ns + kLookInterval;
    for (std::size_t site = 0; site < agents_.size(); ++site) {
      if (dead_.contains(site)) continue;
      const dataplane::PeerCommit heard = testbed_.edges()[site].edge->job(job_).peer_commit();
      if (heard.epoch == 0) continue;
      answer(site, agents_[site]->on_peer_commit(heard.epoch, heard.first_round), now_ns);
      reached_edge = true;
    }
  }
  return reached_edge;
}

void ControlPlane::send(std::size_t site, std::variant<control::ToEdge, control::ToController> body,
                        Nanoseconds now_ns) {
  under_way_.push({now_ns + random_.below(kLongestDelay), order_++, site, std::move(body)});
}

void ControlPlane::send_all(const control::Controller::Actions& actions, Nanoseconds now_ns) {
  for (const control::ControllerAction& action : actions) send(action.site, action.message, now_ns);
}

void ControlPlane::answer(std::size_t site, const control::Agent::Answers& answers, Nanoseconds now_ns) {
  for (const control::ToController& reply : answers) send(site, reply, now_ns);
}

}  // namespace tombolo::testbed
