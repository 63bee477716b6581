#include "protocol/wire/packet.h"

#include <array>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "protocol/wire/config.h"
#include "protocol/wire/crc.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"

namespace tombolo::wire {
namespace {

enum class Specific : std::uint8_t { kZero, kAny, kNotZero, kUpdateElements };

/// What a type demands of its packets; PROTOCOL.md has the same table in words.
struct TypeRule {
  std::uint16_t min_payload_bytes = 0;
  std::uint16_t max_payload_bytes = 0;
  std::uint16_t payload_step = 1;  ///< The payload grows from its minimum in steps of so many bytes.
  bool has_values = false;         ///< Carries elements: names a format and an operation, else neither.
  bool needs_epoch = false;
  bool needs_rank = false;
  bool needs_tree = false;
  Specific specific = Specific::kZero;
};

constexpr std::size_t kTypes = 11;

constexpr std::array<TypeRule, kTypes> make_rules() {
  std::array<TypeRule, kTypes> rules{};
  const auto at = [&rules](Type type) -> TypeRule& { return rules[static_cast<std::size_t>(type)]; };
  at(Type::kContribution) = {0, kMaxPayloadBytes, 1, true, true, true, true, Specific::kUpdateElements};
  at(Type::kPartial) = {0, kMaxPayloadBytes, 1, true, true, false, true, Specific::kUpdateElements};
  at(Type::kResult) = {0, kMaxPayloadBytes, 1, true, true, false, false, Specific::kAny};
  at(Type::kParity) = {kParityIdentityBytes, kMaxPayloadBytes, 1, false, true, false, false,
                       Specific::kNotZero};
  at(Type::kFeedback) = {kMinFeedbackBytes, kMaxFeedbackBytes, 8, false, false, false, false,
                         Specific::kZero};
  at(Type::kGrant) = {0, 0, 1, false, true, false, true, Specific::kAny};
  at(Type::kRoundEnd) = {0, 0, 1, false, true, false, false, Specific::kAny};
  at(Type::kHello) = {kHelloBytes, kHelloBytes, 1, false, false, false, false, Specific::kZero};
  at(Type::kJoin) = {0, 0, 1, false, false, true, false, Specific::kZero};
  at(Type::kConfig) = {kMinConfigBytes, kMaxConfigBytes, 2, false, true, true, false, Specific::kZero};
  return rules;
}

constexpr std::array<TypeRule, kTypes> kRules = make_rules();

/// kNone and every unknown format have no unit.
FormatUnit unit_of(std::uint8_t format) { return tombolo::unit_of(static_cast<Format>(format)); }

bool is_known(Type type) { return type >= Type::kContribution && type <= Type::kConfig; }

bool length_fits(const Header& header, const TypeRule& rule, std::size_t payload_bytes) {
  if (header.payload_bytes != payload_bytes) return false;
  if (payload_bytes < rule.min_payload_bytes || payload_bytes > rule.max_payload_bytes) return false;
  if ((payload_bytes - rule.min_payload_bytes) % rule.payload_step != 0) return false;
  // An unknown format has no unit to check against; it is refused as a field right after.
  const FormatUnit unit = unit_of(header.format);
  return !rule.has_values || unit.bytes == 0 || payload_bytes % unit.bytes == 0;
}

/// Whether chunk and payload can belong to an update of `specific` elements. The chunk size is not in the
/// packet, so this finds what no chunk size explains; the epoch's own size is compared later.
bool chunk_fits_update(const Header& header) {
  const FormatUnit unit = unit_of(header.format);
  const std::uint64_t total = header.specific;
  if (total == 0 || total > kMaxUpdateElements) return false;
  // Blocks are sent whole: the last one is padded beyond the update's end.
  const std::uint64_t padded = (total + unit.elements - 1) / unit.elements * unit.elements;
  const std::uint64_t chunk = header.chunk;
  const std::uint64_t elements = std::uint64_t{header.payload_bytes} / unit.bytes * unit.elements;
  // A lane that a small update does not reach carries one empty chunk, behind the update's end.
  if (elements == 0) {
    const std::uint64_t most = elements_within(static_cast<Format>(header.format), kMaxPayloadBytes);
    return chunk > 0 && chunk * (most / kChunkElementStep * kChunkElementStep) >= total;
  }
  // All chunks before this one are at least as long as it.
  if ((chunk + 1) * elements > padded) return false;
  if (elements % 32 == 0) return true;
  // Only the last chunk may have an odd length, and it starts at a multiple of the chunk size.
  if (chunk == 0) return elements == padded;
  const std::uint64_t start = padded - elements;
  return start % chunk == 0 && start / chunk % 32 == 0;
}

bool specific_fits(const Header& header, Specific specific) {
  switch (specific) {
    case Specific::kZero:
      return header.specific == 0;
    case Specific::kAny:
      return true;
    case Specific::kNotZero:
      return header.specific != 0;
    case Specific::kUpdateElements:
      return chunk_fits_update(header);
  }
  return false;
}

bool fields_fit(const Header& header, const TypeRule& rule) {
  if (header.session == 0) return false;
  if (rule.has_values) {
    if (unit_of(header.format).bytes == 0) return false;
    if (header.operation == 0 || header.operation > static_cast<std::uint8_t>(Operation::kMax)) return false;
  } else if (header.format != 0 || header.operation != 0) {
    return false;
  }
  const bool is_partial = header.packet_type() == Type::kPartial;
  if (is_partial ? unit_of(header.update_format).bytes == 0 : header.update_format != 0) return false;
  if (header.result_format != 0) {
    // There is one way to ask for the format of the contributions themselves: 0.
    const bool is_input = is_partial || header.packet_type() == Type::kContribution;
    if (!is_input || header.result_format == (is_partial ? header.update_format : header.format))
      return false;
    if (unit_of(header.result_format).bytes == 0) return false;
  }
  if (rule.needs_epoch && header.epoch == 0) return false;
  if (rule.needs_rank && header.rank == kNoRank) return false;
  if (rule.needs_tree && header.tree == kNoTree) return false;
  if (!specific_fits(header, rule.specific)) return false;
  // Without a tree a result or an end of a round is one island's; a tree may be that of a site that folds.
  const bool may_be_a_sites =
      header.packet_type() == Type::kResult || header.packet_type() == Type::kRoundEnd;
  if (may_be_a_sites && header.tree == kNoTree && header.rank == kNoRank) return false;
  if (header.packet_type() != Type::kRoundEnd) return true;
  if (header.chunk > static_cast<std::uint32_t>(RoundOutcome::kLost)) return false;
  // A complete round misses nobody; down a tree the number says how many results there were.
  return header.chunk != static_cast<std::uint32_t>(RoundOutcome::kComplete) || header.specific == 0 ||
         (header.tree != kNoTree && header.rank == kNoRank);
}

bool body_fits(Type type, std::span<const std::byte> payload) {
  switch (type) {
    case Type::kFeedback: {
      Feedback feedback;
      return parse(payload, feedback);
    }
    case Type::kHello: {
      Hello hello;
      return parse(payload, hello);
    }
    case Type::kConfig: {
      Config config;
      return parse(payload, config);
    }
    default:
      return true;
  }
}

std::uint32_t header_crc_of(const Header& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_crc)));
}

}  // namespace

DropReason validate(std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes) return DropReason::kTruncated;
  const Header header = read_header(packet);
  if (header.magic != kMagic) return DropReason::kBadMagic;
  if (header.version != kVersion) return DropReason::kBadVersion;
  if (header.header_crc != header_crc_of(header)) return DropReason::kBadHeaderCrc;
  const Type type = header.packet_type();
  if (!is_known(type)) return DropReason::kBadType;
  if ((header.flags & ~kKnownFlags) != 0) return DropReason::kBadFlags;
  // There are no keys yet, so a key id is as reserved as the reserved bytes.
  if (header.reserved != decltype(header.reserved){} || header.key_id != 0)
    return DropReason::kReservedNotZero;
  const TypeRule& rule = kRules[header.type];
  const std::span<const std::byte> payload = packet.subspan(kHeaderBytes);
  if (!length_fits(header, rule, payload.size())) return DropReason::kBadLength;
  if (!fields_fit(header, rule)) return DropReason::kBadField;
  if (header.payload_crc != crc32c(payload)) return DropReason::kBadPayloadCrc;
  // The CRC comes before the body's inside, so that a damaged body is counted as damage and a wrong one as
  // wrong.
  return body_fits(type, payload) ? DropReason::kNone : DropReason::kBadField;
}

std::optional<std::uint16_t> peek_job(std::span<const std::byte> packet) {
  Le16 job;
  if (packet.size() < offsetof(Header, job) + sizeof(job)) return std::nullopt;
  std::memcpy(&job, packet.data() + offsetof(Header, job), sizeof(job));
  return job;
}

Header read_header(std::span<const std::byte> packet) {
  CHECK(packet.size() >= kHeaderBytes);
  Header header;
  std::memcpy(&header, packet.data(), sizeof(header));
  return header;
}

std::span<const std::byte> payload_of(std::span<const std::byte> packet) {
  CHECK(packet.size() >= kHeaderBytes);
  return packet.subspan(kHeaderBytes);
}

void set_payload(Header& header, std::span<const std::byte> payload) {
  CHECK(payload.size() <= kMaxPayloadBytes);
  header.payload_bytes = static_cast<std::uint16_t>(payload.size());
  header.payload_crc = crc32c(payload);
}

void seal(Header& header) { header.header_crc = header_crc_of(header); }

#ifdef __SSE4_2__

namespace {

/// A field in a register of its own: the compiler may not join its load with its neighbour's.
template <typename T>
std::uint64_t apart(T field, unsigned bit) {
  std::uint64_t value = field;
  asm("" : "+r"(value));
  return value << bit;
}

/// The header as eight little-endian words, each put together from its fields: a field is read as it was
/// written.
std::array<std::uint64_t, 8> words_of(const Header& h) {
  return {
      apart(h.magic, 0) | apart(h.version, 16) | apart(h.type, 24) | apart(h.flags, 32) | apart(h.key_id, 48),
      apart(h.job, 0) | apart(h.rank, 16) | apart(h.tree, 32) | apart(h.lane, 48),
      apart(h.epoch, 0) | apart(h.round, 32),
      apart(h.session, 0) | apart(h.link_sequence, 32),
      apart(h.timestamp_us, 0) | apart(h.chunk, 32),
      h.specific,
      apart(h.format, 0) | apart(h.operation, 8) | apart(h.payload_bytes, 16) | apart(h.result_format, 32) |
          apart(h.update_format, 40) | apart(std::get<0>(h.reserved), 48) |
          apart(std::get<1>(h.reserved), 56),
      h.payload_crc};
}

}  // namespace

void seal(Header& header, std::span<std::byte, kHeaderBytes> out) {
  std::array<std::uint64_t, 8> words = words_of(header);
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < 7; ++i) crc = crc32c_step(crc, words[i]);
  crc = ~crc32c_step(crc, static_cast<std::uint32_t>(words[7]));
  header.header_crc = crc;
  words[7] |= std::uint64_t{crc} << 32;
  // By pairs, as it is read from here: in pieces of 16 bytes.
  for (std::size_t i = 0; i < 8; i += 2)
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(out.data() + 8 * i),
        _mm_set_epi64x(std::bit_cast<long long>(words[i + 1]), std::bit_cast<long long>(words[i])));
}

#else

void seal(Header& header, std::span<std::byte, kHeaderBytes> out) {
  seal(header);
  std::memcpy(out.data(), &header, sizeof header);
}

#endif

}  // namespace tombolo::wire
