#pragma once

#include <atomic>
#include <cstdint>

namespace tombolo {

/// A count with one writer and any number of readers. Adding is a plain load and store:
/// the writer owns the line; a reader sees some recent value.
class Counter {
 public:
  void add(std::uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  /// For gauges and high-water marks.
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace tombolo
