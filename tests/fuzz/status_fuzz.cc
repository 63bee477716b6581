#include <string>

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/status_table.h"

/// Whatever a program answers, `tombolo status` refuses it or shows tables of printable lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto status = tools::read_status(text);
  if (!status.ok()) {
    CHECK(status.error().code == ErrorCode::kFailed);
    return 0;
  }
  for (const char c : tools::status_tables(*status))
    CHECK(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {
      R"({"program":"edge","site":"NYC","session":1,"lanes":4,"uptime_s":1.5,"controller":{"connected":true,)"
      R"("term":1,"staged_epoch":0},"epochs":{"newest":7,"first_round":1,"older":6,"highest_opened_round":null},)"
      R"("ports":[{"name":"wan","rx_bytes":1,"drops":{"ipv6":2}}],"peers":[{"name":"LON","up":false,"lanes_up":1,)"
      R"("lanes":4,"rtt_ms":70.5}],"rounds":[{"round":1,"late":["TYO"],"age_s":1.0,"time_left_s":-1}],)"
      R"("aggregation":{"rounds_ended":{"complete":3},"lag":[{"contributor":"AMS","mean_ms":1e9}]},)"
      R"("pools":[{"name":"p"}],"workers":[{"busy_s":1,"idle_s":2}],"drops":{}})",
      R"({"program":"controller","term":3,"phase":"idle","edges":[{"name":"NYC","links_down":["LON"]}],)"
      R"("dead_sites":["TYO"],"changes":{"installed":2},"ignored":{}})",
  };
}
