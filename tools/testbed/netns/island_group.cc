#include "tools/testbed/netns/island_group.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace tombolo::testbed {
namespace {

constexpr std::size_t kMostLineBytes = 1U << 16;
constexpr int kTurnMs = 50;
constexpr std::size_t kShownLines = 8;

}  // namespace

IslandGroup::IslandGroup(const std::string& events_path) {
  if (!events_path.empty()) events_ = std::fopen(events_path.c_str(), "we");
  if (events_ != nullptr) std::setvbuf(events_, nullptr, _IOLBF, BUFSIZ);  // Others may read along.
}

IslandGroup::~IslandGroup() {
  if (events_ != nullptr) std::fclose(events_);
}

void IslandGroup::add(std::unique_ptr<Process> process) {
  members_.push_back({std::move(process), LineSplitter(kMostLineBytes), false});
}

void IslandGroup::tell(std::size_t rank, const std::string& line) {
  const std::string text = line + "\n";
  // A pipe takes so few bytes whole or not at all.
  [[maybe_unused]] const ssize_t written = ::write(members_[rank].process->input(), text.data(), text.size());
}

void IslandGroup::tell_all(const std::string& line) {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) tell(rank, line);
}

Status IslandGroup::wait(const Handler& handle, const std::function<bool()>& done,
                         const std::function<Status()>& each_turn, Nanoseconds limit_ns) {
  const MonotonicClock clock;
  const Nanoseconds until_ns = clock.now_ns() + limit_ns;
  std::vector<pollfd> polls;
  for (const Member& member : members_)
    polls.push_back({member.ended ? -1 : member.process->output(), POLLIN, 0});
  while (!done()) {
    if (Status status = each_turn(); !status) return status;
    if (clock.now_ns() >= until_ns) return Error{ErrorCode::kDeadline, "it took too long"};
    if (::poll(polls.data(), polls.size(), kTurnMs) < 0 && errno != EINTR)
      return Error{ErrorCode::kFailed, "poll failed"};
    for (std::size_t rank = 0; rank < members_.size(); ++rank)
      if (polls[rank].revents != 0)
        if (Status status = read(rank, handle); !status) return status;
  }
  return ok_status();
}

Status IslandGroup::read(std::size_t rank, const Handler& handle) {
  Member& member = members_[rank];
  std::array<char, 16384> bytes;
  const ssize_t count = ::read(member.process->output(), bytes.data(), bytes.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return ok_status();
  if (count <= 0) {
    member.ended = true;
    member.process->running();
    return Error{ErrorCode::kFailed,
                 fmt::format("{} {}; its last words:\n{}", member.process->name(), member.process->ending(),
                             last_lines(member.process->log_path(), kShownLines))};
  }
  for (const std::string& line : member.lines.take({bytes.data(), static_cast<std::size_t>(count)})) {
    if (events_ != nullptr) fmt::print(events_, "{}\n", line);
    const auto event = parse_island_event(line);
    if (!event) return Error{ErrorCode::kFailed, member.process->name() + ": " + event.error().message};
    handle(rank, *event);
  }
  return ok_status();
}

}  // namespace tombolo::testbed
