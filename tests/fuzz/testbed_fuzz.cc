// Everything that the testbed and the island program read from one another and from files of former runs.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/island/command.h"
#include "tools/testbed/line_splitter.h"
#include "tools/testbed/netns/cpu.h"
#include "tools/testbed/netns/island_event.h"
#include "tools/testbed/netns/rounds.h"
#include "tools/testbed/netns/run_record.h"

namespace tombolo::testbed {
namespace {

constexpr std::size_t kMostLineBytes = 64;

void check_record(std::string_view text) {
  const auto run = parse_recorded_run(text);
  if (!run) return;
  // What is accepted may be killed and deleted: never the first process, never another's namespace.
  for (const ProcessMark& mark : run->processes) CHECK(mark.pid > 1);
  for (const std::string& name : run->namespaces) {
    CHECK(name.starts_with(kNamespacePrefix));
    CHECK(name.find_first_of("/ \n") == std::string::npos);
  }
  const auto again = parse_recorded_run(write_recorded_run(*run));
  CHECK(again.ok() && again->namespaces == run->namespaces && again->processes == run->processes);
}

void check_lines(std::string_view text) {
  LineSplitter whole(kMostLineBytes);
  LineSplitter pieces(kMostLineBytes);
  const auto lines = whole.take(text);
  std::vector<std::string> joined;
  for (const char c : text)
    for (std::string& line : pieces.take({&c, 1})) joined.push_back(std::move(line));
  CHECK(lines == joined);
  for (const std::string& line : lines) {
    CHECK(line.size() <= kMostLineBytes);
    const auto command = tools::parse_island_command(line);
    CHECK(command.ok() || command.error().code == ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace tombolo::testbed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  testbed::check_record(text);
  testbed::check_lines(text);
  const auto event = testbed::parse_island_event(text);
  CHECK(!event.ok() || !event->event.empty());
  const auto time = testbed::parse_proc_stat(text);
  CHECK(time.ok() || time.error().code == ErrorCode::kInvalidInput);
  [[maybe_unused]] const auto workers = testbed::parse_worker_times("A", std::string(text));
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":["tbl-7-A"],"processes":[{"pid":8,"start_ticks":6}]})",
      R"({"event":"ready","round":7,"epoch":2,"contributors":[0,2],"first_send_ns":5,"ready_ns":9,"tx_bytes":10})",
      R"({"event":"status","up":true,"can_start":[4,5],"drops":{"lost":3},"repairs":2})",
      R"({"workers":[{"busy_s":1.5,"idle_s":2,"asleep_s":3,"stalled_s":0.25}]})",
      "cpu  10 20 30 400 50 6 7 8 900 1000\ncpu0 1 2 3\n",
      "status\nstart 4\ncheck 4294967295\nquit\n",
  };
}
