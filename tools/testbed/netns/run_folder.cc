#include "tools/testbed/netns/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tools/testbed/netns/calibration.h"

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;

std::string cliques_text(const RoundReport& round) {
  std::string text;
  for (const auto& clique : round.cliques)
    text += fmt::format("{}{}", text.empty() ? "" : " | ", fmt::join(clique, " "));
  return text;
}

}  // namespace

Result<std::string> make_run_folder(const std::string& wanted, const std::string& name) {
  std::error_code code;
  std::string path = wanted;
  if (wanted.empty()) {
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    const std::string base = fmt::format("runs/{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(now), name);
    path = base;
    for (int again = 2; fs::exists(path, code); ++again) path = fmt::format("{}-{}", base, again);
  } else if (fs::exists(path, code) && (!fs::is_directory(path, code) || !fs::is_empty(path, code))) {
    return invalid_input(fmt::format("--out {}: exists and is not an empty folder", path));
  }
  fs::create_directories(path, code);
  const std::string whole = fs::absolute(path, code).lexically_normal().string();
  if (code || !fs::is_directory(path))
    return Error{ErrorCode::kUnavailable, fmt::format("{}: cannot be made: {}", path, code.message())};
  return whole;
}

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::kUnavailable, fmt::format("{}: cannot be written", path)};
  return ok_status();
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string rounds_csv(const RunReport& report) {
  std::string text = "round,cliques,model_s,predicted_s,measured_s,ratio,tx_bytes,rx_bytes,exact,errors\n";
  for (const RoundReport& round : report.rounds)
    text += fmt::format("{},{},{:.6f},{:.6f},{:.6f},{:.4f},{},{},{},{}\n", round.round,
                        csv_field(cliques_text(round)), round.model_s, round.predicted_s, round.measured_s,
                        round.ratio(), round.tx_bytes, round.rx_bytes, round.exact ? "yes" : "no",
                        csv_field(fmt::format("{}", fmt::join(round.errors, "; "))));
  return text;
}

std::string links_csv(const RunReport& report) {
  std::string text = "name,target_rtt_ms,measured_rtt_ms,target_bps,measured_bps,verdict\n";
  for (const LinkReport& link : report.links) {
    const std::string wrong = judge_link(link);
    text += fmt::format("{},{:.3f},{:.3f},{:.0f},{:.0f},{}\n", csv_field(link.name), link.target_rtt_ms,
                        link.measured_rtt_ms, link.target_bps, link.measured_bps,
                        wrong.empty() ? "holds" : csv_field(wrong));
  }
  return text;
}

}  // namespace tombolo::testbed
