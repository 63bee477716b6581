#include "schedule/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "schedule/yaml_value.h"

namespace tombolo::schedule {
namespace {

constexpr double kMaxRestSeconds = 1e7;

/// Reads one schedule document. What it refers to must outlive it.
class ScheduleReader {
 public:
  ScheduleReader(const std::vector<Island>& islands, const std::vector<std::string>& sites)
      : islands_(islands), sites_(sites) {
    for (std::size_t rank = 0; rank < islands.size(); ++rank)
      ranks_.emplace(islands[rank].id, static_cast<Rank>(rank));
  }

  Schedule read(const YamlValue& document, std::string_view file_name);

 private:
  std::vector<float> read_weights(const YamlValue& map) const;
  Round read_round(const YamlValue& value);
  void read_cliques(const YamlValue& list, Round& round);
  Clique read_members(const YamlValue& list);
  CliqueMode read_mode(const YamlMap& map) const;
  CliqueTrees read_trees(const YamlValue& map, const Clique& clique) const;
  SourceTree read_tree(const YamlValue& list, Rank source, const Clique& clique) const;
  SiteLink read_link(const YamlValue& value) const;

  const std::vector<Island>& islands_;
  const std::vector<std::string>& sites_;
  std::map<std::string, Rank, std::less<>> ranks_;
  std::map<Rank, std::string> used_;  ///< In the round at hand: where an island is named.
};

Schedule ScheduleReader::read(const YamlValue& document, std::string_view file_name) {
  const YamlMap top = document.map({"name", "form", "fragments", "weights", "rounds"});
  Schedule schedule;
  const auto name = top.find("name");
  schedule.name = name ? name->text() : std::string(file_name);
  if (const auto form = top.find("form")) {
    if (form->text() != "barrier" && form->text() != "event") form->fail("must be barrier or event");
    schedule.form = form->text() == "event" ? Form::kEvent : Form::kBarrier;
  }
  if (const auto fragments = top.find("fragments")) {
    if (schedule.form != Form::kEvent) fragments->fail("only a schedule of the form event has fragments");
    const double count = fragments->number(1, kMaxFragments);
    if (count != std::floor(count)) fragments->fail("must be a whole number");
    schedule.fragments = static_cast<std::uint32_t>(count);
  }
  if (const auto weights = top.find("weights")) schedule.weights = read_weights(*weights);
  const YamlValue list = top.get("rounds");
  const auto rounds = list.items();
  if (rounds.empty()) list.fail("there must be at least one round");
  if (rounds.size() > kMaxRounds) list.fail(fmt::format("{} rounds; at most {}", rounds.size(), kMaxRounds));
  for (const YamlValue& item : rounds) {
    schedule.rounds.push_back(read_round(item));
    if (schedule.form == Form::kEvent && !schedule.rounds.back().trees.empty())
      item.fail("a schedule of the form event has no trees of its own");
  }
  return schedule;
}

/// Every island has one: a forgotten island must not weigh something by default.
std::vector<float> ScheduleReader::read_weights(const YamlValue& map) const {
  std::vector<float> weights(ranks_.size(), 0);
  for (const auto& [id, value] : map.members()) {
    const auto found = ranks_.find(id);
    if (found == ranks_.end()) value.fail(fmt::format("there is no island '{}'", id));
    const auto weight = static_cast<float>(value.positive_number(kLargestWeight));
    if (!is_weight(weight)) value.fail("is too small to be a weight");
    weights[found->second] = weight;
  }
  for (const auto& [id, rank] : ranks_)
    if (weights[rank] == 0) map.fail(fmt::format("the island '{}' has no weight", id));
  return weights;
}

Round ScheduleReader::read_round(const YamlValue& value) {
  Round round;
  if (value.is_map()) {
    round.rest_s = value.map({"rest_s"}).get("rest_s").positive_number(kMaxRestSeconds);
    return round;
  }
  used_.clear();
  read_cliques(value, round);
  if (round.cliques.empty())
    value.fail("a round must have a clique of at least two islands, or be a rest: {rest_s: 1.5}");
  return round;
}

void ScheduleReader::read_cliques(const YamlValue& list, Round& round) {
  bool any_mode = false;
  bool any_tree = false;
  for (const YamlValue& item : list.items()) {
    std::optional<CliqueMode> mode;
    Clique clique;
    CliqueTrees trees;
    if (item.is_map()) {
      const YamlMap map = item.map({"members", "mode", "root", "trees"});
      clique = read_members(map.get("members"));
      if (map.find("mode") || map.find("root")) mode = read_mode(map);
      if (const auto given = map.find("trees")) {
        if (!mode) mode = CliqueMode{Mode::kDirect};
        if (mode->mode != Mode::kDirect) given->fail("only a clique of mode direct has trees of its members");
        trees = read_trees(*given, clique);
      }
    } else {
      clique = read_members(item);
    }
    if (clique.size() < 2) continue;
    any_mode = any_mode || mode;
    any_tree = any_tree || !trees.empty();
    round.cliques.push_back(std::move(clique));
    round.modes.push_back(mode);
    round.trees.push_back(std::move(trees));
  }
  if (!any_mode) round.modes.clear();
  if (!any_tree) round.trees.clear();
}

Clique ScheduleReader::read_members(const YamlValue& list) {
  const auto items = list.items();
  if (items.empty()) list.fail("a clique must have members");
  if (items.size() > kMaxCliqueMembers)
    list.fail(fmt::format("a clique of {}; at most {} islands can meet", items.size(), kMaxCliqueMembers));
  Clique clique;
  for (const YamlValue& item : items) {
    const auto found = ranks_.find(item.text());
    if (found == ranks_.end()) item.fail(fmt::format("there is no island '{}'", item.text()));
    const auto [first, added] = used_.emplace(found->second, item.key());
    if (!added)
      item.fail(fmt::format("the island '{}' is already {} in this round", item.text(), first->second));
    clique.push_back(found->second);
  }
  std::sort(clique.begin(), clique.end());
  return clique;
}

CliqueMode ScheduleReader::read_mode(const YamlMap& map) const {
  const YamlValue word = map.get("mode");
  CliqueMode result;
  bool known = false;
  for (const Mode mode : {Mode::kDirect, Mode::kSharded, Mode::kTree}) {
    if (word.text() != mode_name(mode)) continue;
    result.mode = mode;
    known = true;
  }
  if (!known) word.fail("must be direct, sharded or tree");
  const auto root = map.find("root");
  if (!root) return result;
  if (result.mode != Mode::kTree) root->fail("only a clique of mode tree has a root");
  if (sites_.empty()) return result;
  const auto found = std::find(sites_.begin(), sites_.end(), root->text());
  if (found == sites_.end()) root->fail(fmt::format("there is no site '{}'", root->text()));
  result.root = static_cast<SiteId>(found - sites_.begin());
  return result;
}

CliqueTrees ScheduleReader::read_trees(const YamlValue& map, const Clique& clique) const {
  if (sites_.empty()) map.fail("trees cannot be given here");
  CliqueTrees trees(clique.size());
  for (const auto& [id, list] : map.members()) {
    const auto rank = ranks_.find(id);
    const auto member =
        rank == ranks_.end() ? clique.end() : std::lower_bound(clique.begin(), clique.end(), rank->second);
    if (member == clique.end() || *member != rank->second)
      list.fail(fmt::format("the island '{}' is not in the clique", id));
    trees[static_cast<std::size_t>(member - clique.begin())] = read_tree(list, *member, clique);
  }
  return trees;
}

/// Whether its links exist is for those to say who know the network's.
SourceTree ScheduleReader::read_tree(const YamlValue& list, Rank source, const Clique& clique) const {
  const auto items = list.items();
  if (items.empty()) list.fail("a tree must have links");
  SourceTree tree;
  for (const YamlValue& item : items) tree.push_back(read_link(item));
  std::vector<SiteId> sites;
  for (const Rank rank : clique) {
    if (islands_[rank].site >= sites_.size())
      list.fail(fmt::format("the island '{}' is at no known site", islands_[rank].id));
    if (islands_[rank].site != islands_[source].site) sites.push_back(islands_[rank].site);
  }
  if (const Status sound = check_source_tree(tree, islands_[source].site, sites, sites_); !sound)
    list.fail(sound.error().message);
  return tree;
}

SiteLink ScheduleReader::read_link(const YamlValue& value) const {
  const std::string text = value.text();
  const std::size_t dash = text.find('-');
  if (dash == std::string::npos) value.fail("must be a link, written like LON-NYC");
  const auto site = [&](const std::string& id) {
    const auto found = std::find(sites_.begin(), sites_.end(), id);
    if (found == sites_.end()) value.fail(fmt::format("there is no site '{}'", id));
    return static_cast<SiteId>(found - sites_.begin());
  };
  return {site(text.substr(0, dash)), site(text.substr(dash + 1))};
}

/// A scalar that reads back as the same text, whatever it holds.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (byte < 0x20 || byte == 0x7f)
      result += fmt::format("\\x{:02x}", byte);
    else
      result += c;
  }
  return result + '"';
}

/// Ids are letters, digits, '_' and '.': only the words that YAML reads as nothing need quotes.
std::string plain_id(const std::string& id) {
  return id == "null" || id == "Null" || id == "NULL" ? quoted(id) : id;
}

/// "{LON: [LON-NYC, NYC-LAX], ...}": the members that have a tree.
std::string trees_text(const Clique& clique, const CliqueTrees& trees, const Network& network) {
  std::vector<std::string> members;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    std::vector<std::string> links;
    for (const SiteLink& link : trees[i])
      links.push_back(network.site_names[link.from] + "-" + network.site_names[link.to]);
    if (!links.empty())
      members.push_back(
          fmt::format("{}: [{}]", plain_id(network.islands[clique[i]].id), fmt::join(links, ", ")));
  }
  return fmt::format("{{{}}}", fmt::join(members, ", "));
}

/// One clique: its members' ids alone where there is no more to say.
std::string clique_item(const Round& round, std::size_t c, const Network& network) {
  std::vector<std::string> ids;
  for (const Rank rank : round.cliques[c]) ids.push_back(plain_id(network.islands[rank].id));
  std::string item = fmt::format("[{}]", fmt::join(ids, ", "));
  const bool moded = !round.modes.empty() && round.modes[c];
  const bool treed = !round.trees.empty() && !round.trees[c].empty();
  if (!moded && !treed) return item;
  item = "{members: " + item;
  if (moded) {
    const CliqueMode mode = *round.modes[c];
    item += fmt::format(", mode: {}", mode_name(mode.mode));
    if (mode.mode == Mode::kTree && mode.root != kCentralRoot)
      item += ", root: " + plain_id(network.site_names[mode.root]);
  }
  if (treed) item += ", trees: " + trees_text(round.cliques[c], round.trees[c], network);
  return item + "}";
}

std::string comment(std::string_view line, std::string_view indent) {
  std::string result = fmt::format("{}# {}", indent, line);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return result + '\n';
}

}  // namespace

Result<Schedule> parse_schedule(std::string_view text, std::string_view file_name,
                                const std::vector<Island>& islands, const std::vector<std::string>& sites) {
  return read_yaml<Schedule>(text, file_name, [&](const YamlValue& document) {
    return ScheduleReader(islands, sites).read(document, file_name);
  });
}

Result<Schedule> load_schedule(const std::string& name_or_path, const std::vector<Island>& islands,
                               const std::vector<std::string>& sites) {
  if (name_or_path == "full") return full_schedule(islands);
  if (name_or_path == "grid") return grid_schedule(islands);
  const Result<std::string> text = read_file(name_or_path);
  if (!text) return Error(text.error()).within("schedule (full, grid or a file)");
  return parse_schedule(*text, name_or_path, islands, sites);
}

std::string write_schedule(const Schedule& schedule, const Network& network, const ScheduleNotes& notes) {
  std::string text;
  for (const std::string& line : notes.head) text += comment(line, "");
  text += fmt::format("name: {}\n", quoted(schedule.name));
  if (schedule.form == Form::kEvent) text += "form: event\n";
  if (schedule.fragments != 1) text += fmt::format("fragments: {}\n", schedule.fragments);
  if (!schedule.weights.empty()) {
    text += "weights:\n";
    for (std::size_t rank = 0; rank < schedule.weights.size(); ++rank)
      text += fmt::format("  {}: {}\n", plain_id(network.islands[rank].id), schedule.weights[rank]);
  }
  text += "rounds:\n";
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    const Round& round = schedule.rounds[r];
    if (r < notes.rounds.size())
      for (const std::string& line : notes.rounds[r]) text += comment(line, "  ");
    if (round.cliques.empty()) {
      text += fmt::format("  - {{rest_s: {}}}\n", round.rest_s);
      continue;
    }
    for (std::size_t c = 0; c < round.cliques.size(); ++c)
      text += fmt::format("  {} - {}\n", c == 0 ? "-" : " ", clique_item(round, c, network));
  }
  return text;
}

}  // namespace tombolo::schedule
