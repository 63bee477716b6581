#pragma once

#include <chrono>
#include <thread>

namespace tombolo::control {

/// Repeats `step` until `done` holds. A generous limit keeps a test that fails from hanging; no test that
/// passes comes near it.
template <typename Done, typename Step>
bool wait_until(Done done, Step step) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    step();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace tombolo::control
