#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tombolo::report {

/// One part of a page, with a heading of its own.
struct Section {
  std::string id;                 ///< A word: the anchor, and the key of `data`.
  std::string title;              ///< Plain text.
  std::string body;               ///< HTML, already escaped.
  nlohmann::json data = nullptr;  ///< What `script` reads: `page_data[id]`. Null: nothing.
  std::string_view script = {};   ///< JavaScript from assets.h, run after the page is there; once per page.
};

/// A key figure at the top of a page.
struct Tile {
  enum class Mood : std::uint8_t { kPlain, kGood, kBad, kWarning };
  std::string label;  ///< Plain text, like the two below.
  std::string value;
  std::string note = {};
  Mood mood = Mood::kPlain;
};

/// A self-contained HTML page: its style, scripts and data are inside, so that it opens from a file and needs
/// no network. It follows the reader's light or dark theme and prints.
class Page {
 public:
  /// Both are plain text; the lead says in a sentence what the page shows.
  explicit Page(std::string title, std::string lead = {});

  Page& add(Tile tile);
  /// Sections stand in the order in which they are added.
  Page& add(Section section);

  std::string html() const;

  /// Errors: kUnavailable, naming the file and the reason.
  Status write(const std::string& path) const;

 private:
  std::string head() const;
  std::string tiles() const;
  std::string contents() const;
  std::string scripts() const;

  std::string title_;
  std::string lead_;
  std::vector<Tile> tiles_;
  std::vector<Section> sections_;
};

/// A table for people; cells are plain text unless added as HTML.
class Table {
 public:
  enum class Align : std::uint8_t { kText, kNumber };
  struct Column {
    std::string title;
    Align align = Align::kText;
  };
  explicit Table(std::vector<Column> columns);

  void start_row();
  Table& cell(std::string_view text, std::string_view css_class = {});
  Table& cell_html(std::string_view html, std::string_view css_class = {});
  std::string html() const;

 private:
  std::vector<Column> columns_;
  std::size_t column_ = 0;
  std::string rows_;
};

/// A paragraph of plain text; `css_class` is "note", "good", "bad" or "warning".
std::string paragraph(std::string_view text, std::string_view css_class = "note");

}  // namespace tombolo::report
