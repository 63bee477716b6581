#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "protocol/address.h"
#include "tools/testbed/workload.h"

namespace tombolo::tools {

/// The command line of `tombolo-island`, checked.
struct IslandOptions {
  std::string name;  ///< For people: in events and metrics.
  std::uint16_t rank = 0;
  Address listen;
  Address edge;
  std::uint16_t lanes = 4;
  std::uint16_t job = 1;
  std::uint64_t update_bytes = 0;  ///< Whole elements of the format.
  std::uint64_t seed = 1;          ///< Of the updates; the same for all islands of a run.
  testbed::Numbers numbers;        ///< `chunk_elements` is the epoch's business.
  std::uint32_t buffers = 16384;
  std::uint32_t buffer_bytes = 8256;  ///< Header and payload of one packet.
  std::uint32_t window = 1024;
  double rtt_ms = 1;                      ///< To the edge, until it is measured.
  std::uint32_t hello_interval_ms = 200;  ///< Three without a word, and the edge is taken for lost.
  double deadline_s = 0;                  ///< Of each round, from its start; 0: the epoch's.
  std::string metrics;                    ///< HOST:PORT; empty: none.
  std::uint32_t rounds = 0;               ///< Free running: so many rounds, one after the other.
  std::optional<std::uint32_t> from;      ///< The first of them; nothing: the oldest that can be started.
  bool commands = false;                  ///< Driven by lines on standard input instead.
};

/// What a command line asks for: options, or to end at once with an exit code after help, the version or the
/// complaint has been printed by the parser.
struct ParsedIsland {
  IslandOptions options;
  std::optional<int> exit_code;
};

/// Reads the command line. A mistake is one line on standard error, and exit code 2.
ParsedIsland parse_island_options(int argc, const char* const* argv);

/// "10.2.0.2:4700". Errors: kInvalidInput, naming the text.
Result<Address> parse_address(const std::string& text);

}  // namespace tombolo::tools
