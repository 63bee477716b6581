#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tombolo::wire {

/// CRC32C (Castagnoli polynomial, reflected, all ones before and inverted after): 0xE3069283 for the
/// digits "123456789", 0 for no bytes. Hot path.
std::uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace tombolo::wire
