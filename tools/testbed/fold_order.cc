#include "tools/testbed/fold_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "tools/testbed/workload.h"

namespace tombolo::testbed {
namespace {

/// A tree has no more folds above one another than a clique has members.
constexpr int kDeepest = 64;

/// Reads one order and what follows it stays in `text`; nothing of use if it is not one.
bool read_order(std::string_view& text, FoldOrder& order, int depth) {
  if (text.empty() || depth > kDeepest) return false;
  if (text.front() != '[') {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), order.rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
  }
  do {
    text.remove_prefix(1);  // The bracket, or a comma.
    if (!read_order(text, order.inputs.emplace_back(), depth + 1)) return false;
  } while (!text.empty() && text.front() == ',');
  if (text.empty() || text.front() != ']') return false;
  text.remove_prefix(1);
  return order.inputs.size() <= fold::kMaxInputs;
}

void add_ranks(const FoldOrder& order, std::vector<std::uint16_t>& ranks) {
  if (order.inputs.empty()) ranks.push_back(order.rank);
  for (const FoldOrder& input : order.inputs) add_ranks(input, ranks);
}

/// Folds as an order says: a fold's result, or a partial's payload.
struct Replay {
  const Numbers& numbers;
  std::uint64_t seed = 0;
  std::uint32_t round = 0;
  std::uint64_t count = 0;
  wire::Format partials = wire::Format::kFp32;
  std::vector<std::uint16_t> ranks;
  std::span<const float> weights;  ///< By place in `ranks`.

  std::vector<std::byte> fold(const FoldOrder& order, bool is_root) const {
    std::vector<std::vector<std::byte>> values;
    std::vector<const std::byte*> inputs;
    std::vector<float> input_weights;
    fold::Call call;
    for (const FoldOrder& input : order.inputs) {
      const bool is_partial = !input.inputs.empty();
      if (is_partial) call.partial_inputs |= std::uint64_t{1} << values.size();
      values.push_back(is_partial ? fold(input, false) : update(input.rank));
      const auto place = std::lower_bound(ranks.begin(), ranks.end(), input.rank) - ranks.begin();
      input_weights.push_back(is_partial || weights.empty() ? 1 : weights[static_cast<std::size_t>(place)]);
    }
    for (const auto& input : values) inputs.push_back(input.data());
    fold::Kind kind;
    kind.input = numbers.format;
    kind.output = numbers.result_format;
    kind.operation = numbers.operation;
    kind.partial = partials;
    kind.finish = is_root;
    std::vector<std::byte> result(encoded_bytes(fold::output_format(kind), count));
    call.inputs = inputs.data();
    call.input_count = inputs.size();
    call.elements = count;
    call.weights = input_weights.data();
    call.divisor = static_cast<std::uint32_t>(ranks.size());
    call.out = result.data();
    fold::select(kind, fold::InstructionSet::kScalar)(call);
    return result;
  }

  std::vector<std::byte> update(std::uint16_t rank) const {
    std::vector<std::byte> input = make_input(numbers, seed, round, rank, count);
    if (numbers.non_finite == NonFinitePolicy::kZero)
      fold::replace_non_finite(numbers.format, input.data(), count, input.data());
    return input;
  }
};

}  // namespace

Expected expected_output(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                         const FoldOrder& order, std::span<const float> weights, std::uint64_t count,
                         wire::Format partials) {
  const std::vector<std::uint16_t> ranks = ranks_of(order);
  if (order == direct_order(ranks)) return expected_output(numbers, seed, round, ranks, weights, count);
  return {Replay{numbers, seed, round, count, partials, ranks, weights}.fold(order, true), ranks};
}

FoldOrder direct_order(const std::vector<std::uint16_t>& members) {
  FoldOrder order;
  for (const std::uint16_t rank : members) order.inputs.push_back({rank, {}});
  return order;
}

std::string to_text(const FoldOrder& order) {
  if (order.inputs.empty()) return std::to_string(order.rank);
  std::string text;
  for (const FoldOrder& input : order.inputs) text += (text.empty() ? "[" : ",") + to_text(input);
  return text + "]";
}

Result<FoldOrder> parse_fold_order(std::string_view text) {
  const Error wrong = invalid_input(fmt::format("'{}' is not an order of folds, such as [0,[1,2],3]", text));
  FoldOrder order;
  std::string_view rest = text;
  if (!read_order(rest, order, 0) || !rest.empty() || order.inputs.empty()) return wrong;
  const std::vector<std::uint16_t> ranks = ranks_of(order);
  if (std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end()) return wrong;
  return order;
}

std::vector<std::uint16_t> ranks_of(const FoldOrder& order) {
  std::vector<std::uint16_t> ranks;
  add_ranks(order, ranks);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round, const FoldOrder& order,
                                   std::uint64_t count, wire::Operation operation) {
  return as_floats(expected_output({.operation = operation}, seed, round, order, {}, count));
}

}  // namespace tombolo::testbed
