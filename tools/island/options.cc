#include "tools/island/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/units.h"
#include "tools/cli.h"
#include "tools/number_options.h"

namespace tombolo::tools {
namespace {

constexpr std::uint64_t kMostUpdateBytes = 4'000'000'000;

/// The command line before it is checked as a whole.
struct Raw {
  std::string listen;
  std::string edge;
  std::string bytes;
  std::string format = "fp32";
  std::string result_format;
  std::string operation = "mean";
  std::string non_finite = "propagate";
  double non_finite_share = 0;
  std::int64_t from = -1;
};

void add_options(CLI::App& app, IslandOptions& options, Raw& raw) {
  app.add_option("--name", options.name, "The island's id, for people")->required();
  app.add_option("--rank", options.rank, "Its rank in the job")->required()->check(CLI::Range(0, 65534));
  app.add_option("--listen", raw.listen, "Own address and base port, such as 10.2.0.2:4700")->required();
  app.add_option("--edge", raw.edge, "Its edge's address and base port")->required();
  app.add_option("--lanes", options.lanes, "Lanes: as many as the edge has")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--job", options.job, "The job's number")->capture_default_str();
  app.add_option("--bytes", raw.bytes, "Size of an update (k, M, G; Ki, Mi, Gi)")->required();
  app.add_option("--seed", options.seed, "Of the updates; the same for all islands")->capture_default_str();
  add_number_options(app, raw.format, raw.result_format, raw.operation, raw.non_finite, raw.non_finite_share);
  app.add_option("--buffers", options.buffers, "Packet buffers")->capture_default_str();
  app.add_option("--buffer-bytes", options.buffer_bytes, "Largest packet: header and payload")
      ->capture_default_str()
      ->check(CLI::Range(128, 65535));
  app.add_option("--window", options.window, "Packets outstanding per lane: a power of two")
      ->capture_default_str();
  app.add_option("--hello-ms", options.hello_interval_ms, "Between HELLOs; the edge is lost after three")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  app.add_option("--rtt-ms", options.rtt_ms, "Round trip to the edge, until it is measured")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 60000.0));
  app.add_option("--deadline", options.deadline_s, "Seconds until a round fails; 0: the epoch's")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--metrics", options.metrics, "HOST:PORT to serve Prometheus metrics at");
  CLI::Option* const rounds = app.add_option("--rounds", options.rounds, "Run so many rounds and end")
                                  ->check(CLI::Range(1U, 1000000000U));
  app.add_option("--from", raw.from, "The first of them; default: the oldest that can start")
      ->needs(rounds)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{0xffffffff}));
  app.add_flag("--commands", options.commands, "Obey lines on standard input: status, start, check, quit")
      ->excludes(rounds);
}

/// What no single option's check sees.
Status complete(IslandOptions& options, const Raw& raw) {
  auto listen = parse_address(raw.listen);
  if (!listen) return std::move(listen).error().within("--listen");
  auto edge = parse_address(raw.edge);
  if (!edge) return std::move(edge).error().within("--edge");
  options.listen = *listen;
  options.edge = *edge;
  const auto bytes = parse_bytes(raw.bytes);
  if (!bytes) return Error(bytes.error()).within("--bytes");
  testbed::Numbers& numbers = options.numbers;
  numbers.format = number_format(raw.format).value();
  if (!raw.result_format.empty()) numbers.result_format = number_format(raw.result_format).value();
  numbers.operation = testbed::operation_named(raw.operation).value();
  numbers.non_finite = non_finite_policy(raw.non_finite).value();
  numbers.non_finite_share = raw.non_finite_share;
  const std::uint64_t elements = elements_within(numbers.format, *bytes);
  if (elements == 0 || *bytes != encoded_bytes(numbers.format, elements) || *bytes > kMostUpdateBytes)
    return invalid_input(
        fmt::format("--bytes: {} is not a number of {} elements of at most 4 GB", raw.bytes, raw.format));
  // No range holds NaN, and none refuses it.
  if (std::isnan(options.rtt_ms) || std::isnan(options.deadline_s) || std::isnan(raw.non_finite_share))
    return invalid_input("--rtt-ms, --deadline, --non-finite-share: must be numbers");
  options.update_bytes = *bytes;
  if (raw.from >= 0) options.from = static_cast<std::uint32_t>(raw.from);
  if (options.rounds == 0 && !options.commands) return invalid_input("give --rounds N or --commands");
  return ok_status();
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const Error wrong = invalid_input(fmt::format("'{}' is not ADDRESS:PORT, such as 10.2.0.2:4700", text));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return wrong;
  in_addr address{};
  if (::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address) != 1) return wrong;
  const char* const end = text.data() + text.size();
  std::uint16_t port = 0;
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || rest != end || port == 0) return wrong;
  return Address{ntohl(address.s_addr), port};
}

ParsedIsland parse_island_options(int argc, const char* const* argv) {
  ParsedIsland parsed;
  Raw raw;
  CLI::App app("An island for experiments: generated updates in, every result checked to the bit.",
               "tombolo-island");
  app.set_version_flag("--version", "tombolo-island " TOMBOLO_VERSION);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("tombolo-island: {}; --help lists the options\n", error.what());
  });
  add_options(app, parsed.options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? kExitOk : kExitBadInput;
    return parsed;
  }
  if (Status done = complete(parsed.options, raw); !done) {
    fmt::print(stderr, "tombolo-island: {}\n", done.error().message);
    parsed.exit_code = kExitBadInput;
  }
  return parsed;
}

}  // namespace tombolo::tools
