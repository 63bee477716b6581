#include "tools/testbed/netns/run_record.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "tools/testbed/netns/namespaces.h"

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostNameBytes = 128;
constexpr std::size_t kStartField = 22;  // Of /proc/PID/stat; proc(5).

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_testbed_name(const std::string& name) {
  if (!name.starts_with(kNamespacePrefix) || name.size() > kMostNameBytes) return false;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.') return false;
  return true;
}

Json mark_json(const ProcessMark& mark) { return {{"pid", mark.pid}, {"start_ticks", mark.start_ticks}}; }

bool read_mark(const Json& json, ProcessMark& mark) {
  if (!json.is_object() || !json.contains("pid") || !json.contains("start_ticks")) return false;
  if (!json["pid"].is_number_unsigned() || !json["start_ticks"].is_number_unsigned()) return false;
  const std::uint64_t pid = json["pid"];
  if (pid < 2 || pid > 0x7fffffff) return false;  // Never the first process, nor a group.
  mark = {static_cast<pid_t>(pid), json["start_ticks"]};
  return true;
}

bool alive(const ProcessMark& mark) { return mark.start_ticks != 0 && mark_of(mark.pid) == mark; }

}  // namespace

ProcessMark mark_of(pid_t pid) {
  const std::string stat = read_text(fmt::format("/proc/{}/stat", pid));
  // The second field is a name in brackets that may hold anything; behind its end fields are plain.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {pid, 0};
  std::size_t at = name_end;
  for (std::size_t field = 2; field < kStartField && at != std::string::npos; ++field)
    at = stat.find(' ', at + 1);
  if (at == std::string::npos) return {pid, 0};
  return {pid, std::strtoull(stat.c_str() + at, nullptr, 10)};
}

Result<RecordedRun> parse_recorded_run(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  RecordedRun run;
  if (!json.is_object() || !json.contains("owner") || !read_mark(json["owner"], run.owner))
    return invalid_input("owner: is not a process");
  if (!json.contains("namespaces") || !json["namespaces"].is_array())
    return invalid_input("namespaces: is not a list");
  for (const Json& name : json["namespaces"]) {
    if (!name.is_string() || !is_testbed_name(name.get<std::string>()))
      return invalid_input("namespaces: holds a name that no testbed gives");
    run.namespaces.push_back(name);
  }
  if (!json.contains("processes") || !json["processes"].is_array())
    return invalid_input("processes: is not a list");
  for (const Json& process : json["processes"]) {
    ProcessMark mark;
    if (!read_mark(process, mark)) return invalid_input("processes: holds what is no process");
    run.processes.push_back(mark);
  }
  return run;
}

std::string write_recorded_run(const RecordedRun& run) {
  Json json{{"owner", mark_json(run.owner)}, {"namespaces", run.namespaces}, {"processes", Json::array()}};
  for (const ProcessMark& mark : run.processes) json["processes"].push_back(mark_json(mark));
  return json.dump(1) + "\n";
}

Result<std::unique_ptr<RunRecord>> RunRecord::create(const std::string& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  std::unique_ptr<RunRecord> record(new RunRecord(fmt::format("{}/testbed-{}.json", folder, ::getpid())));
  record->run_.owner = mark_of(::getpid());
  if (Status written = record->write(); !written) return std::move(written).error();
  return record;
}

RunRecord::~RunRecord() {
  std::error_code code;
  fs::remove(path_, code);
}

std::string RunRecord::id() const { return std::to_string(run_.owner.pid); }

Status RunRecord::add_namespaces(const std::vector<std::string>& names) {
  run_.namespaces.insert(run_.namespaces.end(), names.begin(), names.end());
  return write();
}

Status RunRecord::add_process(pid_t pid) {
  run_.processes.push_back(mark_of(pid));
  return write();
}

/// In a file of its own that then takes the place of the old one, so that a reader sees one or the other.
Status RunRecord::write() const {
  const std::string next = path_ + ".new";
  std::ofstream file(next, std::ios::binary | std::ios::trunc);
  file << write_recorded_run(run_);
  file.close();
  std::error_code code;
  if (file) fs::rename(next, path_, code);
  if (!file || code)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: cannot be written: {}", path_,
                             code ? code.message() : std::string("no room or no right"))};
  return ok_status();
}

std::string record_folder() {
  std::error_code code;
  const std::string usual = "/run/tombolo";
  fs::create_directories(usual, code);
  if (!code && ::access(usual.c_str(), W_OK) == 0) return usual;
  return (fs::temp_directory_path(code) / "tombolo").string();
}

std::vector<std::string> clean_up_dead_runs(const std::string& folder) {
  std::vector<std::string> told;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, code)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("testbed-") || !file.ends_with(".json")) continue;
    const auto run = parse_recorded_run(read_text(entry.path()));
    if (!run) {
      told.push_back(
          fmt::format("{}: {}; look at it and remove it", entry.path().string(), run.error().message));
      continue;
    }
    if (alive(run->owner)) continue;
    std::size_t killed = 0;
    for (const ProcessMark& mark : run->processes)
      if (alive(mark) && ::kill(mark.pid, SIGKILL) == 0) ++killed;
    const std::size_t deleted = delete_namespaces(run->namespaces);
    fs::remove_all(fs::path(folder) / std::to_string(run->owner.pid), code);  // Its sockets.
    fs::remove(entry.path(), code);
    told.push_back(fmt::format("run {} had been killed: {} namespaces and {} processes of it removed",
                               run->owner.pid, deleted, killed));
  }
  return told;
}

}  // namespace tombolo::testbed
