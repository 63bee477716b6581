#include "tools/testbed/round_parts.h"

#include "tools/testbed/planned_order.h"
#include "tools/testbed/workload.h"

namespace tombolo::testbed {

using schedule::Clique;
using schedule::Rank;

Part RoundParts::make(Rank rank, std::uint32_t round) const {
  Part part;
  part.rank = rank;
  part.round = round;
  part.input = make_input(numbers_of(config_), config_.seed, round, rank, count());
  part.output.resize(encoded_bytes(config_.output_format(), count()));
  return part;
}

void RoundParts::start(Part& part, RoundReport& report) {
  driver_.with_island(part.rank, [&](island::Endpoint& endpoint, Nanoseconds now_ns) {
    island::Allreduce request;
    request.round = part.round;
    request.input = part.input.data();
    request.output = part.output.data();
    request.count = count();
    request.format = config_.format;
    request.result_format = config_.result_format;
    request.operation = config_.operation;
    auto handle = endpoint.allreduce_async(request, now_ns);
    if (handle) {
      part.handle = *handle;
    } else {
      report.errors.push_back(name(part.rank) + ": " + handle.error().message);
      part.outcome.stage = island::Stage::kFailed;
    }
  });
}

void RoundParts::look(Part& part) {
  if (part.outcome.finished()) return;
  driver_.look_at_island(part.rank, [&](const island::Endpoint& endpoint) {
    const island::Outcome* const outcome = endpoint.poll(part.handle);
    if (outcome != nullptr && outcome->stage != part.outcome.stage) part.outcome = *outcome;
  });
}

bool RoundParts::drop(Part& part) {
  if (!part.outcome.finished()) return false;
  bool dropped = false;
  driver_.with_island(part.rank,
                      [&](island::Endpoint& endpoint, Nanoseconds) { dropped = endpoint.drop(part.handle); });
  return dropped;
}

Expected RoundParts::expected(std::uint32_t round, const Clique& members) const {
  const FoldOrder order = fold_order(installed_.plan, installed_.first_round, round, members);
  const std::vector<float> weights =
      members.size() == 1 ? std::vector<float>{} : weights_of(config_.schedule, members);
  return expected_output(numbers_of(config_), config_.seed, round, order, weights, count(),
                         installed_.plan.partials());
}

void RoundParts::judge(const Part& part, const Expected& expected, RoundReport& report) const {
  if (part.outcome.stage == island::Stage::kFailed) {
    report.errors.push_back(name(part.rank) + ": " + part.outcome.error.message);
  } else if (!part.outcome.ready()) {
    report.errors.push_back(name(part.rank) + ": no result and no error in time");
  } else if (part.outcome.contributors != expected.contributors) {
    report.errors.push_back(name(part.rank) + ": contributors are not those expected");
  } else if (part.output != expected.result) {
    report.errors.push_back(name(part.rank) + ": wrong bits");
  }
}

}  // namespace tombolo::testbed
