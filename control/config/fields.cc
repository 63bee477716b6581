#include "control/config/fields.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/clock.h"
#include "base/units.h"

namespace tombolo::control {
namespace {

using schedule::YamlValue;

constexpr std::uint32_t kMaxPrefixBits = 32;
constexpr std::uint64_t kMaxPort = 65535;

template <typename Number>
bool read_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

std::uint32_t read_ipv4(const YamlValue& value, const std::string& text) {
  in_addr address{};
  if (inet_pton(AF_INET, text.c_str(), &address) != 1 || address.s_addr == 0)
    value.fail(fmt::format("'{:.40}' is not an IPv4 address such as 10.0.0.1", text));
  return ntohl(address.s_addr);
}

/// The two parts of "HOST:PORT".
std::pair<std::string, std::uint16_t> split_port(const YamlValue& value, std::uint64_t least_port) {
  const std::string text = value.text();
  const std::size_t colon = text.rfind(':');
  std::uint64_t port = 0;
  if (colon == std::string::npos || colon == 0 ||
      !read_whole(std::string_view(text).substr(colon + 1), port) || port < least_port || port > kMaxPort)
    value.fail(
        fmt::format("'{:.80}' is not HOST:PORT with a port from {} to {}", text, least_port, kMaxPort));
  return {text.substr(0, colon), static_cast<std::uint16_t>(port)};
}

}  // namespace

std::uint64_t whole_number(const YamlValue& value, std::uint64_t least, std::uint64_t most) {
  const double number = value.number(static_cast<double>(least), static_cast<double>(most));
  if (number != std::floor(number)) value.fail("must be a whole number");
  return static_cast<std::uint64_t>(number);
}

bool truth(const YamlValue& value) { return choice(value, {"off", "on", "false", "true"}) % 2 == 1; }

std::uint32_t ipv4(const YamlValue& value) { return read_ipv4(value, value.text()); }

Ipv4Network ipv4_network(const YamlValue& value) {
  const std::string text = value.text();
  const std::size_t slash = text.find('/');
  std::uint32_t bits = 0;
  if (slash == std::string::npos || !read_whole(std::string_view(text).substr(slash + 1), bits) ||
      bits == 0 || bits > kMaxPrefixBits)
    value.fail(fmt::format("'{:.40}' is not an address with its prefix length, such as 10.0.0.1/30", text));
  return {read_ipv4(value, text.substr(0, slash)), bits};
}

Address node_address(const YamlValue& value) {
  const auto [host, port] = split_port(value, 1);
  return {read_ipv4(value, host), port};
}

std::string host_and_port(const YamlValue& value) {
  split_port(value, 0);
  return value.text();
}

std::uint64_t byte_count(const YamlValue& value) {
  const auto bytes = parse_bytes(value.text());
  if (!bytes) value.fail(bytes.error().message);
  return *bytes;
}

std::uint64_t milliseconds(const YamlValue& value, double most_ms) {
  return static_cast<std::uint64_t>(std::llround(value.number(0, most_ms) * double{kMillisecond}));
}

std::size_t choice(const YamlValue& value, std::initializer_list<std::string_view> choices) {
  const std::string text = value.text();
  std::size_t index = 0;
  for (const std::string_view known : choices) {
    if (text == known) return index;
    ++index;
  }
  value.fail(fmt::format("'{:.40}' is not one of {}", text, fmt::join(choices, ", ")));
}

std::string path_beside(const YamlValue& value, const std::string& file) {
  const std::filesystem::path path(value.text());
  if (path.is_absolute()) return path.string();
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

}  // namespace tombolo::control
