#include "tools/report/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tombolo::report {
namespace {

const std::string kReplaced = "\xef\xbf\xbd";

TEST(EscapeHtml, MarkupBecomesReferences) {
  EXPECT_EQ(escape_html("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escape_html("</script>"), "&lt;/script&gt;");
  EXPECT_EQ(escape_html("&lt;"), "&amp;lt;");
  EXPECT_EQ(escape_html(""), "");
}

TEST(EscapeHtml, KeepsUnicode) {
  const std::string text = "Z\u00fcrich \u6771\u4eac \U0001F600";
  EXPECT_EQ(escape_html(text), text);
}

TEST(EscapeHtml, ReplacesWhatIsNotText) {
  EXPECT_EQ(escape_html(std::string_view("a\0b\x1b\x7f", 5)), "a" + kReplaced + "b" + kReplaced + kReplaced);
  EXPECT_EQ(escape_html("a\nb\tc"), "a\nb\tc");
  EXPECT_EQ(escape_html("\xff\xfe"), kReplaced + kReplaced);
  EXPECT_EQ(escape_html("\xc0\xbc"), kReplaced + kReplaced);                  // '<', over-long.
  EXPECT_EQ(escape_html("\xed\xa0\x80"), kReplaced + kReplaced + kReplaced);  // A surrogate.
  EXPECT_EQ(escape_html("\xf4\x90\x80\x80"), kReplaced + kReplaced + kReplaced + kReplaced);
  EXPECT_EQ(escape_html("\xe6\x9d"), kReplaced + kReplaced);  // Cut short.
  EXPECT_EQ(escape_html("\xe6<"), kReplaced + "&lt;");        // What follows is not swallowed.
}

TEST(EscapeHtml, ReplacesMarksThatTurnTheDirection) {
  for (const char* mark : {"\u202a", "\u202e", "\u2066", "\u2069"}) EXPECT_EQ(escape_html(mark), kReplaced);
  // Their neighbours are ordinary: an en dash, a narrow space, a word joiner.
  for (const char* text : {"\u2013", "\u202f", "\u2060"}) EXPECT_EQ(escape_html(text), text);
}

TEST(JsonForScript, CannotEndTheElement) {
  const nlohmann::json json{{"</script>", "<!-- & -->\u2028\u6771"}};
  const std::string text = json_for_script(json);
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos) << text;
  for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << text;
  EXPECT_EQ(nlohmann::json::parse(text), json);
}

TEST(JsonForScript, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(nlohmann::json::parse(json_for_script("a\xff")), "a" + kReplaced);
}

TEST(Format, Numbers) {
  EXPECT_EQ(format_fixed(1.23456, 3), "1.235");
  EXPECT_EQ(format_fixed(std::nullopt, 3), "\u2013");
  EXPECT_EQ(format_count(1234567), "1\u202f234\u202f567");
  EXPECT_EQ(format_count(123), "123");
  EXPECT_EQ(format_count(1000), "1\u202f000");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(-1500), "-1\u202f500");
  EXPECT_EQ(format_count(0.5), "0.5");
  EXPECT_EQ(format_count(std::nullopt), "\u2013");
  EXPECT_EQ(format_coordinate(3.0), "3");
  EXPECT_EQ(format_coordinate(-0.001), "0");
  EXPECT_EQ(format_coordinate(12.34567), "12.35");
}

TEST(Format, Sizes) {
  EXPECT_EQ(format_size(1250000), "1.25 MB");
  EXPECT_EQ(format_size(-1), "\u2013");
  EXPECT_EQ(format_size(std::nan("")), "\u2013");
  EXPECT_EQ(format_size(1e300), "1e+300 B");
}

TEST(Format, Rates) {
  EXPECT_EQ(format_rate(1e10), "10 Gbit/s");
  EXPECT_EQ(format_rate(98.7e6), "98.7 Mbit/s");
  EXPECT_EQ(format_rate(999.4), "999 bit/s");
  EXPECT_EQ(format_rate(999.6e6), "1 Gbit/s");
  EXPECT_EQ(format_rate(0), "0 bit/s");
  EXPECT_EQ(format_rate(5e16), "50000 Tbit/s");
  EXPECT_EQ(format_rate(std::nullopt), "\u2013");
}

TEST(Format, Json) {
  EXPECT_EQ(format_json({{"b", 2}, {"a", "x"}}), "a x, b 2");
  EXPECT_EQ(format_json({1, nlohmann::json{{"k", true}}, nullptr}), "1, (k yes), \u2013");
  EXPECT_EQ(format_json(nlohmann::json::object()), "\u2013");
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "abc\u2026");
  EXPECT_EQ(shorten("\u6771\u4eac\u90fd", 2), "\u6771\u4eac\u2026");
}

}  // namespace
}  // namespace tombolo::report
