#include "protocol/wire/crc.h"

#include <isa-l/crc.h>

#include "base/check.h"

namespace tombolo::wire {

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  // ISA-L takes the length as an int; no datagram comes near that limit.
  CHECK(bytes.size() <= 0xffffu);
  // ISA-L does neither inversion of the standard itself, and its parameter lacks a const: it only reads.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), 0xffffffffu);
}

}  // namespace tombolo::wire
