#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "base/clock.h"
#include "base/result.h"
#include "island/client.h"
#include "island/udp_port.h"
#include "protocol/memory_pool.h"
#include "tools/island/command.h"
#include "tools/island/options.h"

namespace tombolo::tools {

/// The next session of an island that keeps nothing on disk: milliseconds of the wall clock, as a serial
/// number (base/serial.h), so that a restart has a later one. Never 0.
std::uint32_t session_from_wall_clock(std::uint64_t milliseconds_since_1970);

/// An island endpoint on UDP sockets that runs generated updates and checks results. It speaks by events:
/// JSON objects, each one line (README.md lists them). One thread calls it; the endpoint has its own.
class IslandProgram {
 public:
  /// Takes one event, without an end of line.
  using Output = std::function<void(const std::string& event)>;

  /// The clock outlives it. Errors: kInvalidInput and kUnavailable, naming what does not fit or is taken.
  static Result<std::unique_ptr<IslandProgram>> create(const IslandOptions& options, std::uint32_t session,
                                                       const Clock& clock, Output output);
  ~IslandProgram();

  /// Starts a round; what becomes of it comes as events from look().
  void start(std::uint32_t round);
  /// Compares the result of a round that is ready with the scalar reference: event `checked`.
  void check(std::uint32_t round, const std::vector<testbed::FoldOrder>& orders = {});
  /// Event `status`.
  void report_status();
  /// A mistake of whoever drives this: event `error`.
  void report_mistake(const std::string& what);

  /// Looks at what is under way and tells what has changed; true while something is under way.
  bool look();

  /// Whether the edge is there and has granted slots for the round, so that it would start at once.
  bool can_start(std::uint32_t round) const;
  /// The oldest round that can be asked for; nothing before there is an epoch.
  std::optional<std::uint32_t> first_round() const;

  /// Told of every round that has ended; none to tell when empty.
  using Observer = std::function<void(const island::Outcome& outcome)>;
  void observe(Observer observer) { observer_ = std::move(observer); }

  const std::string& name() const { return options_.name; }

  /// Of the rounds that were checked or failed: all exact so far.
  bool all_exact() const { return all_exact_; }
  std::uint64_t rounds_checked() const { return checked_; }

  const island::UdpPort& port() const { return *port_; }
  const MemoryPool& pool() const { return *pool_; }
  island::Client& client() { return *client_; }

 private:
  /// A round that was started. Its memory stays until so many newer ones are there.
  struct Part {
    std::uint32_t round = 0;
    std::vector<std::byte> input;
    std::vector<std::byte> output;
    island::Handle handle = 0;
    island::Outcome outcome;
    bool dropped = false;  ///< The endpoint has forgotten it; nothing more will change.
  };

  IslandProgram(const IslandOptions& options, const Clock& clock, Output output)
      : options_(options), clock_(clock), output_(std::move(output)) {}
  std::uint64_t update_elements() const {
    return elements_within(options_.numbers.format, options_.update_bytes);
  }
  void tell(const char* event, const Part& part);
  Part* find(std::uint32_t round);
  void forget_old();

  const IslandOptions options_;
  const Clock& clock_;
  const Output output_;
  fold::InstructionSet instruction_set_ = fold::InstructionSet::kBaseline;  ///< Of its own folds.
  std::unique_ptr<MemoryPool> pool_;
  std::unique_ptr<island::UdpPort> port_;
  std::unique_ptr<island::Endpoint> endpoint_;
  std::list<Part> parts_;  ///< By round. In a list: the endpoint holds on to their memory.
  std::unique_ptr<island::Client> client_;
  Observer observer_;
  bool all_exact_ = true;
  std::uint64_t checked_ = 0;
};

/// Runs until `stop` holds, standard input ends or says quit (with commands), or the rounds are done (free
/// running). `input_fd` is read when it has something; returns whether all that ran was exact.
/// Errors: kDeadline when free running finds no epoch in time.
Result<bool> run_island(IslandProgram& program, const IslandOptions& options, int input_fd,
                        const std::function<bool()>& stop, const Clock& clock);

}  // namespace tombolo::tools
