#pragma once

#include <cstdint>

#include "aggregation/fold/kernel.h"
#include "protocol/wire/header.h"

namespace tombolo::aggregation {

/// What every contribution of a round says about the whole update; the round's first one fixes it.
struct Facts {
  std::uint64_t update_elements = 0;
  wire::Format format = wire::Format::kNone;
  wire::Operation operation = wire::Operation::kNone;
  wire::Format result_format = wire::Format::kNone;  ///< kNone: that of the update.

  /// The format of the result.
  wire::Format output() const { return result_format == wire::Format::kNone ? format : result_format; }
  /// The fold that makes results of contributions.
  fold::Kind kind() const {
    fold::Kind kind;
    kind.input = format;
    kind.output = result_format;
    kind.operation = operation;
    return kind;
  }

  friend bool operator==(const Facts&, const Facts&) = default;
};

/// What the header of a packet that is folded says.
inline Facts facts_of(const wire::Header& header) {
  const bool is_partial = header.packet_type() == wire::Type::kPartial;
  return {header.specific, static_cast<wire::Format>(is_partial ? header.update_format : header.format),
          static_cast<wire::Operation>(header.operation), static_cast<wire::Format>(header.result_format)};
}

}  // namespace tombolo::aggregation
