#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/wire/header.h"

namespace tombolo::bench {

/// Another library's pair-wise sum: accumulator += input, element by element.
struct Rival {
  std::string impl;
  std::string isa;
  wire::Format format = wire::Format::kNone;
  void (*add)(std::byte* accumulator, const std::byte* input, std::size_t elements) = nullptr;
};

/// One that cannot run here, and why.
struct AbsentRival {
  std::string impl;
  std::string reason;
};

/// The libraries that this program was built with.
class Rivals {
 public:
  Rivals();

  const std::vector<Rival>& present() const { return present_; }
  const std::vector<AbsentRival>& absent() const { return absent_; }

 private:
  void open_openmpi();
  void open_gloo();
  void open_openblas();

  std::vector<Rival> present_;
  std::vector<AbsentRival> absent_;
};

}  // namespace tombolo::bench
