#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tombolo {

inline constexpr std::uint64_t kBitsPerByte = 8;

/// Reads "1G", "10MB", "64Ki", "1.5M", "1234": decimal k/M/G/T, binary Ki/Mi/Gi/Ti, an optional final B.
/// Errors: kInvalidInput, naming the text.
Result<std::uint64_t> parse_bytes(std::string_view text);

/// Reads a finite, plain decimal number; the whole text must be the number.
Result<double> parse_number(std::string_view text);

/// "1.39 GB", "812 kB", "64 B": for tables that people read.
std::string format_bytes(std::uint64_t bytes);

/// "0.967 s", "12.3 ms", "870 us": for tables that people read.
std::string format_duration_ns(std::uint64_t ns);

}  // namespace tombolo
