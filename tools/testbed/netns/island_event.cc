#include "tools/testbed/netns/island_event.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace tombolo::testbed {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostItems = 1024;

/// Takes what is there and has the right type; remembers the first key that has not.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename Number>
  void number(const char* key, Number& value) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    if (!found->is_number_unsigned() || found->get<std::uint64_t>() > std::numeric_limits<Number>::max())
      return fail(key);
    value = static_cast<Number>(found->get<std::uint64_t>());
  }
  void text(const char* key, std::string& value) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    if (!found->is_string()) return fail(key);
    value = found->get<std::string>();
  }
  void flag(const char* key, bool& value) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    if (!found->is_boolean()) return fail(key);
    value = found->get<bool>();
  }
  template <typename Number>
  void numbers(const char* key, std::vector<Number>& values) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    if (!found->is_array() || found->size() > kMostItems) return fail(key);
    for (const Json& item : *found) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() > std::numeric_limits<Number>::max())
        return fail(key);
      values.push_back(static_cast<Number>(item.get<std::uint64_t>()));
    }
  }
  void counts(const char* key, std::vector<std::pair<std::string, std::uint64_t>>& values) {
    const auto found = json_.find(key);
    if (found == json_.end()) return;
    if (!found->is_object() || found->size() > kMostItems) return fail(key);
    for (const auto& [name, count] : found->items()) {
      if (!count.is_number_unsigned()) return fail(key);
      values.emplace_back(name, count.get<std::uint64_t>());
    }
  }
  const char* wrong() const { return wrong_; }

 private:
  void fail(const char* key) {
    if (wrong_ == nullptr) wrong_ = key;
  }
  const Json& json_;
  const char* wrong_ = nullptr;
};

}  // namespace

Result<IslandEvent> parse_island_event(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return invalid_input("an island's line is not a JSON object");
  IslandEvent event;
  Reader reader(json);
  reader.text("event", event.event);
  reader.number("round", event.round);
  reader.number("epoch", event.epoch);
  reader.numbers("contributors", event.contributors);
  reader.numbers("rejected", event.rejected);
  reader.number("first_send_ns", event.first_send_ns);
  reader.number("ready_ns", event.ready_ns);
  reader.number("tx_bytes", event.tx_bytes);
  reader.number("rx_bytes", event.rx_bytes);
  reader.text("error", event.error);
  reader.flag("failed_elsewhere", event.failed_elsewhere);
  reader.flag("exact", event.exact);
  reader.flag("up", event.up);
  reader.number("first_round", event.first_round);
  reader.numbers("can_start", event.can_start);
  reader.counts("drops", event.drops);
  reader.number("repairs", event.repairs);
  if (reader.wrong() != nullptr)
    return invalid_input(fmt::format("an island's event: {}: has the wrong type", reader.wrong()));
  if (event.event.empty()) return invalid_input("an island's event: event: is missing");
  return event;
}

}  // namespace tombolo::testbed
