#include "control/store/state_store.h"

#include <fmt/format.h>

#include <charconv>
#include <string>

#include "base/serial.h"
#include "control/store/plan_message.h"

namespace tombolo::control {
namespace {

constexpr std::uint64_t kUnixSecondsOf2020 = 1'577'836'800;

constexpr FileKind kAgentKind{"agent", "remove it and the edge gets the epoch from its controller again"};
constexpr FileKind kControllerKind{
    "control", "put back a copy; without one, stop all edges, remove this file and those of all edges"};
constexpr FileKind kSessionKind{"session", "remove it; the next session is made from the calendar time"};

/// Puts the file's name and the way out before what is wrong inside.
template <typename State, typename Read>
Result<State> load_state(const DurableFile& file, FileKind kind, Read read) {
  auto bytes = file.read();
  if (!bytes) return std::move(bytes).error();
  if (!*bytes) return State{};
  auto state = read(**bytes);
  if (!state)
    return Error{ErrorCode::kFailed,
                 fmt::format("{}: {}; {}", file.path(), state.error().message, kind.advice)};
  return state;
}

}  // namespace

AgentStore::AgentStore(const StateFolder& folder, FileOperations* operations)
    : file_(folder.file("agent.state"), kAgentKind, operations) {}

Result<AgentSnapshot> AgentStore::load() const {
  return load_state<AgentSnapshot>(file_, kAgentKind, read_agent_snapshot);
}

Status AgentStore::save(const AgentSnapshot& snapshot) { return file_.write(write_state(snapshot)); }

ControllerStore::ControllerStore(const StateFolder& folder, FileOperations* operations)
    : file_(folder.file("controller.state"), kControllerKind, operations) {}

Result<ControllerState> ControllerStore::load() const {
  return load_state<ControllerState>(file_, kControllerKind, read_controller_state);
}

Status ControllerStore::save(const ControllerState& state) {
  const Result<ControllerState> stored = load();
  if (!stored) return stored.error();
  if (stored->term > state.term)
    return Error{ErrorCode::kFailed, fmt::format("{}: a controller of term {} has stored its state; term {} "
                                                 "is over",
                                                 file_.path(), stored->term, state.term)};
  return file_.write(write_state(state));
}

SessionStore::SessionStore(const StateFolder& folder, FileOperations* operations)
    : file_(folder.file("session.state"), kSessionKind, operations) {}

Result<std::uint32_t> SessionStore::next(std::uint64_t unix_seconds) {
  auto stored = file_.read();
  if (!stored) return std::move(stored).error();
  std::uint32_t session =
      static_cast<std::uint32_t>(unix_seconds > kUnixSecondsOf2020 ? unix_seconds - kUnixSecondsOf2020 : 1);
  if (*stored) {
    const std::string& text = **stored;
    std::uint32_t last = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), last);
    if (error != std::errc{} || end != text.data() + text.size())
      return Error{ErrorCode::kFailed,
                   fmt::format("{}: holds no session; {}", file_.path(), kSessionKind.advice)};
    if (!serial_before(last, session)) session = last + 1;
  }
  if (session == 0) session = 1;
  if (Status written = file_.write(fmt::format("{}", session)); !written) return std::move(written).error();
  return session;
}

}  // namespace tombolo::control
