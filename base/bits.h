#pragma once

#include <cstddef>
#include <cstdint>

namespace tombolo {

/// The lowest `count` bits set; 0 to 64. A set of all of so many members, links, children.
constexpr std::uint64_t lowest_bits(std::size_t count) {
  return count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count);
}

}  // namespace tombolo
