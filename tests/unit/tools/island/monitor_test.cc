#include "tools/island/monitor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/unit/control/observe/scrape.h"

namespace tombolo::tools {
namespace {

/// An island whose edge is not there.
std::unique_ptr<IslandProgram> lonely_island(const Clock& clock) {
  IslandOptions options;
  options.name = "NYC";
  options.listen.ipv4 = 0x7f000000U | (static_cast<std::uint32_t>(::getpid()) & 0x7fffU) << 8 | 77U;
  options.edge = {0x7f000001, 9};
  options.update_bytes = 4000;
  options.deadline_s = 0.05;
  options.buffers = 256;
  for (std::uint32_t port = 20'000; port < 60'000; port += 997) {
    options.listen.base_port = static_cast<std::uint16_t>(port);
    auto program = IslandProgram::create(options, 42, clock, [](const std::string&) {});
    if (program) return std::move(program).value();
  }
  ADD_FAILURE() << "no free port";
  return nullptr;
}

TEST(IslandMonitor, ServesWhatTheIslandIsAndDid) {
  const MonotonicClock clock;
  const auto program = lonely_island(clock);
  ASSERT_NE(program, nullptr);
  auto monitor = IslandMonitor::start("127.0.0.1:0", 42, *program, clock);
  ASSERT_TRUE(monitor.ok()) << monitor.error().message;
  const auto page = [&] { return control::http_get((*monitor)->port(), "/metrics"); };
  EXPECT_NE(page().find("tombolo_island_connected{island=\"NYC\"} 0"), std::string::npos) << page();
  EXPECT_NE(page().find("tombolo_island_session{island=\"NYC\"} 42"), std::string::npos);
  const std::string failed = "tombolo_island_rounds_total{island=\"NYC\",outcome=\"failed\"} ";
  EXPECT_NE(page().find(failed + "0"), std::string::npos);

  program->start(3);  // Nobody answers: it fails by its own deadline.
  while (program->look()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (page().find(failed + "1") == std::string::npos) {
    (*monitor)->publish();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST(IslandMonitor, AnAddressThatIsTakenIsOneError) {
  const MonotonicClock clock;
  const auto program = lonely_island(clock);
  ASSERT_NE(program, nullptr);
  auto first = IslandMonitor::start("127.0.0.1:0", 1, *program, clock);
  ASSERT_TRUE(first.ok());
  const auto second =
      IslandMonitor::start("127.0.0.1:" + std::to_string((*first)->port()), 1, *program, clock);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace tombolo::tools
