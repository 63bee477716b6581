#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/wire/header.h"
#include "tools/testbed/workload.h"

namespace tombolo::testbed {

/// How a clique's updates become its result: the update of one rank, or a fold of others, in their order.
struct FoldOrder {
  std::uint16_t rank = 0;         ///< Without inputs.
  std::vector<FoldOrder> inputs;  ///< A fold has at least one.

  friend bool operator==(const FoldOrder&, const FoldOrder&) = default;
};

/// The order of a direct clique: the members', one after the other.
FoldOrder direct_order(const std::vector<std::uint16_t>& members);

/// "[0,[1,2],3]": what goes from one program to another. Errors: kInvalidInput for any other text, and for a
/// rank that is there twice.
std::string to_text(const FoldOrder& order);
Result<FoldOrder> parse_fold_order(std::string_view text);

/// The ranks that are in it, ascending.
std::vector<std::uint16_t> ranks_of(const FoldOrder& order);

/// What a round of any numbers must give: as the other expected_output, whose members fold as `order` says.
/// `weights` by rank, ascending; `partials` are in that format (int32 of int32). On trees nobody is rejected.
Expected expected_output(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                         const FoldOrder& order, std::span<const float> weights, std::uint64_t count,
                         wire::Format partials = wire::Format::kFp32);

/// What the round must give, to the bit: every fold by the scalar reference, partials in fp32.
std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round, const FoldOrder& order,
                                   std::uint64_t count, wire::Operation operation);

}  // namespace tombolo::testbed
