#pragma once

#include <yaml-cpp/yaml.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tombolo::schedule {

/// How a reader stops at a file's first mistake. Thrown and caught inside this folder only (see read_yaml).
struct YamlFailure {
  Error error;
};

class YamlMap;

/// A value of a YAML file that knows where it stands: file, line (from 1) and key path ("links[3].rtt_ms").
/// Every member throws YamlFailure with that place when the value is not what the caller asks for.
class YamlValue {
 public:
  /// The one document of `text`. Refused: more than 4 MiB, nesting deeper than 16, anchors and aliases (a
  /// small file could stand for a huge one), more than one document, what is not YAML.
  static YamlValue load(std::string_view text, std::string_view file_name);

  [[noreturn]] void fail(std::string_view what) const;

  /// A mapping whose keys are all in `allowed`, each at most once.
  YamlMap map(std::initializer_list<std::string_view> allowed) const;
  /// A mapping with keys that the file's author chooses, in the file's order, each at most once.
  std::vector<std::pair<std::string, YamlValue>> members() const;
  std::vector<YamlValue> items() const;
  /// A scalar that is not empty.
  std::string text() const;
  /// A text of at most 32 letters, digits, '_' and '.': a hyphen joins two ids to a link's name.
  std::string id() const;
  bool is_map() const { return node_.IsMap(); }
  /// A plain `true` or `false`.
  bool boolean() const;
  /// A plain, finite number in [least, most].
  double number(double least, double most) const;
  /// A plain, finite number in (0, most].
  double positive_number(double most) const;

  const std::string& key() const { return key_; }

 private:
  YamlValue(YAML::Node node, std::shared_ptr<const std::string> file, std::string key, int line)
      : node_(std::move(node)), file_(std::move(file)), key_(std::move(key)), line_(line) {}
  double plain_number() const;
  std::string member_key(const std::string& name) const;

  YAML::Node node_;
  std::shared_ptr<const std::string> file_;
  std::string key_;
  int line_;
};

/// A mapping with known keys.
class YamlMap {
 public:
  YamlMap(YamlValue whole, std::vector<std::pair<std::string, YamlValue>> members)
      : whole_(std::move(whole)), members_(std::move(members)) {}

  std::optional<YamlValue> find(std::string_view key) const;
  /// Fails, naming the mapping, if the key is missing.
  YamlValue get(std::string_view key) const;
  const YamlValue& whole() const { return whole_; }

 private:
  YamlValue whole_;
  std::vector<std::pair<std::string, YamlValue>> members_;
};

/// The whole text of a file; an Error names the path and the reason.
Result<std::string> read_file(const std::string& path);

/// Runs `read` on the document and turns what a reader or the YAML library throws into one Error.
template <typename T, typename Read>
Result<T> read_yaml(std::string_view text, std::string_view file_name, Read read) {
  try {
    return read(YamlValue::load(text, file_name));
  } catch (const YamlFailure& failure) {
    return failure.error;
  } catch (const YAML::Exception& exception) {
    return invalid_input(std::string(file_name) + ":" + std::to_string(exception.mark.line + 1) +
                         ": not valid YAML: " + exception.msg);
  }
}

}  // namespace tombolo::schedule
