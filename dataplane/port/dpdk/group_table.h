#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/port/link_groups.h"

namespace tombolo::dataplane {

/// The IPv4 groups of a port's neighbours. A group is taken from one source only, the neighbour whose link it
/// is (source-specific multicast): whoever else sends to it is not heard.
///
/// The neighbours are fixed. Their groups are written by the control thread whenever an epoch is staged,
/// committed or aborted, and read by every worker, each as one atomic word. No order between them is needed:
/// both ends take the groups of both live epochs, and their own addresses, at any time.
class GroupTable {
 public:
  GroupTable() = default;
  /// `neighbours`: addresses, ascending.
  explicit GroupTable(std::vector<std::uint32_t> neighbours);

  /// For the control thread. `index` is the place in `neighbours`; every group is 0 or in 224.0.0.0/4.
  void set(std::size_t index, const LinkGroups& groups);

  std::uint32_t send_group(std::size_t index) const {
    return entries_[index].send.load(std::memory_order_relaxed);
  }
  /// Whether a packet of `source` may come to `group`.
  bool accepts(std::uint32_t source, std::uint32_t group) const;
  /// Whether anybody's packets may come to `group`. Looks at all neighbours: for what is dropped anyway.
  bool listens_to(std::uint32_t group) const;

 private:
  struct Entry {
    std::atomic<std::uint32_t> send{0};
    std::array<std::atomic<std::uint32_t>, 2> accept{};

    bool has(std::uint32_t group) const {
      return accept[0].load(std::memory_order_relaxed) == group ||
             accept[1].load(std::memory_order_relaxed) == group;
    }
  };

  std::vector<std::uint32_t> neighbours_;
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace tombolo::dataplane
