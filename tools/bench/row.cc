#include "tools/bench/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tombolo::bench {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json count_or_null(std::uint64_t count) { return count == 0 ? Json(nullptr) : Json(count); }

template <typename T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// One value as people read it: four significant digits are more than a measurement has.
std::string cell(const std::string& name, const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float() && name == "spread") return fmt::format("{:.1f} %", 100 * value.get<double>());
  if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  return value.dump();
}

}  // namespace

nlohmann::ordered_json to_json(const Row& row) {
  Json object;
  object["bench"] = row.bench;
  object["impl"] = row.impl;
  object["format"] = text_or_null(row.format);
  object["result_format"] = text_or_null(row.result_format);
  object["k"] = count_or_null(row.k);
  object["copies"] = count_or_null(row.copies);
  object["chunk_bytes"] = count_or_null(row.chunk_bytes);
  object["resident"] = text_or_null(row.resident);
  object["isa"] = text_or_null(row.isa);
  object["gbytes_per_s"] = value_or_null(row.gbytes_per_s);
  object["gbit_per_s"] = value_or_null(row.gbit_per_s);
  object["mpps"] = value_or_null(row.mpps);
  object["spread"] = value_or_null(row.spread);
  object["of_limit"] = value_or_null(row.of_limit);
  object["exact"] = value_or_null(row.exact);
  if (row.more.is_object()) object.update(row.more);
  return object;
}

std::string format_table(std::span<const Row> rows) {
  std::vector<Json> objects;
  std::vector<std::string> names;  // In the order of their first appearance.
  for (const Row& row : rows) {
    objects.push_back(to_json(row));
    for (const auto& [name, value] : objects.back().items())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::erase_if(names, [&](const std::string& name) {
    return std::all_of(objects.begin(), objects.end(),
                       [&](const Json& object) { return !object.contains(name) || object[name].is_null(); });
  });
  std::vector<std::string> lines(rows.size() + 1);
  for (const std::string& name : names) {
    std::vector<std::string> cells{name};
    for (const Json& object : objects)
      cells.push_back(object.contains(name) ? cell(name, object[name]) : "-");
    std::size_t width = 0;
    for (const std::string& text : cells) width = std::max(width, text.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].empty()) lines[i] += "  ";
      lines[i] += fmt::format("{:>{}}", cells[i], width);
    }
  }
  std::string table;
  for (const std::string& line : lines) table += line + "\n";
  return table;
}

}  // namespace tombolo::bench
