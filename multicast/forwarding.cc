#include "multicast/forwarding.h"

#include <algorithm>
#include <string>

#include "protocol/wire/header.h"

namespace tombolo::multicast {
namespace {

/// True if `bits` has a bit at or above `count`.
bool exceeds(std::uint64_t bits, std::size_t count) { return count < 64 && (bits >> count) != 0; }

// lint: set-up, runs before the first packet
/// What is wrong with a branch; empty when it is sound.
std::string fault_of(const Branch& branch, std::size_t link_count, std::size_t point_count) {
  if (branch.starts_here() && branch.parent_point >= point_count) {
    return "from fold point " + std::to_string(branch.parent_point) + " of " + std::to_string(point_count);
  }
  if (!branch.starts_here() && branch.parent_link >= link_count) {
    return "parent link " + std::to_string(branch.parent_link) + " of " + std::to_string(link_count) +
           " links";
  }
  if (exceeds(branch.child_links, link_count)) {
    return "a child link outside the " + std::to_string(link_count) + " links";
  }
  if (exceeds(branch.deliver, point_count)) {
    return "delivery to a fold point outside the " + std::to_string(point_count) + " local ones";
  }
  if (!branch.starts_here() && (branch.child_links >> branch.parent_link & 1) != 0) {
    return "a copy would go back over parent link " + std::to_string(branch.parent_link);
  }
  if (branch.child_links == 0 && branch.deliver == 0) return "neither a child link nor a local fold point";
  return {};
}

}  // namespace

// lint: set-up, runs before the first packet
Result<ForwardingTable> ForwardingTable::build(std::span<const BranchSpec> specs, std::size_t link_count,
                                               std::size_t point_count) {
  if (link_count > kMaxLinks) return invalid_input("an edge has at most 64 links");
  if (point_count > kMaxLocalPoints) return invalid_input("an edge has at most 64 fold points");
  ForwardingTable table;
  for (const BranchSpec& spec : specs) {
    const std::string where = "tree " + std::to_string(spec.tree);
    if (spec.tree == wire::kNoTree) return invalid_input(where + ": the number is reserved for no tree");
    if (std::string fault = fault_of(spec.branch, link_count, point_count); !fault.empty()) {
      return invalid_input(where + ": " + fault);
    }
    if (table.find(spec.tree) != nullptr) return invalid_input(where + ": given twice");
    table.branches_.resize(std::max<std::size_t>(table.branches_.size(), std::size_t{spec.tree} + 1));
    table.branches_[spec.tree] = spec.branch;
    table.branches_[spec.tree].valid = true;
  }
  return table;
}

}  // namespace tombolo::multicast
