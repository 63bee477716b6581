#include "control/config/controller_config.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "control/config/fields.h"

namespace tombolo::control {
namespace {

using schedule::YamlMap;
using schedule::YamlValue;

constexpr std::uint32_t kStandardPayloadBytes = 1280;
constexpr std::uint32_t kJumboPayloadBytes = 8192;
constexpr std::uint64_t kMaxLanes = 256;
constexpr double kLongestDeadlineS = 86'400;
constexpr double kLongestSettleMs = 60'000;
constexpr double kLeastShare = 0.001;

/// The formats, what becomes of values that are not finite, and the chunk that they all fit.
void read_numbers(const YamlMap& map, ControllerFile& file) {
  const auto format = [&map](const char* key) -> std::optional<NumberFormat> {
    const auto value = map.find(key);
    if (!value) return std::nullopt;
    const auto known = number_format(value->text());
    if (!known) value->fail(fmt::format("must be one of {}", number_format_names()));
    return known;
  };
  if (const auto input = format("format")) file.format = *input;
  file.result_format = format("result_format").value_or(file.format);
  if (const auto policy = map.find("non_finite"))
    file.non_finite = static_cast<NonFinitePolicy>(choice(*policy, {"propagate", "zero", "reject"}));
  const auto chunk = map.find("chunk");
  const bool jumbo = chunk && choice(*chunk, {"standard", "jumbo"}) == 1;
  // Where sites fold, partials must fit a packet, too.
  const auto aggregation = map.find("aggregation");
  const bool trees = aggregation && aggregation->text() == "tree";
  if (const auto partials = map.find("partials"))
    file.partial_format = static_cast<schedule::PartialFormat>(choice(*partials, {"fp32", "update"}));
  const NumberFormat partials = trees ? schedule::partials_of(file.format, file.partial_format) : file.format;
  file.chunk_elements = chunk_elements_for(std::array{file.format, file.result_format, partials},
                                           jumbo ? kJumboPayloadBytes : kStandardPayloadBytes);
}

void read_network(const YamlMap& map, ControllerFile& file) {
  const YamlValue topology = map.get("topology");
  auto loaded = schedule::load_topology(path_beside(topology, file.path));
  if (!loaded) topology.fail(loaded.error().message);
  file.topology = std::move(loaded).value();
  const YamlValue profile = map.get("profile");
  const auto scale = map.find("scale");
  const double factor = scale ? scale->number(1e-9, 1000) : 1.0;
  auto network = schedule::resolve(file.topology, profile.text(), factor);
  if (!network) profile.fail(network.error().message);
  file.network = std::move(network).value();
  if (const auto share = map.find("share")) schedule::take_share(file.network, share->number(kLeastShare, 1));
  const YamlValue bytes = map.get("bytes");
  const double scaled = std::floor(static_cast<double>(byte_count(bytes)) * factor);
  const std::uint64_t elements = elements_within(file.format, static_cast<std::uint64_t>(scaled));
  if (elements == 0) bytes.fail("is less than one element at this scale");
  file.update_bytes = encoded_bytes(file.format, elements);
  const YamlValue schedule = map.get("schedule");
  std::string name = schedule.text();
  if (name != "full" && name != "grid") name = path_beside(schedule, file.path);
  auto nominal = schedule::load_schedule(name, file.network.islands, file.network.site_names);
  if (!nominal) schedule.fail(nominal.error().message);
  file.schedule = std::move(nominal).value();
}

/// Reads it whole: the base of the range, nothing of 224.0.0.0/24 (which no router forwards), and a group for
/// each direction of every link.
GroupRange read_groups(const YamlValue& value, const schedule::Network& network) {
  const Ipv4Network range = ipv4_network(value);
  if (range.address >> 28 != 0xe || range.prefix_bits < 4)
    value.fail("must lie in 224.0.0.0/4, the addresses of IPv4 multicast");
  const auto count = static_cast<std::uint32_t>(std::uint64_t{1} << (32 - range.prefix_bits));
  if ((range.address & (count - 1)) != 0) value.fail("has bits behind its prefix length");
  if (range.address >> 8 == 0xe00000) value.fail("must lie beyond 224.0.0.0/24, which no router forwards");
  if (count < network.links.size())
    value.fail(
        fmt::format("has {} groups; the topology's links have {} directions", count, network.links.size()));
  return {range.address, count};
}

ControllerFile read(const YamlValue& root, const std::string& path) {
  const YamlMap map = root.map({"listen",       "ca",
                                "certificate",  "key",
                                "topology",     "profile",
                                "scale",        "share",
                                "schedule",     "job",
                                "lanes",        "chunk",
                                "bytes",        "multicast",
                                "aggregation",  "deadline_s",
                                "settle_ms",    "state",
                                "local_socket", "metrics",
                                "log",          "native_multicast",
                                "format",       "result_format",
                                "partials",     "non_finite"});
  ControllerFile file;
  file.path = path;
  file.listen = host_and_port(map.get("listen"));
  file.tls = read_tls(map, path);
  read_numbers(map, file);
  read_network(map, file);
  if (const auto job = map.find("job")) file.job = static_cast<std::uint16_t>(whole_number(*job, 0, 65535));
  if (const auto lanes = map.find("lanes"))
    file.lanes = static_cast<std::uint16_t>(whole_number(*lanes, 1, kMaxLanes));
  if (const auto multicast = map.find("multicast")) file.multicast = truth(*multicast);
  if (const auto groups = map.find("native_multicast"))
    file.native_multicast = read_groups(*groups, file.network);
  if (const auto aggregation = map.find("aggregation")) {
    const std::size_t chosen = choice(*aggregation, {"none", "edge", "tree"});
    file.edge_aggregation = chosen >= 1;
    file.tree_aggregation = chosen == 2;
  }
  if (const auto deadline = map.find("deadline_s"))
    file.deadline_ns = static_cast<Nanoseconds>(deadline->number(1e-3, kLongestDeadlineS) * double{kSecond});
  if (const auto settle = map.find("settle_ms")) file.settle_ns = milliseconds(*settle, kLongestSettleMs);
  file.state = path_beside(map.get("state"), path);
  if (const auto socket = map.find("local_socket")) file.local_socket = path_beside(*socket, path);
  if (const auto metrics = map.find("metrics")) file.metrics = host_and_port(*metrics);
  if (const auto log = map.find("log")) file.log = read_log(*log, path);
  return file;
}

}  // namespace

schedule::CompileOptions ControllerFile::compile_options() const {
  schedule::CompileOptions options;
  options.job = job;
  options.chunk_elements = chunk_elements;
  options.lane_count = lanes;
  options.deadline_ns = deadline_ns;
  options.update_bytes = update_bytes;
  options.format = format;
  options.result_format = result_format;
  options.non_finite = non_finite;
  options.multicast = multicast;
  options.edge_aggregation = edge_aggregation;
  options.tree_aggregation = tree_aggregation;
  options.partial_format = partial_format;
  return options;
}

Result<ControllerFile> parse_controller_config(std::string_view text, const std::string& path) {
  return schedule::read_yaml<ControllerFile>(text, path,
                                             [&](const YamlValue& root) { return read(root, path); });
}

Result<ControllerFile> load_controller_config(const std::string& path) {
  auto text = schedule::read_file(path);
  if (!text) return std::move(text).error();
  return parse_controller_config(*text, path);
}

}  // namespace tombolo::control
