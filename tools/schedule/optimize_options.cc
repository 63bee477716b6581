#include "tools/schedule/optimize_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "base/units.h"
#include "schedule/schedule.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

/// "20%" or "0.2".
Result<double> parse_share(std::string_view text) {
  const Error wrong = invalid_input(
      fmt::format("--uncertainty: '{}' is not a share from 0 % to below 100 %, such as 20%", text));
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number) return wrong;
  const double share = percent ? *number / 100 : *number;
  if (!(share >= 0 && share < 1)) return wrong;
  return share;
}

std::optional<schedule::SiteId> find_site(std::string_view name, const schedule::Network& network) {
  const auto found = std::find(network.site_names.begin(), network.site_names.end(), name);
  if (found == network.site_names.end()) return std::nullopt;
  return static_cast<schedule::SiteId>(found - network.site_names.begin());
}

/// "LON-SIN", in either order of the sites.
Result<schedule::LostLink> parse_link(std::string_view text, const schedule::Network& network) {
  const Error wrong = invalid_input(
      fmt::format("--lost-link: '{}' is not a link of the topology, written like LON-SIN", text));
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return wrong;
  const auto a = find_site(text.substr(0, dash), network);
  const auto b = find_site(text.substr(dash + 1), network);
  if (!a || !b) return wrong;
  for (const schedule::DirectedLink& link : network.links)
    if (link.from == *a && link.to == *b) return schedule::LostLink{std::min(*a, *b), std::max(*a, *b)};
  return wrong;
}

}  // namespace

void add_form(CLI::App& command, std::string& form, std::uint32_t& fragments) {
  command
      .add_option(
          "--form", form,
          "barrier: all wait for a round's end (what the controller installs); event: a clique starts "
          "when its own members are ready (what `testbed run` does in one process); best: of the two")
      ->check(CLI::IsMember({"barrier", "event", "best"}))
      ->capture_default_str();
  command
      .add_option("--fragments", fragments, "Of the form event: most parts of an update on the way at once")
      ->check(CLI::Range(std::uint32_t{1}, schedule::kMaxFragments))
      ->capture_default_str();
}

void add_optimize_options(CLI::App& command, OptimizeArguments& arguments) {
  add_network_options(command, arguments.network);
  command
      .add_option("--max-rounds", arguments.max_rounds,
                  fmt::format("Most rounds of the cycle; usually {}, or {} for more than {} islands",
                              schedule::kFewRounds, schedule::kManyRounds, schedule::kMaxAnnealedIslands))
      ->check(CLI::Range(std::size_t{1}, schedule::kMaxRounds));
  command
      .add_option("--effort", arguments.effort,
                  "How long to search, as a multiple of the usual; the same on every machine")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  command.add_option("--time-limit", arguments.time_limit_s, "Stop the search after so many seconds")
      ->check(CLI::PositiveNumber);
  command.add_option("--seed", arguments.seed, "Of the search; the same seed gives the same schedule")
      ->capture_default_str();
  add_trees(command, arguments.packed_trees);
  add_form(command, arguments.form, arguments.fragments);
  command
      .add_option("--uncertainty", arguments.uncertainty,
                  "Also tell D when capacities and latencies are off by up to this share")
      ->type_name("20%");
  command.add_flag("--robust", arguments.robust,
                   "With --uncertainty: look for the least D of the worst tenth");
  command.add_option("--from", arguments.from, "Begin with this schedule: the one that runs")
      ->type_name("FILE");
  command
      .add_option("--lost-site", arguments.lost_sites,
                  "With --from: change the schedule as little as it takes to go on without this site")
      ->type_name("SITE");
  command.add_option("--lost-link", arguments.lost_links, "The same for a link")->type_name("A-B");
  command.add_option("--out", arguments.out, "Schedule file to write")->required()->type_name("FILE");
  command.add_option("--report", arguments.report, "Page to look at: maps, times, loads, comparison")
      ->type_name("FILE");
  add_json(command, arguments.json);
}

Result<OptimizeWishes> read_wishes(const OptimizeArguments& arguments, const schedule::Network& network) {
  OptimizeWishes wishes;
  if (!arguments.uncertainty.empty()) {
    const auto share = parse_share(arguments.uncertainty);
    if (!share) return share.error();
    wishes.uncertainty = *share;
  }
  if (arguments.packed_trees && arguments.wants_event())
    return Error{ErrorCode::kNotSupported, "--trees packed: only with --form barrier"};
  if (arguments.robust && !wishes.uncertainty) return invalid_input("--robust: needs --uncertainty");
  for (const std::string& name : arguments.lost_sites) {
    const auto site = find_site(name, network);
    if (!site) return invalid_input(fmt::format("--lost-site: '{}' is not a site of the topology", name));
    wishes.losses.sites.push_back(*site);
  }
  for (const std::string& text : arguments.lost_links) {
    const auto link = parse_link(text, network);
    if (!link) return link.error();
    wishes.losses.links.push_back(*link);
  }
  if (wishes.lost_something() && arguments.from.empty())
    return invalid_input(fmt::format("{}: needs --from, the schedule that runs",
                                     wishes.losses.sites.empty() ? "--lost-link" : "--lost-site"));
  if (wishes.lost_something() && arguments.robust)
    return invalid_input("--robust: is not for what goes on after a loss");
  if (arguments.wants_event() && (wishes.uncertainty || wishes.lost_something()))
    return invalid_input(fmt::format("{}: is for schedules with barriers, not --form {}",
                                     wishes.uncertainty            ? "--uncertainty"
                                     : wishes.losses.sites.empty() ? "--lost-link"
                                                                   : "--lost-site",
                                     arguments.form));
  if (arguments.from.empty()) return wishes;
  auto running = schedule::load_schedule(arguments.from, network.islands, network.site_names);
  if (!running) return std::move(running).error().within("--from");
  if (running->form == schedule::Form::kEvent && wishes.lost_something())
    return invalid_input(fmt::format("--from: {} is of the form event; going on after a loss is for barriers",
                                     arguments.from));
  running->form = schedule::Form::kBarrier;
  running->fragments = 1;
  wishes.running = std::move(*running);
  return wishes;
}

}  // namespace tombolo::tools
