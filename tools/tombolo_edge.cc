#include <CLI/CLI.hpp>

#include "control/node/edge_node.h"
#include "tools/cli.h"
#include "tools/program.h"

namespace {

using namespace tombolo;

int run(const std::string& path, bool insecure) {
  auto file = control::load_edge_config(path);
  if (!file) return tools::report_error(file.error());
  auto log = tools::open_log(file->site, file->log);
  if (!log) return tools::report_error(log.error());
  tools::stop_on_signals();
  auto node = control::EdgeNode::start(*file, insecure, (*log)->sink());
  if (!node) {
    (*log)->error("edge did not start", {{"reason", node.error().message}});
    return tools::report_error(node.error());
  }
  (*node)->run(tools::stop_flag());
  return tools::kExitOk;
}

}  // namespace

/// The dataplane of one site.
int main(int argc, char** argv) {
  CLI::App app("Runs the edge of one site: ports, workers, agent.", "tombolo-edge");
  app.set_version_flag("--version", "tombolo " TOMBOLO_VERSION);
  std::string path;
  bool insecure = false;
  app.add_option("config", path, "The edge's configuration file (YAML)")->required();
  app.add_flag("--insecure", insecure, "Plain text to the controller if the file names no TLS files");
  CLI11_PARSE(app, argc, argv);
  return run(path, insecure);
}
