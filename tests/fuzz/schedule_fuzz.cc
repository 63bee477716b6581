#include "schedule/schedule.h"

#include <set>
#include <string_view>

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::schedule {
namespace {

constexpr Rank kIslands = 70;  // More than a clique may have.

/// The nine cities first, as the schedule files of the repository name them; then islands I9, I10 and so on.
std::vector<Island> make_islands() {
  std::vector<Island> islands;
  for (const char* id : {"AMS", "BAR", "FRA", "LAX", "LON", "NYC", "SEO", "SIN", "TYO"})
    islands.push_back({id, static_cast<SiteId>(islands.size())});
  while (islands.size() < kIslands)
    islands.push_back({"I" + std::to_string(islands.size()), static_cast<SiteId>(islands.size())});
  return islands;
}

void check_accepted(const Schedule& schedule) {
  CHECK(!schedule.rounds.empty() && schedule.rounds.size() <= kMaxRounds);
  for (const Round& round : schedule.rounds) {
    CHECK(!round.cliques.empty());
    std::set<Rank> seen;
    for (const Clique& clique : round.cliques) {
      CHECK(clique.size() >= 2 && clique.size() <= kMaxCliqueMembers);
      for (std::size_t i = 0; i < clique.size(); ++i) {
        CHECK(clique[i] < kIslands);
        CHECK(i == 0 || clique[i - 1] < clique[i]);
        CHECK(seen.insert(clique[i]).second);
      }
    }
  }
}

}  // namespace
}  // namespace tombolo::schedule

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  static const std::vector<schedule::Island> islands = schedule::make_islands();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule = schedule::parse_schedule(text, "input.yaml", islands);
  if (schedule.ok()) {
    schedule::check_accepted(*schedule);
  } else {
    CHECK(schedule.error().code == ErrorCode::kInvalidInput);
    CHECK(schedule.error().message.starts_with("input.yaml:"));
  }
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {"name: small\nrounds:\n  - [[AMS, FRA], [I9, I10, I69]]\n  - [[NYC, LON]]\n"};
}
