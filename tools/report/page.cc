#include "tools/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "tools/report/assets.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

std::string_view mood_class(Tile::Mood mood) {
  switch (mood) {
    case Tile::Mood::kPlain:
      return "tile";
    case Tile::Mood::kGood:
      return "tile good";
    case Tile::Mood::kBad:
      return "tile bad";
    case Tile::Mood::kWarning:
      return "tile warning";
  }
  return "tile";
}

}  // namespace

Page::Page(std::string title, std::string lead) : title_(std::move(title)), lead_(std::move(lead)) {}

Page& Page::add(Tile tile) {
  tiles_.push_back(std::move(tile));
  return *this;
}

Page& Page::add(Section section) {
  sections_.push_back(std::move(section));
  return *this;
}

/// The policy makes the browser itself refuse whatever would load something.
std::string Page::head() const {
  return fmt::format(
      "<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      escape_html(title_), assets::page_css());
}

std::string Page::tiles() const {
  if (tiles_.empty()) return {};
  std::string html = "<div class=\"tiles\">\n";
  for (const Tile& tile : tiles_)
    html += fmt::format(
        "<div class=\"{}\"><span class=\"label\">{}</span><span class=\"value\">{}</span>"
        "<span class=\"remark\">{}</span></div>\n",
        mood_class(tile.mood), escape_html(tile.label), escape_html(tile.value), escape_html(tile.note));
  return html + "</div>\n";
}

std::string Page::contents() const {
  if (sections_.size() < 2) return {};
  std::string html = "<nav aria-label=\"Sections\">";
  for (const Section& section : sections_)
    html += fmt::format("<a href=\"#{}\">{}</a>", escape_html(section.id), escape_html(section.title));
  return html + "</nav>\n";
}

/// Each script is a function body with `data`, `page_data` of its section, and `section`, its element.
std::string Page::scripts() const {
  nlohmann::json data = nlohmann::json::object();
  for (const Section& section : sections_)
    if (!section.data.is_null()) data[section.id] = section.data;
  std::string html =
      fmt::format("<script type=\"application/json\" id=\"page-data\">{}</script>\n<script>\n{}",
                  json_for_script(data), assets::page_js());
  std::vector<std::string_view> done;
  for (const Section& section : sections_) {
    if (section.script.empty() || std::count(done.begin(), done.end(), section.script) != 0) continue;
    html += section.script;
    done.push_back(section.script);
  }
  return html + "</script>\n";
}

std::string Page::html() const {
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n" + head() + "<body>\n<header>\n";
  html += fmt::format("<h1>{}</h1>\n", escape_html(title_));
  if (!lead_.empty()) html += paragraph(lead_, "lead");
  html += tiles() + contents() + "</header>\n<main>\n";
  for (const Section& section : sections_)
    html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", escape_html(section.id),
                        escape_html(section.title), section.body);
  return html + "</main>\n" + scripts() + "</body>\n</html>\n";
}

Status Page::write(const std::string& path) const {
  const std::string text = html();
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno))};
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((std::fclose(file) != 0) || !written)
    return Error{ErrorCode::kUnavailable, fmt::format("{}: {}", path, std::strerror(errno))};
  return ok_status();
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)), column_(columns_.size()) {}

void Table::start_row() {
  CHECK(column_ == columns_.size());
  if (!rows_.empty()) rows_ += "</tr>\n";
  rows_ += "<tr>";
  column_ = 0;
}

Table& Table::cell(std::string_view text, std::string_view css_class) {
  return cell_html(escape_html(text), css_class);
}

Table& Table::cell_html(std::string_view html, std::string_view css_class) {
  CHECK(column_ < columns_.size());
  std::string classes = columns_[column_].align == Align::kNumber ? "number" : "";
  if (!css_class.empty()) classes += (classes.empty() ? "" : " ") + std::string(css_class);
  rows_ += classes.empty() ? fmt::format("<td>{}</td>", html)
                           : fmt::format("<td class=\"{}\">{}</td>", classes, html);
  ++column_;
  return *this;
}

std::string Table::html() const {
  CHECK(column_ == columns_.size());
  std::string html = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const Column& column : columns_)
    html += fmt::format("<th scope=\"col\"{}>{}</th>",
                        column.align == Align::kNumber ? " class=\"number\"" : "", escape_html(column.title));
  return html + "</tr></thead>\n<tbody>\n" + rows_ + (rows_.empty() ? "" : "</tr>\n") +
         "</tbody></table></div>\n";
}

std::string paragraph(std::string_view text, std::string_view css_class) {
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, escape_html(text));
}

}  // namespace tombolo::report
