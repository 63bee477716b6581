#pragma once

#include <cstdint>
#include <random>

namespace tombolo {

/// The one source of chance: a seeded generator that is passed in.
/// Draws are computed here and not by std distributions, whose values differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform over all 64-bit values.
  std::uint64_t bits() { return engine_(); }

  /// Uniform in [0, bound); bound > 0. The bias of the modulo is below 2^-32 for bounds below 2^32.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  /// True with probability p.
  bool chance(double p) { return p > 0 && unit() < p; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tombolo
