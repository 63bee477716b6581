#include "island/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tombolo::island {
namespace {

/// How long an idle client sleeps at most before it looks for packets again.
constexpr Nanoseconds kIdleSleep = 50 * kMicrosecond;
/// The same when a packet ends the wait: only a call from another thread is late by this.
constexpr Nanoseconds kLongestIdle = kMillisecond;

bool reached(const Outcome& outcome, Stage least) {
  if (outcome.finished()) return true;
  return least == Stage::kReady && outcome.ready();
}

}  // namespace

Client::Client(Endpoint& endpoint, const Clock& clock, Idle idle)
    : endpoint_(endpoint), clock_(clock), idle_(std::move(idle)) {
  thread_ = std::thread([this] { run(); });
}

Client::~Client() { stop(); }

Result<Handle> Client::allreduce_async(const Allreduce& request) {
  const auto lock = enter();
  return endpoint_.allreduce_async(request, clock_.now_ns());
}

std::optional<Outcome> Client::poll(Handle handle) const {
  const auto lock = enter();
  const Outcome* const outcome = endpoint_.poll(handle);
  return outcome == nullptr ? std::nullopt : std::optional(*outcome);
}

bool Client::cancel(Handle handle) {
  const auto lock = enter();
  changed_.notify_all();
  return endpoint_.cancel(handle, clock_.now_ns());
}

bool Client::drop(Handle handle) {
  const auto lock = enter();
  return endpoint_.drop(handle);
}

std::optional<Outcome> Client::wait(Handle handle, Stage least) {
  auto lock = enter();
  while (true) {
    const Outcome* const outcome = endpoint_.poll(handle);
    if (outcome == nullptr) return std::nullopt;
    if (reached(*outcome, least)) return *outcome;
    if (stopping_) return std::nullopt;
    changed_.wait(lock);
  }
}

void Client::with(const std::function<void(Endpoint&, Nanoseconds)>& use) {
  const auto lock = enter();
  use(endpoint_, clock_.now_ns());
}

void Client::stop() {
  {
    const auto lock = enter();
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

/// A mutex is not fair: a thread that unlocks and locks again at once may keep it for ever. So the loop is
/// told that somebody waits.
std::unique_lock<std::mutex> Client::enter() const {
  entering_.fetch_add(1);
  std::unique_lock lock(mutex_);
  entering_.fetch_sub(1);
  return lock;
}

void Client::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Nanoseconds now_ns = clock_.now_ns();
    const std::uint64_t before = endpoint_.counters().packets_in.get();
    const Nanoseconds next_ns = endpoint_.turn(now_ns);
    const bool busy = endpoint_.counters().packets_in.get() != before || next_ns <= now_ns;
    lock.unlock();
    changed_.notify_all();
    if (!busy) {
      const Nanoseconds due_ns = next_ns - now_ns;
      if (idle_)
        idle_(std::min(kLongestIdle, due_ns));
      else
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(kIdleSleep, due_ns)));
    }
    while (entering_.load() > 0) std::this_thread::yield();
    lock.lock();
  }
}

}  // namespace tombolo::island
