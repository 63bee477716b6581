#include <CLI/CLI.hpp>

#include "control/node/controller_node.h"
#include "tools/cli.h"
#include "tools/program.h"

namespace {

using namespace tombolo;

int run(const std::string& path, bool insecure) {
  auto file = control::load_controller_config(path);
  if (!file) return tools::report_error(file.error());
  auto log = tools::open_log("controller", file->log);
  if (!log) return tools::report_error(log.error());
  tools::stop_on_signals();
  auto node = control::ControllerNode::start(*file, insecure, (*log)->sink());
  if (!node) {
    (*log)->error("controller did not start", {{"reason", node.error().message}});
    return tools::report_error(node.error());
  }
  (*node)->run(tools::stop_flag());
  return tools::kExitOk;
}

}  // namespace

/// Owns the schedule and installs epochs on the edges.
int main(int argc, char** argv) {
  CLI::App app("Installs a schedule on all edges, and one without what is lost when something is.",
               "tombolo-controller");
  app.set_version_flag("--version", "tombolo " TOMBOLO_VERSION);
  std::string path;
  bool insecure = false;
  app.add_option("config", path, "The controller's configuration file (YAML)")->required();
  app.add_flag("--insecure", insecure, "Plain text to the edges if the file names no TLS files");
  CLI11_PARSE(app, argc, argv);
  return run(path, insecure);
}
