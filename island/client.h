#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "island/endpoint.h"

namespace tombolo::island {

/// An endpoint with a thread that gives it its turns: what a program uses that wants to call, wait and
/// forget. All calls are thread-safe, and get their turn between two of the endpoint's however busy it is.
class Client {
 public:
  /// Waits until a packet may be there, at most so long. A port that can wake its caller has something better
  /// than a fixed sleep.
  using Idle = std::function<void(Nanoseconds most_ns)>;

  /// Starts the thread. The endpoint and the clock outlive the client. With `idle`, the thread calls it, for
  /// a millisecond at most, when there is nothing to do; otherwise it looks for packets every 50 us.
  Client(Endpoint& endpoint, const Clock& clock, Idle idle = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// See Endpoint::allreduce_async.
  Result<Handle> allreduce_async(const Allreduce& request);
  std::optional<Outcome> poll(Handle handle) const;
  bool cancel(Handle handle);
  bool drop(Handle handle);

  /// Blocks until the operation has got at least that far, or has failed; nothing for an unknown handle or
  /// after stop(). `least` is kReady or kReleased.
  std::optional<Outcome> wait(Handle handle, Stage least = Stage::kReady);

  /// Calls `use` between two turns.
  void with(const std::function<void(Endpoint&, Nanoseconds now_ns)>& use);

  /// Ends the thread; the endpoint takes no more turns. Waiting calls return; the client may be destroyed
  /// when they have.
  void stop();

 private:
  std::unique_lock<std::mutex> enter() const;
  void run();

  Endpoint& endpoint_;
  const Clock& clock_;
  const Idle idle_;
  mutable std::mutex mutex_;              ///< Guards the endpoint and stopping_.
  mutable std::atomic<int> entering_{0};  ///< Calls that want the mutex.
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tombolo::island
