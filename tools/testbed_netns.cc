#include "tools/testbed_netns.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "schedule/yaml_value.h"
#include "tools/cli.h"
#include "tools/report/run_report.h"
#include "tools/testbed/line_splitter.h"
#include "tools/testbed/netns/addresses.h"
#include "tools/testbed/netns/run.h"
#include "tools/testbed/netns/run_folder.h"

namespace tombolo::tools {
namespace {

using testbed::Deployment;
using testbed::Layout;

/// Tried in this order where --scale is not given.
constexpr std::array<double, 5> kScales{0.01, 0.005, 0.002, 0.001, 0.0005};
constexpr Nanoseconds kEdgesLimit = 60 * kSecond;
constexpr Nanoseconds kIslandsLimit = 60 * kSecond;
constexpr std::size_t kMostLineBytes = 4096;
constexpr Nanoseconds kForever = 365 * 24 * 3600 * kSecond;

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int /*signal*/) { stop_asked = 1; }

/// A signal ends the run in order: namespaces and processes must not stay.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // A child that is gone shows elsewhere.
}

std::string own_folder() {
  std::error_code code;
  return std::filesystem::read_symlink("/proc/self/exe", code).parent_path().string();
}

testbed::Surroundings make_surroundings(const TestbedOptions& options) {
  testbed::Surroundings surroundings;
  surroundings.programs = options.programs.empty() ? own_folder() : options.programs;
  surroundings.emulation = options.emulation == "netem"     ? testbed::Emulation::kNetem
                           : options.emulation == "builtin" ? testbed::Emulation::kBuiltin
                                                            : testbed::Emulation::kAuto;
  surroundings.stop = [] { return stop_asked != 0; };
  surroundings.say = [](const std::string& line) { fmt::print(stderr, "{}\n", line); };
  return surroundings;
}

/// Programs that are not there, and rights that are missing, are named before anything is made.
Status check_surroundings(const testbed::Surroundings& surroundings) {
  for (const char* const program : {"tombolo-edge", "tombolo-controller", "tombolo-island"})
    if (const std::string path = surroundings.programs + "/" + program; ::access(path.c_str(), X_OK) != 0)
      return Error{ErrorCode::kNotFound,
                   fmt::format("{} is not there; build it, or say where it is with --programs", path)};
  return testbed::check_namespaces_possible();
}

Result<Layout> make_layout(const TestbedOptions& options, const std::string& folder, double scale) {
  Layout layout;
  auto config = make_config(options, scale);
  if (!config) return std::move(config).error();
  layout.config = std::move(config).value();
  layout.config.real_time = true;
  layout.profile = options.profile;
  layout.bytes = options.bytes;
  layout.scale = scale;
  layout.jumbo = options.jumbo();
  layout.hello_interval_ms = options.hello_interval_ms;
  layout.native_multicast = options.delivery == "multicast";
  layout.folder = folder;
  if (Status complete = testbed::complete_layout(layout); !complete) return std::move(complete).error();
  return layout;
}

/// What of the folder does not depend on the scale: the topology as it was given, and how to repeat the run.
Status write_origin(const TestbedOptions& options, const std::string& folder, const RunWords& words) {
  auto topology = schedule::read_file(options.topology);
  if (!topology) return std::move(topology).error();
  if (Status done = testbed::write_text(folder + "/topology.yaml", *topology); !done) return done;
  return testbed::write_text(folder + "/command.txt", words.command_line + "\n");
}

/// Every step before the first process, so that a mistake costs nothing.
Result<std::string> prepare(const TestbedOptions& options, const testbed::Surroundings& surroundings,
                            double first_scale) {
  auto layout = make_layout(options, "", first_scale);
  if (!layout) return std::move(layout).error();
  if (Status possible = check_surroundings(surroundings); !possible) return std::move(possible).error();
  auto folder = testbed::make_run_folder(
      options.out, layout->config.network.name.empty() ? std::string("run") : layout->config.network.name);
  if (!folder) return folder;
  auto words = make_words(options, first_scale);
  if (!words) return std::move(words).error();
  if (Status written = write_origin(options, *folder, *words); !written) return std::move(written).error();
  return folder;
}

nlohmann::ordered_json testbed_json(Deployment& deployment, bool with_islands) {
  const Layout& layout = deployment.layout();
  nlohmann::ordered_json json = start_report("testbed up");
  json["run_id"] = layout.run_id;
  json["folder"] = layout.folder;
  json["pid"] = ::getpid();
  json["emulation"] = layout.builtin_emulation ? "builtin" : "netem";
  json["controller"] = {
      {"namespace", layout.controller_namespace()},
      {"pid", deployment.controller().pid()},
      {"command", deployment.controller_arguments()},
      {"config", layout.controller_file()},
      {"socket", layout.controller_socket()},
      {"log", layout.log_file("the-controller")},
      {"address", fmt::format("{}:{}", layout.controller_management(), testbed::kControllerPort)},
      {"metrics", fmt::format("{}:{}", layout.controller_management(), testbed::kControllerMetricsPort)}};
  json["edges"] = nlohmann::ordered_json::array();
  for (schedule::SiteId site = 0; site < layout.places.size(); ++site)
    json["edges"].push_back(
        {{"site", layout.site(site)},
         {"namespace", layout.edge_namespace(site)},
         {"pid", deployment.edge(site).pid()},
         {"command", deployment.edge_arguments(site)},
         {"config", layout.edge_file(site)},
         {"socket", layout.edge_socket(site)},
         {"log", layout.log_file(layout.site(site))},
         {"metrics", fmt::format("{}:{}", layout.edge_management(site), testbed::kEdgeMetricsPort)}});
  json["islands"] = nlohmann::ordered_json::array();
  for (schedule::Rank rank = 0; rank < layout.config.network.islands.size(); ++rank) {
    nlohmann::ordered_json island{
        {"island", layout.island(rank).id},
        {"rank", rank},
        {"site", layout.site(layout.island(rank).site)},
        {"namespace", layout.island_namespace(rank)},
        {"pid", nullptr},
        {"command", deployment.full_island_arguments(rank)},
        {"log", layout.log_file(layout.island(rank).id + "-island")},
        {"address", testbed::ipv4_text(testbed::access_addresses(rank).second)},
        {"edge_address", testbed::ipv4_text(testbed::access_addresses(rank).first)},
        {"interface", testbed::kIslandInterface},
        {"edge_interface", testbed::access_interface(rank)},
        {"metrics", fmt::format("{}:{}", layout.island_management(rank), testbed::kIslandMetricsPort)}};
    if (with_islands) island["pid"] = deployment.islands().process(rank).pid();
    json["islands"].push_back(std::move(island));
  }
  return json;
}

/// Passes a line "ISLAND COMMAND" on to the island, or to all of them.
void pass_on(const std::string& line, Deployment& deployment) {
  const std::string whom = line.substr(0, line.find(' '));
  const std::string what = line.size() > whom.size() ? line.substr(whom.size() + 1) : "";
  for (std::size_t rank = 0; rank < deployment.islands().size(); ++rank)
    if (whom == "all" || whom == deployment.layout().island(static_cast<schedule::Rank>(rank)).id)
      deployment.islands().tell(rank, what);
}

/// Until standard input ends or a signal comes. A program that ends meanwhile is the user's affair.
void keep_up(Deployment& deployment, const testbed::Surroundings& surroundings) {
  testbed::LineSplitter splitter(kMostLineBytes);
  bool over = false;
  const auto read_input = [&]() -> Status {
    over = over || stop_asked != 0;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (over || ::poll(&input, 1, 0) <= 0) return ok_status();
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return ok_status();
    over = count <= 0;
    if (!over)
      for (const std::string& line : splitter.take({bytes.data(), static_cast<std::size_t>(count)}))
        pass_on(line, deployment);
    return ok_status();
  };
  // The islands' events go to the run's folder as they come.
  const auto nothing = [](std::size_t, const testbed::IslandEvent&) {};
  while (!over) {
    const Status status = deployment.islands().wait(
        nothing, [&] { return over; }, read_input, kForever);
    if (!status) surroundings.say(status.error().message);
  }
}

}  // namespace

int run_netns_command(const TestbedOptions& options) {
  catch_signals();
  testbed::NetnsRun run;
  run.surroundings = make_surroundings(options);
  run.accept_links = options.accept_links;
  run.scales.assign(kScales.begin(), kScales.end());
  if (options.scale) run.scales = {*options.scale};
  const auto folder = prepare(options, run.surroundings, run.scales.back());
  if (!folder) return report_error(folder.error());
  run.layout_at = [&](double scale) { return make_layout(options, *folder, scale); };
  const auto progress = [](std::uint32_t done, std::uint32_t rounds) {
    fmt::print(stderr, "round {} of {} done\n", done, rounds);
  };
  const auto outcome = testbed::run_netns(run, progress);
  if (!outcome) {
    fmt::print(stderr, "the run's folder: {}\n", *folder);
    return report_error(outcome.error());
  }
  const auto words = make_words(options, outcome->layout.scale);
  if (!words) return report_error(words.error());
  const nlohmann::ordered_json json = run_json(*words, outcome->layout.config, outcome->report);
  if (auto written = write_report(json, *folder + "/summary.json"); !written)
    return report_error(written.error());
  if (auto written = report::write_run_report(json, *folder + "/report.html"); !written)
    return report_error(written.error());
  if (prints_tables(options.json)) print_run(*words, outcome->layout.config, outcome->report);
  if (auto written = write_report(json, options.json); !written) return report_error(written.error());
  return outcome->report.exact ? kExitOk : kExitFailed;
}

int up_command(const TestbedOptions& options) {
  catch_signals();
  const testbed::Surroundings surroundings = make_surroundings(options);
  const double scale = options.scale.value_or(kScales.back());
  const auto folder = prepare(options, surroundings, scale);
  if (!folder) return report_error(folder.error());
  auto layout = make_layout(options, *folder, scale);
  if (!layout) return report_error(layout.error());
  auto deployment = Deployment::start(std::move(layout).value(), surroundings, options.islands);
  if (!deployment) return report_error(deployment.error());
  if (auto up = (*deployment)->wait_for_edges(kEdgesLimit); !up) return report_error(up.error());
  if (options.islands) {
    const auto ready = (*deployment)->wait_for_islands(kIslandsLimit);
    if (!ready) return report_error(ready.error());
  }
  // Written last and under its name at once: who waits for the file finds it whole.
  const std::string path = *folder + "/testbed.json";
  if (auto written = write_report(testbed_json(**deployment, options.islands), path + ".new"); !written)
    return report_error(written.error());
  std::error_code code;
  std::filesystem::rename(path + ".new", path, code);
  fmt::print(stderr, "up: {}; ends with standard input or a signal\n", path);
  keep_up(**deployment, surroundings);
  return kExitOk;
}

}  // namespace tombolo::tools
