#include "tools/testbed/line_splitter.h"

#include <algorithm>
#include <utility>

namespace tombolo::testbed {

std::vector<std::string> LineSplitter::take(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    rest_.append(piece.substr(0, std::min(piece.size(), most_bytes_ - rest_.size())));
    if (end == std::string_view::npos) break;
    lines.push_back(std::move(rest_));
    rest_.clear();
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace tombolo::testbed
