#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tombolo::testbed {

/// Cuts a stream of bytes into lines. A line that is longer than the limit is cut there, so that a peer which
/// never ends its line costs a bounded amount of memory.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  /// The lines that are complete with these bytes, without their ends.
  std::vector<std::string> take(std::string_view bytes);

 private:
  std::size_t most_bytes_;
  std::string rest_;
};

}  // namespace tombolo::testbed
