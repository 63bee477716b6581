#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tombolo::control {

/// A page of metrics, read by the format's own rules.
struct Scrape {
  std::map<std::string, std::string> help;  ///< By family.
  std::map<std::string, std::string> type;
  std::map<std::string, double> values;  ///< By name and labels as they stand: `name{a="b"}`.
  std::vector<std::string> faults;       ///< Lines that are not as the format wants them.

  /// The value of that series; a test failure if there is none.
  double at(const std::string& series) const;
};
Scrape parse_scrape(const std::string& page);

/// What a server on 127.0.0.1 answers to a GET: status line, headers and body, as they come.
std::string http_get(std::uint16_t port, const std::string& path);
/// The body of such an answer.
std::string body_of(const std::string& answer);

/// What `promtool ARGUMENTS` says and how it ends, with `input` on its standard input.
struct ToolAnswer {
  int exit_code = -1;
  std::string output;
};
bool have_promtool();
ToolAnswer promtool(const std::string& arguments, const std::string& input = {});

}  // namespace tombolo::control
