#include "tools/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

namespace tombolo::tools {

CLI::Option* add_on_off(CLI::App& app, const std::string& name, bool& value, const std::string& description) {
  const std::map<std::string, bool> words{{"on", true}, {"off", false}};
  return app
      .add_option_function<std::string>(
          name, [&value, words](const std::string& word) { value = words.at(word); }, description)
      ->check(CLI::IsMember({"on", "off"}))
      ->default_str(value ? "on" : "off")
      ->type_name("on|off");
}

CLI::Option* add_json(CLI::App& app, std::string& path) {
  return app.add_option("--json", path, "Write the report as JSON to FILE; - is standard output")
      ->type_name("FILE");
}

nlohmann::ordered_json start_report(const std::string& command) {
  nlohmann::ordered_json report;
  report["schema"] = kReportSchema;
  report["command"] = command;
  return report;
}

Status write_report(const nlohmann::ordered_json& report, const std::string& path) {
  if (path.empty()) return ok_status();
  // Names come from files: bytes that are not UTF-8 are replaced, since the library would throw.
  const std::string text =
      report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return Error{ErrorCode::kUnavailable, fmt::format("--json {}: {}", path, std::strerror(errno))};
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool flushed = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
  if (!written || !flushed)
    return Error{ErrorCode::kUnavailable, fmt::format("--json {}: {}", path, std::strerror(errno))};
  return ok_status();
}

int report_error(const Error& error) {
  fmt::print(stderr, "tombolo: {}\n", error.message);
  switch (error.code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kNotFound:
      return kExitBadInput;
    case ErrorCode::kNotSupported:
      return kExitNotSupported;
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadline:
    case ErrorCode::kFailed:
      return kExitFailed;
  }
  return kExitFailed;
}

}  // namespace tombolo::tools
