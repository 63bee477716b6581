#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/wire/header.h"

namespace tombolo::bench {

/// Every number format that can be folded, in the order of the wire's numbers.
std::vector<wire::Format> all_formats();
/// "fp32", "mxfp8-e4m3", ...
std::string format_name(wire::Format format);
/// Errors: kInvalidInput, listing the names.
Result<wire::Format> parse_format(std::string_view name);

/// Most elements of a format, a multiple of 32, whose payload has at most `bytes` bytes; 0 if not even 32
/// fit.
std::size_t elements_in(wire::Format format, std::size_t bytes);

/// A payload of random values about as large as 1 (int32: a million), the same for the same seed.
std::vector<std::byte> make_payload(wire::Format format, std::size_t elements, std::uint64_t seed);

}  // namespace tombolo::bench
