#include "schedule/yaml_value.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>

#include "base/units.h"

namespace tombolo::schedule {
namespace {

constexpr std::size_t kMaxFileBytes = 4u << 20;
constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxIdLength = 32;
constexpr std::size_t kMaxQuotedLength = 60;

/// Keys and values come as the file has them, line ends and escape sequences included; a message is one line.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

/// A first pass over the events of a document. It refuses what must not reach the tree of nodes: that tree is
/// built and destroyed recursively, and aliases multiply it.
class Gatekeeper final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { refuse_anchor(mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "aliases are not allowed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& /*value*/) override {
    refuse_anchor(mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    enter(mark, anchor);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    enter(mark, anchor);
  }
  void OnMapEnd() override { --depth_; }

 private:
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) throw YAML::ParserException(mark, "anchors are not allowed");
  }
  void enter(const YAML::Mark& mark, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    if (++depth_ > kMaxDepth) throw YAML::ParserException(mark, "nested too deeply");
  }
  int depth_ = 0;
};

std::string shortened(const std::string& text) {
  return text.size() <= kMaxQuotedLength ? text : text.substr(0, kMaxQuotedLength) + "...";
}

}  // namespace

YamlValue YamlValue::load(std::string_view text, std::string_view file_name) {
  const auto file = std::make_shared<const std::string>(file_name);
  if (text.size() > kMaxFileBytes)
    YamlValue({}, file, "", 1).fail(fmt::format("the file is larger than {} bytes", kMaxFileBytes));
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Gatekeeper gatekeeper;
  if (!parser.HandleNextDocument(gatekeeper)) YamlValue({}, file, "", 1).fail("the file is empty");
  if (parser.HandleNextDocument(gatekeeper))
    YamlValue({}, file, "", 1).fail("the file holds more than one document");
  return YamlValue(YAML::Load(std::string(text)), file, "", 1);
}

void YamlValue::fail(std::string_view what) const {
  const std::string place = fmt::format("{}:{}", *file_, line_);
  throw YamlFailure{invalid_input(one_line(key_.empty() ? fmt::format("{}: {}", place, what)
                                                        : fmt::format("{}: {}: {}", place, key_, what)))};
}

std::string YamlValue::member_key(const std::string& name) const {
  return key_.empty() ? name : key_ + "." + name;
}

std::vector<std::pair<std::string, YamlValue>> YamlValue::members() const {
  if (!node_.IsMap()) fail("must be a mapping (key: value)");
  std::vector<std::pair<std::string, YamlValue>> members;
  std::set<std::string> seen;
  for (const auto& pair : node_) {
    const int line = pair.first.Mark().line >= 0 ? pair.first.Mark().line + 1 : line_;
    if (!pair.first.IsScalar())
      YamlValue(pair.first, file_, key_, line).fail("every key must be a plain word");
    const std::string name = pair.first.Scalar();
    YamlValue value(pair.second, file_, member_key(shortened(name)), line);
    if (!seen.insert(name).second) value.fail("the key appears twice");
    members.emplace_back(name, std::move(value));
  }
  return members;
}

YamlMap YamlValue::map(std::initializer_list<std::string_view> allowed) const {
  auto all = members();
  for (const auto& [name, value] : all)
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
      value.fail(fmt::format("unknown key; known here: {}", fmt::join(allowed, ", ")));
  return YamlMap(*this, std::move(all));
}

std::vector<YamlValue> YamlValue::items() const {
  if (!node_.IsSequence()) fail("must be a list");
  std::vector<YamlValue> items;
  for (const auto& item : node_) {
    const int line = item.Mark().line >= 0 ? item.Mark().line + 1 : line_;
    items.push_back(YamlValue(item, file_, fmt::format("{}[{}]", key_, items.size()), line));
  }
  return items;
}

std::string YamlValue::text() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) fail("must be a text");
  return node_.Scalar();
}

std::string YamlValue::id() const {
  std::string id = text();
  const bool plain = std::all_of(id.begin(), id.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  });
  if (!plain || id.size() > kMaxIdLength)
    fail(fmt::format("'{}' is not an id: at most {} letters, digits, '_' and '.'", shortened(id),
                     kMaxIdLength));
  return id;
}

bool YamlValue::boolean() const {
  if (node_.IsScalar() && node_.Tag() == "?") {
    if (node_.Scalar() == "true") return true;
    if (node_.Scalar() == "false") return false;
  }
  fail("must be true or false");
}

double YamlValue::plain_number() const {
  // A quoted scalar carries the tag "!", a plain one "?": "10" in quotes is a text.
  if (!node_.IsScalar() || node_.Tag() != "?") fail("must be a number");
  const Result<double> number = parse_number(node_.Scalar());
  if (!number)
    fail(fmt::format("must be a finite number without a unit, not '{}'", shortened(node_.Scalar())));
  return *number;
}

double YamlValue::number(double least, double most) const {
  const double number = plain_number();
  if (number < least || number > most)
    fail(fmt::format("must be from {} to {}, not {}", least, most, number));
  return number;
}

double YamlValue::positive_number(double most) const {
  const double number = plain_number();
  if (!(number > 0) || number > most)
    fail(fmt::format("must be above 0 and at most {}, not {}", most, number));
  return number;
}

std::optional<YamlValue> YamlMap::find(std::string_view key) const {
  for (const auto& [name, value] : members_)
    if (name == key) return value;
  return std::nullopt;
}

YamlValue YamlMap::get(std::string_view key) const {
  if (auto value = find(key)) return *value;
  whole_.fail(fmt::format("the key '{}' is missing", key));
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error{ErrorCode::kNotFound, fmt::format("{}: cannot open the file", path)};
  // One byte more than a reader accepts is enough for it to refuse the file, however long that is.
  std::string text(kMaxFileBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return Error{ErrorCode::kNotFound, fmt::format("{}: cannot read the file", path)};
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace tombolo::schedule
