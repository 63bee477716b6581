#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/drop_reason.h"
#include "protocol/wire/header.h"

namespace tombolo::wire {

/// The payload of a full standard chunk: 320 fp32 elements. The next size with a multiple of 32 elements
/// would not fit a 1476-byte tunnel beside header, tag and parity identity.
inline constexpr std::uint32_t kStandardPayloadBytes = 1280;
/// What a PARITY packet carries before the combined payloads: the combined identities.
inline constexpr std::uint32_t kParityIdentityBytes = 24;
/// The largest `update_elements` of a CONTRIBUTION: 2^32 chunks of at most 2^13 elements.
inline constexpr std::uint64_t kMaxUpdateElements = std::uint64_t{1} << 45;
/// GRANT's `chunk` when every chunk of the round has a slot.
inline constexpr std::uint32_t kAllChunks = 0xffffffff;

/// Judges a whole received datagram, header and payload, by its bytes alone, in the order of DropReason; a
/// body's inside comes last. After kNone, the header's fields may be trusted as PROTOCOL.md describes them
/// and the parse function of the type's body succeeds. Who sent it, and whether its epoch, tree and round
/// exist, is for others. Hot path.
DropReason validate(std::span<const std::byte> packet);

/// The job that a datagram names, before anything about it has been judged; nothing if it is too short. For
/// choosing who judges it. Hot path.
std::optional<std::uint16_t> peek_job(std::span<const std::byte> packet);

/// The header of a packet of at least kHeaderBytes (a CHECK). Hot path.
Header read_header(std::span<const std::byte> packet);

/// The payload of a packet of at least kHeaderBytes (a CHECK). Hot path.
std::span<const std::byte> payload_of(std::span<const std::byte> packet);

/// Sets the header's length and payload CRC for a payload of at most kMaxPayloadBytes (a CHECK). Done once,
/// where the payload is made; copies keep both. Hot path.
void set_payload(Header& header, std::span<const std::byte> payload);

/// Sets the header CRC. The last step before sending: any later change of the header breaks it. Hot path.
void seal(Header& header);

/// The same, and writes the sealed header to `out` as it lies on the wire. Much quicker than a copy of a
/// header whose fields were just set: it never reads in one piece what was written in several, for which a
/// processor waits until all that was written before has left its store buffer. Hot path.
void seal(Header& header, std::span<std::byte, kHeaderBytes> out);

}  // namespace tombolo::wire
