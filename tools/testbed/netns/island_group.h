#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tools/testbed/line_splitter.h"
#include "tools/testbed/netns/island_event.h"
#include "tools/testbed/netns/process.h"

namespace tombolo::testbed {

/// The island processes of a run: commands go to all of them, their events come in one loop.
class IslandGroup {
 public:
  using Handler = std::function<void(std::size_t rank, const IslandEvent& event)>;

  /// Every line is also written to `events_path`, as it came; empty: nowhere.
  explicit IslandGroup(const std::string& events_path);
  ~IslandGroup();
  IslandGroup(const IslandGroup&) = delete;
  IslandGroup& operator=(const IslandGroup&) = delete;

  /// In order of rank; the process has pipes.
  void add(std::unique_ptr<Process> process);
  std::size_t size() const { return members_.size(); }
  Process& process(std::size_t rank) { return *members_[rank].process; }

  /// A line to one island. A process that is gone shows in wait().
  void tell(std::size_t rank, const std::string& line);
  void tell_all(const std::string& line);

  /// Gives the events to `handle` as they come, until `done` holds; `each_turn` is called at least every 50
  /// ms and may end the wait with an error. Errors: kDeadline after `limit_ns`, kFailed when an island ended
  /// or said what cannot be read, or those of `each_turn`.
  Status wait(const Handler& handle, const std::function<bool()>& done,
              const std::function<Status()>& each_turn, Nanoseconds limit_ns);

 private:
  struct Member {
    std::unique_ptr<Process> process;
    LineSplitter lines;
    bool ended = false;
  };

  Status read(std::size_t rank, const Handler& handle);

  std::vector<Member> members_;
  std::FILE* events_ = nullptr;
};

}  // namespace tombolo::testbed
