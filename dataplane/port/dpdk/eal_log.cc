// lint-file: DPDK logs at set-up and when something breaks, not on the way of packets
#include "dataplane/port/dpdk/eal_log.h"

#include <rte_log.h>

#include <cstdio>
#include <mutex>

namespace tombolo::dataplane {
namespace {

constexpr std::size_t kMaxKeptBytes = 4096;
constexpr std::size_t kMaxShownBytes = 400;

/// The lines that DPDK wrote; any thread may write.
struct Kept {
  std::mutex mutex;
  std::string text;
};
Kept& kept() {
  static Kept instance;
  return instance;
}

ssize_t keep(void*, const char* bytes, std::size_t count) {
  Kept& log = kept();
  const std::lock_guard lock(log.mutex);
  log.text.append(bytes, count);
  if (log.text.size() > kMaxKeptBytes) log.text.erase(0, log.text.size() - kMaxKeptBytes);
  return static_cast<ssize_t>(count);
}

/// Line ends become "; ", other control characters blanks.
std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "; ";
    else
      line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
  if (line.size() > kMaxShownBytes) line = "..." + line.substr(line.size() - kMaxShownBytes);
  return line;
}

}  // namespace

void capture_dpdk_log() {
  static std::FILE* const stream = [] {
    cookie_io_functions_t functions{};
    functions.write = keep;
    std::FILE* const file = ::fopencookie(nullptr, "w", functions);
    if (file != nullptr) std::setvbuf(file, nullptr, _IONBF, 0);
    return file;
  }();
  // Without a stream, DPDK goes on writing to standard error: better than losing its reasons.
  if (stream != nullptr) rte_openlog_stream(stream);
}

std::string take_dpdk_log() {
  Kept& log = kept();
  const std::lock_guard lock(log.mutex);
  const std::string line = in_one_line(log.text);
  log.text.clear();
  return line.empty() ? "" : " (DPDK says: " + line + ")";
}

}  // namespace tombolo::dataplane
