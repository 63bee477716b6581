#include "tools/island/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/testbed/workload.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::ordered_json;

/// Rounds whose memory is kept for `check`: those that may be under way, and as many finished ones.
constexpr std::size_t kKeptRounds = 2 * island::Endpoint::kMaxOperations;
/// Rounds ahead that `status` speaks of.
constexpr std::uint32_t kRoundsAhead = 4;

std::string dump(const Json& json) {
  // Error texts may hold any bytes; what is not UTF-8 is replaced.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::uint32_t session_from_wall_clock(std::uint64_t milliseconds_since_1970) {
  const auto session = static_cast<std::uint32_t>(milliseconds_since_1970);
  return session == 0 ? 1 : session;
}

Result<std::unique_ptr<IslandProgram>> IslandProgram::create(const IslandOptions& options,
                                                             std::uint32_t session, const Clock& clock,
                                                             Output output) {
  std::unique_ptr<IslandProgram> program(new IslandProgram(options, clock, std::move(output)));
  auto pool = MemoryPool::create(options.buffers, PoolSharing::kShared, options.buffer_bytes);
  if (!pool) return std::move(pool).error().within("--buffers, --buffer-bytes");
  program->pool_ = std::move(pool).value();
  island::UdpPortConfig port_config;
  port_config.address = options.listen;
  port_config.lanes = options.lanes;
  port_config.pool = program->pool_.get();
  auto port = island::UdpPort::create(port_config);
  if (!port) return std::move(port).error().within("--listen");
  program->port_ = std::move(port).value();
  island::EndpointConfig config;
  config.job = options.job;
  config.rank = options.rank;
  config.session = session;
  config.edge = options.edge;
  config.lane_count = options.lanes;
  config.window_packets = options.window;
  config.hello_interval_ns = options.hello_interval_ms * kMillisecond;
  config.initial_rtt_ns = static_cast<Nanoseconds>(options.rtt_ms * static_cast<double>(kMillisecond));
  const char* const forced = std::getenv("TOMBOLO_INSTRUCTION_SET");
  auto instructions = fold::choose_instruction_set(forced == nullptr ? "" : forced);
  if (!instructions) return std::move(instructions).error().within("TOMBOLO_INSTRUCTION_SET");
  config.instruction_set = program->instruction_set_ = *instructions;
  auto endpoint = island::Endpoint::create(config, *program->port_, *program->pool_);
  if (!endpoint) return std::move(endpoint).error();
  program->endpoint_ = std::move(endpoint).value();
  program->client_ = std::make_unique<island::Client>(
      *program->endpoint_, clock,
      [port = program->port_.get()](Nanoseconds most_ns) { port->wait(most_ns); });
  return program;
}

IslandProgram::~IslandProgram() {
  if (client_) client_->stop();
}

void IslandProgram::start(std::uint32_t round) {
  forget_old();
  Part& part = parts_.emplace_back();
  part.round = round;
  const std::uint64_t count = update_elements();
  part.input = testbed::make_input(options_.numbers, options_.seed, round, options_.rank, count);
  part.output.resize(encoded_bytes(options_.numbers.output(), count));
  island::Allreduce request;
  request.round = round;
  request.input = part.input.data();
  request.output = part.output.data();
  request.count = count;
  request.format = options_.numbers.format;
  request.result_format = options_.numbers.result_format;
  request.operation = options_.numbers.operation;
  request.deadline_ns = static_cast<Nanoseconds>(options_.deadline_s * static_cast<double>(kSecond));
  auto handle = client_->allreduce_async(request);
  if (handle) {
    part.handle = *handle;
    return;
  }
  part.outcome.stage = island::Stage::kFailed;
  part.outcome.error = handle.error();
  tell("failed", part);
  all_exact_ = false;
  parts_.pop_back();
}

bool IslandProgram::look() {
  bool under_way = false;
  for (Part& part : parts_) {
    if (part.dropped) continue;
    const bool was_ready = part.outcome.ready();
    if (auto outcome = client_->poll(part.handle)) part.outcome = std::move(*outcome);
    if (part.outcome.ready() && !was_ready) tell("ready", part);
    if (!part.outcome.finished()) {
      under_way = true;
      continue;
    }
    tell(part.outcome.ready() ? "released" : "failed", part);
    if (observer_) observer_(part.outcome);
    if (!part.outcome.ready()) all_exact_ = false;
    client_->drop(part.handle);
    part.dropped = true;
    part.input = {};  // The network has what it needs; only the result is still asked for.
  }
  return under_way;
}

namespace {

/// How the clique folds: as one of the orders says, or its members one after the other.
testbed::FoldOrder order_of(const std::vector<std::uint16_t>& members,
                            const std::vector<testbed::FoldOrder>& orders) {
  for (const testbed::FoldOrder& order : orders)
    if (testbed::ranks_of(order) == members) return order;
  return testbed::direct_order(members);
}

}  // namespace

void IslandProgram::check(std::uint32_t round, const std::vector<testbed::FoldOrder>& orders) {
  look();
  Part* const part = find(round);
  Json event{{"event", "checked"}, {"island", options_.name}, {"round", round}, {"exact", false}};
  if (part == nullptr) {
    event["error"] = "this round was not started, or is forgotten";
  } else if (!part->outcome.ready()) {
    event["error"] = "this round has no result";
  } else {
    testbed::Numbers numbers = options_.numbers;
    numbers.chunk_elements = part->outcome.chunk_elements;
    const testbed::Expected expected =
        testbed::expected_output(numbers, options_.seed, round, order_of(part->outcome.clique, orders),
                                 part->outcome.weights, update_elements());
    const bool named = part->outcome.contributors == expected.contributors;
    event["exact"] = named && part->output == expected.result;
    if (!named) event["error"] = "the contributors are not those expected";
    if (named && !event["exact"].get<bool>()) event["error"] = "wrong bits";
  }
  all_exact_ = all_exact_ && event["exact"].get<bool>();
  ++checked_;
  output_(dump(event));
}

void IslandProgram::report_status() {
  Json event{{"event", "status"}, {"island", options_.name}, {"rank", options_.rank}};
  event["instruction_set"] = fold::name_of(instruction_set_);
  client_->with([&](island::Endpoint& endpoint, Nanoseconds) {
    event["up"] = endpoint.connected();
    event["epoch"] = endpoint.epoch();
    event["first_round"] = endpoint.first_round();
    event["can_start"] = Json::array();
    // Rounds after the newest that was started here, or the epoch's first ones.
    std::uint32_t round = endpoint.first_round();
    if (!parts_.empty()) round = std::max(round, parts_.back().round + 1);
    for (std::uint32_t i = 0; i < kRoundsAhead; ++i)
      if (endpoint.can_start(round + i)) event["can_start"].push_back(round + i);
    event["drops"] = Json::object();
    for (std::size_t i = 0; i < kDropReasons; ++i) {
      const auto reason = static_cast<DropReason>(i);
      const std::uint64_t count = endpoint.counters().drops.get(reason);
      if (count > 0) event["drops"][std::string(tombolo::name(reason))] = count;
    }
    event["repairs"] = endpoint.counters().repairs_sent.get();
  });
  const island::UdpCounters& counters = port_->counters();
  event["tx_bytes"] = counters.tx_bytes.get();
  event["rx_bytes"] = counters.rx_bytes.get();
  event["socket_drops"] = counters.kernel_drops.get();
  event["no_buffer"] = counters.no_buffer.get();
  event["now_ns"] = clock_.now_ns();
  output_(dump(event));
}

void IslandProgram::report_mistake(const std::string& what) {
  output_(dump(Json{{"event", "error"}, {"island", options_.name}, {"error", what}}));
}

bool IslandProgram::can_start(std::uint32_t round) const {
  bool can = false;
  client_->with([&](island::Endpoint& endpoint, Nanoseconds) {
    can = endpoint.connected() && endpoint.can_start(round);
  });
  return can;
}

std::optional<std::uint32_t> IslandProgram::first_round() const {
  std::optional<std::uint32_t> first;
  client_->with([&](island::Endpoint& endpoint, Nanoseconds) {
    if (endpoint.epoch() != 0) first = endpoint.first_round();
  });
  return first;
}

void IslandProgram::tell(const char* name, const Part& part) {
  const island::Outcome& outcome = part.outcome;
  const island::UdpCounters& counters = port_->counters();
  Json event{{"event", name},
             {"island", options_.name},
             {"round", part.round},
             {"epoch", outcome.epoch},
             {"clique", outcome.clique},
             {"contributors", outcome.contributors},
             {"rejected", outcome.rejected},
             {"weight_sum", outcome.weight_sum},
             {"called_ns", outcome.called_ns},
             {"first_send_ns", outcome.first_send_ns},
             {"ready_ns", outcome.ready_ns},
             {"released_ns", outcome.released_ns},
             {"failed_elsewhere", outcome.failed_elsewhere},
             {"error", outcome.error.message},
             {"missing", outcome.missing},
             {"tx_bytes", counters.tx_bytes.get()},
             {"rx_bytes", counters.rx_bytes.get()}};
  output_(dump(event));
}

IslandProgram::Part* IslandProgram::find(std::uint32_t round) {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [round](const Part& part) { return part.round == round; });
  return found == parts_.end() ? nullptr : &*found;
}

void IslandProgram::forget_old() {
  while (parts_.size() >= kKeptRounds && parts_.front().dropped) parts_.pop_front();
}

}  // namespace tombolo::tools
