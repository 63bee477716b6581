#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

namespace tombolo::bench {

/// What was measured of one implementation in one case. What does not apply is empty, 0 or nothing, and null
/// in JSON.
struct Row {
  std::string bench;   ///< The verb.
  std::string impl;    ///< "tombolo", a rival's name, or "limit": what the machine can do.
  std::string format;  ///< Of the inputs.
  std::string result_format;
  std::uint32_t k = 0;       ///< Inputs of a fold.
  std::uint32_t copies = 0;  ///< Of a packet.
  std::uint64_t chunk_bytes = 0;
  std::string resident;  ///< "cache" or "memory": where the inputs come from.
  std::string isa;
  std::optional<double> gbytes_per_s;  ///< 10^9 bytes of payload in.
  std::optional<double> gbit_per_s;    ///< 10^9 bits of payload in.
  std::optional<double> mpps;          ///< 10^6 packets, in for a fold and out for copies.
  std::optional<double> spread;    ///< (75th - 25th percentile) / median of the rate over the repetitions.
  std::optional<double> of_limit;  ///< The rate as a part of the limit's, of the same repetition; median.
  std::optional<bool> exact;       ///< Whether the result has the bits of the reference.
  nlohmann::ordered_json more;     ///< What only this bench has: an object, or null.
};

/// All fields by name, then those of `more`.
nlohmann::ordered_json to_json(const Row& row);

/// A table for people: a column for each field that any row has. Every line ends in a newline.
std::string format_table(std::span<const Row> rows);

}  // namespace tombolo::bench
