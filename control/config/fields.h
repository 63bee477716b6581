#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/address.h"
#include "schedule/yaml_value.h"

namespace tombolo::control {

/// Readers for the kinds of values that configuration files have beyond texts and numbers. All fail through
/// YamlValue::fail, which names file, line and key.

/// A whole number in [least, most].
std::uint64_t whole_number(const schedule::YamlValue& value, std::uint64_t least, std::uint64_t most);
/// true or false, or on or off.
bool truth(const schedule::YamlValue& value);
/// "10.0.0.1", host byte order; not 0.0.0.0.
std::uint32_t ipv4(const schedule::YamlValue& value);
/// "10.0.0.1/30".
struct Ipv4Network {
  std::uint32_t address = 0;
  std::uint32_t prefix_bits = 0;
};
Ipv4Network ipv4_network(const schedule::YamlValue& value);
/// "10.0.0.1:4700": a node, of which lane 0 has that UDP port.
Address node_address(const schedule::YamlValue& value);
/// "host:port", for TCP; the host is a name or an address and is not looked up here. Port 0 is allowed.
std::string host_and_port(const schedule::YamlValue& value);
/// A size with an optional unit, "2Gi".
std::uint64_t byte_count(const schedule::YamlValue& value);
/// Milliseconds, fractions allowed, as nanoseconds.
std::uint64_t milliseconds(const schedule::YamlValue& value, double most_ms);
/// One of `choices`; returns its index.
std::size_t choice(const schedule::YamlValue& value, std::initializer_list<std::string_view> choices);
/// A path; a relative one is relative to the folder of `file`.
std::string path_beside(const schedule::YamlValue& value, const std::string& file);

}  // namespace tombolo::control
