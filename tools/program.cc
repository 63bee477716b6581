#include "tools/program.h"

#include <csignal>

namespace tombolo::tools {
namespace {

std::atomic<bool> g_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int /*signal*/) { g_stop.store(true); }

}  // namespace

const std::atomic<bool>& stop_flag() { return g_stop; }

void stop_on_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

Result<std::unique_ptr<control::Log>> open_log(const std::string& site,
                                               const control::LogSettings& settings) {
  control::LogConfig config;
  config.site = site;
  config.format = settings.json ? control::LogFormat::kJson : control::LogFormat::kText;
  auto level = control::parse_log_level(settings.level);
  if (!level) return std::move(level).error();
  config.level = *level;
  config.file = settings.file;
  return control::Log::create(std::move(config));
}

}  // namespace tombolo::tools
