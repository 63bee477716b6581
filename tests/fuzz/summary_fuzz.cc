#include <string_view>

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tools/report/run_report.h"
#include "tools/report/summary.h"

namespace tombolo::report {
namespace {

/// Nothing that the summary says may start an element: the page has its own scripts and no other.
void check_page(const std::string& html) {
  std::size_t scripts = 0;
  for (std::size_t at = html.find("<script"); at != html.npos; at = html.find("<script", at + 1)) ++scripts;
  CHECK(scripts == 2);
  CHECK(html.find("<img") == html.npos);
  CHECK(html.ends_with("</html>\n"));
}

}  // namespace
}  // namespace tombolo::report

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = report::parse_json(text, "summary.json");
  if (!json.ok()) {
    CHECK(json.error().code == ErrorCode::kInvalidInput);
    CHECK(json.error().message.starts_with("summary.json: "));
    return 0;
  }
  const auto page = report::run_page(*json);
  if (page.ok())
    report::check_page(page->html());
  else
    CHECK(page.error().code == ErrorCode::kInvalidInput);
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {
      R"({"topology":"<img>","exact":true,"cpu_bound":false,"sites":[{"id":"A","city":"X","lat":51.5,"lon":-0.1},
{"id":"B","lat":35.7,"lon":139.8},{"id":"C","lat":52.3,"lon":4.9,"islands":["C1"]}],
"topology_links":[{"a":"A","b":"B","rtt_ms":90.5,"bps":1e9},{"a":"A","b":"C","rtt_ms":6}]})",
      R"({"rounds":[{"round":3,"cliques":[["A","<script>"],["C1"]],"model_s":0.9,"predicted_s":1,"measured_s":1.1,
"tx_bytes":5,"rx_bytes":6,"exact":false,"errors":["late"]}],"islands":[{"site":"A","tx_bytes":9,"rx_bytes":8,
"update_bytes":7}],"drops":{"wire_loss":3},"repairs":3})",
      R"({"links":[{"name":"A-B","target_rtt_ms":90,"measured_rtt_ms":91,"target_bps":1e9,"measured_bps":9e8}],
"capabilities":[{"multicast":true,"aggregation":"edge","bytes_out_per_update":1.1,"bytes_in_per_update":1.2,
"measured":true}],"worker_times":[{"site":"A","worker":0,"busy_s":1,"idle_s":2,"asleep_s":3,"stalled_s":4}],
"command_line":["a","b"],"versions":{"x":{"y":[1,null]}}})"};
}
