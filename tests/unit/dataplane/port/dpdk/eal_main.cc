#include <gtest/gtest.h>

#include <cstdio>

#include "dataplane/port/dpdk/eal.h"

/// EAL starts once per process, so programs that test with it have this main.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tombolo::dataplane::EalOptions options;
  options.hugepages = tombolo::dataplane::Hugepages::kOff;
  options.memory_mb = 128;
  const tombolo::Status status = tombolo::dataplane::start_eal(options);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  tombolo::dataplane::stop_eal();
  return result;
}
