#include "tests/unit/control/observe/scrape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>

namespace tombolo::control {
namespace {

bool read_value(const std::string& text, double& value) {
  if (text == "+Inf") {
    value = std::numeric_limits<double>::infinity();
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

double Scrape::at(const std::string& series) const {
  const auto found = values.find(series);
  if (found != values.end()) return found->second;
  ADD_FAILURE() << "no series " << series;
  return std::numeric_limits<double>::quiet_NaN();
}

Scrape parse_scrape(const std::string& page) {
  static const std::regex help(R"(# HELP ([a-z_][a-z0-9_]*) (.+))");
  static const std::regex type(R"(# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram|summary))");
  static const std::regex sample(
      R"(([a-z_][a-z0-9_]*(?:\{[a-z_]+="(?:[^"\\]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\]|\\[\\"n])*")*\})?) (\S+))");
  Scrape scrape;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    double value = 0;
    if (std::regex_match(line, match, help)) {
      scrape.help[match[1]] = match[2];
    } else if (std::regex_match(line, match, type)) {
      scrape.type[match[1]] = match[2];
    } else if (std::regex_match(line, match, sample) && read_value(match[2], value) &&
               scrape.values.emplace(match[1], value).second) {
      continue;
    } else {
      scrape.faults.push_back(line);
    }
  }
  return scrape;
}

std::string http_get(std::uint16_t port, const std::string& path) {
  const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(port);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &name, sizeof name);
  std::string answer;
  if (::connect(connection, &generic, sizeof name) == 0) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::write(connection, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    std::array<char, 4096> piece;
    for (ssize_t got = 0; (got = ::read(connection, piece.data(), piece.size())) > 0;)
      answer.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(connection);
  return answer;
}

std::string body_of(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

bool have_promtool() { return promtool("--version").exit_code == 0; }

ToolAnswer promtool(const std::string& arguments, const std::string& input) {
  std::string file = testing::TempDir() + "promtool_XXXXXX";
  const int handle = ::mkstemp(file.data());
  ::close(handle);
  std::ofstream(file) << input;
  const std::string command = "promtool " + arguments + " < '" + file + "' 2>&1";
  ToolAnswer answer;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) answer.output += piece.data();
  const int status = ::pclose(pipe);
  answer.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ::unlink(file.c_str());
  return answer;
}

}  // namespace tombolo::control
