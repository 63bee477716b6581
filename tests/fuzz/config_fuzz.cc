#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "control/config/controller_config.h"
#include "control/config/edge_config.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace tombolo;

/// What a reader accepts holds what the programs rely on without looking again.
void check_accepted(const control::EdgeFile& file) {
  CHECK(!file.ports.empty() && !file.jobs.empty());
  CHECK(file.workers > 0 && file.lanes % file.workers == 0);
  CHECK(file.cores.empty() || file.cores.size() == file.workers);
  for (const control::EdgeJobFile& job : file.jobs) {
    CHECK(job.site_id < job.topology.sites.size());
    CHECK(!job.links.empty() && job.buffers > 0);
    for (const control::EdgeLinkConfig& link : job.links) {
      CHECK(link.port < file.ports.size());
      CHECK(link.address.ipv4 != 0);
      CHECK(std::uint32_t{link.address.base_port} + file.lanes <= 65536);
    }
  }
}

void check_error(const Error& error) {
  CHECK(error.message.find('\n') == std::string::npos);
  CHECK(error.message.find("/edges/fuzz.yaml") != std::string::npos);
}

}  // namespace

std::vector<std::string> tombolo::fuzz::seed_inputs() { return {}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string path = std::string(TOMBOLO_CONFIGS) + "/edges/fuzz.yaml";
  if (const auto edge = control::parse_edge_config(text, path)) {
    check_accepted(*edge);
  } else {
    check_error(edge.error());
  }
  if (const auto controller = control::parse_controller_config(text, path)) {
    CHECK(controller->update_bytes > 0 && !controller->schedule.rounds.empty());
  } else {
    check_error(controller.error());
  }
  return 0;
}
