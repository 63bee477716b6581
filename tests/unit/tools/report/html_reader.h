#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tombolo::report {

/// A page as a strict reader sees it. It shares no code with the writer: it knows only how HTML is read.
struct HtmlReader {
  struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;  ///< References are resolved.
  };
  std::vector<Element> elements;
  std::map<std::string, std::vector<std::string>>
      texts;            ///< By element: what stands directly inside, resolved.
  std::string visible;  ///< All text outside of scripts and styles.
  std::string error;    ///< Empty if every tag is closed in order.

  explicit HtmlReader(std::string_view html) { read(html); }

  std::size_t count(const std::string& name) const {
    std::size_t found = 0;
    for (const Element& element : elements) found += element.name == name ? 1 : 0;
    return found;
  }
  /// Sum of the widths of the rectangles whose class begins so.
  double width_of(const std::string& part) const {
    double sum = 0;
    for (const Element& element : elements)
      if (element.name == "rect" && element.attributes.at("class").starts_with(part))
        sum += std::stod(element.attributes.at("width"));
    return sum;
  }

 private:
  static bool is_void(const std::string& name) { return name == "meta" || name == "input" || name == "br"; }
  static bool is_raw(const std::string& name) { return name == "script" || name == "style"; }

  static std::string resolve(std::string_view text) {
    static const std::map<std::string_view, char> kReferences{
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      bool found = false;
      for (const auto& [reference, character] : kReferences)
        if (text.substr(i).starts_with(reference)) {
          out += character;
          i += reference.size() - 1;
          found = true;
        }
      if (!found) out += text[i];
    }
    return out;
  }

  /// Reads `name="value"` pairs; only quoted values are allowed. Returns whether the tag closes itself.
  bool read_attributes(std::string_view tag, Element& element) {
    std::size_t i = 0;
    while (i < tag.size()) {
      if (tag[i] == ' ' || tag[i] == '\n') {
        ++i;
        continue;
      }
      if (tag.substr(i) == "/") return true;
      const std::size_t end = tag.find_first_of("= \n/", i);
      const std::string name(tag.substr(i, end == std::string_view::npos ? end : end - i));
      if (end == std::string_view::npos || tag[end] != '=') {
        element.attributes[name] = "";
        i = end == std::string_view::npos ? tag.size() : end;
        continue;
      }
      const std::size_t close =
          end + 1 < tag.size() && tag[end + 1] == '"' ? tag.find('"', end + 2) : tag.npos;
      if (close == tag.npos) {
        error = "attribute " + name + " is not quoted";
        return false;
      }
      if (!element.attributes.emplace(name, resolve(tag.substr(end + 2, close - end - 2))).second)
        error = "attribute " + name + " is there twice";
      i = close + 1;
    }
    return false;
  }

  /// The position of the '>' that ends a tag, outside of quotes.
  static std::size_t tag_end(std::string_view html, std::size_t i) {
    bool quoted = false;
    for (; i < html.size(); ++i) {
      if (html[i] == '"') quoted = !quoted;
      if (html[i] == '>' && !quoted) return i;
    }
    return html.npos;
  }

  void add_text(std::string_view text, const std::vector<std::string>& open) {
    if (text.find('>') != text.npos) error = "a bare > in text: " + std::string(text.substr(0, 80));
    if (text.find_first_not_of(" \n") == text.npos) return;
    if (open.empty()) {
      error = "text outside of the page";
      return;
    }
    texts[open.back()].push_back(resolve(text));
    visible += resolve(text) + '\n';
  }

  void read(std::string_view html) {
    constexpr std::string_view kDoctype = "<!DOCTYPE html>";
    if (!html.starts_with(kDoctype)) {
      error = "no doctype";
      return;
    }
    std::vector<std::string> open;
    std::size_t i = kDoctype.size();
    while (i < html.size() && error.empty()) {
      if (html[i] != '<') {
        const std::size_t next = html.find('<', i);
        add_text(html.substr(i, next == html.npos ? next : next - i), open);
        i = next == html.npos ? html.size() : next;
        continue;
      }
      const std::size_t end = tag_end(html, i);
      if (end == html.npos) {
        error = "a tag that does not end";
        return;
      }
      std::string_view tag = html.substr(i + 1, end - i - 1);
      i = end + 1;
      if (tag.starts_with('/')) {
        if (open.empty() || open.back() != tag.substr(1))
          error = "</" + std::string(tag.substr(1)) + "> closes " + (open.empty() ? "nothing" : open.back());
        else
          open.pop_back();
        continue;
      }
      Element element;
      const std::size_t name_end = tag.find_first_of(" \n/");
      element.name = std::string(tag.substr(0, name_end));
      const bool closes_itself = name_end != tag.npos && read_attributes(tag.substr(name_end), element);
      elements.push_back(element);
      if (is_raw(element.name)) {
        const std::size_t close = html.find("</" + element.name, i);
        if (close == html.npos) {
          error = element.name + " does not end";
          return;
        }
        texts[element.name].emplace_back(html.substr(i, close - i));
        i = html.find('>', close) + 1;
      } else if (!closes_itself && !is_void(element.name)) {
        open.push_back(element.name);
      }
    }
    if (error.empty() && !open.empty()) error = open.back() + " is not closed";
  }
};

}  // namespace tombolo::report
